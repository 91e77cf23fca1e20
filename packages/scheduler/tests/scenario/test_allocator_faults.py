"""Faults that allocators of devices have had, replayed. Names carry the fault's number."""

import asyncio
from typing import Any

import pytest
from tests.support.device_stories import given, kind, message_of, put_pool, release
from tests.support.world import World, live

from kubesched.api.devices import Device, ResourceClaim
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod
from kubesched.testing.devices import (
    a_claiming_pod,
    a_device,
    a_device_choice,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
    an_alternative,
)

ONE_SLOT = {"card": {"slots": "1"}}
COLOUR = "gpu.example.com/colour"
RED, BLUE = (f'device.attributes["gpu.example.com"].colour == "{colour}"' for colour in ("red", "blue"))


@pytest.mark.parametrize(
    ("what", "drawn", "counters", "fits"),
    [
        ("each pool has its own counters", ONE_SLOT, {"card": {"slots": "1"}}, True),
        ("of another size", {"card": {"slots": "2"}}, {"card": {"slots": "2"}}, True),
        ("under another name", {"chip": {"lanes": "1"}}, {"chip": {"lanes": "1"}}, True),
        ("of which there are not enough", {"chip": {"lanes": "2"}}, {"chip": {"lanes": "1"}}, False),
    ],
)
def test_fault_61_pools_of_one_name_belong_to_their_drivers(
    what: str, drawn: Any, counters: dict[str, dict[str, str]], fits: bool
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        put_pool(world, "n1", a_device("d", draws=ONE_SLOT), counters=ONE_SLOT, driver="a.example.com")
        put_pool(world, "n1", a_device("d", draws=drawn), counters=counters, driver="b.example.com")
        for name in ("a", "b"):
            world.put(a_device_class(name, f'device.driver == "{name}.example.com"'))
            world.put(a_resource_claim(name, a_device_request(device_class=name)))
        world.put(a_claiming_pod("p", "a", "b"))
        world.put(a_pod("plain"))
        await asyncio.sleep(5)
        assert world.node_of("plain") == "n1"

    world = live(story)
    assert (given(world, "a"), given(world, "b")) == ((["a/n1/d"], ["b/n1/d"]) if fits else ([], []))


def a_part(
    name: str, colour: str = "", of: str = "", *, shared: bool = False, free: bool = False, **words: Any
) -> Device:
    """Return a device that draws the one slot, unless it is free."""
    attributes = {key: value for key, value in (("colour", colour), ("kind", of)) if value}
    return a_device(name, attributes=attributes, draws={} if free else ONE_SLOT, shared=shared, **words)


@pytest.mark.parametrize(
    ("what", "devices", "slots", "claims", "expected"),
    [
        (
            "a tainted device leaves its slot to the next",
            [a_part("d1", taints=["broken=yes:NoSchedule"]), a_part("d2")],
            "1",
            [a_resource_claim("c1", a_device_request())],
            [["d2"]],
        ),
        (
            "so does one of the wrong colour",
            [a_part("d1", "red"), a_part("d2", "blue"), a_part("d3", "blue")],
            "2",
            [a_resource_claim("c1", a_device_request(count=2), match=COLOUR)],
            [["d2", "d3"]],
        ),
        (
            "so does one that is tried in vain",
            [a_part("d1", of="x", shared=True), a_part("d2", of="x", free=True), a_part("d3", of="y")],
            "1",
            [a_resource_claim("c1", a_device_request("r1", kind("x")), a_device_request("r2", kind("y")))],
            [["d2", "d3"]],
        ),
        (
            "a device without enough capacity leaves no colour behind",
            [
                a_device("d1", attributes={"colour": "red"}, capacity={"memory": "2"}, shared=True),
                a_device("d2", attributes={"colour": "blue"}),
            ],
            "1",
            [
                a_resource_claim("c1", a_device_request("r", RED, capacity={"memory": "2"})),
                a_resource_claim(
                    "c2",
                    a_device_choice(
                        "r",
                        an_alternative("all", RED, all_devices=True, capacity={"memory": "2"}),
                        an_alternative("other", BLUE),
                    ),
                    match=COLOUR,
                ),
            ],
            [["d1"], ["d2"]],
        ),
        (
            "a share that is given up leaves the slot to the other shares",
            [
                a_part("d1", "red", "shared", shared=True),
                a_part("d2", "blue", "fallback", free=True),
                a_part("d3", "blue", "gate", free=True),
            ],
            "1",
            [
                a_resource_claim("c1", a_device_request("r0", kind("shared"))),
                a_resource_claim(
                    "c2",
                    a_device_request("r1", f"{kind('shared')} || {kind('fallback')}"),
                    a_device_request("r2", kind("gate")),
                    a_device_request("r3", kind("shared")),
                    match={COLOUR: ["r1", "r2"]},
                ),
            ],
            [["d1"], ["d2", "d3", "d1"]],
        ),
    ],
)
def test_fault_61_what_a_rejected_candidate_took_is_given_back(
    what: str, devices: list[Device], slots: str, claims: list[ResourceClaim], expected: list[list[str]]
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_device_class())
        put_pool(world, "n1", *devices, counters={"card": {"slots": slots}})
        for claim in claims:
            world.put(claim)
        world.put(a_claiming_pod("p", *(claim.name for claim in claims)))
        await asyncio.sleep(5)
        assert world.node_of("p") == "n1", message_of(world, "p")

    world = live(story)
    assert [given(world, claim.name) for claim in claims] == [[f"gpu/n1/{each}" for each in got] for got in expected]


def test_fault_61_a_claim_that_is_allocated_already_beside_one_that_is_not() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_device_class())
        world.put(a_slice("everywhere", a_device("net", attributes={"kind": "net"}), all_nodes=True))
        for name in ("n1", "n2"):
            world.put(a_node(name))
            world.put(a_slice(name, a_device("gpu", attributes={"kind": "gpu"}), node=name))
        choice = a_device_choice("r", an_alternative("gpu", kind("gpu")), an_alternative("none", kind("none")))
        world.put(a_resource_claim("shared", a_device_request("r", kind("net"))))
        for name in ("a", "b"):
            world.put(a_resource_claim(f"own-{name}", choice))
            world.put(a_claiming_pod(name, "shared", f"own-{name}"))
            await asyncio.sleep(5)

    world = live(story)
    assert sorted(world.bindings.values()) == ["n1", "n2"]
    assert given(world, "shared") == ["gpu/everywhere/net"]


