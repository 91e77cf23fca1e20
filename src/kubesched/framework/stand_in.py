"""What stand-ins share: plugins that so far decide only about pods they have nothing to say about.

A stand-in registers under its name with its extension points and events, skips the pods that do not concern it exactly
as the reference does, and refuses every other pod with an error that says what is not implemented yet.
"""

from typing import Any

from kubesched.cluster.changes import Group
from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.cycle import CycleState
from kubesched.framework.events import Hint
from kubesched.framework.nodes import NodeRow, Nodes
from kubesched.framework.plugin import FilterPlugin, PreFilterPlugin
from kubesched.framework.status import SKIP, Status, error
from kubesched.framework.verdict import Verdict


def not_implemented(plugin: str, what: str) -> Status:
    """Return the error for a pod that a stand-in cannot judge."""
    return error(f"{plugin} does not implement {what} yet")


def may_help(pod: PodInfo, old: Any, new: Any) -> Hint:
    """Queue the pod whatever happened: another attempt in vain costs less than a pod that is forgotten."""
    return Hint.QUEUE


class StandInFilter(PreFilterPlugin, FilterPlugin):
    """A filter for pods that do not concern it."""

    reads = Group.NOTHING
    key_of_template = True

    def concern(self, pod: PodInfo) -> str:
        """Return what of the pod would have to be judged, or the empty text."""
        raise NotImplementedError

    def refusal(self, pod: PodInfo) -> Status | None:
        """Return the error for a pod that concerns the plugin, or None."""
        what = self.concern(pod)
        return not_implemented(self.name, what) if what else None

    def key(self, pod: PodInfo) -> str:
        """Return what concerns the plugin; mostly nothing does, and one answer serves all pods."""
        return self.concern(pod)

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status:
        """Return Skip, or the refusal."""
        return self.refusal(pod) or SKIP

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return the refusal; asked only where a profile has switched PreFilter off."""
        return self.refusal(pod)

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Return the refusal for all nodes."""
        return Verdict.uniform(len(nodes), self.refusal(pod))
