"""The change log: the rows that changed, and the groups of columns that differ.

From the cluster's mutators to everything that caches. Each change gets a sequence number and names a row and the
groups of columns that differ, or no row (`EVERYWHERE`) for an epoch such as "namespaces changed" or "a row was added".
Only real differences are logged. The log is bounded: a reader that fell off its end evaluates in full.
"""

from typing import Final

EVERYWHERE: Final = -1
CAPACITY: Final = 8192
# The most entries that a reader reads one by one; with more it first reads the union of their groups.
FEW: Final = 16


class Reads:
    """What of a row (first part) or of the whole cluster (second part) a change touches, and a question reads.

    Plain integers to be combined with `|`, since they are compared in the innermost loops.
    """

    RESOURCES: Final = 1
    PORTS: Final = 2
    PODS: Final = 4
    LABELS: Final = 8
    TAINTS: Final = 16
    IMAGES: Final = 32
    VOLUMES: Final = 64
    DEVICES: Final = 128
    NOMINATIONS: Final = 256
    FEATURES: Final = 512
    PRESENCE: Final = 1024
    # this and the next four are epochs: logged without a row, and those of objects only where a kept answer reads them
    NAMESPACES: Final = 2048
    OWNERS: Final = 4096
    STORAGE: Final = 8192
    CLAIMS: Final = 16384
    NODE_COUNT: Final = 32768
    # a node's annotations; logged, like the next two groups, only where a kept answer reads them
    ANNOTATIONS: Final = 65536
    # the other fields of the Node object, except heartbeats
    NODE_OBJECT: Final = 131072
    # the fields of a node's pods that the table does not account for, such as annotations
    POD_OBJECTS: Final = 262144
    # an epoch: a namespace is created, deleted or relabelled
    NAMESPACE_LABELS: Final = 524288

    NOTHING: Final = 0


# All groups of a row: they change when a node is created, deleted, or put on a recycled row.
WHOLE_ROW: Final = (Reads.NAMESPACES - 1) | Reads.ANNOTATIONS | Reads.NODE_OBJECT | Reads.POD_OBJECTS
# Kinds of objects that have no epoch above get one each; see `kind_reads`.
FIRST_OF_KINDS: Final = 2 * Reads.NAMESPACE_LABELS
LAST_OF_KINDS: Final = 1 << 45
# Columns of plugins get one each, in each table; see `node_values`.
FIRST_OF_COLUMNS: Final = 2 * LAST_OF_KINDS
LAST_OF_COLUMNS: Final = 1 << 61
ANYTHING: Final = 2 * LAST_OF_COLUMNS - 1
# The rows of other nodes. The log has no entries for this group, so kept answers must not read it.
OTHER_ROWS: Final = 2 * LAST_OF_COLUMNS
# The groups that code without a restriction may read; see `restrictions`.
UNRESTRICTED: Final = ANYTHING | OTHER_ROWS


class Changes:
    """What happened between two sequence numbers: the rows with what changed in each, and the union of groups.

    `everywhere` is the union of the epochs. The rows of many changes are read from the log when a reader asks for
    them: most readers learn from the groups that nothing of theirs changed.
    """

    __slots__ = ("_after", "_log", "_rows", "_touching", "_until", "everywhere", "groups")

    def __init__(
        self,
        log: "ChangeLog",
        after: int,
        until: int,
        groups: int,
        everywhere: int,
        rows: dict[int, int] | None = None,
    ) -> None:
        self.groups = groups
        self.everywhere = everywhere
        self._log = log
        self._after = after
        self._until = until
        self._rows = rows
        # by groups: several columns read the same groups, one after the other
        self._touching: dict[int, list[int]] = {}

    @property
    def rows(self) -> dict[int, int]:
        """Return the groups that changed in each row."""
        if self._rows is None:
            self._rows = self._log.rows_between(self._after, self._until)
        return self._rows

    def touching(self, groups: int) -> list[int]:
        """Return the rows in which any of `groups` changed; the list is shared."""
        found = self._touching.get(groups)
        if found is None:
            found = self._touching[groups] = [row for row, changed in self.rows.items() if changed & groups]
        return found


class ChangeLog:
    """A bounded list of (row, groups); `seq` is the number of the newest change.

    `wanted` are the groups that anything kept depends on: what no answer reads and changes often is not logged.
    """

    __slots__ = ("_base", "_epochs", "_groups", "_known", "_newest", "_rows", "own_columns", "seq", "wanted")

    def __init__(self) -> None:
        self.seq = 0
        self.wanted: int = 0
        # the number of plugin columns with a separate group
        self.own_columns = 0
        self._base = 0
        self._rows: list[int] = []
        self._groups: list[int] = []
        # the newest change of each combination of groups, in rows and as epochs
        self._newest: dict[int, int] = {}
        self._epochs: dict[int, int] = {}
        # by the first change, each up to the newest one: many readers ask between two changes
        self._known: dict[int, Changes] = {}

    def record(self, row: int, groups: int) -> None:
        """Append one change."""
        self.seq += 1
        self._rows.append(row)
        self._groups.append(groups)
        (self._epochs if row == EVERYWHERE else self._newest)[groups] = self.seq
        self._known.clear()
        if len(self._rows) > 2 * CAPACITY:
            self._base += CAPACITY
            del self._rows[:CAPACITY]
            del self._groups[:CAPACITY]
            for newest in (self._newest, self._epochs):
                for old in [each for each, seq in newest.items() if seq <= self._base]:
                    del newest[old]

    def forget(self) -> None:
        """Let every reader evaluate in full, since what its columns were made of has been numbered anew."""
        self.seq += 1
        self._base = self.seq
        self._rows.clear()
        self._groups.clear()
        self._newest.clear()
        self._epochs.clear()
        self._known.clear()

    def since(self, seq: int) -> Changes | None:
        """Return what happened after `seq`, or None if the log does not reach back so far."""
        known = self._known.get(seq)
        if known is not None:
            return known
        if seq < self._base:
            return None
        rows: dict[int, int] | None = None
        everywhere = union = 0
        if self.seq - seq <= FEW:
            rows, start = {}, seq - self._base
            for row, groups in zip(self._rows[start:], self._groups[start:], strict=True):
                if row == EVERYWHERE:
                    everywhere |= groups
                else:
                    union |= groups
                    rows[row] = rows.get(row, 0) | groups
        else:
            for groups, newest in self._epochs.items():
                if newest > seq:
                    everywhere |= groups
            for groups, newest in self._newest.items():
                if newest > seq:
                    union |= groups
        changes = self._known[seq] = Changes(self, seq, self.seq, union | everywhere, everywhere, rows)
        return changes

    def rows_between(self, after: int, until: int) -> dict[int, int]:
        """Return the groups that changed in each row after one change and up to another."""
        first, last = after - self._base, until - self._base
        assert first >= 0, "the changes are older than the log"
        rows: dict[int, int] = {}
        for row, groups in zip(self._rows[first:last], self._groups[first:last], strict=True):
            if row != EVERYWHERE:
                rows[row] = rows.get(row, 0) | groups
        return rows
