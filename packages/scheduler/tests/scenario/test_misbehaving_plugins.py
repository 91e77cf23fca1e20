"""Plugins that raise what ends processes, or answer with what is no answer, in a living scheduler.

The attempt fails under the plugin's name and that of the hook, places are given back, the pod is tried again, others
are bound as ever. Each plugin misbehaves in one way after the other when it is asked about the pod `evil`, and behaves
from then on.
"""

import asyncio
import math
import signal
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.support.pod_groups import a_group, member
from tests.support.pod_groups import play as play_groups
from tests.support.world import World, live

from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.plugin import (
    UNCACHED,
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PodGroupPostFilterPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from kubesched.core.framework.results.outcomes import PostFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Registration, Resource
from kubesched.core.framework.values.permission import Permission
from kubesched.core.framework.values.preemption import PodGroupPostFilterResult
from kubesched.core.framework.values.status import SKIP, SUCCESS, Code, Status, error, unschedulable
from kubesched.core.framework.values.texts import MOST_CHARACTERS
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Bad}]
"""
WORLDS: list[World] = []


class OwnBaseError(BaseException):
    pass


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise SystemExit("not even that")


RAISED: list[Callable[[], BaseException]] = [
    lambda: SystemExit(3),
    lambda: KeyboardInterrupt(),
    lambda: asyncio.CancelledError("no"),
    lambda: GeneratorExit(),
    lambda: OwnBaseError("mine"),
    lambda: StopIteration(1),
    lambda: SpeechlessError(),
    lambda: RuntimeError("\x00\ud800\x1b[2J" + "x" * 10_000_000),
]
# hook -> (the class to extend, what it answers usually)
HOOKS: dict[str, tuple[type[Plugin], Any]] = {
    "pre_enqueue": (PreEnqueuePlugin, None),
    "sort_key": (QueueSortPlugin, lambda pod, timestamp: (timestamp,)),
    "key": (FilterPlugin, lambda pod: UNCACHED),
    "pre_filter": (PreFilterPlugin, None),
    "filter": (FilterPlugin, None),
    "filter_nodes": (FilterPlugin, lambda cycle, pod, nodes: Verdict.uniform(len(nodes), None)),
    "pre_score": (PreScorePlugin, None),
    "score": (ScorePlugin, 1),
    "score_key": (ScorePlugin, lambda pod: UNCACHED),
    "score_nodes": (ScorePlugin, lambda cycle, pod, nodes: np.ones(len(nodes), np.int64)),
    "normalize_scores": (ScorePlugin, lambda cycle, pod, scores: scores),
    "reserve": (ReservePlugin, None),
    "permit": (PermitPlugin, Permission(SUCCESS)),
    "pre_bind_pre_flight": (PreBindPlugin, None),
    "pre_bind": (PreBindPlugin, None),
    "bind": (BindPlugin, SKIP),
    "post_bind": (PostBindPlugin, None),
}
ASYNCHRONOUS = ("pre_bind", "bind", "post_bind")
# no attempt fails by these: the pod is in its place already, or comes in another order, or is held back
OTHERWISE = ("pre_enqueue", "sort_key", "post_bind")


@pytest.fixture(autouse=True)
def _ctrl_c_has_a_handler() -> Iterator[None]:
    """Handle SIGINT as processes of kubesched do, so that a KeyboardInterrupt is a plugin's own."""
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    yield
    signal.signal(signal.SIGINT, before)


def config_for(hook: str) -> str:
    """Return a configuration in which the plugin is asked, and before others where only one answers."""
    point = {"sort_key": "queueSort", "bind": "bind"}.get(hook)
    if point is None:
        return CONFIG
    others = ", {name: DefaultBinder}" if hook == "bind" else ""
    return CONFIG.replace("multiPoint:", f"{point}:").replace(
        "enabled: [{name: Bad}]", 'disabled: [{name: "*"}]\n      enabled: [{name: Bad}' + others + "]"
    )


def usually(value: Any, arguments: Any) -> Any:
    return value(*arguments) if callable(value) else value


