"""Files of traces, which may be compressed, and the texts in them.

From a path to its content, and from a text to its value; files that end in .gz are unpacked. Every fault raises
TraceError.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from kubesched.api.tolerant_json import UNREADABLE
from kubesched_lab.simulate.errors import TraceError

T = TypeVar("T")

# limit of a line of a trace
LONGEST_LINE = 1 << 24
# limit of a file that is read as a whole, unpacked
LARGEST_WHOLE = 1 << 28


@contextmanager
def opened_trace(path: Path) -> Iterator[BinaryIO]:
    """Open a file; errors while it is read are TraceErrors, too."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield cast(BinaryIO, file)
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise TraceError(f"{path}: the file is damaged: it cannot be unpacked to its end") from None


def whole_trace(path: Path) -> bytes:
    """Return the content of a file that is not read line by line; raises TraceError, also if it is too large."""
    with opened_trace(path) as file:
        content = file.read(LARGEST_WHOLE + 1)
    if len(content) > LARGEST_WHOLE:
        raise TraceError(f"{path.name}: has more than {LARGEST_WHOLE >> 20} MiB, unpacked; is it the right file?")
    return content


def decoded(decode: Callable[[bytes], T], text: bytes, where: str) -> T:
    """Return the value of a text; raises TraceError, which begins with `where`."""
    try:
        return decode(text)
    except UNREADABLE as error:
        raise TraceError(f"{where}: {error}") from None
