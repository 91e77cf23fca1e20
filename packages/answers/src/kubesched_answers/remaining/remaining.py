"""The free capacity of a cluster: totals, by zone and pool, the largest pod that fits, and stranded amounts.

From a model to a `RemainingAnswer`. The number of typical pods that fit is counted like the replicas of `capacity`.
Pending pods do not count as requests yet.
"""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final, NamedTuple

from kubesched.api.meta import ObjectMeta, RawQuantity
from kubesched.api.pods import Container, Pod, PodSpec, ResourceRequirements
from kubesched.core.cluster.table import NATIVE
from kubesched.model.cluster_model import DEFAULT_SCHEDULER, ClusterModel
from kubesched.reports.answers import ObjectName
from kubesched.reports.plain_words import number
from kubesched_answers.amounts import amount_of, quantity, requests_text, use_text
from kubesched_answers.capacity.capacity import CapacityOptions, capacity
from kubesched_answers.capacity.capacity_answer import TemplateCapacity
from kubesched_answers.capacity.node_kinds import ZONE, pool_label_of
from kubesched_answers.remaining.remaining_answer import RemainingAnswer, RemainingPlace, RemainingResource
from kubesched_answers.templates.reading import WorkloadTemplates
from kubesched_answers.templates.workload_template import WorkloadTemplate

PODS: Final = "pods"
TYPICAL: Final = ObjectName("v1", "Pod", "kubesched-typical", "typical")
# resources that every summary names; all other resources are named if a node has them
_EVERYWHERE: Final = ("cpu", "memory")


class _NodeAmounts(NamedTuple):
    """The capacity of a node and the requests on it, by resource."""

    name: str
    allocatable: dict[str, int]
    requested: dict[str, int]

    def free(self, resource: str) -> int:
        """Return the free amounts; requests may exceed the capacity."""
        return max(self.allocatable.get(resource, 0) - self.requested.get(resource, 0), 0)


def remaining(model: ClusterModel, pool_label: str = "") -> RemainingAnswer:
    """Return the free capacity of a cluster; the model is unchanged at the end."""
    nodes = list(_nodes(model))
    names = list(dict.fromkeys(name for node in nodes for name in (*node.allocatable, *node.requested)))
    label = pool_label or pool_label_of([model.node(node.name) for node in nodes])
    template = _template(_typical_pod(model))
    typical = _typical(model, template) if nodes else None
    closed = _closed(model) if nodes else frozenset()
    counts = (typical.nodes if typical is not None else None) or {}
    stranded = {node.name for node in nodes if node.name not in closed and not counts.get(node.name)}
    resources = tuple(_resource(name, nodes, closed, stranded) for name in names)
    return RemainingAnswer(
        _summary(resources, len(nodes), len(closed), typical),
        len(nodes),
        len(closed),
        resources,
        _places(model, nodes, names, ZONE),
        label,
        _places(model, nodes, names, label) if label else (),
        typical,
        model.gaps,
    )


def _nodes(model: ClusterModel) -> Iterable[_NodeAmounts]:
    table = model.cluster.table
    for row in table.present_rows().tolist():
        names = [*NATIVE, *sorted({*table.scalars.offered[row], *table.scalars.asked[row]})]
        offered = {name: table.allocatable_of(row, name) for name in names}
        asked = {name: table.requested_of(row, name) for name in names}
        offered[PODS], asked[PODS] = int(table.allowed_pods[row]), int(table.pod_count[row])
        known = [name for name in offered if offered[name] or asked[name]]
        yield _NodeAmounts(
            table.names[row], {name: offered[name] for name in known}, {name: asked[name] for name in known}
        )


# -- a typical pod


def _typical_pod(model: ClusterModel) -> Pod:
    """Return a pod with the median requests of the pods that request CPU, and memory."""
    resources = [pod.resources for pod in model.pods.values()]
    amounts = {
        "cpu": [each.milli_cpu for each in resources if each.milli_cpu],
        "memory": [each.memory for each in resources if each.memory],
    }
    requests: dict[str, RawQuantity] = {
        name: quantity(name, int(median(found))) for name, found in amounts.items() if found
    }
    profiles = model.engine.profiles
    scheduler = DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in profiles else next(iter(profiles))
    container = Container(name="main", resources=ResourceRequirements(requests=requests))
    meta = ObjectMeta(name=TYPICAL.name, namespace=TYPICAL.namespace, uid=f"{TYPICAL.namespace}/{TYPICAL.name}")
    return Pod(metadata=meta, spec=PodSpec(containers=(container,), scheduler_name=scheduler))