def test_fault_61_a_device_in_shares_and_its_parts_exclude_each_other() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_device_class())
        whole = a_part("whole", of="whole", shared=True, capacity={"memory": "4"})
        put_pool(world, "n1", whole, a_part("part", of="part"), counters=ONE_SLOT)
        for name, of, asked in (
            ("s1", "whole", {"memory": "2"}),
            ("s2", "whole", {"memory": "2"}),
            ("p1", "part", None),
        ):
            world.put(a_resource_claim(name, a_device_request("r", kind(of), capacity=asked)))
            world.put(a_claiming_pod(name, name))
            await asyncio.sleep(5)
        assert (world.node_of("s1"), world.node_of("s2"), world.node_of("p1")) == ("n1", "n1", "")
        release(world, "s1", "s1")
        await asyncio.sleep(20)
        assert world.node_of("p1") == ""
        release(world, "s2", "s2")
        await asyncio.sleep(20)

    assert live(story).node_of("p1") == "n1"


@pytest.mark.parametrize("seed", range(4))
def test_fault_61_no_device_is_given_twice_however_late_the_news(seed: int) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        random = world.random
        world.put(a_device_class())
        for name in ("n1", "n2"):
            world.put(a_node(name))
            world.put(a_slice(name, *(f"d{number}" for number in range(5)), node=name))
        world.report_seconds = lambda: random.choice([0.0, 0.3, 2.0])
        world.refuse = lambda effect: "busy" if random.random() < 0.2 else ""
        for number in range(12):
            world.put(a_resource_claim(f"c{number}", a_device_request()))
            world.put(a_claiming_pod(f"p{number}", f"c{number}"))
            await asyncio.sleep(random.random())
        await asyncio.sleep(120)
        world.refuse = lambda effect: ""
        await asyncio.sleep(400)

    world = live(story, seed=seed)
    devices = [device for number in range(12) for device in given(world, f"c{number}")]
    assert len(devices) == len(set(devices)) == len(world.bindings) == 10
