"""A plugin's answers for one kind of pod, kept true while the table changes.

From plugins to the evaluator. A question belongs to (plugin, key); it is a column over all rows that follows the change
log (`cluster.following`). One whose plugin failed says so (`keep`) and is created again for the next pod.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kubesched.core.cluster.following import DerivedColumn
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.plugin import FilterPlugin, ScorePlugin
from kubesched.core.framework.values.status import Code, Status, StatusTable
from kubesched.core.framework.values.verdict import Verdict

T = TypeVar("T")


class Question(DerivedColumn):
    """A plugin's column for one kind of pod."""

    def __init__(self, table: NodeTable, reads: int) -> None:
        super().__init__(table, reads)
        # False once the plugin failed: the next pod gets a new question
        self.keep = True
        self._on_failure: Callable[[], None] | None = None

    def outlive_cycle(self, on_failure: Callable[[], None], *, trusted: bool) -> None:
        """Mark the question as cached: log the changes it depends on, make undeclared reads an error.

        `on_failure` is called if the plugin fails. Plugins that are `trusted` are known to read no more than they
        declare.
        """
        self.table.log.wanted |= self.reads
        self._on_failure = on_failure
        if not trusted:
            self.restricted_to = self.reads

    def fail(self) -> None:
        """Keep the question no longer, since its plugin failed."""
        self.keep = False
        if self._on_failure is not None:
            self._on_failure()


def shallow_copy(worlds: T) -> T:
    """Shallow-copy; ten times faster than copy.copy, and dry runs copy in every round."""
    copied: T = object.__new__(type(worlds))
    copied.__dict__.update(worlds.__dict__)
    return copied


class FilterWorlds(ABC):
    """A filter's state in a batch of worlds; world i is asked only about row `rows[i]`."""

    @abstractmethod
    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Put pod `slots[k]` into world `worlds[k]` (sign 1) or take it out (sign -1); a world occurs at most once."""

    @abstractmethod
    def verdict(self) -> Verdict:
        """Return the verdict of every world."""

    @abstractmethod
    def select(self, worlds: NDArray[np.intp]) -> "FilterWorlds":
        """Return an independent copy of some worlds."""


class FilterQuestion(Question):
    """PreFilter's and Filter's answers: `skip`, `rejection`, `node_names`, and a status index for every row."""

    def __init__(
        self, plugin: FilterPlugin, pod: PodInfo, table: NodeTable, statuses: StatusTable, reads: int | None = None
    ) -> None:
        super().__init__(table, plugin.reads if reads is None else reads)
        self.plugin = plugin
        self.pod = pod
        self.statuses = statuses
        self.skip = False
        self.rejection: Status | None = None
        self.node_names: frozenset[str] | None = None
        self.ids: NDArray[np.int16] = np.zeros(0, np.int16)
        # True only if no row is rejected; may be False even then
        self.passes_everywhere = False

    def begin(self) -> None:
        """Bring `skip`, `rejection` and `node_names` up to date; where they never change there is nothing to do."""

    def reject(self, status: Status) -> None:
        """Take a rejection, or an error, as PreFilter's outcome."""
        self.rejection = status.by(self.plugin.name)
        if status.code is Code.ERROR:
            self.fail()

    def assign(self, verdict: Verdict, rows: NDArray[np.intp] | None = None) -> None:
        """Write a verdict into the column, at some rows or as a whole."""
        ids = self.indices(verdict)
        if rows is None:
            self.ids = ids
            self.passes_everywhere = not ids.any()
        else:
            self.ids[rows] = ids
            self.passes_everywhere = self.passes_everywhere and not ids.any()

    def indices(self, verdict: Verdict) -> NDArray[np.int16]:
        """Return a verdict as indices into the status table."""
        translate = np.array(self._interned(verdict.statuses), np.int16)
        ids: NDArray[np.int16] = translate[verdict.which]
        return ids

    def index(self, status: Status) -> int:
        """Return a status as an index into the status table."""
        return self._interned((status,))[0]

    def _interned(self, statuses: Iterable[Status | None]) -> list[int]:
        """Return statuses as indices into the status table; with an error among them the question is not kept."""
        errors = self.statuses.errors
        indices = self.statuses.intern_all(statuses, self.plugin.name)
        if self.statuses.errors != errors:
            self.fail()
        return indices

    @abstractmethod
    def judge(self, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Return status indices for some rows, from the table as it is, whether or not the column is up to date."""

    @abstractmethod
    def worlds(self, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return a batch of worlds over `rows`, nothing changed in them yet."""


class Feasible:
    """The rows that passed every filter; `version` differs whenever the set may differ.

    `failure` is the error of a filter: it ends the cycle, regardless of the rows that passed.
    """

    __slots__ = ("count", "failure", "mask", "version")

    def __init__(self, mask: NDArray[np.bool_], version: Any, count: int | None = None) -> None:
        self.failure: Status | None = None
        self.mask = mask
        self.count = int(np.count_nonzero(mask)) if count is None else count
        self.version = version


class ScoreQuestion(Question):
    """PreScore's and Score's answers: `skip`, `failure`, raw scores and the normalised ones of feasible rows."""

    # whether `scores` differ from `raw`
    normalized = True

    def __init__(self, plugin: ScorePlugin, pod: PodInfo, table: NodeTable, reads: int | None = None) -> None:
        super().__init__(table, plugin.score_reads if reads is None else reads)
        self.plugin = plugin
        self.pod = pod
        self.skip = False
        self.failure: Status | None = None
        # whether the answer depends only on the columns that the question reads; otherwise PreScore runs in every cycle
        self.settled = False
        # whether PreScore failed; if False, Score did
        self.pre_score_failed = True

    @property
    @abstractmethod
    def raw(self) -> NDArray[Any]:
        """Return the raw score of every row: integers, of the smallest kind that holds them."""

    def prepare(self, feasible: Feasible) -> None:
        """Bring `raw`, `skip` and `failure` up to date for a set of feasible rows."""
        self.refresh()

    def weighted_scores(self, feasible: Feasible, weight: int, dtype: DTypeLike) -> NDArray[Any] | int | Status:
        """Return `scores` times a weight, a new column of the given kind."""
        scores = self.scores(feasible)
        if isinstance(scores, np.ndarray):
            weighted: NDArray[Any] = np.multiply(scores, weight, dtype=dtype)
            return weighted
        return scores if isinstance(scores, Status) else scores * weight

    @abstractmethod
    def scores(self, feasible: Feasible) -> NDArray[Any] | int | Status:
        """Return scores after normalisation: a column (meaningful at feasible rows), one number for all, an error."""
