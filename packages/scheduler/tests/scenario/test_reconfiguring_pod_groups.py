"""Pod groups while the configuration changes: a gang is tried under one configuration, and none stays half-way."""

import asyncio
from collections import defaultdict
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.configurations import config, profile
from tests.support.pod_groups import a_group, places, play, put_members
from tests.support.world import World

from kubesched.config.feature_gates import FeatureGates
from kubesched.config.types import Extender
from kubesched.core.assembly import load_config
from kubesched.core.framework.observing.observer import Bound, Observer
from kubesched.core.framework.values.effects import Bind
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPrioritizeResult,
    ExtenderResult,
)
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node

GATES = FeatureGates(dict.fromkeys(("GenericWorkload", "GangScheduling"), True))
NAMES = ("default-scheduler", "batch")
PLAIN = config(*map(profile, NAMES))
EXTENDED = config(*map(profile, NAMES), head="extenders: [{urlPrefix: 'http://x/', filterVerb: f, weight: 1}]\n")


def reconfigure(scheduler: Scheduler, text: str) -> None:
    scheduler.reconfigure(load_config(text, GATES))


def weighted(weight: int, *names: str) -> str:
    plugins = f"{{score: {{enabled: [{{name: ImageLocality, weight: {weight}}}]}}}}"
    return config(*(profile(name, plugins) for name in names or NAMES))


class Slow:
    """Extenders that take their time and leave all nodes."""

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        """Answer after a while."""
        await asyncio.sleep(0.5)
        if isinstance(question, ExtenderFilterArgs):
            return ExtenderFilterResult(node_names=list(question.node_names))
        return ExtenderPrioritizeResult(scores={})

    async def bind(self, extender: Extender, bind: Bind) -> str:
        """No extender of these stories binds."""
        raise AssertionError(bind)


class Generations(Observer):
    """Keeps the generations under which the pods of each group were bound."""

    def __init__(self) -> None:
        self.of: dict[str, set[int]] = defaultdict(set)

    def pod_bound(self, bound: Bound) -> None:
        """Keep the generation."""
        group = bound.pod.spec.scheduling_group
        if group is not None and group.pod_group_name:
            self.of[group.pod_group_name].add(bound.generation)


def test_a_gang_whose_last_pod_comes_after_the_change_is_scheduled() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="9"), a_group(min_count=3))
        put_members(world, "a b")
        await asyncio.sleep(5)
        reconfigure(scheduler, weighted(5))
        await asyncio.sleep(5)
        assert places(world, "a b") == ["", ""]
        put_members(world, "c")
        await asyncio.sleep(10)
        assert places(world, "a b c") == ["n", "n", "n"]

    play(story, config=PLAIN)


def test_a_gang_that_is_being_tried_is_tried_to_its_end_under_the_configuration_that_it_began_with() -> None:
    seen = Generations()

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="9"), a_group(min_count=3))
        put_members(world, "a b c")
        await asyncio.sleep(0.7)
        assert scheduler.asking == 1
        reconfigure(scheduler, weighted(5))
        await asyncio.sleep(0.1)
        assert scheduler.engine.generation == 1, "the group is half-way"
        await asyncio.sleep(10)
        assert scheduler.engine.generation == 2
        assert places(world, "a b c") == ["n", "n", "n"]
        assert seen.of == {"g": {1}}

    play(story, config=EXTENDED, extender_client=lambda world: Slow(), observers=[seen])


def test_a_gang_whose_profile_goes_while_it_is_bound_is_bound_and_one_that_waits_leaves_and_comes_back() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.effect_seconds = 3.0
        world.put(a_node("n", cpu="3"), a_group("g"), a_group("late"))
        put_members(world, "a b c", scheduler="batch")
        await asyncio.sleep(1)
        put_members(world, "d e f", "late", scheduler="batch")
        await asyncio.sleep(1)
        reconfigure(scheduler, weighted(5, "default-scheduler"))
        await asyncio.sleep(10)
        assert places(world, "a b c") == ["n", "n", "n"]
        assert not scheduler.queue.pods()
        world.put(a_node("m", cpu="3"))
        await asyncio.sleep(10)
        assert places(world, "d e f") == ["", "", ""], "nobody serves their name"
        reconfigure(scheduler, PLAIN)
        await asyncio.sleep(20)
        assert places(world, "d e f") == ["m", "m", "m"]

    play(story, config=PLAIN)


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1))
def test_whatever_changes_gangs_are_scheduled_in_the_end(seed: int) -> None:
    random = Random(seed)
    groups = [f"g{number}" for number in range(6)]

    async def story(world: World, scheduler: Scheduler) -> None:
        world.effect_seconds = random.choice((0.0, 0.3, 2.0))
        for number in range(3):
            world.put(a_node(f"n{number}", cpu="8"))
        for group in groups:
            world.put(a_group(group, min_count=random.choice((2, 3, None))))
        members = [(f"{group}-{each}", group) for group in groups for each in range(3)]
        name_of = {group: random.choice(NAMES) for group in groups}
        random.shuffle(members)
        for name, group in members:
            put_members(world, name, group, scheduler=name_of[group])
            if random.random() < 0.6:
                names = random.sample(NAMES, random.randint(1, 2))
                text = EXTENDED if random.random() < 0.3 else weighted(random.randint(1, 9), *names)
                reconfigure(scheduler, text)
            await asyncio.sleep(random.choice((0.0, 0.1, 0.7, 2.5)))
        reconfigure(scheduler, weighted(99))
        await asyncio.sleep(60)
        waiting = [name for name, _ in members if not world.node_of(name)]
        assert not waiting, waiting

    play(story, config=PLAIN, seed=seed, extender_client=lambda world: Slow())
