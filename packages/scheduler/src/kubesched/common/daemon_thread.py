"""Long work beside an event loop, which does not keep a process from ending.

From a function to a future of the loop. `asyncio.to_thread` is for short work: the process waits for it at the end.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def on_thread(work: Callable[[], T]) -> "asyncio.Future[T]":
    """Run a function on a thread that does not keep the process from ending."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return asyncio.wrap_future(done)
