"""Admission of pods: limits, service account, priority, default tolerations, topology labels, runtime class.

From a defaulted pod to an admitted one, ready for validation; a refusal is raised as ApiError 403.
"""

# upstream: plugin/pkg/admission/{priority,defaulttolerationseconds,podtopologylabels,runtimeclass},
# pkg/registry/core/pod/strategy.go (mutatePodAffinity, mutateTopologySpreadConstraints) (v1.36)

from collections.abc import Iterator
from typing import Any, Final

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError, forbidden
from kubesched_controlplane.kinds.pod.amounts import write_canonically
from kubesched_controlplane.kinds.pod.service_account import use_account
from kubesched_controlplane.kinds.priority_classes import SYSTEM_PRIORITIES
from kubesched_controlplane.kinds.quota.limit_ranges import fill_in_limits
from kubesched_controlplane.registry.strategy import StrategyContext
from kubesched_controlplane.storage.store import Store

PRIORITY_CLASSES: Final = "priorityclasses.scheduling.k8s.io"
RUNTIME_CLASSES: Final = "runtimeclasses.node.k8s.io"
_IS_GLOBAL_DEFAULT = b'"globalDefault":true'
_PREEMPT: Final = "PreemptLowerPriority"
TOPOLOGY_LABELS: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_TOLERATED_FOR_A_WHILE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_TOLERATION_SECONDS: Final = 300
_TERMS = ("preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution")


def admit_new(pod: Document, context: StrategyContext) -> None:
    """Admit a new pod; an imported pod, which another cluster has admitted, gets only its priority."""
    spec = pod["spec"]
    if context.imported:
        _recall_priority(spec, context)
        return
    fill_in_limits(pod, context.store)
    use_account(pod, context)
    _set_priority(pod, context)
    add_default_tolerations(spec)
    if spec.get("nodeName"):
        copy_topology_labels(context.store, spec["nodeName"], pod["metadata"])
    _apply_runtime_class(pod, context)
    _merge_label_keys(pod)


def admit_changed(new: Document, old: Document) -> None:
    """Admit a changed pod: keep its priority and preemption policy, and add default tolerations."""
    spec, before = new["spec"], old.get("spec") or {}
    for field in ("priority", "preemptionPolicy"):
        if spec.get(field) is None and before.get(field) is not None:
            spec[field] = before[field]
    add_default_tolerations(spec)


# -- priority


def _set_priority(pod: Document, context: StrategyContext) -> None:
    spec = pod["spec"]
    name = spec.get("priorityClassName") or ""
    found = _class_called(name, context) if name else _default_class(context.store)
    if found is None:
        raise _refused(pod, context, f"no PriorityClass with name {name} was found")
    name, priority, policy = found
    given = spec.get("priority")
    if given is not None and given != priority:
        why = (
            f"the integer value of priority ({given}) must not be provided in pod spec; priority admission controller "
            f"computed {priority} from the given PriorityClass name"
        )
        raise _refused(pod, context, why)
    given = spec.get("preemptionPolicy")
    if policy and given is not None and given != policy:
        why = (
            f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission "
            f"controller computed {policy} from the given PriorityClass name"
        )
        raise _refused(pod, context, why)
    spec["priority"] = priority
    if policy:
        spec["preemptionPolicy"] = policy
    if name:
        spec["priorityClassName"] = name


def _recall_priority(spec: Document, context: StrategyContext) -> None:
    """Set the priority of an imported pod by its priority class, if it has none and the class exists."""
    name = spec.get("priorityClassName") or ""
    found = _class_called(name, context) if name and spec.get("priority") is None else None
    if found is not None:
        spec["priority"] = found[1]


def _class_called(name: str, context: StrategyContext) -> tuple[str, int, str] | None:
    """Return name, priority and preemption policy of a priority class, None if it does not exist."""
    found = context.find(PRIORITY_CLASSES, "", name)
    if found is not None:
        return _settled(found)
    # the system classes are known even without an object
    value = SYSTEM_PRIORITIES.get(name)
    return None if value is None else (name, value, _PREEMPT)


