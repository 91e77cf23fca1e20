"""Changes of a cluster in the order in which they happened, whatever order they are reported in.

From the reports of reflectors to changes, in the order of their resource versions. Every kind has a watch of its own,
and one may be later than another: a change is passed on when it has waited for the others for a while.
"""

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.model.cluster_model import name_of_object
from kubesched.reports.answers import ObjectName

# digits of a resource version: API servers count to 2^64
LONGEST_VERSION = 20


class ClusterChange(NamedTuple):
    """An object that is new, has changed or (`obj` is None) was deleted; `version` is the resource version.

    `at` is when it was reported. `listed`: it comes from a list, so that what happened before it is not known.
    """

    version: int
    number: int
    at: float
    name: ObjectName
    obj: ApiObject | None
    listed: bool = False


class ChangeStream:
    """Takes reports as the handler of reflectors; passes changes on in order, `seconds` after they were reported."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        # whether objects of a kind are listed at the moment
        self.is_listing: Callable[[str], bool] = lambda kind: False
        self._waiting: list[ClusterChange] = []
        # deletions of a kind whose version comes next
        self._unversioned: dict[str, list[ApiObject]] = {}
        self._number = 0

    # -- reports

    def put(self, obj: ApiObject) -> None:
        """Take an object that is new or has changed."""
        gone = isinstance(obj, Pod) and obj.terminal
        self._insert(obj, _number_of(obj.metadata.resource_version), gone=gone)

    def drop(self, obj: ApiObject) -> None:
        """Take a deletion; its version comes with `reached`, since the object is as it was before."""
        self._unversioned.setdefault(type(obj).__name__, []).append(obj)

    def reached(self, kind: str, version: str) -> None:
        """Take the version up to which everything about a kind was reported."""
        for obj in self._unversioned.pop(kind, ()):
            self._insert(obj, _number_of(version), gone=True)

    def _insert(self, obj: ApiObject, version: int, *, gone: bool) -> None:
        kind = type(obj).__name__
        # what was deleted before the object came again
        for before in self._unversioned.pop(kind, ()):
            self._insert(before, version - 1, gone=True)
        self._number += 1
        name = name_of_object(obj)
        change = ClusterChange(version, self._number, self._clock(), name, None if gone else obj, self.is_listing(kind))
        # numbers differ: nothing behind them is compared
        heapq.heappush(self._waiting, change)

    # -- in order

    def due(self, *, all_of_them: bool = False) -> Iterator[ClusterChange]:
        """Yield the changes that have waited long enough, the first one first."""
        latest = self._clock() - self._seconds
        while self._waiting and (all_of_them or self._waiting[0].at <= latest):
            yield heapq.heappop(self._waiting)

    def ahead(self) -> list[ClusterChange]:
        """Return the changes that are known and were not passed on yet, the first one first."""
        return sorted(self._waiting)


def _number_of(version: str) -> int:
    """Return a resource version as a number; 0, which is before all others, if it is none."""
    return int(version) if version.isdecimal() and len(version) <= LONGEST_VERSION else 0
