"""Worlds of a column filter: judged in one call, with the verdicts of judging each world by itself."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.columns.column_worlds import ColumnWorlds
from kubesched.core.framework.columns.row_questions import RowFilterQuestion
from kubesched.core.framework.columns.row_worlds import RowWorlds
from kubesched.core.framework.plugin import FilterPlugin, PreFilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import StatusTable, unschedulable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.framework.views.pod_matcher import PodMatcher
from kubesched.testing import a_cluster, a_node, a_pod

GPU = "example.com/gpu"
REASONS = [unschedulable(f"full of {what}") for what in ("pods", "apps", "cpu", "gpus", "looks")]


class Crowded(FilterPlugin):
    """Rejects nodes by everything that depends on pods."""

    name = "Crowded"

    def __init__(self) -> None:
        self.apps = PodMatcher({"app": "a"})
        self.calls = 0

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        self.calls += 1
        looks = np.array([sum(other.priority for other in node.pods) > 9 for node in nodes], np.bool_)
        masks = (
            nodes.pod_count > 2,
            nodes.count_pods(self.apps) > 1,
            nodes.free("cpu") < 1000,
            nodes.free(GPU) < 1,
            looks,
        )
        return Verdict.first_of(len(nodes), *zip(masks, REASONS, strict=True))


PODS = [
    a_pod(f"p{number}", node=f"n{number % 3}", labels={"app": "ab"[number % 2]}, cpu=cpu, priority=number % 5)
    for number, cpu in enumerate(["100m", "500m", "1", "100m", "2", "1500m", "100m", "100m", "1"])
]
CLUSTER = a_cluster(*(a_node(f"n{row}", cpu="4", allocatable={GPU: row}) for row in range(3)), *PODS)
TABLE = CLUSTER.table
POD = CLUSTER.reader.read(a_pod("incoming"))
ON_ROW = [sorted(pod.slot for pod in TABLE.pods_on[row].values()) for row in range(3)]


def statuses(worlds: Any) -> list[Any]:
    verdict = worlds.verdict()
    return [verdict.statuses[index] for index in verdict.which.tolist()]


ROWS = st.lists(st.integers(0, 2), min_size=1, max_size=6)


@given(rows=ROWS, data=st.data())
def test_one_call_gives_the_verdicts_of_each_world_by_itself(rows: list[int], data: Any) -> None:
    plugin = Crowded()
    arguments = plugin, POD, CycleState(), TABLE, np.array(rows, np.intp)
    batch: Any = ColumnWorlds(*arguments)
    single: Any = RowWorlds(*arguments)
    here = [set(ON_ROW[row]) for row in rows]
    places = list(rows)
    for _ in range(data.draw(st.integers(0, 5))):
        if data.draw(st.booleans()):
            chosen = data.draw(st.lists(st.integers(0, len(places) - 1), min_size=1, max_size=4))
            batch, single = (each.select(np.array(chosen, np.intp)) for each in (batch, single))
            places, here = [places[each] for each in chosen], [set(here[each]) for each in chosen]
        world = data.draw(st.integers(0, len(places) - 1))
        slot = data.draw(st.sampled_from([slot for on_row in ON_ROW for slot in on_row]))
        sign = -1 if slot in here[world] else 1
        here[world] ^= {slot}
        for each in (batch, single):
            each.change(np.array([world], np.intp), np.array([slot], np.intp), sign)
    assert statuses(batch) == statuses(single)


def test_a_batch_is_one_call() -> None:
    plugin = Crowded()
    question = RowFilterQuestion(plugin, POD, TABLE, StatusTable(), CycleState(), pre_filter=False)
    worlds = question.worlds(np.arange(3))
    worlds.verdict()
    assert isinstance(worlds, ColumnWorlds)
    assert plugin.calls == 1


class Remembering(PreFilterPlugin, Crowded):
    """A column filter with a state that `add_pod` updates."""

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> None:
        return None

    def add_pod(self, cycle: CycleState, pod: PodInfo, added: PodInfo, node: Any) -> None:
        return None


def test_a_filter_with_a_state_gets_each_world_by_itself() -> None:
    question = RowFilterQuestion(Remembering(), POD, TABLE, StatusTable(), CycleState(), pre_filter=False)
    assert isinstance(question.worlds(np.arange(3)), RowWorlds)
