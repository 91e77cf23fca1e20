"""The event loop of commands: uvloop if it is installed.

In: a coroutine. Out: its result.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any, TypeVar

from kubesched.common.last_resort import LastResort
from kubesched.common.loop_errors import quiet_closed_connections

T = TypeVar("T")


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, on uvloop if it is installed, and return its result; threads get a moment to end."""
    with ExitStack() as ending, asyncio.Runner(loop_factory=_factory()) as runner:
        quiet_closed_connections(runner.get_loop())
        result = runner.run(work)
        ending.enter_context(LastResort(result))
        return result


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
