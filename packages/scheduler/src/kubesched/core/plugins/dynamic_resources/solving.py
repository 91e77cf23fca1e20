"""Whether claims can be allocated, for many nodes at once.

From the claims' requests and the codes of nodes that are alike to yes or no per node. Each distinct code is solved once
by the allocator, and the answer is kept for the next claims with the same spec. The concrete allocation is made only
for the chosen node. A failure (an invalid expression, a timeout) is never kept, and its message names its node.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import NAMESPACE_OID, uuid5

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api.devices import AllocationResult, ResourceClaim
from kubesched.api.nodes import Node
from kubesched.common.recent import Recent
from kubesched.core.cluster.devices.device_tracker import DeviceTracker
from kubesched.core.devices import AllocationError, AllocationTimeoutError, Allocator, FailedOnNodeError
from kubesched.core.devices.budget import TOO_MUCH_ON_A_NODE
from kubesched.core.framework.services.waiting import Waits
from kubesched.core.framework.values.status import Status, error, unresolvable
from kubesched.core.plugins.dynamic_resources.preferring import preference_score

CANNOT_ALLOCATE = unresolvable("cannot allocate all claims")

TOO_MUCH_ON_NODE = unresolvable(TOO_MUCH_ON_A_NODE)

# How many kinds of claims are remembered, with how many bytes of specifications; on how many nodes a failure gets its
# own message.
KINDS = 64
KIND_BYTES = 4 << 20
OWN_WORDS = 100

UNKNOWN, FITS, FITS_NOT, TOO_COSTLY = 0, 1, 2, 3


class Answers:
    """The answers for claims of one kind, by code."""

    __slots__ = ("scores", "verdicts")

    def __init__(self) -> None:
        self.verdicts: NDArray[np.int8] = np.zeros(0, np.int8)
        self.scores: NDArray[np.int32] = np.zeros(0, np.int32)

    def resize(self, count: int) -> None:
        """Extend the arrays to the given number of codes."""
        missing = count - len(self.verdicts)
        if missing > 0:
            # with some to spare, since codes are added one by one
            self.verdicts = np.concatenate([self.verdicts, np.zeros(missing + 64, np.int8)])
            self.scores = np.concatenate([self.scores, np.zeros(missing + 64, np.int32)])


class Solved(NamedTuple):
    """Per row: whether the claims can be allocated, and the preference score; the failures by position."""

    fits: NDArray[np.bool_]
    scores: NDArray[np.int32]
    failures: dict[int, Status]


class Solver:
    """Finds devices; one for all cycles of a plugin."""

    def __init__(self, tracker: DeviceTracker, waits: Waits, timeout_seconds: float) -> None:
        self._tracker = tracker
        self._waits = waits
        # 0: no limit
        self._timeout_seconds = timeout_seconds
        self._answers: Recent[tuple[bytes, ...], Answers] = Recent(KINDS, KIND_BYTES)
        self._true_for: tuple[object, object] = (None, None)
        self._encode = msgspec.msgpack.Encoder().encode

    def search(self, pod_uid: str) -> "DeviceSearch":
        """Return the search for one pod in one cycle."""
        return DeviceSearch(self, self._tracker, pod_uid)

    def answers(self, claims: Sequence[ResourceClaim]) -> Answers:
        """Return the answers for claims with the same specs as these."""
        true_for = self._tracker.classes, self._tracker.numbering
        if true_for[0] is not self._true_for[0] or true_for[1] is not self._true_for[1]:
            self._answers.clear()
            self._true_for = true_for
        kind = tuple([self._encode(claim.spec) for claim in claims])
        known = self._answers.get(kind)
        if known is None:
            known = Answers()
            self._answers.put(kind, known, sum(map(len, kind)))
        known.resize(self._tracker.code_count)
        return known

    def deadline(self) -> Callable[[], bool] | None:
        """Return a function that returns whether the time for one node is up, or None without a limit."""
        if self._timeout_seconds <= 0:
            return None
        now = self._waits.now
        limit = now() + self._timeout_seconds
        return lambda: now() > limit


class DeviceSearch:
    """Finds devices for one pod; the allocator is made when it is first needed."""

    def __init__(self, solver: Solver, tracker: DeviceTracker, pod_uid: str) -> None:
        self._solver = solver
        self._tracker = tracker
        self._pod_uid = pod_uid
        self._shares = 0
        self._allocator: Allocator | None = None

    def judge(self, claims: Sequence[ResourceClaim], nodes: Sequence[Node | None], rows: NDArray[np.intp]) -> Solved:
        """Return whether devices can be found for all claims, on each of some rows of the table's nodes."""
        codes = self._tracker.signature_codes()[rows]
        answers = self._solver.answers(claims)
        failures: dict[int, Status] = {}
        unknown = np.flatnonzero(answers.verdicts[codes] == UNKNOWN)
        if len(unknown):
            distinct, first = np.unique(codes[unknown], return_index=True)
            for code, position in zip(distinct.tolist(), unknown[first].tolist(), strict=True):
                failure = self._solve(claims, nodes[rows[position]], answers, code)
                if failure is not None:
                    failures[position] = failure
            if failures:
                self._spread(failures, claims, codes, nodes, rows)
        for position in np.flatnonzero(answers.verdicts[codes] == TOO_COSTLY).tolist():
            failures.setdefault(position, TOO_MUCH_ON_NODE)
        return Solved(answers.verdicts[codes] == FITS, answers.scores[codes], failures)

    def _solve(self, claims: Sequence[ResourceClaim], node: Node | None, answers: Answers, code: int) -> Status | None:
        """Solve one code and store the answer; return the failure, or None."""
        assert node is not None, "only rows with a Node object are judged"
        found = self.allocate(node, claims)
        if found == TOO_MUCH_ON_NODE:
            # the next attempt would have the same result
            answers.verdicts[code] = TOO_COSTLY
            return None
        if isinstance(found, Status):
            return found
        answers.verdicts[code] = FITS_NOT if found is None else FITS
        if found is not None:
            scores = (preference_score(claim, allocation) for claim, allocation in zip(claims, found, strict=True))
            answers.scores[code] = sum(scores)
        return None

    def _spread(
        self,
        failures: dict[int, Status],
        claims: Sequence[ResourceClaim],
        codes: NDArray[np.int32],
        nodes: Sequence[Node | None],
        rows: NDArray[np.intp],
    ) -> None:
        """Give every row with the code of a failed row a failure, with its own message if they are not too many."""
        for position, failure in list(failures.items()):
            alike = np.flatnonzero(codes == codes[position]).tolist()
            for number, other in enumerate(alike):
                if other == position:
                    continue
                own: object = None
                node = nodes[rows[other]]
                if number < OWN_WORDS and node is not None:
                    own = self.allocate(node, claims)
                failures[other] = own if isinstance(own, Status) else failure

    def allocate(self, node: Node, claims: Sequence[ResourceClaim]) -> list[AllocationResult] | Status | None:
        """Return the allocation of each claim on a node, None if devices are missing, or an error of the search."""
        if self._allocator is None:
            tracker = self._tracker
            self._allocator = Allocator(
                tracker.features, tracker.state, tracker.classes, tracker.inventory, self._new_share_id
            )
        try:
            return self._allocator.allocate(node, claims, self._solver.deadline())
        except AllocationTimeoutError:
            # it may have been a busy moment: an error is retried, after a rejection the pod would wait for an event
            return error(f"node {node.metadata.name}: timed out trying to allocate devices")
        except FailedOnNodeError as failed:
            return unresolvable(str(failed))
        except AllocationError as failed:
            return error(str(failed))

    def _new_share_id(self) -> str:
        self._shares += 1
        return str(uuid5(NAMESPACE_OID, f"{self._pod_uid}/{self._shares}"))
