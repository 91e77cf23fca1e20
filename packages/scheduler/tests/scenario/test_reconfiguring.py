"""A living scheduler gets another configuration between two cycles: nothing is lost, and no attempt sees half of it."""

import asyncio
import gc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.configurations import config, profile
from tests.support.replaying import Failures, replay
from tests.support.world import World, live

from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import (
    FilterPlugin,
    Permission,
    PermitPlugin,
    PreEnqueuePlugin,
    QueueSortPlugin,
    ReservePlugin,
)
from kubesched.core.framework.services.background import Background
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Patch
from kubesched.core.framework.values.status import Code, Status, unschedulable
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.loop.loop_events import Attempt, Call, Recorded
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.errors import PluginError
from kubesched.testing import a_node, a_pod, a_spread


def reconfigure(scheduler: Scheduler, text: str, registry: Registry | None = None) -> Loaded:
    """Put a configuration in force."""
    loaded = load_config(text, registry=registry)
    scheduler.reconfigure(loaded)
    return loaded


# -- plugins of the stories


class Refuse(FilterPlugin):
    """Rejects every node."""

    name = "Refuse"

    def filter(self, cycle: CycleState, pod: PodInfo, node: Any) -> Status | None:
        return unschedulable("refused")

    def events_to_register(self) -> Sequence[Any]:
        return ()


class Gate(PreEnqueuePlugin):
    """Gates every pod, whatever happens."""

    name = "Gate"

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("closed",))

    def events_to_register(self) -> Sequence[Any]:
        return ()


class NewestFirst(QueueSortPlugin):
    """Sorts by name, the last one first."""

    name = "NewestFirst"

    def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
        return (-float(pod.name.removeprefix("p")),)


class Hold(PermitPlugin, ReservePlugin):
    """Lets every pod wait in Permit for so long; notes which of its objects was asked at which point."""

    name = "Hold"

    def __init__(self, args: Any, background: Background, cluster: ClusterView) -> None:
        self.seconds = float((args or {}).get("seconds", 5))
        self.seen: list[str] = []
        self.ticks = 0
        self.by_name = cluster.pod_index(lambda pod: [pod.name])
        background.timer(1, self._tick)

    def _tick(self) -> None:
        self.ticks += 1

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        self.seen.append(f"reserve {pod.name}")
        return None

    def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        self.seen.append(f"unreserve {pod.name}")

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        return Permission(Status(Code.WAIT), self.seconds)


class Broken(FilterPlugin):
    """Cannot be built, after it has asked for background work."""

    name = "Broken"

    def __init__(self, background: Background, cluster: ClusterView) -> None:
        background.timer(1, lambda: None)
        cluster.pod_index(lambda pod: [pod.name])
        raise RuntimeError("no database")

    def filter(self, cycle: CycleState, pod: PodInfo, node: Any) -> Status | None:
        return None


def everything() -> Registry:
    registry = Registry()
    for plugin in (Refuse, Gate, NewestFirst, Hold, Broken):
        registry.register(plugin)
    return registry


DEFAULT = config(profile())
REFUSING = config(profile(plugins="{filter: {enabled: [{name: Refuse}]}}"))
GATING = config(profile(plugins="{preEnqueue: {enabled: [{name: Gate}]}}"))
SORTING = config(profile(plugins="{queueSort: {disabled: [{name: '*'}], enabled: [{name: NewestFirst}]}}"))
HOLDING = config(profile(plugins="{multiPoint: {enabled: [{name: Hold}]}}"))
BROKEN = config(profile(plugins="{filter: {enabled: [{name: Broken}]}}"))


# -- the queue


@pytest.mark.parametrize(("before", "place"), [(REFUSING, Place.UNSCHEDULABLE), (GATING, Place.GATED)])
def test_pods_that_the_old_configuration_kept_back_are_tried_again(before: str, place: Place) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n"), a_pod("p", uid="u"))
        await asyncio.sleep(60)
        queued = scheduler.queue.get("u")
        assert queued is not None
        assert queued.place is place
        reconfigure(scheduler, DEFAULT)
        await asyncio.sleep(1)
        # the page of the queue tells what moved it
        assert scheduler.queue.moves["ConfigurationChanged", place, Place.ACTIVE] == 1

    world = live(story, config=before, registry=everything())
    assert world.node_of("p") == "n"


