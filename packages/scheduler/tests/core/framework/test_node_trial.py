"""Trials of nodes: what a preemption plugin of others asks before it names victims."""

import asyncio

from tests.support.staging import with_plugins
from tests.support.world import World, live

from kubesched import (
    SUCCESS,
    Candidate,
    ClusterView,
    Code,
    CycleState,
    NodeTrial,
    NodeVerdicts,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    unschedulable,
)
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod


class EvictOne(PostFilterPlugin):
    """Evicts one pod whose absence is enough, whatever its priority."""

    name = "EvictOne"
    seen: dict[str, Code]

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        EvictOne.seen = {}

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        candidates: list[Candidate] = []
        for node in self._cluster.nodes:
            EvictOne.seen[node.name] = verdicts.of(node).code
            trial = NodeTrial(cycle, node)
            assert not trial.fits, "or the pod would have been placed"
            for other in node.pods:
                trial.remove(other)
                if trial.fits:
                    candidates.append(Candidate(node.name, (other,), 0))
                trial.restore(other)
            assert not trial.fits, "everybody is back"
        if not candidates:
            return PostFilterResult(unschedulable("one is not enough"))
        return PostFilterResult(SUCCESS, self._cluster.best_candidates(candidates)[0], candidates)


def test_a_plugin_finds_the_pod_whose_absence_is_enough_and_the_best_node() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_node("n2", cpu="4"))
        world.put(a_node("cordoned", cpu="4", unschedulable=True))
        for name, node, cpu, priority in (("a", "n1", "3", 5), ("b", "n1", "1", 0), ("c", "n2", "3", 4)):
            world.put(a_pod(name, node=node, cpu=cpu, priority=priority))
        await asyncio.sleep(1)
        world.put(a_pod("big", cpu="3"))
        await asyncio.sleep(20)
        assert world.node_of("big") == "n2"

    assert live(story, **with_plugins(EvictOne)).evicted == ["c"]
    assert EvictOne.seen["n1"] is EvictOne.seen["n2"] is Code.UNSCHEDULABLE
    assert EvictOne.seen["cordoned"] is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def test_a_plugin_that_finds_no_pod_says_so() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        for name in "ab":
            world.put(a_pod(name, node="n1", cpu="1"))
        world.put(a_pod("big", cpu="2"))
        await asyncio.sleep(5)

    world = live(story, **with_plugins(EvictOne))
    assert not world.evicted
    assert any("one is not enough" in event.note for event in world.events)
