"""PostFilter: the plugins that try to make a pod without a feasible node schedulable.

From verdicts to the results of the plugins. The first success ends the search; the messages of the other plugins are
joined.
"""

from collections.abc import Sequence

import msgspec

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.calling.answers import checked_post_filter_result
from kubesched.core.framework.calling.hooks import ask_timed
from kubesched.core.framework.observing.observer import POST_FILTER, UNTIMED, Stopwatch
from kubesched.core.framework.plugin import PostFilterPlugin
from kubesched.core.framework.results.outcomes import NodeVerdicts, PostFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Effect
from kubesched.core.framework.values.status import Code, Status, error


class PostFiltered(msgspec.Struct, frozen=True):
    """The joined status, and the result of each plugin that ran."""

    status: Status
    by_plugin: dict[str, PostFilterResult]

    @property
    def nominated_node_name(self) -> str | None:
        """Return the node to nominate the pod to, empty to clear a nomination, None to keep it."""
        for result in reversed(self.by_plugin.values()):
            if result.nominated_node_name is not None:
                return result.nominated_node_name
        return None

    @property
    def effects(self) -> list[Effect]:
        """Return the effects of all plugins, whether or not another plugin had success."""
        return [effect for result in self.by_plugin.values() for effect in result.effects]

    @property
    def message(self) -> str:
        """Return PostFilter's part of the pod's condition; empty after a success."""
        return "" if self.status.ok else self.status.message


# upstream: framework/runtime/framework.go, RunPostFilterPlugins (v1.36)
def run_post_filter(
    plugins: Sequence[PostFilterPlugin],
    cycle: CycleState,
    pod: PodInfo,
    verdicts: NodeVerdicts,
    stopwatch: Stopwatch = UNTIMED,
) -> PostFiltered:
    """Run the PostFilter plugins in order; return their results."""
    began = stopwatch.now()
    result = _run(plugins, cycle, pod, verdicts, stopwatch)
    stopwatch.point(POST_FILTER, result.status, began)
    return result


def _run(
    plugins: Sequence[PostFilterPlugin], cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts, stopwatch: Stopwatch
) -> PostFiltered:
    by_plugin: dict[str, PostFilterResult] = {}
    reasons: list[str] = []
    rejector = ""
    for plugin in plugins:
        result = by_plugin[plugin.name] = _ask(plugin, cycle, pod, verdicts, stopwatch)
        status = result.status
        if status.ok:
            return PostFiltered(status, by_plugin)
        if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return PostFiltered(status.by(plugin.name), by_plugin)
        if not status.rejected:
            return PostFiltered(error(*status.reasons).by(plugin.name), by_plugin)
        reasons.extend(status.reasons)
        rejector = rejector or plugin.name
    return PostFiltered(Status(Code.UNSCHEDULABLE, tuple(reasons), rejector), by_plugin)


def _ask(
    plugin: PostFilterPlugin, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts, stopwatch: Stopwatch
) -> PostFilterResult:
    """Return the result of a plugin, or its failure as a result."""
    result = ask_timed(stopwatch, plugin, "post_filter", checked_post_filter_result, cycle, pod, verdicts)
    return PostFilterResult(result) if isinstance(result, Status) else result
