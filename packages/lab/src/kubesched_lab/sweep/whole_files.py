"""Files that are written atomically: under a temporary name, then moved into place."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubesched_lab.sweep.errors import SweepError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, and move the file into place after the block; raises SweepError for OSErrors."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield unfinished
        os.replace(unfinished, path)
    except OSError as error:
        raise SweepError(f"{path}: {error.strerror or error}") from None
