"""Groups of pods that claim devices: each its own, or one claim for all of them."""

import asyncio

import msgspec
import pytest
from tests.support.pod_groups import Attempts, a_group, member, places, play
from tests.support.world import World

from kubesched.api.devices import ResourceClaim
from kubesched.api.pods import Pod, PodResourceClaim
from kubesched.api.scheduling import PodGroupResourceClaim
from kubesched.core.framework.values.effects import Effect, Write
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice

# -- what is reserved


def with_claims(pod: Pod, *claims: str) -> Pod:
    entries = tuple(PodResourceClaim(name=claim, resource_claim_name=claim) for claim in claims)
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, resource_claims=entries))


def test_a_gang_gets_its_devices_together_or_not_at_all() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_device_class())
        world.put(a_node("n1", cpu="8"))
        world.put(a_slice("n1", "d1", node="n1"))
        world.put(a_group(min_count=2))
        for name in ("a", "b"):
            world.put(a_resource_claim(name, a_device_request()))
            world.put(with_claims(member(name), name))
        await asyncio.sleep(20)
        assert places(world, "a b") == ["", ""]
        # what was promised to the first of them while the second was tried is free again
        world.put(a_resource_claim("alone", a_device_request()))
        world.put(a_claiming_pod("alone", "alone"))
        await asyncio.sleep(5)
        assert world.node_of("alone") == "n1"
        world.put(a_node("n2", cpu="8"))
        world.put(a_slice("n2", "d1", "d2", node="n2"))
        await asyncio.sleep(20)
        assert places(world, "a b") == ["n2"] * 2
        taken = []
        for name in ("a", "b"):
            claim = world.objects["ResourceClaim", f"default/{name}"]
            assert isinstance(claim, ResourceClaim)
            assert claim.status.allocation is not None
            taken += [result.device for result in claim.status.allocation.devices.results]
        assert sorted(taken) == ["d1", "d2"]

    play(story)


# -- one claim for many


def the_claim(world: World, name: str = "shared") -> ResourceClaim:
    """Return a claim as it is now."""
    claim = world.objects["ResourceClaim", f"default/{name}"]
    assert isinstance(claim, ResourceClaim)
    return claim


def two_nodes_with_devices(world: World) -> None:
    """Put two nodes into a world that have a device each, which the other cannot reach."""
    world.put(a_device_class())
    for name in ("n1", "n2"):
        world.put(a_node(name, cpu="8"))
        world.put(a_slice(name, "d1", node=name))


@pytest.mark.parametrize("size", [2, 5, 20])
def test_a_gang_shares_a_claim_that_is_not_allocated_yet(size: int) -> None:
    """All of its pods go to where the devices are that the first of them was promised."""
    names = [f"p{number}" for number in range(size)]

    async def story(world: World, scheduler: Scheduler) -> None:
        two_nodes_with_devices(world)
        world.put(a_group(min_count=size))
        world.put(a_resource_claim("shared", a_device_request()))
        for name in names:
            world.put(with_claims(member(name, cpu="100m"), "shared"))
        await asyncio.sleep(5)
        (node,) = {world.node_of(name) for name in names}
        claim = the_claim(world)
        assert claim.status.allocation is not None
        assert [result.pool for result in claim.status.allocation.devices.results] == [node]
        assert {user.name for user in claim.status.reserved_for} == set(names)

    play(story, observers=[attempts := Attempts()])
    assert attempts.results == [("scheduled", size, 0)], "nobody has to be tried again"


def test_a_gang_that_cannot_be_placed_lets_go_of_the_claim_it_shares() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        two_nodes_with_devices(world)
        world.put(a_group(min_count=3))
        world.put(a_resource_claim("shared", a_device_request()))
        for name in ("a", "b", "c"):
            world.put(with_claims(member(name, cpu="3"), "shared"))
        await asyncio.sleep(20)
        assert places(world, "a b c") == [""] * 3
        assert scheduler.cluster.claims.content()["in flight"] == {}
        world.put(a_node("n3", cpu="9"))
        world.put(a_slice("n3", "d1", node="n3"))
        await asyncio.sleep(20)
        assert places(world, "a b c") == ["n3"] * 3

    play(story)


def test_a_claim_that_belongs_to_the_group_is_reserved_for_it_once() -> None:
    """Gate DRAWorkloadResourceClaims: the group is the claim's user, whichever of its pods comes first."""

    async def story(world: World, scheduler: Scheduler) -> None:
        two_nodes_with_devices(world)
        entry = PodGroupResourceClaim(name="shared", resource_claim_name="shared")
        world.put(a_group(min_count=3, resource_claims=(entry,)))
        world.put(a_resource_claim("shared", a_device_request()))
        for name in ("a", "b", "c"):
            world.put(with_claims(member(name), "shared"))
        await asyncio.sleep(5)
        (node,) = set(places(world, "a b c"))
        assert node
        claim = the_claim(world)
        assert [(user.resource, user.name) for user in claim.status.reserved_for] == [("podgroups", "g")]

    play(story, "DRAWorkloadResourceClaims", observers=[attempts := Attempts()])
    assert attempts.results == [("scheduled", 3, 0)], "nobody has to be tried again"


def test_a_gang_whose_claim_cannot_be_written_at_first_is_bound_in_the_end() -> None:
    refusals = [2]

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Write) and effect.subresource == "status" and refusals[0]:
            refusals[0] -= 1
            return "not now"
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        two_nodes_with_devices(world)
        world.put(a_group(min_count=3))
        world.put(a_resource_claim("shared", a_device_request()))
        for name in ("a", "b", "c"):
            world.put(with_claims(member(name), "shared"))
        await asyncio.sleep(30)
        (node,) = set(places(world, "a b c"))
        assert node
        assert {user.name for user in the_claim(world).status.reserved_for} == {"a", "b", "c"}

    play(story)
