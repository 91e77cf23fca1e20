"""Faults that schedulers have had with devices, replayed. Names carry the fault's number."""

import asyncio
from typing import Any

import pytest
from tests.support.device_stories import claim_of, given, message_of, put_pool, release
from tests.support.world import World, live

from kubesched.api.codec import to_builtins
from kubesched.api.devices import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    DeviceCapacity,
    ResourceSlice,
)
from kubesched.api.meta import ApiObject
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.values.effects import ConflictError, Effect, Write
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_claim, a_node, a_pod, a_spread, a_storage_class, a_volume
from kubesched.testing.devices import (
    a_claiming_pod,
    a_device,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
    a_taint_rule,
)
from kubesched.testing.shorthand import HOSTNAME

# -- 30: what was reported belongs to nobody


def test_fault_30_nothing_that_was_reported_is_ever_changed() -> None:
    reported: list[tuple[ApiObject, object]] = []

    async def story(world: World, scheduler: Scheduler) -> None:
        put = scheduler.put

        def remembering(obj: ApiObject) -> None:
            reported.append((obj, to_builtins(obj)))
            put(obj)

        scheduler.put = remembering  # type: ignore[method-assign]
        policy = CapacityRequestPolicy(default="2", valid_range=CapacityRequestPolicyRange(min="2"))
        capacity = {"memory": DeviceCapacity(value="10", request_policy=policy)}
        world.put(a_node("n1", cpu="8", zone="a"))
        world.put(a_slice("s", a_device("gpu", shared=True, capacity=capacity), node="n1"))
        world.put(a_device_class())
        world.put(a_storage_class())
        world.put(a_volume("pv", nodes=f"{HOSTNAME}=n1"))
        world.put(a_claim("data"))
        world.put(a_pod("keeper", cpu="1", volumes=["data"]))
        for number in range(6):
            # less than the least: the least is taken
            asked = {"memory": "1"} if number % 2 else None
            world.put(a_resource_claim(f"share{number}", a_device_request(capacity=asked)))
            labels = {"app": "p"}
            world.put(a_claiming_pod(f"p{number}", f"share{number}", labels=labels, spread=a_spread("zone", "app=p")))
            await asyncio.sleep(1)
        assert [number for number in range(6) if not world.node_of(f"p{number}")] == [5]
        world.put(a_pod("vip", cpu="8", priority=10))
        await asyncio.sleep(20)
        release(world, "p0", "share0")
        await asyncio.sleep(60)
        assert world.node_of("p5") == "n1"
        world.put(a_claim("data", bound_to="pv"))

    world = live(story)
    assert {type(obj).__name__ for obj, _ in reported} >= {"Node", "Pod", "ResourceSlice", "ResourceClaim"}
    assert [obj.full_name for obj, before in reported if to_builtins(obj) != before] == []
    for number in range(1, 6):
        allocation = claim_of(world, f"share{number}").status.allocation
        assert allocation is not None
        assert allocation.devices.results[0].consumed_capacity == {"memory": "2"}


# -- 51: crashes


def test_fault_51_all_devices_where_they_draw_on_shared_counters() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_device_class())
        for name, amount in (("n1", "3"), ("n2", "4")):
            world.put(a_node(name))
            parts = [a_device(f"part{number}", draws={"card": {"slots": "2"}}) for number in range(2)]
            put_pool(world, name, *parts, counters={"card": {"slots": amount}})
        for number in range(2):
            world.put(a_resource_claim(f"c{number}", a_device_request(all_devices=True)))
            world.put(a_claiming_pod(f"p{number}", f"c{number}"))
            await asyncio.sleep(1)
        world.put(a_pod("plain"))
        await asyncio.sleep(1)
        assert given(world, "c0") == ["gpu/n2/part0", "gpu/n2/part1"]
        assert message_of(world, "p1").startswith("0/2 nodes are available: 2 cannot allocate all claims. ")
        assert world.node_of("plain")
        release(world, "p0", "c0")

    assert live(story).node_of("p1") == "n2"


