"""What a node lacks for a pod, with amounts and names.

From the rejections of a row to `Lack`s. That a filter rejects, the filter said; here it is looked up what of the node
is in the way: amounts, taints, labels, ports. What has no look-up keeps the plugin's reason.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from kubesched.api import labels
from kubesched.api.labels import Requirement, Selector, selector_of
from kubesched.api.node_selectors import CompiledTerm, required_node_affinity
from kubesched.api.nodes import Node
from kubesched.api.pods import Taint
from kubesched.api.tolerations import forbids_scheduling, tolerated_by_any
from kubesched.asking.amounts import quantity, rounded
from kubesched.asking.explain.plain_words import said_of_node
from kubesched.asking.explain.pod_answer import Lack, NearMiss
from kubesched.asking.model import ClusterModel
from kubesched.asking.rejections import PODS, Rejections, Shortage
from kubesched.asking.remedies.proposers.taints import text_of as taint_text
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.ports import conflicts
from kubesched.core.framework.status import Code, Status
from kubesched.core.plugins.node_resources.fit_request import TOO_MANY_PODS

# what is lacking (the same on every node), and what is said of a node
Named = tuple[str, str]
_COMPARISON = "TaintTolerationComparisonOperators"


def near_misses(model: ClusterModel, rejections: Rejections, limit: int) -> tuple[NearMiss, ...]:
    """Return the nodes that lack least, the nearest first."""
    names = rejections.table.names
    return tuple(
        NearMiss(names[row], lacks_of(model, rejections, row), not rejections.unresolvable[row])
        for row in rejections.near_rows(limit)
    )


def lacks_of(model: ClusterModel, rejections: Rejections, row: int) -> tuple[Lack, ...]:
    """Return everything that a row lacks for the pod, in the order of the filters."""
    node = rejections.table.nodes[row]
    assert node is not None, "a rejected row has a node"
    found: list[Lack] = []
    for status in rejections.of_row(row):
        found += _lacks(model, rejections, row, node, status)
    return tuple(found)


def _lacks(model: ClusterModel, rejections: Rejections, row: int, node: Node, status: Status) -> Iterator[Lack]:
    pod, plugin = rejections.evaluation.pod, status.plugin
    if status.code is Code.ERROR:
        yield Lack(plugin, f"the plugin fails: {status.message}", "error")
        return
    if plugin == "NodeResourcesFit":
        yield from _of_resources(rejections, row, status)
        return
    found: Iterable[Named] = ()
    if plugin == "TaintToleration":
        found = _of_taints(pod, node, model.loaded.gates.enabled(_COMPARISON))
    elif plugin == "NodeAffinity":
        found = _of_affinity(pod, node)
    elif plugin == "NodePorts":
        found = _of_ports(rejections, pod, row)
    for subject, message in tuple(found) or [(reason, said_of_node(reason)) for reason in status.reasons]:
        yield Lack(plugin, message, subject)


# -- resources


def _of_resources(rejections: Rejections, row: int, status: Status) -> Iterator[Lack]:
    table = rejections.table
    shortages = rejections.shortages(row)
    if not shortages:
        # only with the pods that are nominated to the node
        nominated = "counted with the pods that are nominated to it"
        for reason in status.reasons:
            yield Lack(status.plugin, f"{said_of_node(reason)}, {nominated}", f"{reason} with nominated pods")
    for short in shortages:
        if short.resource == PODS:
            allowed = int(table.allowed_pods[row])
            message = f"{said_of_node(TOO_MANY_PODS)}: it takes {allowed}"
            yield Lack(status.plugin, message, PODS, PODS, "1", str(short.free))
        else:
            allocatable = table.allocatable_of(row, short.resource)
            wanted, free = quantity(short.resource, short.wanted), quantity(short.resource, short.free)
            subject = short.resource if allocatable >= short.wanted else f"{short.resource} of an empty node"
            yield Lack(status.plugin, shortage_text(short, allocatable), subject, short.resource, wanted, free)


def shortage_text(short: Shortage, allocatable: int) -> str:
    """Return a shortage in words: `lacks 1500m cpu: 2 wanted, 500m free`."""
    resource, wanted = short.resource, rounded(short.resource, short.wanted)
    if not allocatable:
        return f"has no {resource}: {wanted} wanted"
    if allocatable < short.wanted:
        missing = rounded(resource, short.wanted - allocatable)
        return f"is too small by {missing} {resource}: {wanted} wanted, {rounded(resource, allocatable)} in all"
    missing, free = rounded(resource, short.missing), rounded(resource, short.free)
    return f"lacks {missing} {resource}: {wanted} wanted, {free} free"


# -- taints


def _of_taints(pod: PodInfo, node: Node, comparison: bool) -> Iterator[Named]:
    for taint in untolerated(pod, node, comparison):
        yield f"taint {taint_text(taint)}", f"has taint {taint_text(taint)}"


def untolerated(pod: PodInfo, node: Node, comparison: bool = False) -> list[Taint]:
    """Return the taints of a node that keep the pod away."""
    tolerations = pod.spec.tolerations
    return [
        taint
        for taint in node.spec.taints
        if forbids_scheduling(taint) and not tolerated_by_any(taint, tolerations, comparison)
    ]


# -- labels


def _of_affinity(pod: PodInfo, node: Node) -> Iterator[Named]:
    """Return the labels that node selector and node affinity miss; of alternative terms those of the nearest."""
    required = required_node_affinity(pod.spec)
    node_labels = node.metadata.labels
    yield from _of_labels(required.labels, node_labels)
    if required.terms is not None and not required.terms.matches(node_labels, node.name):
        terms = [_of_term(term, node) for term in required.terms.terms]
        yield from min(terms, key=len, default=[("node affinity", "its node affinity has no terms")])


def _of_term(term: CompiledTerm, node: Node) -> list[Named]:
    if term.problems:
        return [("node affinity", f"a term of its node affinity cannot be read: {each}") for each in term.problems]
    lacking = list(_of_labels(term.labels, node.metadata.labels))
    for check in term.fields:
        if not check.matches(node.name):
            wanted = f"{'' if check.wanted else 'not '}{check.value}"
            lacking.append((f"{check.key} {wanted}", f"{check.key} is {node.name}, {wanted} wanted"))
    return lacking


def _of_labels(selector: Selector, node_labels: Mapping[str, str]) -> Iterator[Named]:
    """Return the requirements that labels do not satisfy."""
    for requirement in selector.requirements:
        if not selector_of([requirement]).matches(node_labels):
            yield f"label {requirement}", label_text(requirement, node_labels)


def label_text(requirement: Requirement, node_labels: Mapping[str, str]) -> str:
    """Return what a label is, and what is wanted: `label disk is hdd, ssd wanted`."""
    key, operator = requirement.key, requirement.operator
    has = f"label {key} is {node_labels[key] or 'empty'}" if key in node_labels else f"label {key} is missing"
    wanted = _WANTED.get(operator, _as_selector)
    return f"{has}, {wanted(requirement)} wanted"


def _as_selector(requirement: Requirement) -> str:
    return str(requirement)


def _one_of(requirement: Requirement) -> str:
    return " or ".join(requirement.values)


_WANTED: Mapping[str, Callable[[Requirement], str]] = {
    labels.IN: _one_of,
    labels.EQUALS: _one_of,
    labels.DOUBLE_EQUALS: _one_of,
    labels.NOT_IN: lambda requirement: f"not {_one_of(requirement)}",
    labels.EXISTS: lambda requirement: "any value",
    labels.DOES_NOT_EXIST: lambda requirement: "none",
}


# -- ports


def _of_ports(rejections: Rejections, pod: PodInfo, row: int) -> Iterator[Named]:
    table = rejections.table
    for port in pod.digest.host_ports:
        if conflicts(port.ip, table.ports.users(port).get(row, ())):
            users = [
                other.full_name
                for other in table.pods_on[row].values()
                for theirs in other.digest.host_ports
                if (theirs.protocol, theirs.port) == (port.protocol, port.port)
            ]
            name = f"host port {port.port}/{port.protocol}"
            yield name, f"{name} is taken by {', '.join(sorted(users))}"
