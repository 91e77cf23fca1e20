"""A hundred random changes of the configuration under load: nothing is lost, nothing is bound twice, and no attempt is
made under half of a configuration.

Pods come with three scheduler names, bind slowly, wait in Permit, preempt and are refused, while profiles, weights,
plugins, QueueSort, PreEnqueue, extenders and backoff change between two cycles, with bad configurations in between.
"""

import asyncio
from collections import defaultdict
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.configurations import config, profile
from tests.support.world import World, live

from kubesched.api.pods import Pod
from kubesched.config.types import Extender
from kubesched.core.assembly import build_engine, load_config
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Bound, ChosenNode, FailedAttempt, Observer
from kubesched.core.framework.plugin import (
    FilterPlugin,
    Permission,
    PermitPlugin,
    PostBindPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from kubesched.core.framework.services.background import Background
from kubesched.core.framework.services.waiting_pods import WaitingPods
from kubesched.core.framework.values.cycle import CycleState, StateKey
from kubesched.core.framework.values.effects import Bind, Effect
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPrioritizeResult,
    ExtenderResult,
)
from kubesched.core.framework.values.status import SUCCESS, Code, Status
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.scheduling.decision import decide
from kubesched.errors import KubeschedError
from kubesched.testing import a_node, a_pod

NAMES = ("default-scheduler", "batch", "night")
SEEN = StateKey[int]("the configuration of this attempt")
# what is wrong with a configuration: text, unknown plugin, arguments, a plugin that cannot be built, two orders
BAD = (
    "profiles: [",
    config(profile(plugins="{filter: {enabled: [{name: Missing}]}}")),
    config(profile(), head="podMaxBackoffSeconds: -1\n"),
    config(profile(plugins="{multiPoint: {enabled: [{name: Broken}]}}")),
    config(profile(plugins="{queueSort: {disabled: [{name: '*'}], enabled: [{name: ByName}]}}"), profile("batch")),
)


