"""What stories need on stage besides a world: slow servers, pods that take their time, plugins of their own.

From a `World` to one that behaves worse, and from what it was asked to do to the few words that a story asserts.
"""

import asyncio
from typing import Any

import msgspec
from tests.support.world import World

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.framework.effects import Bind, Delete, Effect
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.registry import Registry
from kubesched.testing.builders import DELETED_AT


def evicted(world: World) -> list[str]:
    """Return the names of the pods that the scheduler deleted, in order."""
    return [effect.name for effect in world.performed if isinstance(effect, Delete)]


def bound(world: World) -> list[str]:
    """Return the names of the pods in the order in which they were bound."""
    return [effect.name for effect in world.performed if isinstance(effect, Bind)]


def with_grace(world: World, seconds: float) -> None:
    """Let pods take their time to go, as kubelets do."""
    vanish = world.delete

    def delete(kind: str, full_name: str) -> None:
        pod = world.objects.get((kind, full_name))
        if not isinstance(pod, Pod):
            vanish(kind, full_name)
        elif not pod.terminating:
            metadata = msgspec.structs.replace(pod.metadata, deletion_timestamp=DELETED_AT)
            world.put(msgspec.structs.replace(pod, metadata=metadata))
            asyncio.get_running_loop().call_later(seconds, vanish, kind, full_name)

    world.delete = delete  # type: ignore[method-assign]


def slow(world: World, kind: type[Effect], seconds: float, name: str = "") -> None:
    """Let one kind of effect take longer, on everybody or on one object."""
    perform = world.perform

    async def perform_slowly(effect: Effect) -> ApiObject | None:
        if isinstance(effect, kind) and name in ("", getattr(effect, "name", "")):
            await asyncio.sleep(seconds)
        return await perform(effect)

    world.perform = perform_slowly  # type: ignore[method-assign]


def throttled(world: World, seconds: float) -> None:
    """Let one effect be carried out at a time, each after a while."""
    perform, turn = world.perform, asyncio.Semaphore(1)

    async def perform_in_turn(effect: Effect) -> ApiObject | None:
        async with turn:
            await asyncio.sleep(seconds)
            return await perform(effect)

    world.perform = perform_in_turn  # type: ignore[method-assign]


def with_plugins(*plugins: type[Plugin]) -> dict[str, Any]:
    """Return the words for `live` that enable further plugins wherever they extend."""
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin)
    enabled = ", ".join(f"{{name: {plugin.name}}}" for plugin in plugins)
    config = f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {{multiPoint: {{enabled: [{enabled}]}}}}
"""
    return {"registry": registry, "config": config}
