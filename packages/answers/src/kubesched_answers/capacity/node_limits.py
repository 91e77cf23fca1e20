"""Why nodes take no more pods of a template.

From verdicts about the next pod to limits, the limit of most nodes first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.plugins.node_resources.fit import NodeResourcesFit
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.capacity.capacity_answer import NodeLimit
from kubesched_answers.capacity.pod_requests import NATIVE, requests_of
from kubesched_answers.capacity.row_filling import Counts
from kubesched_answers.templates.workload_template import WorkloadTemplate

INSUFFICIENT: Final = "Insufficient "
# reasons, plugin, whether a resource that pods consume has run out
_Key = tuple[tuple[str, ...], str, bool]


def node_limits(
    model: ClusterModel, template: WorkloadTemplate, verdicts: NodeVerdicts, counts: Counts | None
) -> tuple[NodeLimit, ...]:
    """Return why nodes take no more pods; a node that is too small even if empty lacks only the resources it is
    too small in.
    """
    table, requests = model.cluster.table, requests_of(model.read(template.pod))
    nodes: Counter[_Key] = Counter()
    replicas: Counter[_Key] = Counter()
    for row in table.present_rows().tolist():
        status = verdicts.status(row)
        if template.per_node and not status.reasons:
            # it runs there, or must not run there
            continue
        key = (_reasons(table, row, status, requests), status.plugin, _has_run_out(status))
        nodes[key] += 1
        replicas[key] += int(counts[row]) if counts is not None and row < len(counts) else 0
    limits = [NodeLimit(", ".join(key[0]), key[1], count, replicas[key], key[2]) for key, count in nodes.items()]
    return tuple(sorted(limits, key=lambda limit: (-limit.nodes, limit.reason)))


def _has_run_out(status: Status) -> bool:
    return status.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def _reasons(table: NodeTable, row: int, status: Status, requests: Mapping[str, int]) -> tuple[str, ...]:
    reasons = tuple(status.reasons)
    if status.plugin != NodeResourcesFit.name or _has_run_out(status):
        return reasons
    too_small = set(_too_small(table, row, requests))
    return tuple(reason for reason in reasons if reason.removeprefix(INSUFFICIENT) in too_small) or reasons


def _too_small(table: NodeTable, row: int, requests: Mapping[str, int]) -> Iterator[str]:
    """Yield the resources of which a node offers less than a pod requests."""
    offered = {**table.scalars.offered[row], **dict(zip(NATIVE, table.allocatable[:, row].tolist(), strict=False))}
    yield from (name for name, amount in requests.items() if amount > offered.get(name, 0))
