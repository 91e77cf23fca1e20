"""Many pods that share a resource claim: each adds its reservation to the same object."""

import asyncio
from collections import Counter

import msgspec
import pytest
from tests.support.world import World, live

from kubesched.api.devices import ResourceClaim
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.values.effects import Effect, Read, Write
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice

NAMES = [f"p{number}" for number in range(60)]


class Attempts(Observer):
    """Counts the attempts of each pod."""

    def __init__(self) -> None:
        self.of: Counter[str] = Counter()

    def attempt_began(self, pod: PodInfo) -> None:
        """Count one more."""
        self.of[pod.name] += 1


def the_claim(world: World) -> ResourceClaim:
    """Return the claim as it is now."""
    claim = world.objects["ResourceClaim", "default/claim"]
    assert isinstance(claim, ResourceClaim)
    return claim


def sharing(world: World) -> None:
    """Put a node with a device into a world, a claim for it, and all pods."""
    world.put(a_device_class())
    world.put(a_node("n1", cpu="8"))
    world.put(a_slice("n1", "d1", node="n1"))
    world.put(a_resource_claim("claim", a_device_request()))
    for name in NAMES:
        world.put(a_claiming_pod(name, "claim"))


def writes_and_reads(world: World) -> tuple[int, int]:
    """Return how often claims were written (or were to be), and how often they were fetched after a conflict."""
    writes = [effect for effect in world.performed if isinstance(effect, Write)]
    return len(writes), sum(isinstance(effect, Read) for effect in world.performed)


def test_pods_that_share_a_claim_are_not_in_each_others_way() -> None:
    """The claim is written once for its finalizer and once for each pod; nobody loses and has to back off."""
    attempts = Attempts()

    async def story(world: World, scheduler: Scheduler) -> None:
        sharing(world)
        await asyncio.sleep(5)
        assert {world.node_of(name) for name in NAMES} == {"n1"}
        assert {user.name for user in the_claim(world).status.reserved_for} == set(NAMES)
        assert writes_and_reads(world) == (1 + len(NAMES), 0)

    live(story, observers=[attempts])
    # but for the first all are tried once in vain while it is being allocated
    assert max(attempts.of.values()) <= 2, attempts.of


@pytest.mark.parametrize("seed", range(3))
def test_another_writer_of_a_shared_claim_costs_a_look_and_no_pod_its_turn(seed: int) -> None:
    """Somebody else labels the claim again and again: each time whoever is writing fetches it and goes on."""
    attempts = Attempts()

    async def story(world: World, scheduler: Scheduler) -> None:
        meddled = [0]

        def meddle(effect: Effect) -> str:
            if isinstance(effect, Write) and world.random.random() < 0.3 and meddled[0] < 20:
                meddled[0] += 1
                claim = the_claim(world)
                meta = msgspec.structs.replace(claim.metadata, labels={"seen": str(meddled[0])})
                world.put(msgspec.structs.replace(claim, metadata=meta))
            return ""

        world.refuse = meddle
        sharing(world)
        await asyncio.sleep(10)
        assert {world.node_of(name) for name in NAMES} == {"n1"}
        assert {user.name for user in the_claim(world).status.reserved_for} == set(NAMES)
        _, reads = writes_and_reads(world)
        assert reads == meddled[0] > 0

    live(story, seed=seed, observers=[attempts])
    assert max(attempts.of.values()) <= 2, attempts.of
