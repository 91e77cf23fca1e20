"""The file of a recording: each line is complete on the disk within a second, even if the recorder is killed.

From lines to bytes in a file that only its owner may read. A file that ends in .gz is a sequence of gzip members, each
with whole lines. A resumed recording first removes the incomplete end that a killed recorder left.
"""

import fcntl
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from kubesched.errors import KubeschedError
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.opening import opened_trace
from kubesched_lab.simulate.traces.recording.run_times import is_recording

# bytes after which the buffer is written
MOST_WAITING = 1 << 20
_PIECE = 1 << 20


class RecordingFile:
    """A file for appending, after an incomplete end was removed; raises KubeschedError."""

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        self.path = path
        self._packed = path.suffix == ".gz"
        self._waiting: list[bytes] = []
        self._length = 0
        self._resumes = resume
        self._problem: KubeschedError | None = None
        flags = os.O_WRONLY | os.O_APPEND | (0 if resume else os.O_CREAT | os.O_EXCL)
        try:
            self._file = os.open(path, flags, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # the number of bytes of an incomplete line that were removed
            self.torn = _without_torn_end(path, self._file) if resume else 0
            self.size = os.fstat(self._file).st_size
        except BlockingIOError:
            os.close(self._file)
            raise KubeschedError(f"{path}: another recorder writes to it") from None
        except FileExistsError:
            raise KubeschedError(f"{path}: exists already: continue it with --resume, or name another file") from None
        except OSError as error:
            raise self._unwritable(error) from None

    def write(self, line: bytes) -> None:
        """Add a line; if it cannot be written, the next `flush` raises."""
        self._waiting.append(line)
        self._length += len(line)
        if self._length > MOST_WAITING:
            try:
                self.flush()
            except KubeschedError as error:
                # reflectors would continue without these lines
                self._problem = error

    def flush(self) -> None:
        """Write all lines to the file; raises KubeschedError."""
        if self._problem is not None:
            raise self._problem
        if not self._waiting:
            return
        content = b"".join(self._waiting)
        self._waiting, self._length = [], 0
        if self._packed:
            content = gzip.compress(content, 6, mtime=0)
        begin = 0
        try:
            while begin < len(content):
                begin += os.write(self._file, content[begin:])
        except OSError as error:
            if begin:
                # an incomplete line would damage the later ones
                os.ftruncate(self._file, self.size)
            raise self._unwritable(error) from None
        self.size += len(content)

    def close(self) -> None:
        """Write everything to the disk, and close the file."""
        if self._file < 0:
            return
        try:
            self.flush()
            os.fsync(self._file)
        except OSError as error:
            raise self._unwritable(error) from None
        finally:
            os.close(self._file)
            self._file = -1
            if not self.size and not self._resumes:
                # nothing was recorded
                self.path.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> KubeschedError:
        return KubeschedError(f"{self.path}: cannot be written: {error.strerror or error}")


def _without_torn_end(path: Path, file: int) -> int:
    """Remove the incomplete end of a recording; raise an error for other files, and leave them unchanged."""
    try:
        with opened_trace(path) as content:
            begins = is_recording(content.readline(_PIECE))
    except TraceError:
        begins = False
    if not begins:
        os.close(file)
        raise KubeschedError(f"{path}: is not a recording of kubesched record: name another file")
    return cut_torn_end(path)


def cut_torn_end(path: Path) -> int:
    """Remove an incomplete line or gzip member at the end, and return its number of bytes; raises KubeschedError."""
    try:
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            whole = _whole_members(file) if path.suffix == ".gz" else _whole_lines(file)
            if not whole:
                raise KubeschedError(f"{path}: has no complete line, so it is not a recording that can continue")
            if whole < size:
                file.truncate(whole)
            return size - whole
    except OSError as error:
        raise KubeschedError(f"{path}: {error.strerror or error}") from None


def _whole_lines(file: BinaryIO) -> int:
    """Return the number of bytes of the whole lines."""
    whole = read = 0
    while piece := file.read(_PIECE):
        last = piece.rfind(b"\n")
        if last >= 0:
            whole = read + last + 1
        read += len(piece)
    return whole


def _whole_members(file: BinaryIO) -> int:
    """Return the number of bytes of the whole gzip members."""
    return max(_ends_of_members(file), default=0)


def _ends_of_members(file: BinaryIO) -> Iterator[int]:
    """Yield the end of each gzip member that is whole."""
    unpacking, read, rest = zlib.decompressobj(wbits=31), 0, b""
    while rest or (rest := file.read(_PIECE)):
        try:
            unpacking.decompress(rest)
        except zlib.error:
            return
        read += len(rest) - len(unpacking.unused_data)
        rest = b""
        if unpacking.eof:
            yield read
            rest = unpacking.unused_data
            unpacking = zlib.decompressobj(wbits=31)