def a_plugin(hook: str, *ways: Callable[[], Any]) -> type[Plugin]:
    """Return a plugin that misbehaves in one hook, in each of these ways once, when it is asked about `evil`."""
    base, usual = HOOKS[hook]
    calls: list[str] = []

    def call(self: Any, *arguments: Any) -> Any:
        evil = any(getattr(each, "name", "") == "evil" for each in arguments)
        # several calls may be of one attempt
        turn = len(calls) if hook in OTHERWISE else len(said_of_evil(WORLDS[-1]))
        if evil:
            calls.append(hook)
        return ways[turn]() if evil and turn < len(ways) else usually(usual, arguments)

    async def call_async(self: Any, *arguments: Any) -> Any:
        return call(self, *arguments)

    members: dict[str, Any] = {"name": "Bad", hook: call_async if hook in ASYNCHRONOUS else call}
    if hook in ("key", "score_key"):
        members["filter" if hook == "key" else "score"] = lambda self, *arguments: usually(*HOOK_ANSWERS[hook])
    if hook == "normalize_scores":
        members["score"] = lambda self, *arguments: 1
    if hook == "pre_bind_pre_flight":
        members["pre_bind"] = _nothing_to_prepare
    return type("Bad", (base,), members)


async def _nothing_to_prepare(self: Any, *arguments: Any) -> None:
    return None


HOOK_ANSWERS: dict[str, tuple[Any, Any]] = {"key": (None, ()), "score_key": (1, ())}


def play(plugin: type[Plugin], *, config: str = CONFIG, observers: tuple[Observer, ...] = ()) -> World:
    """Have `good`, `evil` and `late` scheduled where two pods have room on each of two nodes."""
    registry = Registry()
    registry.register(plugin)

    async def story(world: World, scheduler: Scheduler) -> None:
        WORLDS.append(world)
        for name in ("n1", "n2"):
            world.put(a_node(name, cpu="2"))
        for name in ("good", "evil"):
            world.put(a_pod(name, cpu="1"))
        await asyncio.sleep(1)
        # whoever waits for an event has one
        world.put(a_pod("late", cpu="1"))
        for number in range(len(RAISED)):
            await asyncio.sleep(12)
            world.put(a_node(f"more-{number}", cpu="1"))

    return live(story, config=config, registry=registry, observers=observers)


def raising(make: Callable[[], BaseException]) -> Callable[[], Any]:
    def misbehave() -> Any:
        raise make()

    return misbehave


def said_of_evil(world: World) -> list[str]:
    return [event.note for event in world.events if event.regarding.name == "evil" and event.type == "Warning"]


@pytest.mark.parametrize("hook", HOOKS)
def test_whatever_a_hook_raises_fails_its_attempt_and_nothing_else(hook: str) -> None:
    plugin = a_plugin(hook, *map(raising, RAISED))
    world = play(plugin, config=config_for(hook))
    assert world.node_of("good")
    assert world.node_of("late")
    assert world.node_of("evil"), said_of_evil(world)
    said = said_of_evil(world)
    if hook not in OTHERWISE:
        names = [type(make()).__name__ for make in RAISED]
        for name, note in zip(names, said, strict=True):
            assert f'plugin "Bad" failed in {hook}: ' in note
            assert name in note
            assert "(test_misbehaving_plugins.py:" in note or note.endswith(" ...") or name == "StopIteration"
    for note in (*said, *world.notes):
        note.encode()
        assert "\x00" not in note
        assert len(note) <= 2 * MOST_CHARACTERS


NO_ANSWERS: list[tuple[str, Any, str]] = [
    ("reserve", True, "reserve returned True; return None or a status"),
    ("reserve", unschedulable(5), "reasons are texts"),  # type: ignore[arg-type]
    ("reserve", Status(2), "make statuses by"),  # type: ignore[arg-type]
    ("reserve", Status(Code.ERROR, "why"), "make statuses by"),  # type: ignore[arg-type]
    ("permit", None, "permit returned None; return a permission: Permission(SUCCESS)"),
    ("permit", (SUCCESS, 5), "; return a permission"),
    ("permit", Permission(None), "permission with None in place of a status"),  # type: ignore[arg-type]
    ("permit", Permission(Status(Code.WAIT), math.nan), "lets the pod wait for nan; give a number of seconds"),
    ("permit", Permission(Status(Code.WAIT), "5s"), "lets the pod wait for '5s'"),  # type: ignore[arg-type]
    ("pre_bind_pre_flight", "go", "pre_bind_pre_flight returned 'go'"),
    ("pre_bind", 0, "pre_bind returned 0"),
    ("bind", False, "bind returned False"),
    ("filter", 1, "filter returned 1"),
    ("pre_score", "x", "pre_score returned 'x'"),
]


@pytest.mark.parametrize("hook", dict.fromkeys(hook for hook, _, _ in NO_ANSWERS))
def test_what_is_no_answer_is_told_and_no_place_is_kept(hook: str) -> None:
    cases = [(answer, words) for each, answer, words in NO_ANSWERS if each == hook]
    plugin = a_plugin(hook, *(lambda answer=answer: answer for answer, _ in cases))
    world = play(plugin, config=config_for(hook))
    assert world.node_of("evil")
    assert world.node_of("late")
    for (_, words), note in zip(cases, said_of_evil(world), strict=True):
        assert f'plugin "Bad" failed in {hook}: ' in note
        assert words in note


