"""The request of a pod, and the resources that a node lacks for it.

From a pod's requests to objections. An objection is an integer: bit 0 means that the node has too many pods, bit i + 1
that it lacks the i-th amount, and the highest bit that it is too small even when empty. Statuses are made once per
objection.

Scalar resources may be many, and most nodes offer none of them: a node then lacks all but the few that it offers.
"""

# upstream: noderesources/fit.go, fitsRequest (v1.36)

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.resources import Resources
from kubesched.core.cluster.table import CPU, EPHEMERAL_STORAGE, MEMORY, NATIVE, NodeTable
from kubesched.core.framework.values.status import Status, unresolvable, unschedulable
from kubesched.core.framework.values.verdict import Verdict

# up to this number of bits, objections are counted; beyond it, they are sorted
COUNTED_BITS: Final = 12
TOO_MANY_PODS: Final = "Too many pods"


class Amount(NamedTuple):
    """A requested amount of CPU, memory or ephemeral storage: the resource's code in the table, and the amount."""

    code: int
    amount: int


class FitRequest:
    """The amounts that a pod requests, in the order in which messages list them. Compared by identity."""

    __slots__ = (
        "__weakref__",
        "_nothing",
        "_reasons",
        "_statuses",
        "beyond",
        "index_of",
        "names",
        "native",
        "scalars",
        "wanted",
    )

    def __init__(self, native: Sequence[Amount], scalars: Sequence[tuple[str, int]]) -> None:
        self.native = tuple(native)
        self.names = (*(NATIVE[code] for code, _ in native), *(name for name, _ in scalars))
        self.wanted = (*(amount for _, amount in native), *(amount for _, amount in scalars))
        # the indices of scalar resources, which device classes may back
        self.scalars = range(len(native), len(self.names))
        self.index_of = {self.names[index]: index for index in self.scalars}
        # the bit of an objection that preemption cannot resolve
        self.beyond = 1 << (len(self.names) + 1)
        self._statuses: dict[int, Status | None] = {0: None}
        # shared by all statuses
        self._reasons = tuple(f"Insufficient {name}" for name in self.names)
        # delegated amounts -> the objection of a row that offers no scalar resource
        self._nothing: dict[tuple[int, ...], int] = {}

    def status(self, objection: int) -> Status | None:
        """Return the status of an objection."""
        try:
            return self._statuses[objection]
        except KeyError:
            made = self._statuses[objection] = self._status(objection)
            return made

    def _status(self, objection: int) -> Status:
        reasons = [TOO_MANY_PODS] if objection & 1 else []
        bits = bin(objection)[-2:1:-1]
        reasons += [reason for reason, bit in zip(self._reasons, bits, strict=False) if bit == "1"]
        return (unresolvable if objection & self.beyond else unschedulable)(*reasons)

    def objection(self, table: NodeTable, row: int, delegated: tuple[int, ...]) -> int:
        """Return the objection of one row; `delegated` amounts count only on nodes that offer the resource."""
        allocatable, requested = table.allocatable.item, table.requested.item
        objection = int(table.pod_count.item(row) >= table.allowed_pods.item(row))
        bit = 1
        for code, amount in self.native:
            bit <<= 1
            offered = allocatable(code, row)
            if amount > offered - requested(code, row):
                objection |= bit
                if amount > offered:
                    objection |= self.beyond
        return objection | self._lacking_by_name(table, row, delegated) if self.index_of else objection

    def _lacking_by_name(self, table: NodeTable, row: int, delegated: tuple[int, ...]) -> int:
        """Return the objection of one row to the scalar resources."""
        offered, asked = table.scalars.offered[row], table.scalars.asked[row]
        if delegated not in self._nothing:
            self._nothing[delegated] = self.absent(self.scalars, delegated)
        lacking = self._nothing[delegated]
        # amounts that the row does not offer, and that are not delegated to devices
        absent = len(self.scalars) - len(delegated)
        beyond = False
        few, many = (offered, self.index_of) if len(offered) < len(self.index_of) else (self.index_of, offered)
        for name in few:
            if name not in many or (offered[name] <= 0 and self.index_of[name] in delegated):
                continue
            index = self.index_of[name]
            bit = 1 << (index + 1)
            lacking &= ~bit
            absent -= index not in delegated
            if self.wanted[index] > offered[name] - asked.get(name, 0):
                lacking |= bit
                beyond = beyond or self.wanted[index] > offered[name]
        lacking &= ~self.beyond
        return lacking | self.beyond if beyond or absent else lacking

    def absent(self, indices: Iterable[int], delegated: Sequence[int]) -> int:
        """Return the objection of a row that does not offer some resources."""
        others = [index for index in indices if index not in delegated] if delegated else list(indices)
        if not others:
            return 0
        bits = bytearray(len(self.names) // 8 + 1)
        for index in others:
            bits[(index + 1) >> 3] |= 1 << ((index + 1) & 7)
        return int.from_bytes(bits, "little") | self.beyond

    def verdict(self, objections: NDArray[np.bool_], indices: Sequence[int], absent: int = 0) -> Verdict:
        """Return the verdict for a matrix of bits by columns of nodes: pods, the amounts of some indices, the last bit.

        `absent` is an additional objection of all nodes.
        """
        bits = (0, *(index + 1 for index in indices), len(self.names) + 1)
        if not absent and not objections.any():
            return Verdict.uniform(objections.shape[1], None)
        if len(objections) > COUNTED_BITS:
            patterns, which = np.unique(objections, axis=1, return_inverse=True)
            codes = [sum(1 << bits[i] for i in np.flatnonzero(pattern).tolist()) for pattern in patterns.T]
            # index 0 is kept for success, whether or not it occurs
            return Verdict(which.ravel() + 1, (None, *(self.status(code | absent) for code in codes)))
        numbers = objections[0].astype(np.int16)
        for i in range(1, len(objections)):
            numbers += objections[i].view(np.int8) * np.int16(1 << i)
        counts = np.bincount(numbers, minlength=1)
        if not absent:
            counts[0] = 1
        used = np.flatnonzero(counts)
        position = np.zeros(len(counts), np.int16)
        position[used] = np.arange(bool(absent), len(used) + bool(absent), dtype=np.int16)
        codes = [sum(1 << bit for i, bit in enumerate(bits) if number >> i & 1) for number in used.tolist()]
        statuses = (self.status(code | absent) for code in codes)
        return Verdict(position.take(numbers), (None, *statuses) if absent else tuple(statuses))


def fit_request(resources: Resources, ignored: Callable[[str], bool]) -> FitRequest:
    """Return the request for some resources, without ignored ones."""
    native = (resources.milli_cpu, resources.memory, resources.ephemeral_storage)
    amounts = [Amount(code, native[code]) for code in (CPU, MEMORY, EPHEMERAL_STORAGE) if native[code]]
    # upstream goes through these in random order
    scalars = [(name, amount) for name, amount in sorted(resources.scalar.items()) if amount and not ignored(name)]
    return FitRequest(amounts, scalars)
