"""Files of traces, which may be packed.

From a path to its content; files that end in .gz are unpacked. A file that cannot be read is a TraceError.
"""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from kubesched.simulate.errors import TraceError


@contextmanager
def opened_trace(path: Path) -> Iterator[BinaryIO]:
    """Open a file; what goes wrong while it is read is a TraceError, too."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield cast(BinaryIO, file)
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise TraceError(f"{path}: the file is damaged: it cannot be unpacked to its end") from None