def test_a_wait_of_any_length_ends() -> None:
    # for ever and very long are as long as it may be, what is over before it began is over
    lengths = [(math.inf, "15m0s"), (1e308, "15m0s"), (-1.0, "-1s")]
    waits = (lambda s=seconds: Permission(Status(Code.WAIT), s) for seconds, _ in lengths)
    registry = Registry()
    registry.register(a_plugin("permit", *waits))

    async def story(world: World, scheduler: Scheduler) -> None:
        WORLDS.append(world)
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("evil", cpu="1"))
        await asyncio.sleep(50 * 60)
        waited = dict.fromkeys(words for _, words in lengths)
        for words, note in zip(waited, dict.fromkeys(said_of_evil(world)), strict=True):
            assert f"rejected due to timeout after waiting {words} at plugin Bad" in note
        assert world.node_of("evil")

    live(story, config=CONFIG, registry=registry)


UNFIT = ["\ud800", "\x00\ud800\n" * 100, "a" * 10_000_000, "\x1b[31mred"]


@pytest.mark.parametrize("hook", ["filter", "reserve", "pre_filter", "pre_bind", "pre_enqueue", "score"])
def test_reasons_are_fit_to_be_written(hook: str) -> None:
    ways = (lambda make=make, text=text: make(text) for make in (unschedulable, error) for text in UNFIT)
    world = play(a_plugin(hook, *ways))
    assert world.node_of("good")
    assert said_of_evil(world) or hook == "pre_enqueue"
    for event in world.events:
        event.note.encode()
        assert "\x00" not in event.note
        assert len(event.note.encode()) <= 1024
    for pod in world.pods():
        for condition in pod.status.conditions:
            condition.message.encode()
            assert "\x1b" not in condition.message
            assert len(condition.message) <= MOST_CHARACTERS


class Heard(Observer):
    """Keeps which hooks failed."""

    def __init__(self) -> None:
        self.failed: list[tuple[str, str]] = []
        self.hints: list[str] = []

    def plugin_failed(self, plugin: str, hook: str, raised: BaseException) -> None:
        self.failed.append((plugin, hook))

    def hint_failed(self, plugin: str, event: str, pod: Any, raised: BaseException) -> None:
        self.hints.append(type(raised).__name__)


def test_unreserve_that_raises_gives_the_place_back_all_the_same() -> None:
    left = list(RAISED)

    class Bad(ReservePlugin):
        name = "Bad"

        def reserve(self, cycle: CycleState, pod: Any, node_name: str) -> Status | None:
            return error("not yet") if pod.name == "evil" and left else None

        def unreserve(self, cycle: CycleState, pod: Any, node_name: str) -> None:
            raise left.pop(0)()

    heard = Heard()
    world = play(Bad, observers=(heard,))
    assert world.node_of("evil")
    assert heard.failed == [("Bad", "unreserve")] * len(RAISED)


def test_a_post_filter_that_raises_leaves_the_pod_waiting_for_room() -> None:
    left = list(RAISED)

    class Bad(FilterPlugin, PostFilterPlugin):
        name = "Bad"

        def filter(self, cycle: CycleState, pod: Any, node: Any) -> Status | None:
            return unschedulable("not yet") if pod.name == "evil" and left else None

        def post_filter(self, cycle: CycleState, pod: Any, verdicts: Any) -> PostFilterResult:
            if pod.name == "evil":
                raise left.pop(0)()
            return PostFilterResult(unschedulable("no room"))

    registry = Registry()
    registry.register(Bad)

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("evil", cpu="1"))
        for number in range(len(RAISED) - 1):
            await asyncio.sleep(20)
            world.put(a_node(f"small-{number}", cpu="1"))
        await asyncio.sleep(20)
        assert not left
        assert all('plugin "Bad" failed in post_filter' in note for note in said_of_evil(world))
        world.put(a_node("n2", cpu="1"))
        await asyncio.sleep(20)
        assert world.node_of("evil")

    config = CONFIG + "    postFilter: {disabled: [{name: DefaultPreemption}]}\n"
    live(story, config=config, registry=registry)


