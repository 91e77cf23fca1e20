"""The caches of an evaluator: classes, questions and templates of pods, and the statuses that columns refer to.

Entries are weighed by the values that they keep alive: the pod for which a question was made, with its digest, and the
cells of columns for each of its terms. Heavy pods have a separate cache, so that no class of an ordinary pod refers to
a heavy one, and a tenant's heavy pods displace only each other.
"""

from collections.abc import Hashable
from typing import Final

from kubesched.common.recent import Recent
from kubesched.core.cluster.kept_bytes import ENCODED
from kubesched.core.cluster.pod_info import HEAVY, PodInfo, identity_of
from kubesched.core.cluster.table import NodeTable
from kubesched.core.evaluation.pod_class import PodClass, SharedColumns
from kubesched.core.evaluation.questioner import Questioner
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.columns.questions import FilterQuestion, ScoreQuestion
from kubesched.core.framework.values.status import StatusTable

# The most classes and the most questions in the cache. In large clusters fewer fit, since their columns may have at
# most this many cells; FEWEST is the lower bound of both limits.
CLASSES: Final = 2048
QUESTIONS: Final = 4096
CELLS: Final = 10_000_000
FEWEST: Final = 64
# The most bytes that the pods of the cached classes (or questions) may keep in total.
KEPT_BYTES: Final = 16 << 20
# The number of terms whose columns count among the cells of a class, and the bytes for each row of a further term.
ORDINARY_TERMS: Final = 8
TERM_BYTES: Final = 32
# Estimate for a label, an owner or a condition, in bytes.
SMALL: Final = 400


class TemplateKeys:
    """The keys that all pods of a template share; compared by identity, hence hashed fast."""

    __slots__ = ()


class Memory:
    """Classes and questions of one profile's pods."""

    def __init__(self, profile: Profile, table: NodeTable) -> None:
        self._profile = profile
        self.table = table
        self.start()

    def start(self) -> None:
        """Forget everything."""
        self.statuses = StatusTable()
        self.questioner: Questioner = Questioner(self._profile, self.table, self.statuses)
        self.columns = SharedColumns(self.table)
        # All classes are dropped when a plugin fails: classes share questions, and none may contain the failed one.
        self.classes: Recent[Hashable, PodClass] = Recent(CLASSES, KEPT_BYTES)
        self.filters: Recent[Hashable, FilterQuestion] = Recent(QUESTIONS, KEPT_BYTES)
        self.scores: Recent[Hashable, ScoreQuestion] = Recent(QUESTIONS, KEPT_BYTES)
        self.templates: Recent[Hashable, TemplateKeys] = Recent(4 * CLASSES, 2 * KEPT_BYTES)

    def adapt(self) -> None:
        """Limit the number of entries by the size of the table."""
        size = max(1, self.table.size)
        self.classes.limit = min(CLASSES, max(FEWEST, CELLS // size))
        self.filters.limit = self.scores.limit = min(QUESTIONS, max(FEWEST, 2 * CELLS // size))

    def forget_unused(self) -> int:
        """Evict the entries that were not used since the last call; return their number."""
        return sum(each.forget_unused() for each in (self.classes, self.filters, self.scores, self.templates))


class Memories:
    """The memories of ordinary and of heavy pods."""

    def __init__(self, profile: Profile, table: NodeTable) -> None:
        self.ordinary = Memory(profile, table)
        self.heavy = Memory(profile, table)
        self._table = table

    def all(self) -> tuple[Memory, Memory]:
        """Return both."""
        return self.ordinary, self.heavy

    def of(self, pod: PodInfo) -> tuple[Memory, int]:
        """Return the cache of a pod's class and questions, and their weight."""
        weight = kept_bytes(pod, self._table.size)
        memory = self.heavy if weight > HEAVY else self.ordinary
        if memory.statuses.full:
            memory.start()
        return memory, weight


def kept_bytes(pod: PodInfo, rows: int) -> int:
    """Return about how many bytes a question keeps that was made for a pod."""
    meta, status = pod.metadata, pod.status
    small = len(meta.labels) + len(meta.owner_references) + len(meta.finalizers) + len(status.conditions)
    kept = pod.digest.weight + SMALL * small + sum(map(len, meta.annotations.values()))
    if status.container_statuses or status.resource_claim_statuses or status.init_container_statuses:
        kept += ENCODED * len(identity_of(status))
    return kept + TERM_BYTES * rows * max(0, pod.digest.terms - ORDINARY_TERMS)
