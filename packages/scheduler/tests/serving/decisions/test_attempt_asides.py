"""What a record has beside scores and rejected nodes: answers of extenders, the failing point, candidates."""

import asyncio
from typing import Any

import pytest
from packages.scheduler.tests.serving.decisions.test_recorder import told
from tests.support.world import World

from kubesched.config.types import Extender
from kubesched.core.framework.values.effects import Bind
from kubesched.core.framework.values.extenders import (
    ExtenderAnswer,
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPrioritizeArgs,
    ExtenderPrioritizeResult,
    ExtenderResult,
)
from kubesched.core.loop.scheduler import Scheduler
from kubesched.serving.decisions.attempt_asides import MOST_CHARACTERS, recorded_extender
from kubesched.testing import a_node, a_pod

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
EXTENDER = "urlPrefix: 'http://u:secret@127.0.0.1:1/x', filterVerb: f, prioritizeVerb: p, bindVerb: b, weight: 1"
EXTENDED = f"{HEAD}extenders: [{{{EXTENDER}}}]"


class Advisor:
    """An extender that refuses n0, likes n2, and takes half a second; it binds nothing."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        await asyncio.sleep(0.5)
        if isinstance(question, ExtenderFilterArgs):
            left = [name for name in question.node_names if name != "n0"]
            return ExtenderFilterResult(left, {"n0": "haunted"}, error=self.failing)
        assert isinstance(question, ExtenderPrioritizeArgs)
        return ExtenderPrioritizeResult({"n1": 1, "n2": 9})

    async def bind(self, extender: Extender, bind: Bind) -> str:
        return "not now"


async def three_nodes(world: World, scheduler: Scheduler) -> None:
    for number in range(3):
        world.put(a_node(f"n{number}"))
    world.put(a_pod("p"))


def test_a_record_has_what_extenders_answered() -> None:
    first, second, *_ = told(three_nodes, config=EXTENDED, extender_client=lambda world: Advisor())
    assert (first.outcome, first.point, first.message) == ("error", "Bind", "not now")
    filtered, scored, bound = first.extenders
    assert "secret" not in filtered.extender
    assert (filtered.call, filtered.nodes, filtered.left, filtered.seconds) == ("filter", 3, 2, 0.5)
    assert [(each.message, each.nodes, each.sample) for each in filtered.rejected] == [("haunted", 1, ("n0",))]
    assert (scored.call, scored.left, scored.scores) == ("prioritize", 2, {"n2": 9, "n1": 1})
    assert (bound.call, bound.left, bound.error) == ("bind", 0, "not now")
    assert [each.call for each in second.extenders] == ["filter", "prioritize", "bind"]


def test_an_extender_that_fails_is_told() -> None:
    record = told(three_nodes, config=EXTENDED, extender_client=lambda world: Advisor("it is off"))[0]
    assert (record.outcome, record.point) == ("error", "Filter")
    assert [each.error for each in record.extenders] == ["it is off"]


def test_a_preemption_has_its_candidates() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for node in ("n1", "n2"):
            world.put(a_node(node, cpu="2"))
            world.put(a_pod(f"on-{node}", cpu="2", node=node, priority=int(node == "n1")))
        world.put(a_pod("vip", cpu="2", priority=100))

    tried = told(story)[0]
    assert (tried.point, tried.candidate_count, tried.nominated_node) == ("Filter", 2, "n2")
    assert {each.node: (each.victims, each.names) for each in tried.candidates} == {
        "n1": (1, ("default/on-n1",)),
        "n2": (1, ("default/on-n2",)),
    }


@pytest.mark.parametrize(
    ("pod", "point"),
    [
        pytest.param(a_pod("p", cpu="64"), "Filter", id="too large for every node"),
        pytest.param(a_pod("p", volumes=["nowhere"]), "PreFilter", id="a claim that does not exist"),
    ],
)
def test_the_point_that_rejects_a_pod_is_told(pod: Any, point: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n"))
        world.put(pod)

    assert told(story)[0].point == point


def test_answers_are_bounded() -> None:
    many = {f"n{row}": f"reason {row} {'x' * 5000}" for row in range(1000)}
    found = recorded_extender(
        ExtenderAnswer("uid", "url", "filter", 1000, 0, 1.0, many, dict.fromkeys(many, 3), "e" * 5000)
    )
    assert (len(found.rejected), len(found.scores), len(found.error)) == (16, 5, MOST_CHARACTERS)
    assert all(len(each.message) == MOST_CHARACTERS for each in found.rejected)
