"""Groups of pods that claim devices: each its own, or one claim for all of them."""

import asyncio

import msgspec

from kubesched.api.devices import ResourceClaim
from kubesched.api.pods import Pod, PodResourceClaim
from kubesched.loop.scheduler import Scheduler
from kubesched.testing import a_node
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched.testing.pod_groups import a_group, member, places, play
from kubesched.testing.world import World

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
