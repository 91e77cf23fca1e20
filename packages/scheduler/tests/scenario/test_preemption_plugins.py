"""Preemption plugins of third parties: the loop carries out what any PostFilter plugin found."""

import asyncio

import pytest
from tests.support.world import World, live

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import PostFilterPlugin, PreEnqueuePlugin
from kubesched.core.framework.results.outcomes import NodeVerdicts, PostFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.preemption import Candidate, RunningPreemptions
from kubesched.core.framework.values.status import SUCCESS, Status, unresolvable, unschedulable
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod

PROFILE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      disabled: [{name: DefaultPreemption}]
      enabled: [{name: EvictCheapest}]
"""


class EvictCheapest(PostFilterPlugin, PreEnqueuePlugin):
    """Evicts the least important pod of a full cluster; holds the preemptor back while that goes on."""

    name = "EvictCheapest"

    def __init__(self, cluster: ClusterView, preemptions: RunningPreemptions) -> None:
        self._cluster = cluster
        self._preemptions = preemptions

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        return unresolvable("victims are going") if self._preemptions.holds(pod.uid) else None

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        victims = [other for other in self._cluster.pods.values() if other.priority < pod.priority]
        if not victims:
            return PostFilterResult(unschedulable("nobody is less important"))
        victim = min(victims, key=lambda other: other.priority)
        return PostFilterResult(SUCCESS, victim.spec.node_name, [Candidate(victim.spec.node_name, (victim,), 0)])


@pytest.fixture
def registry() -> Registry:
    found = Registry()
    found.register(EvictCheapest)
    return found


def test_victims_of_a_third_party_plugin_are_evicted_without_default_preemption(registry: Registry) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_node("n2", cpu="1"))
        world.put(a_pod("low", cpu="1", priority=1))
        world.put(a_pod("middle", cpu="1", priority=2))
        await asyncio.sleep(5)
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(20)

    world = live(story, config=PROFILE, registry=registry)
    assert world.evicted == ["low"]
    assert world.pod("low") is None
    assert world.node_of("high") in ("n1", "n2")
    assert world.node_of("middle")
