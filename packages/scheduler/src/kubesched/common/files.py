"""Files that an operator named: reads a whole file, unless it is too large; checks a file for writing before the work
on its content.

A file may be a pipe (such as `<(...)` of a shell): reading waits for its writer, and signals end the process
meanwhile. A named pipe without a writer times out. A pipe in a folder of files is refused (`oddity`).
"""

import os
import signal
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
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
    """A file that cannot be read; the text is the `reason` and the fix, without the name of the file."""

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(f"{reason}; {advice}")
        self.reason = reason


class MissingFileError(UnusableFileError):
    """A file that does not exist."""


class TooLargeFileError(UnusableFileError):
    """A file that is larger than the limit."""

    def __init__(self, most: int) -> None:
        super().__init__(f"larger than {most} bytes", "is it the right file?")


# how long to wait for the writer of a named pipe
WRITER_SECONDS = 60.0
# modification time in nanoseconds, size, inode, mode and owners
FileStamp = tuple[int, int, int, int, int, int]


def file_stamp(path: str | os.PathLike[str]) -> FileStamp | None:
    """Return a file's mtime, size, inode, mode and owners, to detect changes; follows links; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode, found.st_uid, found.st_gid


def read_at_most(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the contents of a file of at most `most` bytes; UnusableFileError otherwise."""
    with _problems_told(), opened(path) as file:
        return read_stream_at_most(file, most)


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the contents of a regular file, as `read_at_most` does; a pipe or a device might never end."""
    with _problems_told():
        odd = oddity(path)
    if odd:
        raise UnusableFileError(f"is {odd}", "give a regular file")
    return read_at_most(path, most)


def read_stream_at_most(stream: BinaryIO, most: int) -> bytes:
    """Return the contents of a stream of at most `most` bytes; UnusableFileError otherwise."""
    with _problems_told():
        contents = stream.read(most + 1)
    if len(contents) > most:
        raise TooLargeFileError(most)
    return contents


@contextmanager
def _problems_told() -> Iterator[None]:
    """Raise UnusableFileError for read errors."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = MissingFileError if isinstance(error, FileNotFoundError) else UnusableFileError
        raise problem(reason, "give a readable file") from None


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file until the block ends; OSError if it cannot be opened."""
    if oddity(path):
        with ended_by_signals(), open(_with_writer(path), "rb") as file:
            yield file
    else:
        with Path(path).open("rb") as file:
            yield file


def _with_writer(path: str | os.PathLike[str]) -> int:
    """Return the descriptor of a pipe or device; OSError if a named pipe gets no writer in time."""
    found: Future[int] = Future()

    def open_it() -> None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            if found.set_running_or_notify_cancel():
                found.set_exception(error)
            return
        if found.set_running_or_notify_cancel():
            found.set_result(descriptor)
        else:
            os.close(descriptor)

    # the kernel waits for the writer of a named pipe without any limit
    thread = threading.Thread(target=open_it, name="open", daemon=True)
    thread.start()
    try:
        return found.result(WRITER_SECONDS)
    except TimeoutError:
        if not found.cancel():
            return found.result()
        _end_waiting(path, thread)
        raise OSError(0, f"a named pipe without a writer for {WRITER_SECONDS:g} s") from None


def _end_waiting(path: str | os.PathLike[str], thread: threading.Thread) -> None:
    """End a thread that waits for a pipe's writer: open the pipe for writing, so that the thread takes no later
    writer.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        thread.join(1.0)


def oddity(path: str | os.PathLike[str]) -> str:
    """Return the type of a path that is no regular file, such as "a named pipe"; an empty text for a regular file."""
    return _ODDITIES.get(stat.S_IFMT(os.stat(path).st_mode), "")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM end the process at once: an event loop's handlers would run only after the wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        # an ignored signal, as under nohup, stays ignored
        if before[signal.SIGINT] is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if before[signal.SIGTERM] is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def writing_problem(file: Path) -> str:
    """Return why a file cannot be written; empty without a known problem."""
    if not file.parent.is_dir():
        return f"there is no folder {file.parent}"
    if file.is_dir():
        return "it is a folder"
    return "" if os.access(file if file.exists() else file.parent, os.W_OK) else "permission denied"
