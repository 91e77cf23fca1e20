"""Files that somebody named, read with care: all of a file, unless it is so large that it must be another one.

A pipe may be named, too (`<(...)` of a shell is one): it is waited for, and signals end the process meanwhile. In a
folder nobody has named it, so there it is refused (`oddity`).
"""

import os
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kubesched.errors import KubeschedError

_ODDITIES = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class UnusableFileError(KubeschedError):
    """A file that cannot be read, or is too large; the text says why and what to do, but not which file."""


def read_at_most(path: str | os.PathLike[str], most: int) -> bytes:
    """Return what is in a file of at most so many bytes."""
    try:
        with opened(path) as file:
            contents = file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnusableFileError(f"{reason}; name a file that can be read") from None
    if len(contents) > most:
        raise UnusableFileError(f"larger than {most} bytes; is it the right file?")
    return contents


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for as long as a block lasts; OSError if it cannot be."""
    if oddity(path):
        with ended_by_signals(), Path(path).open("rb") as file:
            yield file
    else:
        with Path(path).open("rb") as file:
            yield file


def oddity(path: str | os.PathLike[str]) -> str:
    """Return what a path leads to if that is no ordinary file, such as "a named pipe"; empty if it is one."""
    return _ODDITIES.get(stat.S_IFMT(os.stat(path).st_mode), "")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM end the process at once: an event loop would hear of them only after the waiting."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        # one that is ignored, as under nohup, stays so
        if before[signal.SIGINT] is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if before[signal.SIGTERM] is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
