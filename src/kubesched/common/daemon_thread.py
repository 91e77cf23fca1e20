"""Long work beside an event loop, which a process that ends does not wait for.

From a function to a future of the loop. `asyncio.to_thread` is for short work: a process that ends waits for it.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def on_thread(work: Callable[[], T]) -> "asyncio.Future[T]":
    """Do something on a thread that does not keep the process from ending."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return asyncio.wrap_future(done)
