"""PodTopologySpread: constraints that are softened or allow more skew, labels, and pods evicted from a full domain.

From a node that breaks a constraint to steps on the pod, on the node and on other pods.
"""

from collections.abc import Iterator

from kubesched.api.codec import to_builtins
from kubesched.api.labels import InvalidSelectorError, from_label_selector
from kubesched.api.pods import TopologySpreadConstraint
from kubesched.asking.remedies.proposers.evictions import MOST_VICTIMS, evicting, is_evictable
from kubesched.asking.remedies.proposers.obstacles import Obstacle, labelled, may_label, pod_step
from kubesched.asking.remedies.steps import Document, Edit, Step, Steps
from kubesched.asking.remedies.trials import Trial
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY

HOSTNAME = "kubernetes.io/hostname"
MOST_SKEW = 2**19


def topology_spread(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield steps on the hard constraints of the pod; those of the profile are not the pod's to change."""
    hard = [c for c in trial.pod.spec.topology_spread_constraints if c.when_unsatisfiable == DO_NOT_SCHEDULE]
    yield tuple(_softened(trial, constraint) for constraint in hard)
    if obstacle.row is None or not hard:
        return
    node = trial.node(obstacle.row)
    missing = [c.topology_key for c in hard if c.topology_key not in node.metadata.labels]
    if missing:
        if all(may_label(node, key) for key in missing):
            yield tuple(labelled(node, {key: _value(trial, key, node.name) for key in missing}))
        return
    yield tuple(_with_skew(trial, constraint, constraint.max_skew + MOST_SKEW) for constraint in hard)
    for constraint in hard:
        yield evicting(trial, _crowd(trial, constraint, obstacle.row))


def _softened(trial: Trial, constraint: TopologySpreadConstraint) -> Step:
    text = f"set whenUnsatisfiable of the spread over {constraint.topology_key} to {SCHEDULE_ANYWAY}"
    return pod_step(trial, "spread", text, _rewritten(constraint, "whenUnsatisfiable", SCHEDULE_ANYWAY), 1.0)


def _with_skew(trial: Trial, constraint: TopologySpreadConstraint, skew: int) -> Step:
    text = f"raise maxSkew of the spread over {constraint.topology_key} from {constraint.max_skew} to {skew}"
    step = pod_step(trial, "max-skew", text, _rewritten(constraint, "maxSkew", skew))
    return Step(
        step.object,
        text,
        step.scope,
        step.topic,
        edit=step.edit,
        tuned=lambda number: _with_skew(trial, constraint, number),
        least=constraint.max_skew,
        number=skew,
    )


def _rewritten(constraint: TopologySpreadConstraint, key: str, value: object) -> Edit:
    before = to_builtins(constraint)

    def edit(document: Document) -> None:
        for each in document.get("spec", {}).get("topologySpreadConstraints", ()):
            if each == before:
                each[key] = value
                return

    return edit


def _value(trial: Trial, key: str, node_name: str) -> str:
    """Return a value for a topology label that a node lacks."""
    if key == HOSTNAME:
        return node_name
    column = trial.model.cluster.table.label(key)
    values = sorted(value for value in column.of_value if isinstance(value, str))
    return values[0] if values else node_name


def _crowd(trial: Trial, constraint: TopologySpreadConstraint, row: int) -> list[PodInfo]:
    """Return some of the pods that a constraint counts in the domain of a row, the least important first."""
    table = trial.model.cluster.table
    try:
        selector = from_label_selector(constraint.label_selector)
    except InvalidSelectorError:
        return []
    column = table.label(constraint.topology_key)
    rows = (column.codes[: table.size] == column.codes[row]).nonzero()[0].tolist()
    counted = [
        pod
        for each in rows
        for pod in table.pods_on[each].values()
        if pod.namespace == trial.pod.namespace and not pod.terminating and selector.matches(pod.labels)
    ]
    evictable = [pod for pod in counted if is_evictable(pod)]
    return sorted(evictable, key=lambda pod: (pod.priority, pod.full_name))[:MOST_VICTIMS]
