"""PodTopologySpread: softer constraints, more skew, labels, and pods evicted from a full domain.

From a node that violates a constraint to steps on the pod, on the node and on other pods. Default constraints of the
profile apply to pods without constraints: a soft one in the pod replaces them.
"""

from collections.abc import Iterator, Sequence

from kubesched.api import labels
from kubesched.api.codec import to_builtins
from kubesched.api.labels import InvalidSelectorError, Selector, from_label_selector
from kubesched.api.pods import TopologySpreadConstraint
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, SpreadConstraint
from kubesched.core.plugins.pod_topology_spread.plugin import PodTopologySpread
from kubesched_answers.remedies.proposers.evictions import MOST_VICTIMS, evicting, is_evictable
from kubesched_answers.remedies.proposers.obstacles import Obstacle, drop, field, labelled, may_label, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Step, Steps
from kubesched_answers.remedies.trials import Trial

HOSTNAME = "kubernetes.io/hostname"
MOST_SKEW = 2**19
TOPIC = "spread"
DEFAULTS = "the default constraints of the scheduler's configuration"
EQUALITY = (labels.EQUALS, labels.DOUBLE_EQUALS)
OPERATORS = {labels.IN: "In", labels.NOT_IN: "NotIn", labels.EXISTS: "Exists", labels.DOES_NOT_EXIST: "DoesNotExist"}


def topology_spread(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield steps on the hard constraints of the pod, or against the defaults of the profile."""
    own = trial.pod.spec.topology_spread_constraints
    if obstacle.row is None:
        yield tuple(_removed(trial, constraint) for constraint in own if not _is_readable(constraint))
        return
    plugin = trial.profile.plugins.get(PodTopologySpread.name) if trial.profile is not None else None
    if not isinstance(plugin, PodTopologySpread):
        return
    active = plugin.key(trial.pod).constraints
    hard = [constraint for constraint in own if constraint.when_unsatisfiable == DO_NOT_SCHEDULE]
    if own:
        yield tuple(_softened(trial, constraint, own) for constraint in hard)
        yield tuple(_removed(trial, constraint) for constraint in hard)
    else:
        yield (_own_spread(trial, active),)
    node = trial.node(obstacle.row)
    missing = [each.topology_key for each in active if each.topology_key not in node.metadata.labels]
    if missing:
        if all(may_label(node, key) for key in missing):
            yield tuple(labelled(node, {key: _value(trial, key, node.name) for key in missing}))
        return
    yield tuple(_with_skew(trial, constraint, constraint.max_skew + MOST_SKEW) for constraint in hard)
    for each in active:
        yield evicting(trial, _crowd(trial, each, obstacle.row))


def _is_readable(constraint: TopologySpreadConstraint) -> bool:
    try:
        from_label_selector(constraint.label_selector)
    except InvalidSelectorError:
        return False
    return True


def _own_spread(trial: Trial, defaults: Sequence[SpreadConstraint]) -> Step:
    """Return the step that adds soft constraints to the pod, which replace the defaults."""
    written = [
        {
            "maxSkew": each.max_skew,
            "topologyKey": each.topology_key,
            "whenUnsatisfiable": SCHEDULE_ANYWAY,
            "labelSelector": _label_selector(each.selector),
        }
        for each in defaults
    ]

    def edit(document: Document) -> None:
        field(document, "spec")["topologySpreadConstraints"] = written

    keys = " and ".join(each.topology_key for each in defaults)
    text = f"spread the pod itself over {keys} with {SCHEDULE_ANYWAY}, in place of {DEFAULTS}"
    return pod_step(trial, TOPIC, text, edit, 1.0)


def _label_selector(selector: Selector) -> Document:
    """Return a selector in the form of constraints."""
    labels = {each.key: each.values[0] for each in selector.requirements if each.operator in EQUALITY}
    expressions = [
        {
            "key": each.key,
            "operator": OPERATORS[each.operator],
            **({"values": list(each.values)} if each.values else {}),
        }
        for each in selector.requirements
        if each.operator in OPERATORS
    ]
    parts = {"matchLabels": labels, "matchExpressions": expressions}
    return {key: value for key, value in parts.items() if value}


def _removed(trial: Trial, constraint: TopologySpreadConstraint) -> Step:
    def edit(document: Document) -> None:
        drop(document, to_builtins(constraint), "spec", "topologySpreadConstraints")

    return pod_step(trial, TOPIC, f"remove the spread over {constraint.topology_key}", edit, 2.0)


def _softened(trial: Trial, constraint: TopologySpreadConstraint, own: Sequence[TopologySpreadConstraint]) -> Step:
    """Return the step that makes a constraint soft, or removes it if the pod already has the soft one."""
    key = constraint.topology_key
    if any((each.topology_key, each.when_unsatisfiable) == (key, SCHEDULE_ANYWAY) for each in own):
        return _removed(trial, constraint)
    more = ", without its minDomains" if constraint.min_domains is not None else ""
    text = f"set whenUnsatisfiable of the spread over {key} to {SCHEDULE_ANYWAY}{more}"

    def soften(entry: Document) -> None:
        entry["whenUnsatisfiable"] = SCHEDULE_ANYWAY
        # which soft constraints cannot have
        entry.pop("minDomains", None)

    return pod_step(trial, TOPIC, text, _rewritten(constraint, soften), 1.0)


def _with_skew(trial: Trial, constraint: TopologySpreadConstraint, skew: int) -> Step:
    text = f"raise maxSkew of the spread over {constraint.topology_key} from {constraint.max_skew} to {skew}"
    step = pod_step(trial, "max-skew", text, _rewritten(constraint, lambda entry: entry.update(maxSkew=skew)))
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


def _rewritten(constraint: TopologySpreadConstraint, change: Edit) -> Edit:
    before = to_builtins(constraint)

    def edit(document: Document) -> None:
        for each in document.get("spec", {}).get("topologySpreadConstraints", ()):
            if each == before:
                change(each)
                return

    return edit


def _value(trial: Trial, key: str, node_name: str) -> str:
    """Return a value for a missing topology label of a node."""
    if key == HOSTNAME:
        return node_name
    column = trial.model.cluster.table.label(key)
    values = sorted(value for value in column.of_value if isinstance(value, str))
    return values[0] if values else node_name


def _crowd(trial: Trial, constraint: SpreadConstraint, row: int) -> list[PodInfo]:
    """Return some of the pods that a constraint counts in the domain of a row, the least important first."""
    table = trial.model.cluster.table
    column = table.label(constraint.topology_key)
    rows = (column.codes[: table.size] == column.codes[row]).nonzero()[0].tolist()
    counted = [
        pod
        for each in rows
        for pod in table.pods_on[each].values()
        if pod.namespace == trial.pod.namespace and not pod.terminating and constraint.selector.matches(pod.labels)
    ]
    evictable = [pod for pod in counted if is_evictable(pod)]
    return sorted(evictable, key=lambda pod: (pod.priority, pod.full_name))[:MOST_VICTIMS]
