"""Plugins that look things up on an interval: applied between cycles, never waited for; failures are logged."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.support.world import World, live

from kubesched import Background, ClusterView, Nodes, PermitPlugin, PluginError, Registry, ScorePlugin
from kubesched.core.framework.services.background import NoBackground
from kubesched.core.loop.inbox import Inbox
from kubesched.core.loop.plugin_tasks import Job
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Signal, weight: 1000}]}}
"""


class Signal(ScorePlugin):
    """Prefers the node that a signal from outside names; its scores are kept until the signal changes."""

    name = "Signal"
    answers: list[Any]
    asked = 0

    def __init__(self, cluster: ClusterView, background: Background) -> None:
        self.wanted = cluster.assigned_values()
        self.score_reads = self.wanted.reads
        background.every(10, self.fetch, self.wanted.assign)

    async def fetch(self) -> dict[str, int]:
        Signal.asked += 1
        await asyncio.sleep(1)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return {answer: 100}

    def score_key(self, pod: Any) -> str:
        return ""

    def score_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Any:
        return nodes.values_of(self.wanted)


def lived(answers: list[Any], seconds: list[int]) -> World:
    Signal.answers, Signal.asked = answers, 0
    registry = Registry()
    registry.register(Signal)

    async def story(world: World, scheduler: Scheduler) -> None:
        for name in ("n1", "n2", "n3"):
            world.put(a_node(name, cpu="64"))
        for number, pause in enumerate(seconds):
            await asyncio.sleep(pause)
            world.put(a_pod(f"p{number}", cpu="1m"))
        await asyncio.sleep(5)

    return live(story, config=CONFIG, registry=registry)


def test_scores_follow_what_is_looked_up() -> None:
    world = lived(["n3", "n1", "n2"], [5, 10, 10])
    assert [world.node_of(f"p{number}") for number in range(3)] == ["n3", "n1", "n2"]
    assert Signal.asked >= 3


def test_a_look_up_that_fails_is_logged_and_what_was_known_stays(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        world = lived(["n2", OSError("no route")], [5, 10, 10, 10])
    assert {world.node_of(f"p{number}") for number in range(4)} == {"n2"}
    told = [(record.name, record.message, vars(record)["err"]) for record in caplog.records]
    assert told == [("kubesched.plugins.Signal", "Lookup failed", "OSError: no route")], "once a minute"


def test_what_cannot_be_applied_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    Signal.answers = ["n1"]

    class Broken(Signal):
        async def fetch(self) -> Any:
            return 5

    registry = Registry()
    registry.register(Broken)

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await asyncio.sleep(5)

    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        assert live(story, config=CONFIG, registry=registry).node_of("p") == "n1"
    assert [record.message for record in caplog.records] == ["Fetched data cannot be applied"]


class Impatient(PermitPlugin):
    """Looks something up all the time."""

    name = "Signal"

    def __init__(self, background: Background) -> None:
        background.every(0, lambda: None)

    def permit(self, cycle: Any, pod: Any, node_name: str) -> Any:
        raise NotImplementedError


def test_an_interval_has_a_length() -> None:
    registry = Registry()
    registry.register(Impatient)

    async def story(world: World, scheduler: Scheduler) -> None: ...

    with pytest.raises(PluginError, match=r"an interval is at least 0\.1 seconds"):
        live(story, config=CONFIG.replace(", weight: 1000", ""), registry=registry)


class Silent(Signal):
    """The first look-up never ends."""

    async def fetch(self) -> dict[str, int]:
        Signal.asked += 1
        if Signal.asked == 1:
            await asyncio.get_running_loop().create_future()
        return {"n3": 100}


def test_a_look_up_that_never_ends_is_given_up_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    registry = Registry()
    registry.register(Silent)
    Signal.asked = 0

    async def story(world: World, scheduler: Scheduler) -> None:
        for name in ("n1", "n2", "n3"):
            world.put(a_node(name, cpu="64"))
        await asyncio.sleep(69)
        assert Signal.asked == 1, "60 seconds for the look-up, and 10 seconds until the next"
        await asyncio.sleep(2)
        world.put(a_pod("p"))
        await asyncio.sleep(5)

    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        assert live(story, config=CONFIG, registry=registry).node_of("p") == "n3"
    told = [(record.message, vars(record)["err"]) for record in caplog.records]
    assert told == [("Lookup failed", "TimeoutError: no answer within 60 seconds")]


def test_a_thread_that_is_late_is_waited_for_and_has_no_second_one_beside_it() -> None:
    began: list[int] = []
    applied: list[str] = []
    late = threading.Event()

    def fetch() -> str:
        began.append(threading.get_ident())
        late.wait(30)
        return "late"

    class AtOnce:
        def between_cycles(self, function: Callable[[], None]) -> None:
            function()

    async def look_up() -> None:
        job = Job("Late", 0.001, 0.001, fetch, applied.append, cast(Inbox, AtOnce()))
        task = asyncio.create_task(job.run(lambda job: None))
        for _ in range(50):
            await asyncio.sleep(0.001)
        assert (len(began), applied) == (1, [])
        late.set()
        while not applied:
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(look_up())
    assert applied[0] == "late"


class Hasty(Impatient):
    """Gives no time to a look-up."""

    def __init__(self, background: Background) -> None:
        background.every(30, lambda: None, timeout_seconds=0)


def test_a_timeout_has_a_length() -> None:
    registry = Registry()
    registry.register(Hasty)

    async def story(world: World, scheduler: Scheduler) -> None: ...

    with pytest.raises(PluginError, match=r"a timeout is at least 0\.1 seconds"):
        live(story, config=CONFIG.replace(", weight: 1000", ""), registry=registry)


class Awaited(Signal):
    """Pods wait for the first look-up."""

    def __init__(self, cluster: ClusterView, background: Background) -> None:
        super().__init__(cluster, NoBackground().of(self.name))
        background.every(10, self.fetch, self.wanted.assign, wait_seconds=5)


@pytest.mark.parametrize(
    ("answer", "takes", "bound_after"),
    [
        pytest.param("n3", 2, 2, id="the first look-up is awaited"),
        pytest.param(OSError("no route"), 2, 2, id="also if it fails"),
        pytest.param("n3", 30, 5, id="but not for longer than it asks"),
    ],
)
def test_pods_may_wait_for_the_first_look_up(answer: Any, takes: int, bound_after: int) -> None:
    class Slow(Awaited):
        async def fetch(self) -> dict[str, int]:
            await asyncio.sleep(takes - 1)
            return await super().fetch()

    Signal.answers = [answer]
    registry = Registry()
    registry.register(Slow)

    async def story(world: World, scheduler: Scheduler) -> None:
        for name in ("n1", "n2", "n3"):
            world.put(a_node(name, cpu="64"))
        world.put(a_pod("p", cpu="1m"))
        await asyncio.sleep(bound_after - 0.1)
        assert world.node_of("p") == ""
        await asyncio.sleep(0.3)
        assert world.node_of("p") == "n3" if (answer, takes) == ("n3", 2) else world.node_of("p")

    live(story, config=CONFIG, registry=registry)
