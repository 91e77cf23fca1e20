"""Status patches that the API server does not take at once: they are retried, and the newest one stays."""

import asyncio

from tests.support.world import World, live

from kubesched.api.meta import ApiObject
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.core.framework.values.effects import Bind, ConflictError, Effect, Patch
from kubesched.core.loop.inbox import Tasks
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.loop.status_writer import StatusWriter
from kubesched.testing import a_node, a_pod


def why(world: World, name: str) -> str:
    """Return what a pod says of why it waits."""
    pod = world.pod(name)
    assert pod is not None
    return next((c.message for c in pod.status.conditions if c.type == "PodScheduled"), "")


def refuse_statuses(world: World, seconds: float) -> None:
    """Let no status be written for a while."""
    end = asyncio.get_running_loop().time() + seconds

    def refuse(effect: Effect) -> str:
        away = isinstance(effect, Patch) and asyncio.get_running_loop().time() < end
        return "the server is away" if away else ""

    world.refuse = refuse


def test_a_condition_that_could_not_be_written_is_written_when_the_server_is_back() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        refuse_statuses(world, 10)
        world.put(a_node("small", cpu="1"))
        world.put(a_pod("large", cpu="2"))
        await asyncio.sleep(5)
        assert why(world, "large") == ""
        await asyncio.sleep(15)
        assert "Insufficient cpu" in why(world, "large")

    live(story)


def test_that_nothing_can_be_written_is_said_once_a_minute_and_not_for_each_pod() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        refuse_statuses(world, 30)
        world.put(a_node("small", cpu="1"))
        for number in range(20):
            world.put(a_pod(f"large{number}", cpu="2"))
        await asyncio.sleep(30)
        assert len(world.notes) == 1
        assert world.notes[0].startswith("the status of pod default/large")
        assert world.notes[0].endswith(" could not be written: the server is away")

    live(story)


def test_only_the_newest_patch_is_written() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        refuse_statuses(world, 10)
        world.put(a_node("small", cpu="1"))
        world.put(a_pod("large", cpu="2"))
        await asyncio.sleep(3)
        world.put(a_node("tainted", cpu="4", taints=["key=value:NoSchedule"]))
        await asyncio.sleep(20)
        assert "0/2 nodes are available" in why(world, "large")
        written = [effect for effect in world.performed if isinstance(effect, Patch)]
        assert len(written) == 1

    live(story)


def test_a_nomination_that_could_not_be_written_is_part_of_the_next_patch() -> None:
    async def play() -> None:
        world, tasks = World(), Tasks(lambda line: None, lambda: None)
        refuse_statuses(world, 10)
        world.put(a_pod("p"))
        writer = StatusWriter(world, tasks, lambda line: None)
        writer.write("default-p", [Patch("Pod", "default", "p", {"status": {"reason": "a", "nominatedNodeName": "n"}})])
        await asyncio.sleep(3)
        writer.write("default-p", [Patch("Pod", "default", "p", {"status": {"reason": "b"}})])
        await asyncio.sleep(30)
        assert [effect.body for effect in world.performed if isinstance(effect, Patch)] == [
            {"status": {"reason": "b", "nominatedNodeName": "n"}}
        ]
        assert not len(tasks)

    run_in_virtual_time(play())


def test_a_word_that_met_another_writer_is_said_again() -> None:
    class Contended(World):
        conflicts = 0

        async def perform(self, effect: Effect) -> ApiObject | None:
            if isinstance(effect, Patch) and self.conflicts < 2:
                self.conflicts += 1
                raise ConflictError("the object has been modified", final=True)
            return await super().perform(effect)

    async def play() -> None:
        world, tasks = Contended(), Tasks(lambda line: None, lambda: None)
        world.put(a_pod("p"))
        writer = StatusWriter(world, tasks, lambda line: None)
        writer.write("default-p", [Patch("Pod", "default", "p", {"status": {"reason": "a"}})])
        await asyncio.sleep(5)
        assert len([effect for effect in world.performed if isinstance(effect, Patch)]) == 1

    run_in_virtual_time(play())


def test_a_pod_that_is_being_bound_is_not_called_unschedulable_any_more() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        refuse_statuses(world, 10)
        world.put(a_node("small", cpu="1"))
        world.put(a_pod("large", cpu="2"))
        await asyncio.sleep(3)
        world.put(a_node("big", cpu="4"))
        await asyncio.sleep(30)
        assert world.node_of("large") == "big"
        assert not [effect for effect in world.performed if isinstance(effect, Patch)]

    live(story)


def test_a_pod_is_bound_only_after_what_is_being_written_of_it() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.effect_seconds = 2.0
        world.put(a_node("small", cpu="1"))
        world.put(a_pod("large", cpu="2"))
        await asyncio.sleep(3)
        world.put(a_node("big", cpu="4"))
        await asyncio.sleep(30)
        told = [effect for effect in world.performed if isinstance(effect, Patch | Bind)]
        assert [type(effect) for effect in told] == [Patch, Bind]

    live(story)


def test_a_word_that_was_true_before_is_said_again_after_another_one() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("small", cpu="1"))
        world.put(a_pod("large", cpu="2"))
        await asyncio.sleep(3)
        before = why(world, "large")
        assert "0/1 nodes are available: 1 Insufficient cpu." in before
        # what is written from now on is reported late
        world.report_seconds = lambda: 5.0
        tainted = a_node("tainted", cpu="4", taints=["key=value:NoSchedule"])
        scheduler.put(tainted)
        await asyncio.sleep(3)
        assert "0/2 nodes are available" in why(world, "large")
        scheduler.drop(tainted)
        scheduler.queue.activate(["default-large"], scheduler.now())
        await asyncio.sleep(3)
        assert why(world, "large") == before

    live(story)