def test_waiting_pods_are_gated_by_new_plugins() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        scheduler.hold()
        world.put(a_node("n"), a_pod("p1", uid="u1"))
        await asyncio.sleep(1)
        reconfigure(scheduler, GATING, everything())
        await asyncio.sleep(1)
        queued = scheduler.queue.get("u1")
        assert queued is not None
        assert (queued.place, queued.gating_plugin) == (Place.GATED, "Gate")
        assert scheduler.queue.moves == {("ConfigurationChanged", Place.ACTIVE, Place.GATED): 1}
        scheduler.go()
        await asyncio.sleep(400)
        assert world.node_of("p1") == ""
        reconfigure(scheduler, DEFAULT)
        await asyncio.sleep(1)
        assert world.node_of("p1") == "n"

    live(story, registry=everything())


def test_waiting_pods_are_sorted_by_the_new_plugin() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        scheduler.hold()
        world.put(a_node("n", cpu="100"), *(a_pod(f"p{number}", uid=f"u{number}") for number in range(5)))
        await asyncio.sleep(1)
        reconfigure(scheduler, SORTING, everything())
        await asyncio.sleep(0.1)
        scheduler.go()
        await asyncio.sleep(5)

    recorded: list[Recorded] = []
    live(story, registry=everything(), record=recorded)
    attempts = [event.uid for _, event in recorded if isinstance(event, Attempt)]
    assert attempts == ["u4", "u3", "u2", "u1", "u0"]


def test_a_shorter_backoff_counts_for_pods_that_back_off_already() -> None:
    slow = config(profile(), head="podInitialBackoffSeconds: 500\npodMaxBackoffSeconds: 500\n")

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = lambda effect: "busy" if type(effect).__name__ == "Bind" else ""
        world.put(a_node("n"), a_pod("p"))
        await asyncio.sleep(3)
        world.refuse = lambda effect: ""
        await asyncio.sleep(60)
        assert world.node_of("p") == ""
        reconfigure(scheduler, DEFAULT)
        await asyncio.sleep(3)
        assert world.node_of("p") == "n"

    live(story, config=slow)


# -- scheduler names


def test_pods_of_new_scheduler_names_are_taken_in_and_those_of_gone_ones_leave() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        scheduler.hold()
        world.put(a_node("n", cpu="9"), a_pod("mine", uid="mine"), a_pod("other", uid="other", scheduler="batch"))
        await asyncio.sleep(1)
        assert [queued.uid for queued in scheduler.queue.pods()] == ["mine"]
        reconfigure(scheduler, config(profile("batch")))
        await asyncio.sleep(1)
        assert [queued.uid for queued in scheduler.queue.pods()] == ["other"]
        scheduler.go()
        await asyncio.sleep(5)
        assert (world.node_of("mine"), world.node_of("other")) == ("", "n")
        world.put(a_pod("late", uid="late"))
        await asyncio.sleep(5)
        reconfigure(scheduler, config(profile(), profile("batch")))

    world = live(story)
    assert {world.node_of(name) for name in ("mine", "other", "late")} == {"n"}


def test_a_pod_whose_profile_goes_while_it_waits_in_permit_leaves_when_it_is_rejected() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n"), a_pod("p", uid="u"))
        await asyncio.sleep(1)
        reconfigure(scheduler, config(profile("batch")))
        await asyncio.sleep(1)
        (waiting,) = scheduler.waiting_pods
        written = len(world.performed)
        waiting.reject("Hold", "not now")
        await asyncio.sleep(5)
        assert scheduler.queue.get("u") is None
        assert "u" not in scheduler.cluster.table.pods
        # another scheduler may take it: nothing is written about it
        assert not [each for each in world.performed[written:] if isinstance(each, Patch)]
        reconfigure(scheduler, DEFAULT)
        await asyncio.sleep(1)
        assert world.node_of("p") == "n"

    live(story, config=HOLDING, registry=everything())


