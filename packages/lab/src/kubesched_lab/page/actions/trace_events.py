"""The effect of an action on a simulated cluster, as events of a trace.

    request ──▶ tried on the model, as `whatif` does, without scheduling ──▶ objects that differ ──▶ events

From a request and the model of the cluster on display to a sentence and events. Controllers are simulated: pods of a
workload are created and deleted with its replicas, and an evicted pod with a controller is created again. The model is
restored afterwards.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.whatif.budgets import BudgetAccounts
from kubesched_answers.whatif.operations import AddNodes, Cordon, RemoveNodes, cordon, named, uncordon
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_answers.whatif.whatif import trial_of
from kubesched_answers.whatif.workload_operations import ApplyManifests, DeleteObject, ScaleWorkload
from kubesched_answers.whatif.workloads import NamedObject
from kubesched_lab.page.actions.requests import (
    ADD_NODES,
    CORDON,
    CREATE,
    DELETE,
    DRAIN,
    REMOVE,
    SCALE,
    TEXT,
    UNCORDON,
    ActionError,
    ActionRequest,
)
from kubesched_lab.simulate.traces.admission import TraceAdmission
from kubesched_lab.simulate.traces.manifest_trace import trace_of_objects
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, TraceEvent

replace = msgspec.structs.replace
ObjectKey = tuple[str, str]
Objects = Mapping[ObjectKey, ApiObject]
MOST_NAMED: Final = 3


class SimulatedAction(NamedTuple):
    """An action with its events for a simulation; `workloads` are the documents of all workloads afterwards."""

    title: str
    events: tuple[TraceEvent, ...]
    workloads: tuple[dict[str, Any], ...]


def simulated(model: ClusterModel, asked: ActionRequest, workloads: tuple[dict[str, Any], ...] = ()) -> SimulatedAction:
    """Return the effect of an action on the simulated cluster of a model; raises KubeschedErrors.

    `workloads` are the documents of known workloads that are not objects of the model.
    """
    asked.check()
    before = _objects(model)
    with _knowing(model, workloads), trial_of(model) as trial:
        # statuses of budgets are those of the cluster that was read
        trial.budgets = BudgetAccounts(model, counts_pods=True)
        title = _TRIED[asked.do](trial, asked)
        after, documents = _objects(model), tuple(trial.documents.values())
    events = tuple(_events(before, after))
    if not events:
        raise ActionError(f"{title}: this changes nothing that a scheduler reads")
    return SimulatedAction(title, events, documents)


@contextmanager
def _knowing(model: ClusterModel, workloads: tuple[dict[str, Any], ...]) -> Iterator[None]:
    """Add documents of workloads to a model for the duration of a block."""
    source = model.source
    model.source = dataclasses.replace(source, workloads=workloads)
    try:
        yield
    finally:
        model.source = source


# -- trying


def _cordon(trial: WhatIfTrial, asked: ActionRequest) -> str:
    return _capital(Cordon(asked.named_nodes(trial.model)).apply(trial).operation)


def _uncordon(trial: WhatIfTrial, asked: ActionRequest) -> str:
    nodes = asked.named_nodes(trial.model)
    uncordon(trial, nodes)
    return f"Uncordon {named(nodes)}"


def _remove(trial: WhatIfTrial, asked: ActionRequest) -> str:
    return _capital(RemoveNodes(asked.named_nodes(trial.model)).apply(trial).operation)


def _add_nodes(trial: WhatIfTrial, asked: ActionRequest) -> str:
    if asked.like:
        return _capital(AddNodes(asked.count, trial.model.node(asked.like)).apply(trial).operation)
    if not asked.pool:
        raise ActionError("like, pool: name a node that new ones are like, or a pool (name=large,nodes=3,cpu=32)")
    pool = asked.node_pool()
    there = {name: to_builtins(trial.model.node(name)) for name in trial.model.node_names()}
    admission = TraceAdmission()
    for manifest in pool.manifests(there):
        trial.placer.put(admission.admit(manifest.document, manifest.place))
    return f"Add {pool.nodes} {'node' if pool.nodes == 1 else 'nodes'} of pool {pool.name}"


def _scale(trial: WhatIfTrial, asked: ActionRequest) -> str:
    return _capital(ScaleWorkload(asked.named_workload(trial.model), asked.replicas).apply(trial).operation)


def _create(trial: WhatIfTrial, asked: ActionRequest) -> str:
    manifests = tuple(asked.manifests())
    step = ApplyManifests(manifests, TEXT).apply(trial)
    return f"Create {step.message}"


def _delete(trial: WhatIfTrial, asked: ActionRequest) -> str:
    namespace, _, name = asked.named_pod(trial.model).partition("/")
    pod = trial.model.pods[f"{namespace}/{name}"]
    if pod.metadata.controller is not None and not bound_to_node(pod):
        trial.displace(pod)
        return f"Delete pod {namespace}/{name}; its controller creates another"
    return _capital(DeleteObject(NamedObject(Pod.__name__, namespace, name)).apply(trial).operation)


def _drain(trial: WhatIfTrial, asked: ActionRequest) -> str:
    """Cordon nodes and evict the pods that may be evicted now, as `kubectl drain` does."""
    nodes = asked.named_nodes(trial.model)
    pods = [pod for node in nodes for pod in trial.pods_on(node)]
    refuse_bare(pods, force=asked.force)
    if not asked.force:
        refuse_local_data(pods)
    cordon(trial, nodes)
    movable = [pod for pod in pods if not bound_to_node(pod) and not pod.terminating]
    held_up: list[str] = []
    for pod in movable:
        refusal = trial.budgets.refuse(pod)
        if refusal is None:
            trial.displace(pod)
        else:
            held_up.append(refusal.message)
    return drained(nodes, len(movable) - len(held_up), len(pods) - len(movable), held_up)


def refuse_bare(pods: list[PodInfo], *, force: bool) -> None:
    """Raise ActionError, as `kubectl drain` does without --force, if no controller would create the pods again."""
    bare = [pod.full_name for pod in pods if pod.metadata.controller is None and not bound_to_node(pod)]
    if bare and not force:
        more = f" and {len(bare) - MOST_NAMED} more" if len(bare) > MOST_NAMED else ""
        raise ActionError(
            f"{', '.join(bare[:MOST_NAMED])}{more}: no controller would create {_them(bare)} again; "
            f"drain with force to delete {_them(bare)}"
        )


def refuse_local_data(pods: list[PodInfo]) -> None:
    """Raise ActionError, as `kubectl drain` does, if pods would lose data in emptyDir volumes."""
    for pod in pods:
        local = any(volume.empty_dir is not None for volume in pod.pod.spec.volumes)
        if local and not bound_to_node(pod) and not pod.terminating:
            raise ActionError(local_data(pod.full_name))


def local_data(pod: str) -> str:
    """Return the message that refuses to drain a pod with an emptyDir volume."""
    return f"{pod}: data in its emptyDir volumes would be lost; drain with force to delete it"


def _them(pods: list[str]) -> str:
    return "it" if len(pods) == 1 else "them"


def drained(nodes: tuple[str, ...], evicted: int, left: int, held_up: list[str], *, goes_on: bool = False) -> str:
    """Return the sentence about a drain; `goes_on` says that the drain retries in the background."""
    parts = [f"{evicted} {'pod is' if evicted == 1 else 'pods are'} evicted"]
    if left:
        parts.append(f"{left} of DaemonSets {'stays' if left == 1 else 'stay'}")
    if held_up:
        later = "tried again every 5 s" if goes_on else "drain again when other pods are ready"
        parts.append(f"{len(held_up)} held up ({held_up[0]}): {later}")
    return f"Drain {named(nodes)}: {', '.join(parts)}"


_TRIED: Mapping[str, Callable[[WhatIfTrial, ActionRequest], str]] = {
    CORDON: _cordon,
    UNCORDON: _uncordon,
    DRAIN: _drain,
    REMOVE: _remove,
    ADD_NODES: _add_nodes,
    SCALE: _scale,
    CREATE: _create,
    DELETE: _delete,
}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# -- what differs


def _objects(model: ClusterModel) -> Objects:
    return {(type(obj).__name__, obj.full_name): obj for obj in model.objects_now().objects}


def _events(before: Objects, after: Objects) -> Iterator[TraceEvent]:
    """Yield the events between two states of a cluster: deletions, pods first; then other changes, pods last."""
    changed = {key: obj for key, obj in after.items() if before.get(key) is not obj and before.get(key) != obj}
    pods = {key: obj for key, obj in changed.items() if isinstance(obj, Pod)}
    gone = [key for key in before if key not in after or (key in pods and not _is_edit(before[key], pods[key]))]
    for kind, full_name in sorted(gone, key=lambda key: key[0] != Pod.__name__):
        yield ObjectDeletion(0.0, kind, full_name)
    for obj in sorted((obj for key, obj in changed.items() if key not in pods), key=lambda obj: type(obj) is not Node):
        yield ObjectPut(0.0, obj)
    arrivals = []
    for key, obj in pods.items():
        assert isinstance(obj, Pod)
        old = before.get(key)
        if old is not None and _is_edit(old, obj):
            yield ObjectPut(0.0, obj)
        else:
            arrivals.append(_recreated(obj, old) if old is not None else obj)
    yield from trace_of_objects("", arrivals).events(0)


def _is_edit(old: ApiObject, new: ApiObject) -> bool:
    """Return whether a pod is the same one, on the same node."""
    if not isinstance(old, Pod) or not isinstance(new, Pod):
        return False
    return old.uid == new.uid and old.spec.node_name == new.spec.node_name


def _recreated(pod: Pod, old: ApiObject) -> Pod:
    """Return the pod that a controller creates to replace a deleted one: the same name, another UID."""
    status = replace(pod.status, conditions=(), nominated_node_name="", start_time=None, phase="")
    uid = f"{old.uid}+" if pod.uid in ("", old.uid) else pod.uid
    metadata = replace(pod.metadata, uid=uid, deletion_timestamp=None, creation_timestamp=None)
    return replace(pod, metadata=metadata, status=status)


def created_again(action: SimulatedAction) -> tuple[str, ...]:
    """Return the pods, `namespace/name`, that an action deletes and creates again."""
    gone = {event.full_name for event in action.events if isinstance(event, ObjectDeletion)}
    return tuple(
        event.pod.full_name for event in action.events if isinstance(event, PodArrival) and event.pod.full_name in gone
    )


def with_run_times(action: SimulatedAction, runs: Mapping[str, float | None]) -> SimulatedAction:
    """Return an action whose recreated pods run as long as before; `runs` has run times by `namespace/name`."""
    events = tuple(
        replace(event, runs=runs.get(event.pod.full_name, event.runs)) if isinstance(event, PodArrival) else event
        for event in action.events
    )
    return action._replace(events=events)
