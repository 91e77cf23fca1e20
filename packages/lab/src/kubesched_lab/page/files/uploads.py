"""Files that a user opens in the page: unpacked and checked for size before they are read.

    received ──▶ unpacked: limit of bytes ──▶ checked: limit of lines, or values ──▶ read, on a separate thread

From a file of unknown origin to a file that can be read in bounded time and memory, even if a small compressed file
unpacks to a large one; raises TraceErrors. `kubesched simulate` and `kubesched page --simulate` have no such bounds:
they read any file that their user names.
"""

import gzip
import threading
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from kubesched.config.document import rough_values
from kubesched.errors import KubeschedError
from kubesched_lab.page.files.parquet_lines import Limits, as_lines
from kubesched_lab.page.files.scenario_lines import MOST_LINES, too_many_lines
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.opening import LONGEST_LINE
from kubesched_lab.simulate.traces.reading import Reading, way_of_reading
from kubesched_lab.simulate.traces.recording.run_times import is_recording
from kubesched_lab.simulate.traces.trace import Trace, TraceEvent

# as received, and unpacked
LARGEST_FILE: Final = 1 << 29
# of a file that is read as a whole: a value takes up to a hundred bytes, and in YAML a few microseconds
MOST_VALUES: Final = 5_000_000
# of a file that is read as YAML: a text without end has few values, and takes a second for every few MiB
LARGEST_YAML: Final = 1 << 26
# events of a trace whose lines stand for many: they are in memory together
MOST_AT_ONCE: Final = 1_000_000
GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 1 << 20
_INSTEAD: Final = "open it with kubesched page --simulate in a terminal"


class GivenUpError(KubeschedError):
    """The upload was cancelled: its browser disconnected, or the user opened another file."""

    status = 409

    def __init__(self) -> None:
        super().__init__("the file was not opened: another file was opened, or the browser disconnected")


class Opening:
    """A file that is being opened; another thread can cancel it."""

    def __init__(self) -> None:
        self._given_up = threading.Event()

    def give_up(self) -> None:
        """Cancel the opening: the thread that reads the file ends soon."""
        self._given_up.set()

    def go_on(self) -> None:
        """Raise GivenUpError if the opening was cancelled."""
        if self._given_up.is_set():
            raise GivenUpError


def prepared(path: Path, opening: Opening) -> Path:
    """Return a received file, unpacked and within the limits; raises TraceError or GivenUpError."""
    with path.open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    found = _unpacked(path, opening) if packed else path
    if way_of_reading(found) is Reading.ROWS:
        found = as_lines(found, opening.go_on, Limits(LARGEST_FILE, MOST_LINES, LONGEST_LINE))
    _weigh(found, opening)
    return found


def _unpacked(path: Path, opening: Opening) -> Path:
    """Unpack a file in its place; a recording may be truncated at its end."""
    name, target = path.name, path
    while target.suffix == ".gz":
        target = target.with_suffix("")
    # no name that is received begins with a dot
    packed = path.rename(path.with_name(".packed"))
    damaged = TraceError(f"{name}: the file is damaged: it cannot be unpacked to its end")
    size, beginning = 0, b""
    try:
        with gzip.open(packed) as source, target.open("wb") as out:
            for piece in _pieces(source, opening):
                beginning = beginning or piece[:100]
                size += len(piece)
                if size > LARGEST_FILE:
                    raise TraceError(f"{name}: has more than {LARGEST_FILE >> 20} MiB, unpacked; {_INSTEAD}")
                out.write(piece)
    except EOFError:
        if not is_recording(beginning):
            raise damaged from None
    except (gzip.BadGzipFile, zlib.error):
        raise damaged from None
    if beginning.startswith(GZIP):
        raise TraceError(f"{name}: is compressed twice; unpack it first")
    packed.unlink()
    return target


def _weigh(path: Path, opening: Opening) -> None:
    """Raise TraceError if a file would take too much memory or time to read."""
    way = way_of_reading(path)
    with path.open("rb") as file:
        if way is Reading.LINES:
            _weigh_lines(path.name, file, opening)
            return
        if way is Reading.TEXT and path.stat().st_size > LARGEST_YAML and not _begins_as_json(file):
            raise TraceError(
                f"{path.name}: is YAML of more than {LARGEST_YAML >> 20} MiB; write it as JSON, or {_INSTEAD}"
            )
        values = 0
        for piece in _pieces(file, opening):
            # any byte may be a value
            values += len(piece) if way is Reading.BINARY else rough_values(piece)
            if values > MOST_VALUES:
                raise TraceError(f"{path.name}: may have more than {MOST_VALUES} values; {_INSTEAD}")


def _begins_as_json(file: BufferedReader) -> bool:
    """Return whether a file begins with a brace or a bracket; the position in the file stays at the beginning."""
    return file.peek(_PIECE).lstrip()[:1] in (b"{", b"[")


def _weigh_lines(name: str, file: BinaryIO, opening: Opening) -> None:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise TraceError(f"{name}, line {number}: is longer than {LONGEST_LINE >> 20} MiB; is it the right file?")
        too_many_lines(name, number)
        opening.go_on()


def bounded(trace: Trace) -> Trace:
    """Return a trace that raises TraceError where too many events happen at one moment."""

    def events(seed: int) -> Iterator[TraceEvent]:
        at, count = 0.0, 0
        for event in trace.events(seed):
            at, count = event.at, count + 1 if event.at == at else 1
            if count > MOST_AT_ONCE:
                raise TraceError(f"{trace.name}: more than {MOST_AT_ONCE} events at {at:g} s; {_INSTEAD}")
            yield event

    return msgspec.structs.replace(trace, events=events)


def _pieces(file: BufferedReader | gzip.GzipFile, opening: Opening) -> Iterator[bytes]:
    # read1 returns the data before the end of a truncated file
    while piece := file.read1(_PIECE):
        opening.go_on()
        yield piece
