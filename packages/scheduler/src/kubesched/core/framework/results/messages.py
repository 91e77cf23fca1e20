"""The message of a pod without a feasible node, as the reference writes it.

From statuses per row to `0/5 nodes are available: 2 Insufficient cpu, 3 Too many pods. ...`. The scheduling cycle (the
pod's PodScheduled condition) and preemption (why it does not help) use the same text.
"""

# upstream: scheduler/framework/types.go, FitError.Error (v1.36)

from collections import Counter
from collections.abc import Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.status import Status, StatusTable

# The most reasons that are counted one by one.
FEW_REASONS = 20
NO_NODE_AVAILABLE = "0/{} nodes are available:"


def fit_error_message(
    num_all_nodes: int,
    reason_counts: Mapping[str, int],
    pre_filter_message: str = "",
    post_filter_message: str = "",
) -> str:
    """Return why none of `num_all_nodes` nodes is feasible; a message of PreFilter replaces the nodes' reasons."""
    parts = [NO_NODE_AVAILABLE.format(num_all_nodes)]
    if pre_filter_message:
        parts.append(f"{pre_filter_message}.")
    elif reason_counts:
        # sorted as text: 10 comes before 2
        parts.append(", ".join(sorted(f"{count} {reason}" for reason, count in reason_counts.items())) + ".")
    if post_filter_message:
        parts.append(post_filter_message)
    return " ".join(parts)


def count_reasons(
    ids: NDArray[np.int16], statuses: StatusTable, absent: Status | None = None, num_absent: int = 0
) -> dict[str, int]:
    """Return how often each reason is given by status indices, and by `num_absent` nodes with the status `absent`."""
    times = np.bincount(ids) if len(ids) else np.zeros(0, np.intp)
    given = [(statuses[index], int(times[index])) for index in np.flatnonzero(times).tolist()]
    if absent is not None and num_absent > 0:
        given.append((absent, num_absent))
    counts: dict[str, int] = {}
    # many nodes may each have thousands of reasons: statuses with the same count are handled together
    long: dict[int, list[Status]] = {}
    for status, nodes in given:
        if len(status.reasons) > FEW_REASONS:
            long.setdefault(nodes, []).append(status)
            continue
        for reason in status.reasons:
            counts[reason] = counts.get(reason, 0) + nodes
    for nodes, alike in long.items():
        for reason, listed in Counter(chain.from_iterable(status.reasons for status in alike)).items():
            counts[reason] = counts.get(reason, 0) + listed * nodes
    return counts


def verdict_reasons(verdicts: NodeVerdicts, present: NDArray[np.bool_]) -> dict[str, int]:
    """Return how often each reason is given for the rows that have a node."""
    judged = present if verdicts.judged is None else present & verdicts.judged
    num_absent = int(np.count_nonzero(present)) - int(np.count_nonzero(judged))
    return count_reasons(verdicts.ids[judged], verdicts.statuses, verdicts.absent, num_absent)
