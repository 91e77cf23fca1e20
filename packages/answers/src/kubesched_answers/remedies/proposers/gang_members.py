"""GangScheduling: the missing pods of a gang.

From a pod of a gang with too few pods to steps that create the missing ones as copies of that pod.
"""

from dataclasses import replace
from itertools import count, islice

from kubesched.api.codec import to_builtins
from kubesched.core.cluster.pod_groups import group_of
from kubesched.model.group_attempts import group_object
from kubesched_answers.remedies.proposers.new_nodes import OF_ONE_OBJECT
from kubesched_answers.remedies.proposers.obstacles import creation
from kubesched_answers.remedies.steps import Document, Rank, Steps
from kubesched_answers.remedies.trials import Trial

TOPIC = "member"
MOST_MEMBERS = 100


def gang_members(trial: Trial) -> Steps:
    """Return the creation of a gang's missing pods; empty if it has enough or lacks very many."""
    key, group = group_of(trial.pod), group_object(trial.model, trial.pod)
    gang = group.spec.scheduling_policy.gang if group is not None else None
    if key is None or gang is None:
        return ()
    state = trial.model.cluster.pod_groups.state(key)
    missing = gang.min_count - len({trial.pod.uid, *state.unscheduled, *state.scheduled})
    if not 0 < missing <= MOST_MEMBERS:
        return ()
    name, taken = trial.pod.name, trial.model.pods
    names = (new for number in count(1) if f"{trial.pod.namespace}/{(new := f'{name}-new-{number}')}" not in taken)
    summary = f"create {missing} more {'pod' if missing == 1 else 'pods'} of the gang, like {trial.pod.full_name}"
    steps = (creation(_like(trial, new), TOPIC, summary, rank=Rank.ADD_NODE) for new in islice(names, missing))
    # the model does not know all fields of a pod
    return tuple(replace(step, outside=True) for step in steps)


def _like(trial: Trial, name: str) -> Document:
    """Return the document of a copy of the waiting pod."""
    document = to_builtins(trial.pod.pod)
    meta = {key: value for key, value in document["metadata"].items() if key not in OF_ONE_OBJECT}
    # pods are identified by their UIDs; the API server assigns a new one
    meta |= {"name": name, "uid": f"{trial.pod.namespace}/{name}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": document["spec"]}
