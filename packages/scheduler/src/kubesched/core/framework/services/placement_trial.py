"""Trials of placements: would these pods fit if those were elsewhere? Judged by the engine's own filters and scores.

From a plugin that works beside scheduling (constructor parameter `trials`) to answers. A trial changes the cluster for
as long as it is open, and takes everything back at its end: open it between two cycles only, in `background.timer` or
`waits.between_cycles`, never in a hook. Reserve and Permit do not run, nor extenders; pods with resource claims keep
their devices.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from kubesched.core.cluster.cluster import ClusterState, MovedPods
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.errors import PluginError


class PlacementJudge(Protocol):
    """The engine, as far as trials ask it."""

    def has_profile(self, pod: PodInfo) -> bool:
        """Return whether a pod is for this scheduler."""

    def feasible_nodes(self, pod: PodInfo, among: Sequence[str] | None = None) -> list[str]:
        """Return the nodes, all or among some, that pass PreFilter and Filter."""

    def chosen_node(self, pod: PodInfo) -> str:
        """Return the node that the scheduler would choose (the first of several), an empty text if none passes."""


class PlacementTrial:
    """The cluster while pods are elsewhere."""

    def __init__(self, judge: PlacementJudge, moved: MovedPods) -> None:
        self._judge = judge
        self._moved = moved

    def remove(self, pod: PodInfo) -> None:
        """Take a pod off its node."""
        self._moved.take_off([pod])

    def place(self, pod: PodInfo, node_name: str) -> None:
        """Put a pod, which waits or was removed, on a node; filters are not asked."""
        self._moved.put_on(pod, node_name)

    def feasible_nodes(self, pod: PodInfo, among: Sequence[str] | None = None) -> list[str]:
        """Return the nodes, all or among some, on which a pod, which waits or was removed, passes all filters."""
        return self._judge.feasible_nodes(self._moved.as_waiting(pod), among)

    def fits(self, pod: PodInfo, node_name: str) -> bool:
        """Return whether a pod, which waits or was removed, passes all filters on a node."""
        return bool(self.feasible_nodes(pod, [node_name]))

    def chosen_node(self, pod: PodInfo) -> str:
        """Return the node that the scheduler would choose for a pod; an empty text if it fits nowhere."""
        return self._judge.chosen_node(self._moved.as_waiting(pod))


class PlacementTrials:
    """Factory of what-if trials, injected into plugins as `trials`."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        # set by the engine, which is built after its plugins
        self.judge: PlacementJudge | None = None

    def has_profile(self, pod: PodInfo) -> bool:
        """Return whether a pod is for this scheduler: other pods are not judged."""
        return self._judge().has_profile(pod)

    @contextmanager
    def open(self) -> Iterator[PlacementTrial]:
        """Begin a trial; at its end the cluster is as before."""
        with self._cluster.moving() as moved:
            yield PlacementTrial(self._judge(), moved)

    def _judge(self) -> PlacementJudge:
        if self.judge is None:
            raise PluginError("a trial is opened in a constructor, where there is no engine yet; open it later")
        return self.judge
