"""Stories of a living scheduler: what happens, in virtual time, and what must hold in the end.

From a story (a coroutine over a `World` and its scheduler) to the world as it is at the end.
"""

from collections.abc import Awaitable, Callable, Collection

from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import build_engine
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.loop.extender_client import ExtenderClient
from kubesched.core.loop.loop_events import Recorded
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.scheduling.decision import decide
from kubesched.testing.fake_api import FakeApi
from kubesched.testing.settled import assert_settled
from kubesched.testing.virtual_scheduler import VirtualScheduler

# the objects that a scheduler is told of, and what it did with them
World = FakeApi


def assert_nobody_waits_in_vain(world: World) -> None:
    """Hold that no waiting pod fits anywhere, judged anew from what there is."""
    fresh = build_engine()
    for obj in world.objects.values():
        fresh.cluster.add(obj)
    for pod in list(fresh.cluster.pending.values()):
        if not pod.spec.scheduling_gates:
            decision = decide(fresh.evaluation_of(pod), lambda n: 0)
            assert not decision.node_name, f"{pod.full_name} fits on {decision.node_name} and waits all the same"


Story = Callable[[World, Scheduler], Awaitable[None]]


def live(
    story: Story,
    *,
    seed: int = 0,
    config: str | None = None,
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    extender_client: Callable[[World], ExtenderClient] | None = None,
    observers: Collection[Observer] = (),
    record: list[Recorded] | None = None,
) -> World:
    """Play a story in a new world with a living scheduler, in virtual time; hold what must hold in the end.

    After every step (a report delivered, an effect carried out) the queue is validated. `registry` brings plugins of
    the story's own, `extender_client` makes what answers for the extenders, `observers` see every plugin
    timed, `record` gets the events of the loop.
    """
    with VirtualScheduler(
        config=config,
        gates=gates,
        seed=seed,
        registry=registry,
        extender_client=extender_client,
        observers=observers,
        record=record,
    ) as world:
        assert world.scheduler is not None
        world.wait_for(_played(story, world, world.scheduler))
        world.run(30)
        assert_settled(world, world.scheduler)
        return world


async def _played(story: Story, world: World, scheduler: Scheduler) -> None:
    await story(world, scheduler)
