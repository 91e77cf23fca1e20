"""Worlds of a one-node filter: each has its own pods and its own state."""

from typing import Any

import numpy as np

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.columns.row_worlds import RowWorlds, WorldRow
from kubesched.core.framework.plugin import FilterPlugin, PreFilterPlugin
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState, StateKey
from kubesched.core.framework.values.status import SUCCESS, Status, unschedulable
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.testing import a_cluster, a_node, a_pod

FULL = unschedulable("full")


class RoomForOneCore(FilterPlugin):
    """Wants 1000 milli-cores and a fpga."""

    name = "RoomForOneCore"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        if node.free.milli_cpu < 1000 or node.free_of("example.com/fpga") < 1:
            return FULL
        # success may also be said in so many words
        return SUCCESS


class Told:
    """A state that what-ifs must not share."""

    def __init__(self, pods: tuple[str, ...] = ()) -> None:
        self.pods = pods

    def clone(self) -> "Told":
        return Told(self.pods)


TOLD = StateKey[Told]("told")


class Listening(PreFilterPlugin, FilterPlugin):
    """Says which pods it was told of."""

    name = "Listening"

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> PreFilterResult | Status | None:
        cycle.write(TOLD, Told())
        return None

    def add_pod(self, cycle: CycleState, pod: PodInfo, added: PodInfo, node: NodeRow) -> Status | None:
        cycle.read(TOLD).pods += (f"+{added.name}",)
        return None

    def remove_pod(self, cycle: CycleState, pod: PodInfo, removed: PodInfo, node: NodeRow) -> Status | None:
        cycle.read(TOLD).pods += (f"-{removed.name}",)
        return None

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        told = cycle.read(TOLD).pods
        return unschedulable(*told) if told else None


CLUSTER = a_cluster(
    a_node("n0", cpu="2", allocatable={"example.com/fpga": 2}),
    a_node("n1", cpu="2", allocatable={"example.com/fpga": 2}),
    a_pod("a", cpu="1500m", node="n0", requests={"example.com/fpga": 1}),
    a_pod("b", cpu="100m", node="n1"),
)
TABLE = CLUSTER.table
POD = CLUSTER.reader.read(a_pod("p", cpu="1"))


def slot(name: str) -> int:
    return TABLE.pods[f"default-{name}"].slot


def array(*numbers: int) -> Any:
    return np.array(numbers, np.intp)


def statuses(worlds: Any) -> list[Status | None]:
    verdict = worlds.verdict()
    return [verdict.statuses[index] for index in verdict.which.tolist()]


def test_pods_come_and_go_in_their_world_only() -> None:
    worlds = RowWorlds(RoomForOneCore(), POD, CycleState(), TABLE, array(0, 1, 1))
    assert statuses(worlds) == [FULL, None, None]
    worlds.change(array(0, 2), array(slot("a"), slot("b")), -1)
    assert statuses(worlds) == [None, None, None]
    worlds.change(array(1), array(slot("a")), 1)
    assert statuses(worlds) == [None, FULL, None]
    assert {pod.name for pod in TABLE.pods_on[0].values()} == {"a"}
    assert {pod.name for pod in TABLE.pods_on[1].values()} == {"b"}


def test_the_plugin_is_told_of_every_pod() -> None:
    cycle = CycleState()
    plugin = Listening()
    plugin.pre_filter(cycle, POD)
    worlds = RowWorlds(plugin, POD, cycle, TABLE, array(0, 1))
    worlds.change(array(0, 1), array(slot("a"), slot("b")), -1)
    worlds.change(array(1), array(slot("a")), 1)
    assert statuses(worlds) == [unschedulable("-a"), unschedulable("-b", "+a")]
    assert cycle.read(TOLD).pods == ()


def test_a_selection_is_independent_of_where_it_came_from() -> None:
    cycle = CycleState()
    plugin = Listening()
    plugin.pre_filter(cycle, POD)
    worlds = RowWorlds(plugin, POD, cycle, TABLE, array(0, 1))
    worlds.change(array(1), array(slot("b")), -1)
    selected = worlds.select(array(1))
    selected.change(array(0), array(slot("b")), 1)
    assert statuses(selected) == [unschedulable("-b", "+b")]
    assert statuses(worlds) == [None, unschedulable("-b")]


def test_a_node_of_a_world_shows_the_pods_of_that_world() -> None:
    node = WorldRow(TABLE, 0, {})
    assert list(node.pods) == []
    assert (node.requested.milli_cpu, node.requested.pods, node.free.milli_cpu) == (0, 0, 2000)
    assert node.free_of("example.com/fpga") == 2
    assert node.free_of("example.com/unknown") == 0
    node.world_pods["default-a"] = TABLE.pods["default-a"]
    assert [pod.name for pod in node.pods] == ["a"]
    assert (node.requested.milli_cpu, node.requested.pods, node.free.milli_cpu) == (1500, 1, 500)
    assert node.free_of("example.com/fpga") == 1


def test_taking_out_a_pod_that_is_not_there_changes_nothing() -> None:
    worlds = RowWorlds(RoomForOneCore(), POD, CycleState(), TABLE, array(1))
    worlds.change(array(0), array(slot("a")), -1)
    assert statuses(worlds) == [None]
