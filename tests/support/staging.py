"""What stories need on stage besides a world: slow servers, plugins of their own.

From a `World` to one that behaves worse, and from plugins to the words for `live`.
"""

import asyncio
from typing import Any

from tests.support.world import World

from kubesched.api.meta import ApiObject
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.values.effects import Effect
from kubesched.testing.plugin_config import config_of, registry_of


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
    return {"registry": registry_of(plugins), "config": config_of(plugins)}
