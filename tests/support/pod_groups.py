"""Words for stories with groups of pods: `a_group("g", min_count=3)`, `put_members(world, "a b c")`, `play(story)`.

From a few words to groups, their pods, and what became of them in a world with a living scheduler.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.support.world import Story, World, live

from kubesched.api.meta import ApiObject, Condition, ObjectMeta
from kubesched.api.pods import Pod, PodSchedulingGroup
from kubesched.api.scheduling import (
    BasicSchedulingPolicy,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    TopologyConstraint,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.pod_groups import PodGroups
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.results.outcomes import GroupAttempt
from kubesched.core.framework.values.effects import Delete
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing.builders import a_pod


def a_group(name: str = "g", min_count: int | None = 3, topology: str = "", **spec: Any) -> PodGroup:
    """Return a gang, or without `min_count` a basic group."""
    policy = (
        PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
        if min_count is None
        else PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=min_count))
    )
    constraints = PodGroupSchedulingConstraints(topology=(TopologyConstraint(key=topology),)) if topology else None
    meta = ObjectMeta(name=name, namespace="default", uid=f"group-{name}", generation=1)
    return PodGroup(
        metadata=meta, spec=PodGroupSpec(scheduling_policy=policy, scheduling_constraints=constraints, **spec)
    )


def member(name: str, group: str = "g", **words: Any) -> Pod:
    """Return a pod of a group that asks for a CPU."""
    return a_pod(name, **{"cpu": "1", **words}, scheduling_group=PodSchedulingGroup(pod_group_name=group))


def put_members(world: World, names: str, group: str = "g", **words: Any) -> None:
    """Put pods of a group into a world, by their names in one text."""
    for name in names.split():
        world.put(member(name, group, **words))


def places(world: World, names: str) -> list[str]:
    """Return where pods are, by their names in one text."""
    return [world.node_of(name) for name in names.split()]


def condition(world: World, name: str = "g") -> Condition | None:
    """Return what a group says about itself."""
    group = world.objects["PodGroup", f"default/{name}"]
    assert isinstance(group, PodGroup)
    return next((each for each in group.status.conditions if each.type == "PodGroupScheduled"), None)


def said_of(world: World, name: str) -> str:
    """Return why a pod waits."""
    pod = world.pod(name)
    assert pod is not None
    return next((each.message for each in pod.status.conditions if each.type == "PodScheduled"), "")


def play(story: Story, *gates: str, **options: Any) -> World:
    """Play a story with pod groups, and hold in the end that who belongs to which group is known."""

    async def whole(world: World, scheduler: Scheduler) -> None:
        await story(world, scheduler)
        await asyncio.sleep(30)
        rebuilt = PodGroups(scheduler.cluster.reader.read(pod) for pod in world.pods())
        kept = scheduler.cluster.pod_groups
        for name in [obj.name for obj in world.objects.values() if isinstance(obj, PodGroup)]:
            there, here = rebuilt.state(("default", name)), kept.state(("default", name))
            assert set(here.scheduled) == set(there.scheduled)
            assert set(here.unscheduled) == set(there.unscheduled)

    enabled = dict.fromkeys(("GenericWorkload", "GangScheduling", *gates), True)
    return live(whole, gates=FeatureGates(enabled), **options)


def evicted(world: World) -> set[str]:
    """Return the names of the pods that were deleted to make room."""
    return {effect.name for effect in world.performed if isinstance(effect, Delete)}


class Attempts(Observer):
    """Keeps what attempts to schedule groups came to."""

    def __init__(self) -> None:
        self.results: list[tuple[str, int, int]] = []

    def group_attempted(self, attempt: GroupAttempt) -> None:
        """Keep the result, how many pods were scheduled, and how many not."""
        self.results.append((attempt.result, attempt.scheduled_pods, attempt.other_pods))


GANGS = "GenericWorkload GangScheduling"


def conditions_after(objects: Sequence[ApiObject], *gates: str, seconds: float = 30) -> dict[str, tuple[str, str]]:
    """Return the node and the message of the condition of each pod, once a living scheduler has tried them all."""
    found: dict[str, tuple[str, str]] = {}

    async def story(world: World, scheduler: Scheduler) -> None:
        # all of them are there before the first attempt
        scheduler.hold()
        for obj in objects:
            world.put(obj)
        await asyncio.sleep(1)
        scheduler.go()
        await asyncio.sleep(seconds)
        found.update({pod.full_name: (pod.spec.node_name, said_of(world, pod.name)) for pod in world.pods()})

    play(story, *gates)
    return found
