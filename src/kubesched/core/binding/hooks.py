"""Awaiting plugins: PreBind, Bind and PostBind, whatever they do.

From a plugin and the name of a coroutine hook to its answer, checked, or to the failure of the attempt. That the task
itself is called off (a preemption, the end of the process) is no failure of the plugin and goes through.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from kubesched.core.framework.hooks import POINT_OF_HOOK, failed, is_interrupt
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.status import Status
from kubesched.core.scheduling.outcomes import Placed

T = TypeVar("T")


async def ask(plugin: Plugin, hook: str, placed: Placed, checked: Callable[[Any, str], T]) -> T | Status:
    """Return what a coroutine hook answers, checked by `checked`, or the failure; timed."""
    stopwatch = placed.queued.stopwatch
    since = stopwatch.now()
    try:
        awaited = getattr(plugin, hook)(placed.cycle, placed.pod, placed.node_name)
        answer: T | Status = checked(await awaited, hook)
    except BaseException as raised:
        if is_called_off(raised):
            raise
        answer = failed(plugin, hook, raised)
    stopwatch.plugin(plugin.name, POINT_OF_HOOK[hook], answer, since)
    return answer


def is_called_off(raised: BaseException) -> bool:
    """Return whether this task or this process is to end, and not just what it was doing."""
    if is_interrupt(raised):
        return True
    if isinstance(raised, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    # a coroutine that is thrown away ends outside of its task
    return isinstance(raised, GeneratorExit) and _nobody_runs()


def _nobody_runs() -> bool:
    try:
        return asyncio.current_task() is None
    except RuntimeError:
        return True