def _template(pod: Pod) -> WorkloadTemplate:
    return WorkloadTemplate(TYPICAL, pod, base_name=TYPICAL.name)


def _typical(model: ClusterModel, template: WorkloadTemplate) -> TemplateCapacity:
    """Return how many typical pods fit."""
    return capacity(model, WorkloadTemplates((template,), ()), CapacityOptions()).templates[0]


def _closed(model: ClusterModel) -> frozenset[str]:
    """Return the nodes that take no pod without requests and tolerations."""
    pod = _typical_pod(model)
    bare = Pod(
        metadata=pod.metadata,
        spec=PodSpec(containers=(Container(name="main"),), scheduler_name=pod.spec.scheduler_name),
    )
    table = model.cluster.table
    mask = model.engine.evaluation_of(model.read(bare)).feasible().mask
    return frozenset(table.names[row] for row in table.present_rows().tolist() if not mask[row])


# -- sums


def _resource(
    name: str, nodes: Sequence[_NodeAmounts], closed: frozenset[str], stranded: set[str]
) -> RemainingResource:
    largest = max(nodes, key=lambda node: (node.free(name), node.name))

    def total(amounts: Iterable[int]) -> str:
        return quantity(name, sum(amounts))

    return RemainingResource(
        name,
        allocatable=total(node.allocatable.get(name, 0) for node in nodes),
        requested=total(node.requested.get(name, 0) for node in nodes),
        free=total(node.free(name) for node in nodes),
        closed=total(node.free(name) for node in nodes if node.name in closed),
        stranded=total(node.free(name) for node in nodes if node.name in stranded),
        largest=quantity(name, largest.free(name)),
        largest_node=largest.name,
    )


def _places(
    model: ClusterModel, nodes: Sequence[_NodeAmounts], names: Sequence[str], label: str
) -> tuple[RemainingPlace, ...]:
    """Return the free capacity by the values of a label, with the nodes that lack it last."""
    by_value: dict[str, list[_NodeAmounts]] = {}
    for node in nodes:
        by_value.setdefault(model.node(node.name).metadata.labels.get(label, ""), []).append(node)
    return tuple(
        RemainingPlace(
            value,
            len(some),
            {name: quantity(name, sum(node.allocatable.get(name, 0) for node in some)) for name in names},
            {name: quantity(name, sum(node.free(name) for node in some)) for name in names},
        )
        for value, some in sorted(by_value.items(), key=lambda each: (not each[0], each[0]))
    )


# -- sentences


def _summary(resources: Sequence[RemainingResource], nodes: int, closed: int, typical: TemplateCapacity | None) -> str:
    if typical is None:
        return "The cluster has no nodes."
    native = (*NATIVE, PODS)
    named = [each for each in resources if each.resource in _EVERYWHERE or each.resource not in native]
    amounts = ", ".join(
        f"{use_text(each.resource, *(amount_of(each.resource, raw) for raw in (each.free, each.allocatable)))} "
        f"{each.resource}"
        for each in named
    )
    sentences = [f"Free on {number(nodes, 'node')}: {amounts}."]
    sentences.append(_more(typical))
    if closed:
        takes = "takes" if closed == 1 else "take"
        sentences.append(f"{number(closed, 'node')} {takes} no pod without tolerations.")
    return " ".join(sentences)


def _more(typical: TemplateCapacity) -> str:
    size = f"of the median size ({requests_text(typical.requests)})"
    if typical.replicas == 1:
        return f"1 more pod {size} fits."
    count = f"{'At least ' if typical.open_end else ''}{typical.replicas:,}" if typical.replicas else "No"
    return f"{count} more pod{'s' * (typical.replicas != 0)} {size} {'fit' if typical.replicas else 'fits'}."
