"""Faults that other queues have had with claims, volumes and devices, replayed through the whole loop.

Names carry the fault's number. A story takes less time than after which the queue tries everybody again, so that only
events can help.
"""

import asyncio
from itertools import permutations

import msgspec
import pytest
from tests.support.world import World, live

from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ApiObject, OwnerReference
from kubesched.api.pods import Pod, PodResourceClaim, PodResourceClaimStatus, PodStatus
from kubesched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.testing import a_claim, a_node, a_pod, a_storage_class, a_volume, an_ephemeral_volume
from kubesched.testing.devices import a_device_class, a_device_request, a_resource_claim, a_slice

# -- devices


def a_pod_with_a_generated_claim(name: str, *, named: bool) -> Pod:
    """Return a pod that gets a claim from a template; `named` once its status tells which."""
    told = PodResourceClaimStatus(name="gpu", resource_claim_name=f"{name}-gpu")
    return a_pod(
        name,
        labels={"app": "of-one-template"},
        resource_claims=(PodResourceClaim(name="gpu", resource_claim_template_name="template"),),
        status=PodStatus(resource_claim_statuses=(told,) if named else ()),
    )


def a_generated_claim(pod_name: str) -> ResourceClaim:
    claim = a_resource_claim(f"{pod_name}-gpu", a_device_request())
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod_name, uid=f"default-{pod_name}", controller=True)
    return msgspec.structs.replace(claim, metadata=msgspec.structs.replace(claim.metadata, owner_references=(owner,)))


@pytest.mark.parametrize("first", ["claim", "status"])
def test_fault_8_a_pod_goes_on_when_its_generated_claim_is_there_and_named(first: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for obj in (a_node("n1"), a_device_class(), a_slice("s", "gpu", node="n1")):
            world.put(obj)
        world.put(a_pod_with_a_generated_claim("p", named=False))
        await asyncio.sleep(30)
        assert scheduler.queue.counts() == {Place.GATED: 1}
        steps: list[ApiObject] = [a_generated_claim("p"), a_pod_with_a_generated_claim("p", named=True)]
        for step in steps if first == "claim" else reversed(steps):
            assert world.node_of("p") == ""
            world.put(step)
            await asyncio.sleep(5)
        assert world.node_of("p") == "n1"

    live(story)


def test_fault_8_each_pod_of_a_template_hears_of_its_own_generated_claim() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for obj in (a_node("n1"), a_device_class(), a_slice("s", "gpu-0", "gpu-1", node="n1")):
            world.put(obj)
        for name in ("a", "b"):
            world.put(a_pod_with_a_generated_claim(name, named=True))
        await asyncio.sleep(30)
        for name in ("b", "a"):
            world.put(a_generated_claim(name))
            await asyncio.sleep(5)
            assert world.node_of(name) == "n1"

    live(story)


# -- volumes


def bind_claims(world: World) -> None:
    """Do what the volume controller does for volumes that are meant for a claim."""
    for volume in [obj for obj in world.objects.values() if isinstance(obj, PersistentVolume)]:
        meant_for = volume.spec.claim_ref
        claim = world.objects.get(("PersistentVolumeClaim", f"default/{meant_for.name}")) if meant_for else None
        if isinstance(claim, PersistentVolumeClaim) and not claim.spec.volume_name:
            world.put(a_claim(claim.name, storage_class=claim.spec.storage_class_name, bound_to=volume.name))


@pytest.mark.parametrize(
    "phases",
    [
        pytest.param(["Available"], id="available from the first"),
        pytest.param(["Pending", "Available"], id="pending for a while"),
    ],
)
def test_fault_10_a_volume_that_is_created_late_is_used_at_once(phases: list[str]) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_storage_class("local"))
        for name in ("a", "b"):
            world.put(a_claim(f"{name}-data", storage_class="local"))
            world.put(a_pod(name, volumes=[f"{name}-data"]))
        await asyncio.sleep(30)
        for name in ("a", "b"):
            for phase in phases:
                assert len(scheduler.pods_in_pre_bind) == 0
                world.put(
                    a_volume(f"for-{name}", storage_class="local", nodes="kubernetes.io/hostname=n1", phase=phase)
                )
                await asyncio.sleep(15)
            assert len(scheduler.pods_in_pre_bind) == 1
            bind_claims(world)
            await asyncio.sleep(1)

    world = live(story)
    assert (world.node_of("a"), world.node_of("b")) == ("n1", "n1")


@pytest.mark.parametrize("order", list(permutations(["pod", "claim", "volume"])), ids=" ".join)
def test_fault_17_a_pod_created_together_with_its_claim_and_volume_is_placed_every_time(order: tuple[str, ...]) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_storage_class("at-once", binding_mode="Immediate"))
        for number in range(4):
            objects: dict[str, ApiObject] = {
                "pod": a_pod("p", uid=f"uid-{number}", volumes=["data"]),
                "claim": a_claim("data", storage_class="at-once"),
                "volume": a_volume("pv", storage_class="at-once", claimed_by="default/data"),
            }
            for kind in order:
                world.put(objects[kind])
                # at the same moment at first, then with more and more time between them
                await asyncio.sleep(number * 5)
            bind_claims(world)
            await asyncio.sleep(15)
            assert world.bindings.get(f"uid-{number}") == "n1"
            for kind, name in (
                ("Pod", "default/p"),
                ("PersistentVolumeClaim", "default/data"),
                ("PersistentVolume", "pv"),
            ):
                world.delete(kind, name)

    live(story)


def test_fault_17_each_pod_of_a_template_hears_of_the_claim_for_its_ephemeral_volume() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_storage_class("at-once", binding_mode="Immediate"))
        pods = {name: a_pod(name, volumes=[an_ephemeral_volume("scratch")]) for name in ("a", "b")}
        for name, pod in pods.items():
            world.put(a_volume(f"for-{name}", storage_class="at-once", claimed_by=f"default/{name}-scratch"))
            world.put(pod)
        await asyncio.sleep(30)
        for name in ("b", "a"):
            world.put(a_claim(f"{name}-scratch", storage_class="at-once", bound_to=f"for-{name}", owner=pods[name]))
            await asyncio.sleep(5)
            assert world.node_of(name) == "n1"

    live(story)