def _default_class(store: Store) -> tuple[str, int, str]:
    """Return name, priority and preemption policy for pods without a class: the lowest global default, or zero."""
    # only classes with this text are decoded
    defaults = [each.document() for each in store.set_of(PRIORITY_CLASSES) if _IS_GLOBAL_DEFAULT in each.body]
    if not defaults:
        return "", 0, _PREEMPT
    return _settled(min(defaults, key=lambda each: int(each.get("value", 0))))


def _settled(found: Document) -> tuple[str, int, str]:
    return found["metadata"]["name"], found.get("value", 0), found.get("preemptionPolicy") or ""


# -- tolerations


def add_default_tolerations(spec: Document) -> None:
    """Add tolerations of five minutes for the taints not-ready and unreachable, unless the pod has its own."""
    tolerations = list(spec.get("tolerations") or ())
    for key in _TOLERATED_FOR_A_WHILE:
        if not any(_concerns(toleration, key) for toleration in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATION_SECONDS}
            )
    spec["tolerations"] = tolerations


def _concerns(toleration: Document, key: str) -> bool:
    return (toleration.get("key") or key) == key and (toleration.get("effect") or "NoExecute") == "NoExecute"


# -- topology


def copy_topology_labels(store: Store, node_name: str, meta: Document) -> None:
    """Copy the zone and region labels of a node to the metadata of an object, if the node exists."""
    node = store.get("nodes", "", node_name)
    if node is None:
        return
    labels = {key: node.labels[key] for key in TOPOLOGY_LABELS if key in node.labels}
    if labels:
        meta["labels"] = {**(meta.get("labels") or {}), **labels}


# -- runtime classes


def _apply_runtime_class(pod: Document, context: StrategyContext) -> None:
    """Add the overhead, node selector and tolerations of a pod's runtime class. Raises ApiError 403."""
    spec = pod["spec"]
    name = spec.get("runtimeClassName")
    found = context.find(RUNTIME_CLASSES, "", name) if name is not None else {}
    if found is None:
        raise _refused(pod, context, f'pod rejected: RuntimeClass "{name}" not found')
    fixed = (found.get("overhead") or {}).get("podFixed")
    if fixed:
        write_canonically(fixed)
        if spec.get("overhead") and spec["overhead"] != fixed:
            raise _refused(pod, context, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        spec["overhead"] = fixed
    elif spec.get("overhead"):
        why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise _refused(pod, context, why)
    _apply_scheduling(pod, found.get("scheduling") or {}, context)


def _apply_scheduling(pod: Document, scheduling: Document, context: StrategyContext) -> None:
    spec = pod["spec"]
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.setdefault(key, value) != value:
            why = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
            raise _refused(pod, context, why)
    if selector:
        spec["nodeSelector"] = selector
    for toleration in scheduling.get("tolerations") or ():
        if toleration not in spec["tolerations"]:
            spec["tolerations"].append(toleration)


# -- matchLabelKeys


def _merge_label_keys(pod: Document) -> None:
    """Add the pod's values of matchLabelKeys and mismatchLabelKeys to the label selectors beside them."""
    spec, labels = pod["spec"], pod["metadata"].get("labels") or {}
    for term in _affinity_terms(spec.get("affinity") or {}):
        _merge(term, "matchLabelKeys", "In", labels)
        _merge(term, "mismatchLabelKeys", "NotIn", labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge(constraint, "matchLabelKeys", "In", labels)


def _affinity_terms(affinity: Document) -> Iterator[Document]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        for field in _TERMS:
            for term in terms.get(field) or ():
                yield term.get("podAffinityTerm") or {} if field == _TERMS[0] else term


def _merge(holder: Document, field: str, operator: str, labels: Any) -> None:
    selector = holder.get("labelSelector")
    # a missing selector matches no pods, whatever is added
    if selector is None:
        return
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]} for key in holder.get(field) or () if key in labels
    ]
    if added:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]


def _refused(pod: Document, context: StrategyContext, why: str) -> ApiError:
    return forbidden(context.resource, pod["metadata"].get("name", ""), why)
