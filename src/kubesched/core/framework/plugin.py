"""The plugin contract: one base class per extension point, under upstream's names.

A filter is a function from a pod and nodes to a verdict; a score, to integers. Written for one node it is the same
function on one row: define `filter` or `filter_nodes` (`score` or `score_nodes`), the other is derived.

Caching is by consent: a plugin that defines `key` promises that its answer for a row depends only on that part of the
pod and on the column groups in `reads`; its columns are then kept and caught up only where those groups changed. A
plugin that does not is asked anew in every cycle.
"""

from collections.abc import Generator, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kubesched.api.scheduling import PodGroup
from kubesched.core.cluster.changes import ANYTHING
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.answers import checked_score, checked_scores, checked_status, checked_verdict
from kubesched.core.framework.cycle import CycleState
from kubesched.core.framework.events import Action as EventAction
from kubesched.core.framework.events import ClusterEvent, Registration, Resource
from kubesched.core.framework.hooks import failed
from kubesched.core.framework.nodes import NodeRow, Nodes
from kubesched.core.framework.observer import NOBODY, Observer
from kubesched.core.framework.permission import Permission as Permission
from kubesched.core.framework.status import Code, Status
from kubesched.core.framework.verdict import Verdict

if TYPE_CHECKING:
    from kubesched.core.framework.extenders import ExtenderArgs, ExtenderResult
    from kubesched.core.framework.outcomes import NodeVerdicts, PostFilterResult, PreFilterResult
    from kubesched.core.framework.placements import Placement
    from kubesched.core.framework.preemption import GroupTrial, PodGroupPostFilterResult

MAX_NODE_SCORE = 100
MIN_NODE_SCORE = 0


class Uncached:
    """The key of a plugin that gave no consent to caching."""


UNCACHED = Uncached()


class Plugin:
    """Base of all plugins; `name` is what configurations call it."""

    name: ClassVar[str] = ""
    # kinds that the plugin looks up, besides pods, nodes and those whose events it registers for
    looks_up: ClassVar[tuple[str, ...]] = ()
    # who is told when a hook fails, and whose hooks these are where they are called through another; the framework's
    observed_by: Observer = NOBODY
    stands_in_for: "Plugin | None" = None

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can help a pod which this plugin rejected; by default any event can."""
        return (Registration(ClusterEvent(Resource.WILDCARD, EventAction.ALL)),)


class PreEnqueuePlugin(Plugin):
    """Decides whether a pod may enter the active queue."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Return why the pod is held back, or None."""
        raise NotImplementedError


class QueueSortPlugin(Plugin):
    """Orders the active queue."""

    def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
        """Return a key by which pods are popped, smallest first."""
        raise NotImplementedError


class PreFilterPlugin(Plugin):
    """Looks at the pod before any node is filtered."""

    # What Filter says on every node where PreFilter is not enabled; empty if it can do without.
    without_pre_filter: ClassVar[str] = ""

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
    """Says which nodes cannot take the pod."""

    reads: ClassVar[int] = ANYTHING
    # Whether `key` reads only the specification and the namespace, so that one answer serves all pods of a template.
    key_of_template: ClassVar[bool] = False
    # A filter that runs only on nodes which all earlier filters passed, and is never cached.
    alive_only: ClassVar[bool] = False

    def key(self, pod: PodInfo) -> Hashable:
        """Return the part of the pod that the verdict depends on."""
        return UNCACHED

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return why one node cannot take the pod, or None."""
        verdict = checked_verdict(self.filter_nodes(cycle, pod, node.alone()), 1)
        return verdict.statuses[int(verdict.which[0])]

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Return the verdict for many nodes."""
        statuses: dict[Status | None, int] = {None: 0}
        which = np.zeros(len(nodes), np.int16)
        table = nodes.table
        for index, row in enumerate(nodes.row_numbers()):
            if table.nodes[row] is not None:
                try:
                    status = checked_status(self.filter(cycle, pod, NodeRow(table, row)), "filter")
                except BaseException as raised:
                    # of this node alone, which another filter may have ruled out
                    status = failed(self, "filter", raised)
                if status is not None and status.code is not Code.SUCCESS:
                    which[index] = statuses.setdefault(status, len(statuses))
        return Verdict(which, tuple(statuses))


class PostFilterPlugin(Plugin):
    """Tries to help a pod that no node can take."""

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: "NodeVerdicts") -> "PostFilterResult":
        """Return what can be done."""
        raise NotImplementedError