# -- pods in flight, and plugins


def test_pods_in_permit_end_under_the_old_profile_and_its_plugins_are_released_then() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        old = scheduler.engine.profiles["default-scheduler"]
        hold = old.plugins["Hold"]
        assert isinstance(hold, Hold)
        world.put(a_node("n", cpu="9"), a_pod("waits"))
        await asyncio.sleep(2)
        reconfigure(scheduler, DEFAULT)
        await asyncio.sleep(0.5)
        assert [each.pod.name for each in scheduler.waiting_pods] == ["waits"]
        world.put(a_pod("new"))
        await asyncio.sleep(0.5)
        assert world.node_of("new") == "n"
        ticks = hold.ticks
        await asyncio.sleep(1.5)
        assert hold.ticks > ticks, "the plugin works as long as a pod needs it"
        await asyncio.sleep(10)
        # rejected by the timeout of the old profile, then bound under the new one
        assert hold.seen == ["reserve waits", "unreserve waits"]
        assert world.node_of("waits") == "n"
        ticks = hold.ticks
        world.put(a_pod("later"))
        await asyncio.sleep(5)
        assert hold.ticks == ticks, "the plugin is released"
        assert not hold.by_name["later"]

    live(story, config=HOLDING, registry=everything())


def test_plugins_are_handed_over_unless_their_arguments_change() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        first = scheduler.engine
        hold = first.profiles["default-scheduler"].plugins["Hold"]
        reconfigure(
            scheduler, config(profile(plugins="{multiPoint: {enabled: [{name: Hold}]}}"), profile("b")), registry
        )
        await asyncio.sleep(1)
        assert scheduler.engine.generation == 2
        assert scheduler.engine.profiles["default-scheduler"] is first.profiles["default-scheduler"]
        assert scheduler.engine.evaluators["default-scheduler"] is first.evaluators["default-scheduler"]
        weights = "{multiPoint: {enabled: [{name: Hold}]}, score: {enabled: [{name: NodeResourcesFit, weight: 9}]}}"
        reconfigure(scheduler, config(profile(plugins=weights)), registry)
        await asyncio.sleep(1)
        second = scheduler.engine.profiles["default-scheduler"]
        assert second is not first.profiles["default-scheduler"]
        assert second.plugins["Hold"] is hold
        args = "[{name: Hold, args: {seconds: 1}}]"
        reconfigure(scheduler, config(profile(plugins=weights, args=args)), registry)
        await asyncio.sleep(1)
        third = scheduler.engine.profiles["default-scheduler"]
        assert third.plugins["Hold"] is not hold
        assert third.plugins["NodeAffinity"] is first.profiles["default-scheduler"].plugins["NodeAffinity"]

    registry = everything()
    live(story, config=HOLDING, registry=registry)


def test_a_plugin_that_cannot_be_built_changes_nothing() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="9"), a_pod("p"))
        await asyncio.sleep(1)
        before = scheduler.engine
        with pytest.raises(PluginError, match="no database"):
            reconfigure(scheduler, BROKEN, everything())
        world.put(a_pod("q"))
        await asyncio.sleep(1)
        assert scheduler.engine is before
        assert not scheduler.cluster._indexes, "what the plugin asked for is given back"
        assert world.node_of("q") == "n"

    live(story, registry=everything())


def test_what_templates_keep_of_retired_evaluators_is_forgotten() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="99"))
        for number in range(20):
            world.put(a_pod(f"p{number}"))
            await asyncio.sleep(1)
            reconfigure(scheduler, (REFUSING, DEFAULT)[number % 2], everything())
            await asyncio.sleep(1)
        digests = {id(pod.digest): pod.digest for pod in scheduler.cluster.table.pods.values()}
        assert max(len(digest.derived) for digest in digests.values()) < 20

    live(story, registry=everything())


