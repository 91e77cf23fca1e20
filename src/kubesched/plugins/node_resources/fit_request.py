"""What a pod asks a node for, and what a node lacks of it.

From a pod's requests to objections. An objection is an integer: bit 0 says that the node has pods enough, bit i + 1
that it is short of the i-th amount, and the highest bit that it is too small even when empty. Statuses are made once
per objection.
"""

# upstream: noderesources/fit.go, fitsRequest (v1.36)

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.resources import Resources
from kubesched.cluster.table import CPU, EPHEMERAL_STORAGE, MEMORY, NATIVE, NodeTable
from kubesched.framework.status import Status, unresolvable, unschedulable
from kubesched.framework.verdict import Verdict

# Up to so many bits objections are counted, beyond they are sorted.
COUNTED_BITS: Final = 12
TOO_MANY_PODS: Final = "Too many pods"


class Amount(NamedTuple):
    """How much of a resource is asked for: its code in the table, and more than nothing."""

    code: int
    amount: int


class FitRequest:
    """The amounts a pod asks for, in the order in which they are complained about. Compared by identity."""

    __slots__ = ("__weakref__", "_statuses", "amounts", "beyond", "names", "scalars")

    def __init__(self, names: Sequence[str], amounts: Sequence[Amount]) -> None:
        self.names = tuple(names)
        self.amounts = tuple(amounts)
        # the indices of amounts that device classes may stand behind
        self.scalars = tuple(i for i, name in enumerate(names) if name not in NATIVE)
        # the bit of an objection that no preemption lifts
        self.beyond = 1 << (len(amounts) + 1)
        self._statuses: dict[int, Status | None] = {0: None}

    def status(self, objection: int) -> Status | None:
        """Return the status of an objection."""
        try:
            return self._statuses[objection]
        except KeyError:
            made = self._statuses[objection] = self._status(objection)
            return made

    def _status(self, objection: int) -> Status:
        reasons = [TOO_MANY_PODS] if objection & 1 else []
        reasons += [f"Insufficient {name}" for i, name in enumerate(self.names) if objection >> (i + 1) & 1]
        return (unresolvable if objection & self.beyond else unschedulable)(*reasons)

    def objection(self, table: NodeTable, row: int, delegated: Sequence[int]) -> int:
        """Return the objection of one row; `delegated` amounts matter only to nodes that offer the resource."""
        allocatable, requested = table.allocatable.item, table.requested.item
        objection = int(table.pod_count.item(row) >= table.allowed_pods.item(row))
        bit = 1
        for index, (code, amount) in enumerate(self.amounts):
            bit <<= 1
            offered = allocatable(code, row)
            if amount > offered - requested(code, row) and not (offered <= 0 and index in delegated):
                objection |= bit
                if amount > offered:
                    objection |= self.beyond
        return objection

    def verdict(self, objections: NDArray[np.bool_]) -> Verdict:
        """Return the verdict for a matrix of bits by columns of nodes, the lowest bit first."""
        if not objections.any():
            return Verdict.uniform(objections.shape[1], None)
        if len(objections) > COUNTED_BITS:
            patterns, which = np.unique(objections, axis=1, return_inverse=True)
            codes = [sum(1 << i for i in np.flatnonzero(pattern).tolist()) for pattern in patterns.T]
            # index 0 is kept for success, whether or not it occurs
            return Verdict(which.ravel() + 1, (None, *map(self.status, codes)))
        numbers = objections[0].astype(np.int16)
        for i in range(1, len(objections)):
            numbers += objections[i].view(np.int8) * np.int16(1 << i)
        counts = np.bincount(numbers, minlength=1)
        counts[0] = 1
        used = np.flatnonzero(counts)
        position = np.zeros(len(counts), np.int16)
        position[used] = np.arange(len(used), dtype=np.int16)
        return Verdict(position.take(numbers), tuple(map(self.status, used.tolist())))


def fit_request(resources: Resources, table: NodeTable, ignored: Callable[[str], bool]) -> FitRequest:
    """Return the request for some resources, without those that a plugin is told to ignore."""
    native = (resources.milli_cpu, resources.memory, resources.ephemeral_storage)
    found = [(NATIVE[code], Amount(code, native[code])) for code in (CPU, MEMORY, EPHEMERAL_STORAGE) if native[code]]
    # upstream goes through these in random order
    for name, amount in sorted(resources.scalar.items()):
        if amount and not ignored(name):
            found.append((name, Amount(table.resource(name), amount)))
    return FitRequest([name for name, _ in found], [amount for _, amount in found])
