"""The details of a decision: the scores of the best nodes, and the nodes that each plugin rejected.

From the scheduling cycle to observers, as plain values. They take time to gather, so observers get a function that
gathers them, which is valid during the call only: the columns it reads change with the next cycle.
"""

from collections.abc import Callable

import msgspec
import numpy as np

from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.status import Status

# The most reasons of a failed attempt, and the most nodes that are named for each reason.
MOST_REASONS = 16
MOST_SAMPLED = 3


class NodeScores(msgspec.Struct, frozen=True, gc=False):
    """A feasible node: its total, and the weighted score of each plugin."""

    node: str
    total: int
    scores: tuple[int, ...]


class PlacementScores(msgspec.Struct, frozen=True, gc=False):
    """The chosen node first, then the runners-up; `scores` of each are in the order of `plugins`.

    `ties` is the number of nodes with the highest total, of which one is drawn.
    """

    plugins: tuple[str, ...]
    nodes: tuple[NodeScores, ...]
    ties: int


class RejectedNodes(msgspec.Struct, frozen=True, gc=False):
    """The nodes that a plugin rejected with a reason: how many, and the names of a few."""

    plugin: str
    message: str
    count: int
    sample: tuple[str, ...]


# returns the details; None if the nodes were not scored
ScoreDetails = Callable[[], PlacementScores | None]
RejectionDetails = Callable[[], tuple[RejectedNodes, ...]]


def rejected_nodes(verdicts: NodeVerdicts, table: NodeTable) -> tuple[RejectedNodes, ...]:
    """Return the rejected nodes by plugin and reason, the most frequent reasons first."""
    present = table.present[: table.size]
    judged = present if verdicts.judged is None else present & verdicts.judged
    times = np.bincount(verdicts.ids[judged], minlength=1)
    # 0 is success
    times[0] = 0
    most = np.argsort(-times, kind="stable")[:MOST_REASONS]
    found: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}
    for index in most[times[most] > 0].tolist():
        rows = np.flatnonzero(judged & (verdicts.ids == index))[:MOST_SAMPLED]
        names = tuple([table.names[row] for row in rows.tolist()])
        _count(found, verdicts.statuses[index], int(times[index]), names)
    absent = int(np.count_nonzero(present)) - int(np.count_nonzero(judged))
    if absent:
        rows = np.flatnonzero(present & ~judged)[:MOST_SAMPLED]
        _count(found, verdicts.absent, absent, tuple([table.names[row] for row in rows.tolist()]))
    ordered = sorted(found.items(), key=lambda item: -item[1][0])[:MOST_REASONS]
    return tuple([RejectedNodes(*key, count, sample[:MOST_SAMPLED]) for key, (count, sample) in ordered])


def _count(
    found: dict[tuple[str, str], tuple[int, tuple[str, ...]]], status: Status, count: int, names: tuple[str, ...]
) -> None:
    for reason in status.reasons[:MOST_REASONS]:
        before, sample = found.get((status.plugin, reason), (0, ()))
        found[status.plugin, reason] = before + count, (*sample, *names)
