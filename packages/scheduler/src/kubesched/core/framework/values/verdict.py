"""The verdict of a filter on many nodes at once.

From `filter_nodes` to the evaluator: which status each node gets, as an index into a short list of statuses.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.core.framework.values.status import Status


class Verdict(NamedTuple):
    """`statuses[which[i]]` is node i's status; entry 0 of `statuses` is None, which means success."""

    which: NDArray[Any]
    statuses: tuple[Status | None, ...]

    @classmethod
    def rejecting(cls, mask: NDArray[np.bool_], status: Status) -> "Verdict":
        """Return a verdict that rejects the nodes in `mask` with one status."""
        return cls(mask.astype(np.int16), (None, status))

    @classmethod
    def uniform(cls, count: int, status: Status | None) -> "Verdict":
        """Return a verdict with the same status for `count` nodes."""
        if status is None:
            return cls(np.zeros(count, np.int16), (None,))
        return cls(np.ones(count, np.int16), (None, status))

    @classmethod
    def first_of(cls, count: int, *objections: tuple[NDArray[np.bool_], Status]) -> "Verdict":
        """Return a verdict that gives each node the status of the first mask that holds for it."""
        which = np.zeros(count, np.int16)
        for index in range(len(objections), 0, -1):
            which[objections[index - 1][0]] = index
        return cls(which, (None, *(status for _, status in objections)))