class PodGroupPostFilterPlugin(Plugin):
    """Makes room for a pod group that cannot be placed as a whole; asked wherever the plugin is enabled."""

    def pod_group_post_filter(
        self, group: PodGroup, pods: Sequence[PodInfo], trial: "GroupTrial"
    ) -> "Generator[ExtenderArgs, ExtenderResult, PodGroupPostFilterResult]":
        """Return the victims to evict; `yield from trial()` tries to place the group on the table as it is."""
        raise NotImplementedError


class PreScorePlugin(Plugin):
    """Looks at the pod before feasible nodes are scored."""

    # What Score says where PreScore is not enabled; empty if it can do without.
    without_pre_score: ClassVar[str] = ""

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Return Skip (Score has nothing to say), an error, or None."""
        raise NotImplementedError


class ScorePlugin(Plugin):
    """Says how good nodes are for the pod."""

    score_reads: ClassVar[int] = ANYTHING
    # Whether `score_key` reads only the specification and the namespace.
    score_key_of_template: ClassVar[bool] = False
    # A promise that final scores lie between 0 and 100, so that nobody has to look.
    in_range: ClassVar[bool] = False
    # Whether `normalize_scores` is defined; found out by the base class.
    normalizes: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.normalizes = cls.normalize_scores is not ScorePlugin.normalize_scores

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the part of the pod that the raw score depends on."""
        return UNCACHED

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
        """Return one node's score, or an error."""
        scores = checked_scores(self.score_nodes(cycle, pod, node.alone()), 1, "score_nodes")
        return scores if isinstance(scores, Status) else int(scores[0])

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return the scores of many nodes, or an error."""
        scores = np.zeros(len(nodes), np.int64)
        table = nodes.table
        for index, row in enumerate(nodes.row_numbers()):
            if table.nodes[row] is not None:
                try:
                    score = checked_score(self.score(cycle, pod, NodeRow(table, row)))
                    if isinstance(score, Status):
                        return score
                    scores[index] = score
                except BaseException as raised:
                    return failed(self, "score", raised)
        return scores

    def normalize_scores(
        self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]
    ) -> NDArray[np.int64] | Status:
        """Return the scores of all feasible nodes brought into the range from 0 to 100."""
        return scores


class ReservePlugin(Plugin):
    """Keeps resources aside for a pod that got a node. Synchronous; mutates only through the cluster."""

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Set aside what the pod needs; return why it cannot be had, or None."""
        raise NotImplementedError

    def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Undo `reserve`; called also for plugins whose turn had not come, so it must bear repetition."""


class PermitPlugin(Plugin):
    """Approves, denies or delays the binding of a pod. Synchronous."""

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        """Return the permission."""
        raise NotImplementedError


class PlanningPlugin(Plugin):
    """Makes a plan for a node (volumes to bind, devices to allocate) that people want to see."""

    def describe_plan(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Mapping[str, Any]:
        """Return the plan for a feasible node in the conformance corpus' form (`volumes`, `allocations`)."""
        raise NotImplementedError


class PreBindPlugin(Plugin):
    """Does what must be done before a pod is bound."""

    def pre_bind_pre_flight(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Return Skip if `pre_bind` will have nothing to do, an error, or None."""
        return None

    # Whether `pre_bind` may run beside those of other plugins.
    parallel: ClassVar[bool] = False

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Do it; return why the pod cannot be bound, or None."""
        raise NotImplementedError


class BindPlugin(Plugin):
    """Binds a pod to a node."""

    async def bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Bind the pod; return Skip to leave it to the next plugin, a failure, or None."""
        raise NotImplementedError


class PostBindPlugin(Plugin):
    """Is told of bound pods."""

    async def post_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Take note."""
        raise NotImplementedError


class PlacementGeneratePlugin(Plugin):
    """Proposes sets of nodes for a group of pods."""

    def generate_placements(self, group: PodGroup, everywhere: "Placement") -> "Sequence[Placement] | Status":
        """Return the placements to be tried, parts of `everywhere`, or an error."""
        raise NotImplementedError


class PlacementScorePlugin(Plugin):
    """Says how good a placement of a group of pods is."""

    def score_placement(self, pods: Sequence[PodInfo], nodes: Nodes) -> int | Status:
        """Return how good it is that these pods, not counted on them yet, go to these nodes; or an error."""
        raise NotImplementedError

    def normalize_placement_scores(self, scores: Sequence[int]) -> Sequence[int] | Status:
        """Return the scores of all placements that will do, brought into the range from 0 to 100."""
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


# upstream: framework/runtime/framework.go, shouldHaveEnqueueExtensions (v1.36)
def can_reject(plugin: Plugin) -> bool:
    """Return whether the plugin can turn a pod down, so that the events it registers for matter."""
    return isinstance(plugin, PreEnqueuePlugin | PreFilterPlugin | FilterPlugin | ReservePlugin | PermitPlugin)
