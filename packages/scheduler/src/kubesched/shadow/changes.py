"""Changes of a cluster in the order in which they happened, for reports in any order.

From the reports of reflectors to changes, in the order of their resource versions. Each kind has a separate watch, and
one may be later than another: a change is passed on after a delay, in which earlier changes of other kinds can arrive.
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
    """A created, changed or (`obj` is None) deleted object; `version` is the resource version.

    `at` is the time of the report. `listed` says that it comes from a list, so that earlier changes are unknown.
    """

    version: int
    number: int
    at: float
    name: ObjectName
    obj: ApiObject | None
    listed: bool = False


class ChangeStream:
    """Takes reports as the handler of reflectors; passes changes on in order, `seconds` after their report."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        # kinds whose objects are being listed
        self.is_listing: Callable[[str], bool] = lambda kind: False
        self._waiting: list[ClusterChange] = []
        # deletions of a kind whose version follows
        self._unversioned: dict[str, list[ApiObject]] = {}
        self._number = 0

    # -- reports

    def put(self, obj: ApiObject) -> None:
        """Add a created or changed object."""
        gone = isinstance(obj, Pod) and obj.terminal
        self._insert(obj, _number_of(obj.metadata.resource_version), gone=gone)

    def drop(self, obj: ApiObject) -> None:
        """Add a deletion; its version comes with `reached`, since the object has the version before."""
        self._unversioned.setdefault(type(obj).__name__, []).append(obj)

    def reached(self, kind: str, version: str) -> None:
        """Record the version up to which all changes of a kind were reported."""
        for obj in self._unversioned.pop(kind, ()):
            self._insert(obj, _number_of(version), gone=True)

    def _insert(self, obj: ApiObject, version: int, *, gone: bool) -> None:
        kind = type(obj).__name__
        # a deletion before the object was created again
        for before in self._unversioned.pop(kind, ()):
            self._insert(before, version - 1, gone=True)
        self._number += 1
        name = name_of_object(obj)
        change = ClusterChange(version, self._number, self._clock(), name, None if gone else obj, self.is_listing(kind))
        # the numbers differ, so the later items are never compared
        heapq.heappush(self._waiting, change)

    # -- in order

    def due(self, *, all_of_them: bool = False) -> Iterator[ClusterChange]:
        """Yield the changes that have waited long enough, the earliest first."""
        latest = self._clock() - self._seconds
        while self._waiting and (all_of_them or self._waiting[0].at <= latest):
            yield heapq.heappop(self._waiting)

    def ahead(self) -> list[ClusterChange]:
        """Return the known changes that were not passed on yet, the earliest first."""
        return sorted(self._waiting)


def _number_of(version: str) -> int:
    """Return a resource version as a number; 0, which is lower than all versions, for other texts."""
    return int(version) if version.isdecimal() and len(version) <= LONGEST_VERSION else 0
