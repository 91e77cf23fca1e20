"""The gate SchedulerQueueingHints closed: whatever a plugin registered for helps every pod that it rejected."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.support.world import World, live

from kubesched.api.meta import Condition
from kubesched.config.feature_gates import FeatureGates, parse_emulated_version
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod, a_spread

Step = Callable[[World], None]


class Tried(Observer):
    """Takes the names of pods that are tried."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def attempt_began(self, pod: PodInfo) -> None:
        """Take the name."""
        self.names.append(pod.name)


def changed(name: str, **metadata: Any) -> Step:
    """Return a change of a pod's metadata."""

    def step(world: World) -> None:
        pod = world.pod(name)
        assert pod is not None
        world.put(msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, **metadata)))

    return step


def written_about(name: str) -> Step:
    """Return a change of what somebody says about a pod."""

    def step(world: World) -> None:
        pod = world.pod(name)
        assert pod is not None
        conditions = (*pod.status.conditions, Condition(type="Said", status="True"))
        world.put(msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, conditions=conditions)))

    return step


def tried_after(step: Step, *, hints: bool) -> list[str]:
    """Return who is tried after something happened in a cluster in which four pods wait."""
    tried = Tried()

    async def story(world: World, scheduler: Scheduler) -> None:
        for node, key in (("n1", "rack"), ("n2", "row")):
            world.put(a_node(node, cpu="1", labels={key: "x"}))
            world.put(a_pod(f"on-{node}", node=node, labels={"app": "a"}))
            few_domains = a_spread(key, "app=a", min_domains=3)
            world.put(a_pod(f"spread-by-{key}", labels={"app": "a"}, spread=few_domains))
        world.put(a_pod("too-big", cpu="2"))
        world.put(a_pod("elsewhere", node_selector={"disk": "ssd"}))
        await asyncio.sleep(20)
        assert not any(world.node_of(name) for name in ("spread-by-rack", "spread-by-row", "too-big", "elsewhere"))
        before = len(tried.names)
        step(world)
        await asyncio.sleep(20)
        tried.names[:before] = []

    # where the gate can be closed
    gates = FeatureGates({"SchedulerQueueingHints": hints}, parse_emulated_version(["1.33"]))
    live(story, gates=gates, observers=[tried])
    return sorted(set(tried.names))


@pytest.mark.parametrize(
    ("what", "step", "with_hints", "without"),
    [
        (
            "a node that helps nobody, and has no place for two of them",
            lambda world: world.put(a_node("n4", cpu="1")),
            [],
            ["spread-by-rack", "spread-by-row"],
        ),
        (
            "a label that nobody asks for",
            lambda world: world.put(a_node("n1", cpu="1", labels={"rack": "x", "colour": "blue"})),
            [],
            ["spread-by-rack", "spread-by-row"],
        ),
        (
            "a node that is large enough for one of them",
            lambda world: world.put(a_node("n4", cpu="4")),
            ["too-big"],
            ["spread-by-rack", "spread-by-row", "too-big"],
        ),
        (
            "a node leaves that counts for one of the spread pods",
            lambda world: world.delete("Node", "n2"),
            ["spread-by-row"],
            ["spread-by-rack", "spread-by-row"],
        ),
        ("an annotation of the pod", changed("elsewhere", annotations={"a": "b"}), [], ["elsewhere"]),
        ("what is said about the pod", written_about("elsewhere"), [], []),
    ],
)
def test_without_hints_what_a_plugin_registered_for_is_enough(
    what: str, step: Step, with_hints: list[str], without: list[str]
) -> None:
    assert tried_after(step, hints=True) == with_hints, what
    assert tried_after(step, hints=False) == without, what


def test_a_node_is_not_for_pods_that_it_turns_away_whatever_filters_their_profile_has() -> None:
    """The checks of nodes that were added or changed are those of the reference, which knows no profiles there."""
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: PodTopologySpread}, {name: PrioritySort}, {name: DefaultBinder}]
      disabled: [{name: "*"}]
"""
    tried = Tried()

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", labels={"row": "x"}))
        world.put(a_pod("there", node="n1", labels={"app": "a"}))
        for name, tolerations in (("picky", []), ("tolerant", ["dirt"])):
            few_domains = a_spread("row", "app=a", min_domains=3)
            world.put(a_pod(name, labels={"app": "a"}, spread=few_domains, tolerations=tolerations))
        world.put(a_node("n2", labels={"row": "x"}, taints=["unknown:NoSchedule"]))
        await asyncio.sleep(20)
        before = len(tried.names)
        world.put(a_node("n2", labels={"row": "x"}, taints=["dirt:NoSchedule"]))
        await asyncio.sleep(20)
        assert tried.names[before:] == ["tolerant"]

    gates = FeatureGates({"SchedulerQueueingHints": False}, parse_emulated_version(["1.33"]))
    live(story, config=config, gates=gates, observers=[tried])