def test_nothing_holds_on_to_an_engine_that_is_retired() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="99"), a_pod("p0", spread=[a_spread("zone")]), a_pod("large", cpu="100"))
        await asyncio.sleep(1)
        retired: list[weakref.ref[object]] = []
        for number in range(3):
            engine = scheduler.engine
            old = engine.profiles["default-scheduler"]
            retired += map(weakref.ref, (engine, old, engine.evaluators["default-scheduler"], old.plugins["Hold"]))
            del engine, old
            args = f"[{{name: Hold, args: {{seconds: {number + 1}}}}}]"
            plugins = "{multiPoint: {enabled: [{name: Hold}]}}"
            reconfigure(scheduler, config(profile(plugins=plugins, args=args)), registry)
            await asyncio.sleep(5)
        world.put(a_pod("last"))
        await asyncio.sleep(30)
        gc.collect()
        assert not [ref() for ref in retired if ref() is not None]
        reconfigure(scheduler, DEFAULT)
        await asyncio.sleep(20)

    registry = everything()
    live(story, config=HOLDING, registry=registry)


# -- nominations and preemption


def test_nominated_pods_stay_nominated_and_preemptors_get_their_node() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="2"), a_pod("small", cpu="2"))
        world.grace_seconds = 30
        await asyncio.sleep(1)
        world.put(a_pod("urgent", uid="urgent", cpu="2", priority=100))
        await asyncio.sleep(3)
        assert scheduler.cluster.nominations.node_of("urgent") == "n"
        reconfigure(scheduler, config(profile(plugins="{score: {enabled: [{name: ImageLocality, weight: 7}]}}")))
        await asyncio.sleep(0.5)
        assert scheduler.cluster.nominations.node_of("urgent") == "n"
        await asyncio.sleep(60)
        assert world.node_of("urgent") == "n"

    live(story)


def test_a_preemptor_whose_victims_are_being_evicted_meanwhile_gets_its_node_when_they_are_gone() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="2"), a_pod("a", cpu="1"), a_pod("b", cpu="1"))
        await asyncio.sleep(1)
        world.effect_seconds = 1.0
        world.grace_seconds = 10
        world.put(a_pod("urgent", uid="urgent", cpu="2", priority=100))
        for number in range(4):
            await asyncio.sleep(0.3)
            weights = f"{{score: {{enabled: [{{name: ImageLocality, weight: {number + 2}}}]}}}}"
            reconfigure(scheduler, config(profile(plugins=weights)))
        queued = scheduler.queue.get("urgent")
        assert queued is not None
        assert (queued.place, queued.gating_plugin) == (Place.GATED, "DefaultPreemption")
        await asyncio.sleep(30)
        assert world.node_of("urgent") == "n"

    live(story)


# -- events are values


def test_a_run_with_reconfigurations_is_replayed_with_the_same_decisions() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(4):
            world.put(a_node(f"n{number}", cpu="4"))
        for number in range(12):
            world.put(a_pod(f"p{number}", cpu="1", scheduler="batch" if number % 4 == 0 else "default-scheduler"))
            if number % 3 == 0:
                reconfigure(scheduler, (REFUSING, DEFAULT)[number % 2], everything())
            await asyncio.sleep(1.5)
        reconfigure(scheduler, config(profile(), profile("batch")))
        await asyncio.sleep(20)

    recorded: list[Recorded] = []
    decisions: list[tuple[str, str]] = []
    live(story, registry=everything(), observers=[Failures(decisions)], record=recorded)
    assert not [event for _, event in recorded if isinstance(event, Call)]
    again: list[tuple[str, str]] = []
    replay(recorded, everything(), DEFAULT, again)
    assert again == decisions


def test_gates_stay_those_of_the_start() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        with pytest.raises(ValueError, match="feature gates"):
            scheduler.reconfigure(load_config(DEFAULT, FeatureGates.parse("GenericWorkload=true")))

    live(story)