class BadGroupPreemption(PreEnqueuePlugin, PodGroupPostFilterPlugin):
    """Misbehaves in each of some ways once when it is asked to make room for a group, and finds victims then."""

    name = "Bad"
    ways: ClassVar[list[Callable[[], Any]]] = []

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster

    def pre_enqueue(self, pod: Any) -> None:
        return None

    def pod_group_post_filter(self, group: Any, pods: Any, trial: Any) -> Any:
        low = [pod for pod in self._cluster.pods.values() if pod.name == "low"]
        with self._cluster.without(low):
            status = yield from trial()
            if self.ways:
                return self.ways.pop(0)()
        return PodGroupPostFilterResult(status, low)


NO_VICTIMS: list[Any] = [
    None,
    PodGroupPostFilterResult("found"),  # type: ignore[arg-type]
    PodGroupPostFilterResult(SUCCESS, 5),  # type: ignore[arg-type]
    PodGroupPostFilterResult(SUCCESS, ["low"]),  # type: ignore[list-item]
]


@pytest.mark.parametrize(
    "ways",
    [[*map(raising, RAISED)], [(lambda answer=answer: answer) for answer in NO_VICTIMS]],
    ids=["raises", "is no answer"],
)
def test_a_pod_group_post_filter_that_misbehaves_fails_the_attempt_of_its_group(ways: list[Callable[[], Any]]) -> None:
    registry = Registry()
    registry.register(BadGroupPreemption)
    BadGroupPreemption.ways = list(ways)

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_pod("low", cpu="2", node="n1", phase="Running"))
        world.put(a_group(min_count=1, priority=10))
        world.put(member("evil", priority=10, cpu="2"))
        for number in range(len(ways)):
            await asyncio.sleep(20)
            world.put(a_node(f"small-{number}", cpu="1"))
            world.put(a_pod(f"other-{number}", cpu="1"))
        await asyncio.sleep(20)
        said = [note for note in said_of_evil(world) if "failed in" in note]
        assert len(said) == len(ways)
        assert all('plugin "Bad" failed in pod_group_post_filter: ' in note for note in said)
        assert all(world.node_of(f"other-{number}") for number in range(len(ways)))
        assert world.node_of("evil") == "n1"
        assert world.pod("low") is None

    config = CONFIG.replace("multiPoint:", "multiPoint:\n      disabled: [{name: DefaultPreemption}]")
    play_groups(story, "WorkloadAwarePreemption", config=config, registry=registry)


def _raise_exit() -> Any:
    raise SystemExit(1)


@pytest.mark.parametrize("answer", [None, "Queue", _raise_exit], ids=["None", "a text", "SystemExit"])
def test_a_hint_that_is_none_counts_as_try_again(answer: Any) -> None:
    def hint(pod: Any, old: Any, new: Any) -> Any:
        return answer() if callable(answer) else answer

    class Bad(FilterPlugin):
        name = "Bad"
        ready = False

        def filter(self, cycle: CycleState, pod: Any, node: Any) -> Status | None:
            return None if Bad.ready else unschedulable("not ready")

        def events_to_register(self) -> list[Registration]:
            return [Registration(ClusterEvent(Resource.NODE, Action.ADD), hint)]

    registry, heard = Registry(), Heard()
    registry.register(Bad)

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("evil", cpu="1"))
        await asyncio.sleep(5)
        Bad.ready = True
        world.put(a_node("n2", cpu="1"))
        await asyncio.sleep(10)
        assert world.node_of("evil")

    world = live(story, config=CONFIG, registry=registry, observers=(heard,))
    assert heard.hints
    assert not [note for note in world.notes if "could not be taken in" in note]


def test_a_plugin_that_calls_its_own_task_off_keeps_no_place() -> None:
    calls: list[str] = []

    class Bad(BindPlugin):
        name = "Bad"

        async def bind(self, cycle: CycleState, pod: Any, node_name: str) -> Status | None:
            if pod.name == "evil":
                calls.append("bind")
                if len(calls) <= 2:
                    task = asyncio.current_task()
                    assert task is not None
                    task.cancel()
                    await asyncio.sleep(1)
            return SKIP

    world = play(Bad, config=config_for("bind"))
    assert world.node_of("evil")
    assert len(calls) == 3


def test_a_function_that_a_plugin_has_called_between_cycles_may_raise_anything() -> None:
    calls: list[str] = []

    class Bad(PreBindPlugin):
        name = "Bad"

        def __init__(self, waits: Any) -> None:
            self._waits = waits

        async def pre_bind(self, cycle: CycleState, pod: Any, node_name: str) -> Status | None:
            if pod.name == "evil":
                calls.append("pre_bind")
                if len(calls) <= 2:
                    await self._waits.between_cycles(_raise_exit)
            return None

    world = play(Bad)
    assert world.node_of("evil")
    assert 'plugin "Bad" failed in pre_bind: SystemExit: 1' in said_of_evil(world)[0]
