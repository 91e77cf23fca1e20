"""Signals: worker processes ignore Ctrl-C, which is for their parent, and SIGTERM counts as Ctrl-C.

From signals to interrupts that are not lost.
"""

import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

T = TypeVar("T")


class Interrupts:
    """Records whether Ctrl-C or SIGTERM was received, since a library may swallow the exception."""

    def __init__(self) -> None:
        self.came = False
        self._held = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Record a signal and interrupt the running code; a handler of signals."""
        first, self.came = not self.came, True
        if not (first and self._held):
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Delay the first interrupt until the end of a block, since it would leave a library in an undefined state.

        It is raised at the end, even if it came before the block. The second interrupt is not delayed.
        """
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.raise_if_came()

    def raise_if_came(self) -> None:
        """Raise KeyboardInterrupt if an interrupt was received."""
        if self.came:
            raise KeyboardInterrupt

    def dropped(self, unraisable: "UnraisableHookArgs") -> None:
        """Print no traceback of an interrupt in a finalizer, where Python drops it; a hook of Python."""
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)

    def heeded(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items until an interrupt is received, and raise it then."""
        for item in items:
            yield item
            self.raise_if_came()


@contextmanager
def interrupts_noted() -> Iterator[Interrupts]:
    """Let Ctrl-C and SIGTERM interrupt a block, and record them."""
    found = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield found
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if before[signal.SIGINT] is signal.SIG_IGN:
        # a process in the background
        del before[signal.SIGINT]
    hook, sys.unraisablehook = sys.unraisablehook, found.dropped
    for number in before:
        signal.signal(number, found.note)
    try:
        yield found
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in processes and threads that start in a block."""
    # a worker would unblock the signal while it starts
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
