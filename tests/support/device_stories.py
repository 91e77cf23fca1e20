"""What stories about devices ask of a world and do to it.

From a world to the claims, devices and messages in it.
"""

from collections.abc import Mapping

import msgspec
from tests.support.world import World

from kubesched.api.devices import Device, ResourceClaim, ResourceClaimStatus
from kubesched.testing.devices import a_slice


def message_of(world: World, name: str) -> str:
    """Return why a pod has no node."""
    pod = world.pod(name)
    assert pod is not None
    return pod.status.conditions[0].message if pod.status.conditions else ""


def claim_of(world: World, name: str) -> ResourceClaim:
    """Return a claim as it is now."""
    claim = world.objects["ResourceClaim", f"default/{name}"]
    assert isinstance(claim, ResourceClaim)
    return claim


def given(world: World, name: str) -> list[str]:
    """Return the devices that a claim holds, as `driver/pool/device` without the common end of the driver."""
    allocation = claim_of(world, name).status.allocation
    results = allocation.devices.results if allocation is not None else ()
    return [f"{each.driver.partition('.')[0]}/{each.pool}/{each.device}" for each in results]


def kind(name: str) -> str:
    """Return the selector for devices of a kind."""
    return f'device.attributes["gpu.example.com"].kind == "{name}"'


def put_pool(
    world: World,
    node: str,
    *devices: Device,
    counters: Mapping[str, Mapping[str, str]],
    driver: str = "gpu.example.com",
) -> None:
    """Offer devices on a node that draw on counters, which have a slice of their own."""
    world.put(a_slice(f"{driver}-{node}-devices", *devices, node=node, driver=driver, slices=2))
    world.put(a_slice(f"{driver}-{node}-counters", node=node, driver=driver, slices=2, counters=counters))


def release(world: World, pod: str, claim: str) -> None:
    """Delete a pod and let go of its claim, as the one who looks after claims does it."""
    world.delete("Pod", f"default/{pod}")
    world.put(msgspec.structs.replace(claim_of(world, claim), status=ResourceClaimStatus()))
    world.delete("ResourceClaim", f"default/{claim}")
