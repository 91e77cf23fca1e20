"""The lacks of a node for a pod, with amounts and names.

From the rejections of a row to `Lack`s. The filter has already rejected the node; here the cause is looked up:
amounts in this module, names in `look_ups`. Without a look-up the plugin's reason is used.
"""

from collections.abc import Iterator

from kubesched.core.framework.values.status import Code, Status
from kubesched.core.plugins.node_resources.fit_request import TOO_MANY_PODS
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.rejections import PODS, Rejections, Shortage
from kubesched.reports.plain_words import said_of_node, said_of_pod
from kubesched_answers.amounts import amount_texts, quantity
from kubesched_answers.explain.look_ups import LOOK_UPS, RejectedNode
from kubesched_answers.explain.pod_answer import Lack, NearMiss
from kubesched_answers.explain.rejecting_terms import RejectingTerms
from kubesched_answers.node_health import trouble_of

# this factor more rows are searched first, since some nodes may be unhealthy
SPARE = 4
# how NodeVolumeLimits begins its message about a claim that it cannot read
LOOKING_UP = "looking up PVC"


def near_misses(
    model: ClusterModel, rejections: Rejections, limit: int, terms: RejectingTerms | None = None
) -> tuple[NearMiss, ...]:
    """Return the nodes that lack least, the nearest first, without unhealthy nodes.

    A PreFilter rejection of the pod counts for every node.
    """
    names = rejections.table.names
    terms = terms or RejectingTerms(model, rejections.evaluation.pod)
    of_pod = tuple(Lack(each.plugin, said_of_pod(each.message), each.message) for each in rejections.pre_filter[:1])
    return tuple(
        NearMiss(
            names[row],
            (*of_pod, *lacks_of(model, rejections, row, terms)),
            not of_pod and not rejections.unresolvable[row],
        )
        for row in _well_rows(rejections, limit)
    )


def _well_rows(rejections: Rejections, limit: int) -> list[int]:
    """Return the nearest rows whose nodes are healthy."""
    found: list[int] = []
    size = rejections.table.size
    for most in (limit * SPARE, size) if limit * SPARE < size else (size,):
        rows = rejections.near_rows(most)
        found = [row for row in rows if (node := rejections.table.nodes[row]) is not None and trouble_of(node) is None]
        if len(found) >= limit:
            break
    return found[:limit]


def lacks_of(
    model: ClusterModel, rejections: Rejections, row: int, terms: RejectingTerms | None = None
) -> tuple[Lack, ...]:
    """Return everything that a row lacks for the pod, in the order of the filters."""
    node = rejections.table.nodes[row]
    assert node is not None, "a rejected row has a node"
    found: list[Lack] = []
    terms = terms or RejectingTerms(model, rejections.evaluation.pod)
    for status in rejections.of_row(row):
        if rejections.pre_filter and status.message.startswith(LOOKING_UP):
            # PreFilter has already reported the problem of the claim
            continue
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
        # the shortage exists only with the pods nominated to the node
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
    """Return a shortage in words: `lacks 1.5 cpu: 2 wanted, 0.5 free`."""
    resource = short.resource
    too_small = allocatable < short.wanted
    missing = short.wanted - allocatable if too_small else short.missing
    lacking, wanted, has = amount_texts(resource, missing, short.wanted, allocatable if too_small else short.free)
    if not allocatable:
        return f"has no {resource}: {wanted} wanted"
    if too_small:
        return f"is too small by {lacking} {resource}: {wanted} wanted, {has} in all"
    return f"lacks {lacking} {resource}: {wanted} wanted, {has} free"
