"""The plugin contract: one base class per extension point, under upstream's names.

A filter is a function from a pod and nodes to a verdict; a score, to integers. There are four ways to write them; climb
only as far as you must:

* *row*: `filter`, `score` of `FilterPlugin`, `ScorePlugin`. One node at a time, as upstream's. Always begin here.
* *columns*: `filter_nodes`, `score_nodes` of the same. All nodes at once in NumPy, if one by one is too slow.
* *worlds*: `filter_worlds` of `WorldsFilterPlugin`. For in-tree filters that read pods in the table itself: what if
  some came or went? Third-party plugins see no table, and their views are true in worlds (`nodes`).
* *question*: `filter_question`, `score_question` of `QuestionFilterPlugin`, `QuestionScorePlugin`, in-tree as well. A
  node's answer depends on other nodes (spreading, affinity), so that the plugin keeps its own columns.

Of the row form and the column form one is enough: the other is derived from it when the class is defined. If both
exist they must agree; the column form is then asked about many nodes, and the row form about few.

Caching is by consent: a plugin that defines `key` promises that its answer for a row depends only on that part of the
pod and on what `reads` names (`Reads`); its columns are then kept and caught up only where that changed. A
plugin without a key is asked again in every cycle. Attributes such as `reads` and `key_of_template` may be set on the
class or, where they depend on arguments, on the instance by the constructor.
"""

from collections.abc import Generator, Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.scheduling import PodGroup
from kubesched.core.cluster.changes import ANYTHING
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.calling.forms import derive_form, filter_alone, filter_each, score_alone, score_each
from kubesched.core.framework.observing.observer import NOBODY, Observer
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action as EventAction
from kubesched.core.framework.values.events import ClusterEvent, Registration, Resource
from kubesched.core.framework.values.permission import Permission as Permission
from kubesched.core.framework.values.status import Status, StatusTable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes

if TYPE_CHECKING:
    from kubesched.core.framework.columns.questions import FilterQuestion, FilterWorlds, ScoreQuestion
    from kubesched.core.framework.results.outcomes import NodeVerdicts, PostFilterResult, PreFilterResult
    from kubesched.core.framework.services.offered import ReleasedService
    from kubesched.core.framework.values.extenders import ExtenderArgs, ExtenderResult
    from kubesched.core.framework.values.placements import Placement
    from kubesched.core.framework.values.preemption import GroupTrial, PodGroupPostFilterResult

MAX_NODE_SCORE = 100
MIN_NODE_SCORE = 0


class Uncached:
    """The key of a plugin whose answers are not cached."""


UNCACHED = Uncached()


class Plugin:
    """Base of all plugins; `name` is its name in configurations."""

    name: str = ""
    # kinds that the plugin looks up, besides pods, nodes and those whose events it registers for
    looks_up: tuple[str, ...] = ()
    # what the plugin writes, kind and subresource: `Pod/eviction`, `racks.v1.example.com/status`
    writes: tuple[str, ...] = ()
    # the observer of failed hooks; set by the framework
    observed_by: Observer = NOBODY
    # whether the plugin is part of the scheduler: it may read the table, and its tests prove what it reads
    in_tree: bool = False
    # the services that do something for the plugin beside its hooks; set by the framework
    held_services: "Sequence[ReleasedService]" = ()
    # the plugin whose hooks these are if another one calls them; set by the framework
    stands_in_for: "Plugin | None" = None

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can help a pod which this plugin rejected; by default any event can."""
        return (Registration(ClusterEvent(Resource.WILDCARD, EventAction.ALL)),)


class PreEnqueuePlugin(Plugin):
    """Decides whether a pod may enter activeQ."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Return a status if the pod is gated, or None."""
        raise NotImplementedError


class QueueSortPlugin(Plugin):
    """Orders activeQ."""

    def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
        """Return a key by which pods are popped, smallest first."""
        raise NotImplementedError


class PreFilterPlugin(Plugin):
    """Runs for the pod before any node is filtered."""

    # The error of Filter on every node if PreFilter is not enabled; empty if Filter works without it.
    without_pre_filter: str = ""

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> "PreFilterResult | Status | None":
        """Return a rejection, Skip (Filter has nothing to do), a narrowing to some nodes, or None."""
        raise NotImplementedError

    def add_pod(self, cycle: CycleState, pod: PodInfo, added: PodInfo, node: NodeRow) -> Status | None:
        """Update the state that `pre_filter` wrote: what if `added` were on the node?"""
        return None

    def remove_pod(self, cycle: CycleState, pod: PodInfo, removed: PodInfo, node: NodeRow) -> Status | None:
        """Update the state that `pre_filter` wrote: what if `removed` were not on the node?"""
        return None


class FilterPlugin(Plugin):
    """Rejects nodes that are not feasible for the pod."""

    reads: int = ANYTHING
    # Whether `key` reads only the spec and the namespace, so that one answer is valid for all pods of a template.
    key_of_template: bool = False
    # A filter that runs only on nodes which all earlier filters passed, and is never cached.
    alive_only: bool = False

    def key(self, pod: PodInfo) -> Hashable:
        """Return the part of the pod that the verdict depends on."""
        return UNCACHED

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection of one node, or None."""
        raise NotImplementedError(f"{self.name} has no filter of single nodes")

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Return the verdict for many nodes."""
        raise NotImplementedError(f"{self.name} has no filter of many nodes")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        derive_form(cls, FilterPlugin, filter=filter_alone, filter_nodes=filter_each)


class WorldsFilterPlugin(FilterPlugin):
    """A filter in columns that reads pods: it also judges a batch of worlds, each a row with other pods on it."""

    def filter_worlds(self, pod: PodInfo, rows: NDArray[np.intp]) -> "FilterWorlds":
        """Return a batch of worlds over `rows`, without changes."""
        raise NotImplementedError