class Notebook:
    """What plugins, extenders and observers saw."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        # generation -> the numbers of configurations that attempts of this generation were made under
        self.numbers: dict[int, set[int]] = defaultdict(set)
        self.hooks: set[str] = set()
        self.scheduler: Scheduler | None = None

    @property
    def generation(self) -> int:
        return self.scheduler.engine.generation if self.scheduler is not None else 1


def plugins_for(book: Notebook, random: Random) -> Registry:
    """Return plugins that notice when an attempt is made under two configurations."""

    class Witness(
        PreFilterPlugin, FilterPlugin, ScorePlugin, ReservePlugin, PermitPlugin, PreBindPlugin, PostBindPlugin
    ):
        """Has the number of its configuration; writes it at the begin of an attempt and compares at each point."""

        name = "Witness"

        def __init__(self, args: Any, background: Background, waiting_pods: WaitingPods) -> None:
            self.number = int((args or {}).get("number", 0))
            self._waiting_pods = waiting_pods
            background.timer(1.5, self._allow_some)

        def _allow_some(self) -> None:
            for waiting in self._waiting_pods:
                if random.random() < 0.5:
                    waiting.allow(self.name)

        def _look(self, cycle: CycleState, pod: PodInfo, point: str) -> None:
            book.hooks.add(point)
            began_under = cycle.get(SEEN)
            if began_under != self.number:
                book.wrong.append(f"{pod.name}: {point} under {self.number}, the attempt began under {began_under}")

        def pre_filter(self, cycle: CycleState, pod: PodInfo) -> None:
            cycle.write(SEEN, self.number)
            book.numbers[book.generation].add(self.number)

        def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
            self._look(cycle, pod, "filter")
            return None

        def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int:
            self._look(cycle, pod, "score")
            return self.number % 7

        def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
            self._look(cycle, pod, "reserve")
            return None

        def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
            self._look(cycle, pod, "unreserve")

        def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
            self._look(cycle, pod, "permit")
            return Permission(Status(Code.WAIT), 2.0) if random.random() < 0.3 else Permission(SUCCESS)

        async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
            self._look(cycle, pod, "preBind")
            await asyncio.sleep(random.random())
            return None

        async def post_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
            self._look(cycle, pod, "postBind")

    class Sunday(PreEnqueuePlugin):
        """Gates pods of even numbers, without an event that would open the gate."""

        name = "Sunday"

        def pre_enqueue(self, pod: PodInfo) -> Status | None:
            return Status(Code.UNSCHEDULABLE, ("not today",)) if int(pod.name[1:]) % 2 == 0 else None

        def events_to_register(self) -> tuple[()]:
            return ()

    class ByName(QueueSortPlugin):
        """Sorts by name, the newest first."""

        name = "ByName"

        def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
            return (-float(pod.name[1:]),)

    class Broken(FilterPlugin):
        """Cannot be built."""

        name = "Broken"

        def __init__(self, background: Background) -> None:
            background.timer(1, lambda: book.wrong.append("a plugin that could not be built has a timer"))
            raise RuntimeError("no database")

        def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
            return None

    registry = Registry()
    for plugin in (Witness, Sunday, ByName, Broken):
        registry.register(plugin)
    return registry


class Oracle:
    """Extenders that take their time; those that are asked have to be those of the configuration in force."""

    def __init__(self, world: World, book: Notebook) -> None:
        self._world = world
        self._book = book

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        """Leave all nodes."""
        scheduler = self._book.scheduler
        assert scheduler is not None
        before = scheduler.engine.generation
        await asyncio.sleep(0.2)
        if scheduler.engine.generation != before:
            self._book.wrong.append("the configuration changed while a cycle waited for an extender")
        if question.extender not in scheduler.engine.loaded.config.extenders:
            self._book.wrong.append("an extender is asked that is not configured")
        self._book.hooks.add("extender")
        if isinstance(question, ExtenderFilterArgs):
            return ExtenderFilterResult(node_names=list(question.node_names))
        return ExtenderPrioritizeResult(scores={})

    async def bind(self, extender: Extender, bind: Bind) -> str:
        """Bind a pod."""
        self._book.hooks.add("extender binds")
        await self._world.perform(bind)
        return ""


class Generations(Observer):
    """Compares the generations that are told of one attempt."""

    def __init__(self, book: Notebook) -> None:
        self._book = book
        self._chosen: dict[tuple[str, int], int] = {}

    def node_chosen(self, chosen: ChosenNode) -> None:
        """Remember the generation of an attempt."""
        if chosen.generation != self._book.generation:
            self._book.wrong.append(f"{chosen.pod.name} is tried under generation {chosen.generation}")
        self._chosen[chosen.pod.uid, chosen.attempts] = chosen.generation

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Compare."""
        self._compare(failed.pod, failed.attempts, failed.generation, self._book.generation)

    def pod_bound(self, bound: Bound) -> None:
        """Compare."""
        self._compare(bound.pod, bound.attempts, bound.generation, bound.generation)

    def _compare(self, pod: PodInfo, attempts: int, generation: int, otherwise: int) -> None:
        # forgotten: attempts are counted anew when a pod's scheduler name has been gone
        expected = self._chosen.pop((pod.uid, attempts), otherwise)
        if generation != expected:
            self._book.wrong.append(f"attempt {attempts} of {pod.name} has generations {expected} and {generation}")


def a_config(random: Random, number: int, names: tuple[str, ...]) -> str:
    """Return a configuration whose profiles all have the same number."""
    sort = "queueSort: {disabled: [{name: '*'}], enabled: [{name: ByName}]}" if random.random() < 0.3 else ""
    profiles = []
    for name in names:
        points = [sort] if sort else []
        points.append(f"score: {{enabled: [{{name: Witness, weight: {random.randint(1, 9)}}}]}}")
        enabled = ["{name: Witness}", *(["{name: Sunday}"] if random.random() < 0.3 else [])]
        disabled = random.choice(["", "ImageLocality", "DefaultPreemption", "NodeAffinity"])
        off = f", disabled: [{{name: {disabled}}}]" if disabled else ""
        points.append(f"multiPoint: {{enabled: [{', '.join(enabled)}]{off}}}")
        args = f"[{{name: Witness, args: {{number: {number}}}}}]"
        profiles.append(profile(name, f"{{{', '.join(points)}}}", args))
    head = f"podMaxBackoffSeconds: {random.randint(1, 5)}\n"
    if random.random() < 0.3:
        verbs = random.choice(["prioritizeVerb: p", "bindVerb: b", "bindVerb: b, prioritizeVerb: p"])
        head += f"extenders: [{{urlPrefix: 'http://127.0.0.1:{1 + number}/', filterVerb: f, weight: 1, {verbs}}}]\n"
    return config(*profiles, head=head)


