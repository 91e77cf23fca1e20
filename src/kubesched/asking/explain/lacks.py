"""What a node lacks for a pod, with amounts and names.

From the rejections of a row to `Lack`s. That a filter rejects, the filter said; here it is looked up what of the node
is in the way: amounts here, names in `look_ups`. What has no look-up keeps the plugin's reason.
"""

from collections.abc import Iterator

from kubesched.asking.amounts import quantity, rounded
from kubesched.asking.explain.look_ups import LOOK_UPS, RejectedNode
from kubesched.asking.explain.plain_words import said_of_node
from kubesched.asking.explain.pod_answer import Lack, NearMiss
from kubesched.asking.explain.rejecting_terms import RejectingTerms
from kubesched.asking.model import ClusterModel
from kubesched.asking.rejections import PODS, Rejections, Shortage
from kubesched.core.framework.status import Code, Status
from kubesched.core.plugins.node_resources.fit_request import TOO_MANY_PODS


def near_misses(
    model: ClusterModel, rejections: Rejections, limit: int, terms: RejectingTerms | None = None
) -> tuple[NearMiss, ...]:
    """Return the nodes that lack least, the nearest first."""
    names = rejections.table.names
    terms = terms or RejectingTerms(model, rejections.evaluation.pod)
    return tuple(
        NearMiss(names[row], lacks_of(model, rejections, row, terms), not rejections.unresolvable[row])
        for row in rejections.near_rows(limit)
    )


def lacks_of(
    model: ClusterModel, rejections: Rejections, row: int, terms: RejectingTerms | None = None
) -> tuple[Lack, ...]:
    """Return everything that a row lacks for the pod, in the order of the filters."""
    node = rejections.table.nodes[row]
    assert node is not None, "a rejected row has a node"
    found: list[Lack] = []
    terms = terms or RejectingTerms(model, rejections.evaluation.pod)
    for status in rejections.of_row(row):
        found += _lacks(
            rejections, RejectedNode(model, rejections.evaluation.pod, node, row, status.reasons, terms), status
        )
    return tuple(found)


def _lacks(rejections: Rejections, rejected: RejectedNode, status: Status) -> Iterator[Lack]:
    plugin = status.plugin
    if status.code is Code.ERROR:
        yield Lack(plugin, f"the plugin fails: {status.message}", "error")
        return
    if plugin == "NodeResourcesFit":
        yield from _of_resources(rejections, rejected.row, status)
        return
    look_up = LOOK_UPS.get(plugin)
    found = tuple(look_up(rejected)) if look_up is not None else ()
    for subject, message in found or [(reason, said_of_node(reason)) for reason in status.reasons]:
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