class QuestionFilterPlugin(FilterPlugin):
    """A filter whose verdict for a row depends on other rows: it keeps its own columns."""

    def filter_question(self, pod: PodInfo, statuses: StatusTable) -> "FilterQuestion":
        """Return the question of a pod; it includes PreFilter's result."""
        raise NotImplementedError


class PostFilterPlugin(Plugin):
    """Tries to make a pod without a feasible node schedulable, by preemption for example."""

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: "NodeVerdicts") -> "PostFilterResult":
        """Return the node to nominate, the candidates and the effects, or why nothing helps."""
        raise NotImplementedError


class PodGroupPostFilterPlugin(Plugin):
    """Preempts for a pod group that cannot be placed as a whole; runs wherever the plugin is enabled."""

    def pod_group_post_filter(
        self, group: PodGroup, pods: Sequence[PodInfo], trial: "GroupTrial"
    ) -> "Generator[ExtenderArgs, ExtenderResult, PodGroupPostFilterResult]":
        """Return the victims to evict; `yield from trial()` tries to place the group on the table as it is."""
        raise NotImplementedError


class PreScorePlugin(Plugin):
    """Runs for the pod before feasible nodes are scored."""

    # The error of Score if PreScore is not enabled; empty if Score works without it.
    without_pre_score: str = ""

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Return Skip (Score does not run), an error, or None."""
        raise NotImplementedError


class ScorePlugin(Plugin):
    """Scores feasible nodes for the pod."""

    score_reads: int = ANYTHING
    # Whether `score_key` reads only the spec and the namespace.
    score_key_of_template: bool = False
    # A promise that final scores lie between 0 and 100, so that they need not be checked.
    in_range: bool = False
    # Whether `normalize_scores` is overridden; set by the base class.
    normalizes: bool = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.normalizes = cls.normalize_scores is not ScorePlugin.normalize_scores
        derive_form(cls, ScorePlugin, score=score_alone, score_nodes=score_each)

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the part of the pod that the raw score depends on."""
        return UNCACHED

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
        """Return one node's score, or an error."""
        raise NotImplementedError(f"{self.name} has no score of single nodes")

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return the scores of many nodes, or an error."""
        raise NotImplementedError(f"{self.name} has no score of many nodes")

    def normalize_scores(
        self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]
    ) -> NDArray[np.int64] | Status:
        """Return the scores of all feasible nodes normalised to the range from 0 to 100."""
        return scores


class QuestionScorePlugin(ScorePlugin):
    """A score whose raw value for a row depends on other rows: it keeps its own columns."""

    def score_question(self, pod: PodInfo) -> "ScoreQuestion":
        """Return the question of a pod; it includes PreScore's result."""
        raise NotImplementedError


class ReservePlugin(Plugin):
    """Reserves resources for a pod on its chosen node. Synchronous; changes state only through the cluster."""

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Reserve the resources that the pod needs; return a rejection if that is not possible, or None."""
        raise NotImplementedError

    def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Undo `reserve`; called also for plugins whose `reserve` did not run, so it must be idempotent."""


class PermitPlugin(Plugin):
    """Approves, denies or delays the binding of a pod. Synchronous."""

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        """Return the permission."""
        raise NotImplementedError


class PreBindPlugin(Plugin):
    """Prepares the binding of a pod."""

    def pre_bind_pre_flight(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Return Skip if `pre_bind` need not run, an error, or None."""
        return None

    # Whether `pre_bind` may run concurrently with those of other plugins.
    parallel: bool = False

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Prepare the binding; return why the pod cannot be bound, or None."""
        raise NotImplementedError


class BindPlugin(Plugin):
    """Binds a pod to a node."""

    async def bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Bind the pod; return Skip to leave it to the next plugin, a failure, or None."""
        raise NotImplementedError


class PostBindPlugin(Plugin):
    """Runs after a pod is bound."""

    async def post_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Handle a bound pod."""
        raise NotImplementedError


class PlacementGeneratePlugin(Plugin):
    """Generates placements for a pod group."""

    def generate_placements(self, group: PodGroup, everywhere: "Placement") -> "Sequence[Placement] | Status":
        """Return the placements to try, parts of `everywhere`, or an error."""
        raise NotImplementedError


class PlacementScorePlugin(Plugin):
    """Scores placements of a pod group."""

    def score_placement(self, pods: Sequence[PodInfo], nodes: Nodes) -> int | Status:
        """Return the score of placing these pods, not counted in the table yet, on these nodes; or an error."""
        raise NotImplementedError

    def normalize_placement_scores(self, scores: Sequence[int]) -> Sequence[int] | Status:
        """Return the scores of all placements on which the group fits, normalised to the range from 0 to 100."""
        return scores


# Configuration's name of each extension point -> the class a plugin must extend to be enabled there.
EXTENSION_POINTS: dict[str, type[Plugin]] = {
    "preEnqueue": PreEnqueuePlugin,
    "queueSort": QueueSortPlugin,
    "preFilter": PreFilterPlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "preScore": PreScorePlugin,
    "score": ScorePlugin,
    "reserve": ReservePlugin,
    "permit": PermitPlugin,
    "preBind": PreBindPlugin,
    "bind": BindPlugin,
    "postBind": PostBindPlugin,
    "placementGenerate": PlacementGeneratePlugin,
    "placementScore": PlacementScorePlugin,
}


def extension_points_of(plugin: type[Plugin]) -> frozenset[str]:
    """Return the names of the extension points that a plugin class implements."""
    return frozenset(point for point, base in EXTENSION_POINTS.items() if issubclass(plugin, base))
