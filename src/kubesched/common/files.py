"""Files that an operator named: a file is read as a whole, unless it is so large that it must be the wrong one.

A pipe may be named, too (`<(...)` of a shell is one): it is waited for, and signals end the process meanwhile. A pipe
that is found in a folder was not named; there it is refused (`oddity`).
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
    """A file that cannot be read; the text says why and what to do, but not which file. `reason` is why."""

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(f"{reason}; {advice}")
        self.reason = reason


class MissingFileError(UnusableFileError):
    """A file that does not exist."""


class TooLargeFileError(UnusableFileError):
    """A file of more bytes than are read."""

    def __init__(self, most: int) -> None:
        super().__init__(f"larger than {most} bytes", "is it the right file?")


def read_at_most(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the contents of a file of at most so many bytes; UnusableFileError otherwise."""
    with _problems_told(), opened(path) as file:
        return read_stream_at_most(file, most)


def read_stream_at_most(stream: BinaryIO, most: int) -> bytes:
    """Return what a stream of at most so many bytes holds; UnusableFileError otherwise."""
    with _problems_told():
        contents = stream.read(most + 1)
    if len(contents) > most:
        raise TooLargeFileError(most)
    return contents


@contextmanager
def _problems_told() -> Iterator[None]:
    """Raise UnusableFileError for errors of reading."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = MissingFileError if isinstance(error, FileNotFoundError) else UnusableFileError
        raise problem(reason, "name a file that can be read") from None


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
