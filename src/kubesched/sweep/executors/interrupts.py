"""Signals: processes that Ctrl-C does not reach, since it is for the one that started them; and SIGTERM as Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def terminations_interrupt() -> Iterator[None]:
    """Have SIGTERM interrupt a block as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Have processes and threads that start in a block never see SIGINT."""
    # it would unblock the signal while it starts
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
