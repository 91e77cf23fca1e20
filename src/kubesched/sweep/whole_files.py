"""Files that are there as a whole or not at all: written beside their place, then moved there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubesched.sweep.errors import SweepError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Have a block write a file, which takes the place of another one after it; raises SweepError for OSErrors."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield unfinished
        os.replace(unfinished, path)
    except OSError as error:
        raise SweepError(f"{path}: {error.strerror or error}") from None