TAINT_RULES = FeatureGates({"DRADeviceTaintRules": True})


@pytest.mark.parametrize("wakes", ["a slice", "the rule"])
def test_fault_51_slices_and_rules_that_taint_their_devices_change_in_turn(wakes: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_device_class())
        world.put(a_taint_rule("broken", "broken=yes:NoSchedule", device="d0"))
        world.put(a_slice("s", "d0", node="n1"))
        for number in range(2):
            world.put(a_resource_claim(f"c{number}", a_device_request()))
            world.put(a_claiming_pod(f"p{number}", f"c{number}"))
        await asyncio.sleep(1)
        assert not world.bindings
        world.put(a_slice("s", "d0", "d1", node="n1", generation=2))
        await asyncio.sleep(20)
        assert list(world.bindings.values()) == ["n1"]
        world.put(a_taint_rule("broken", "broken=yes:NoSchedule", device="d9"))
        if wakes == "a slice":
            world.put(a_slice("s", "d0", "d1", "d9", node="n1", generation=3))
        await asyncio.sleep(20)

    world = live(story, gates=TAINT_RULES)
    assert sorted([*given(world, "c0"), *given(world, "c1")]) == ["gpu/n1/d0", "gpu/n1/d1"]


def test_fault_51_a_claim_that_is_given_up_while_a_pod_is_added_to_its_users() -> None:
    def give_up(world: World) -> Any:
        given_up: list[Effect] = []

        def refuse(effect: Effect) -> str:
            if isinstance(effect, Write) and not given_up:
                given_up.append(effect)
                world.put(a_resource_claim("shared", a_device_request()))
                raise ConflictError("the object has been modified")
            return ""

        return refuse

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_device_class())
        world.put(a_slice("s", "d0", node="n1"))
        world.put(a_resource_claim("shared", a_device_request()))
        world.put(a_claiming_pod("first", "shared"))
        await asyncio.sleep(5)
        assert given(world, "shared") == ["gpu/n1/d0"]
        world.delete("Pod", "default/first")
        world.refuse = give_up(world)
        world.put(a_claiming_pod("second", "shared"))
        await asyncio.sleep(0.1)
        assert "claim default/shared got deallocated elsewhere in the meantime" in message_of(world, "second")
        await asyncio.sleep(20)

    world = live(story)
    assert world.node_of("second") == "n1"
    assert [user.uid for user in claim_of(world, "shared").status.reserved_for] == ["default-second"]


def test_fault_51_what_is_gone_may_be_unknown_stale_or_told_twice() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for unknown in (
            a_slice("never", "d0", node="n1"),
            a_taint_rule("never", "a=b:NoSchedule"),
            a_device_class("never"),
            a_resource_claim("never", a_device_request()),
            a_node("never"),
            a_pod("never", node="n1"),
            a_claim("never"),
        ):
            scheduler.drop(unknown)
        world.put(a_node("n1"))
        world.put(a_device_class())
        stale = a_slice("s", "d0", node="n1")
        world.put(stale)
        world.put(a_slice("s", "d0", "d1", node="n1", generation=2))
        await asyncio.sleep(1)
        world.lose_report = lambda obj: isinstance(obj, ResourceSlice)
        world.delete("ResourceSlice", "s")
        world.lose_report = lambda obj: False
        scheduler.drop(stale)
        scheduler.drop(stale)
        world.put(a_resource_claim("c", a_device_request()))
        world.put(a_claiming_pod("p", "c"))
        world.put(a_pod("plain"))
        await asyncio.sleep(20)
        assert (world.node_of("p"), world.node_of("plain")) == ("", "n1")
        world.put(stale)

    world = live(story, gates=TAINT_RULES)
    assert given(world, "c") == ["gpu/n1/d0"]
    assert not world.notes, world.notes
