"""Signals: processes that Ctrl-C does not reach, since it is for the one that started them; and SIGTERM as Ctrl-C.

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
    """Whether Ctrl-C or SIGTERM came: a library may have dropped the exception on its way."""

    def __init__(self) -> None:
        self.came = False
        self._held = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Interrupt what runs; a handler of signals."""
        first, self.came = not self.came, True
        if not (first and self._held):
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have the first interrupt wait for the end of a block, which would leave a library in disorder.

        It is raised then, also if it came before the block. The next one does not wait.
        """
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.raise_if_came()

    def raise_if_came(self) -> None:
        """Raise an interrupt that has come."""
        if self.came:
            raise KeyboardInterrupt

    def dropped(self, unraisable: "UnraisableHookArgs") -> None:
        """Print no traceback of an interrupt that came in a finalizer, where Python drops it; a hook of Python."""
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)

    def heeded(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items until an interrupt has come, which is raised then."""
        for item in items:
            yield item
            self.raise_if_came()


@contextmanager
def interrupts_noted() -> Iterator[Interrupts]:
    """Have Ctrl-C and SIGTERM interrupt a block, and be kept."""
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
    """Have processes and threads that start in a block never see SIGINT."""
    # it would unblock the signal while it starts
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
