"""Snapshots as files: written as a whole or not at all.

From the bytes of a snapshot to a file that only its owner may read.
"""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from kubesched.errors import KubeschedError


def write_snapshot(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, all or nothing; raises KubeschedError."""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise KubeschedError(f"{path}: cannot be written: {error.strerror or error}") from None
