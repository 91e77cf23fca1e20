"""Plugins that write: in the background, retried, the last write of an object counts; only what they declare."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.support.staging import slow, with_plugins
from tests.support.world import World, live

from kubesched import Background, ClusterView, ObjectWriter, Permission, PermitPlugin, PluginError
from kubesched.core.framework.services.object_writer import IdleWriters
from kubesched.core.framework.values.effects import Effect, Evict, Patch
from kubesched.testing import a_custom_object, a_node, a_pod

RACKS = "racks.v1.example.com"
Work = Callable[["Scribe"], Awaitable[None]]


class Scribe(PermitPlugin):
    """Does what a test wants, once."""

    name = "Scribe"
    looks_up = (RACKS,)
    writes = (RACKS, f"{RACKS}/status", "Pod/eviction")
    work: Work

    def __init__(self, cluster: ClusterView, writer: ObjectWriter, background: Background) -> None:
        self.cluster = cluster
        self.writer = writer
        background.every(1000, self.write, timeout_seconds=500)

    async def write(self) -> None:
        await asyncio.sleep(1)
        await type(self).work(self)

    @property
    def rack(self) -> Any:
        return self.cluster.get(RACKS, "lab/r1")

    def permit(self, cycle: Any, pod: Any, node_name: str) -> Permission:
        raise NotImplementedError


def lived(work: Work, before: Callable[[World], None] = lambda world: None) -> World:
    class Now(Scribe):
        pass

    Now.work = staticmethod(work)

    async def story(world: World, scheduler: Any) -> None:
        before(world)
        world.put(a_custom_object(RACKS, "r1", namespace="lab", spec={"size": 4}, status={"old": 1}))
        world.put(a_node("n1"))
        world.put(a_pod("p", node="n1"))
        await asyncio.sleep(300)

    return live(story, **with_plugins(Now))


def rack(world: World) -> Any:
    return world.objects[RACKS, "lab/r1"]


def patches(world: World) -> list[Patch]:
    return [effect for effect in world.performed if isinstance(effect, Patch) and effect.kind == RACKS]


def test_status_and_annotations_of_a_custom_object_are_written() -> None:
    async def work(scribe: Scribe) -> None:
        scribe.writer.status(scribe.rack, {"used": 3, "old": None})
        scribe.writer.annotate(scribe.rack, {"example.com/seen": "true"})
        scribe.writer.event(scribe.rack, "Counted", "3 of 4 are used")

    world = lived(work)
    assert rack(world).status == {"used": 3}
    assert rack(world).spec == {"size": 4}
    assert rack(world).metadata.annotations == {"example.com/seen": "true"}
    assert [(event.regarding.name, event.reason, event.note) for event in world.events] == [
        ("r1", "Counted", "3 of 4 are used")
    ]


def test_of_writes_that_wait_the_last_one_counts() -> None:
    async def work(scribe: Scribe) -> None:
        for used in range(5):
            scribe.writer.status(scribe.rack, {"used": used})
            scribe.writer.status(scribe.rack, {f"seen{used}": True})
            await asyncio.sleep(1)

    world = lived(work, lambda world: slow(world, Patch, 10))
    assert rack(world).status == {"old": 1, "used": 4, **{f"seen{used}": True for used in range(5)}}
    assert len(patches(world)) == 2, "what came while the first was under way is one write"


def test_a_write_that_fails_is_retried_with_what_came_meanwhile() -> None:
    async def work(scribe: Scribe) -> None:
        scribe.writer.status(scribe.rack, {"used": 1, "free": 3})
        await asyncio.sleep(2)
        scribe.writer.status(scribe.rack, {"used": 2})

    refusals = iter(["busy"] * 4)
    world = lived(
        work, lambda world: setattr(world, "refuse", lambda e: next(refusals, "") if isinstance(e, Patch) else "")
    )
    assert rack(world).status == {"old": 1, "used": 2, "free": 3}


def test_a_write_that_is_refused_again_and_again_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def work(scribe: Scribe) -> None:
        scribe.writer.status(scribe.rack, {"used": 1})

    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        lived(work, lambda world: setattr(world, "refuse", lambda e: "forbidden" if isinstance(e, Patch) else ""))
    told = [(record.name, record.message, vars(record)["object"], vars(record)["err"]) for record in caplog.records]
    assert told == [("kubesched.plugins.Scribe", "Object not written", f"{RACKS} lab/r1", "forbidden")]


def test_an_object_that_is_gone_is_not_written_and_nobody_complains(caplog: pytest.LogCaptureFixture) -> None:
    async def work(scribe: Scribe) -> None:
        scribe.writer.status(a_custom_object(RACKS, "gone", namespace="lab"), {"used": 1})

    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        lived(work)
    assert not caplog.records


def test_a_pod_is_evicted_or_it_is_said_why_not() -> None:
    answers: list[str] = []

    async def work(scribe: Scribe) -> None:
        pod = next(iter(scribe.cluster.pods.values()))
        answers.append(await scribe.writer.evict(pod))
        answers.append(await scribe.writer.evict(pod))

    refusals = iter(["a budget does not allow it"])

    def refuse(effect: Effect) -> str:
        return next(refusals, "") if isinstance(effect, Evict) else ""

    world = lived(work, lambda world: setattr(world, "refuse", refuse))
    assert answers == ["a budget does not allow it", ""]
    assert world.pods() == []


def test_what_is_not_declared_cannot_be_written() -> None:
    told: list[str] = []

    async def work(scribe: Scribe) -> None:
        try:
            scribe.writer.status(next(iter(scribe.cluster.pods.values())), {"phase": "Failed"})
        except PluginError as error:
            told.append(str(error))

    lived(work)
    assert told == ["plugin 'Scribe' writes Pod/status, which it does not declare; add it to its `writes`"]


def test_without_a_loop_nothing_is_written() -> None:
    writer = IdleWriters().of("Scribe", ())
    writer.status(a_pod("p"), {"phase": "Failed"})
    writer.annotate(a_pod("p"), {"a": "b"})
    writer.event(a_pod("p"), "Why", "note")