async def changed(world: World, scheduler: Scheduler, registry: Registry, random: Random, changes: int) -> None:
    """Change the configuration so often, while pods come and go."""
    for number in range(6):
        world.put(a_node(f"n{number}", cpu="8"))
    for number in range(changes):
        for each in range(random.randint(0, 3)):
            size, priority = random.choice(["1", "1", "2", "4"]), random.choice([0, 0, 5, 9])
            world.put(a_pod(f"p{3 * number + each}", cpu=size, priority=priority, scheduler=random.choice(NAMES)))
        bound = [pod for pod in world.pods() if pod.spec.node_name]
        for pod in random.sample(bound, min(len(bound), random.randint(0, 2))):
            world.delete("Pod", pod.full_name)
        names = tuple(random.sample(NAMES, random.randint(1, 3)))
        before = scheduler.engine.generation
        text = random.choice(BAD) if random.random() < 0.25 else a_config(random, number + 1, names)
        try:
            scheduler.reconfigure(load_config(text, registry=registry))
        except KubeschedError:
            assert text in BAD
            assert scheduler.engine.generation == before
        await asyncio.sleep(random.choice([0.0, 0.01, 0.3, 1.5]))
    world.refuse = lambda effect: ""
    scheduler.reconfigure(load_config(LAST, registry=registry))


LAST = config(*(profile(name) for name in NAMES))


def play(seed: int, changes: int) -> tuple[World, Notebook]:
    """Play a story, and hold what must hold at its end."""
    random, book = Random(seed), Notebook()
    registry = plugins_for(book, random)

    async def story(world: World, scheduler: Scheduler) -> None:
        book.scheduler = scheduler

        def refuse(effect: Effect) -> str:
            return "busy" if isinstance(effect, Bind) and random.random() < 0.1 else ""

        world.refuse = refuse
        world.effect_seconds = 0.3
        world.grace_seconds = 2
        await changed(world, scheduler, registry, random, changes)
        await asyncio.sleep(60)

    world = live(
        story,
        seed=seed,
        config=a_config(random, 0, NAMES),
        registry=registry,
        extender_client=lambda api: Oracle(api, book),
        observers=[Generations(book)],
    )
    assert not book.wrong, book.wrong
    # pods that are gone cannot be written about; nothing else goes wrong
    assert not [note for note in world.notes if "not found" not in note], world.notes
    for generation, numbers in book.numbers.items():
        assert len(numbers) == 1, f"attempts of generation {generation} were made under {numbers}"
    assert_as_a_fresh_scheduler_sees_it(world)
    return world, book


def assert_as_a_fresh_scheduler_sees_it(world: World) -> None:
    """Hold that a new engine with the last configuration finds no node for any pod that waits."""
    fresh = build_engine(LAST)
    for obj in world.objects.values():
        fresh.cluster.add(obj)
    for pod in list(fresh.cluster.pending.values()):
        decision = decide(fresh.evaluation_of(pod), lambda count: 0)
        assert not decision.node_name, f"{pod.full_name} fits on {decision.node_name} and waits all the same"


@pytest.mark.slow
def test_a_hundred_changes_under_load() -> None:
    world, book = play(18, 100)
    assert len(book.numbers) > 40
    assert {"filter", "score", "reserve", "unreserve", "permit", "preBind", "postBind"} <= book.hooks
    assert {"extender", "extender binds"} <= book.hooks
    pods: list[Pod] = world.pods()
    assert len(world.bindings) > 50, f"{len(pods)} pods"


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1))
def test_whatever_changes_nothing_is_lost(seed: int) -> None:
    play(seed, 12)
