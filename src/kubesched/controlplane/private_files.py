"""Files that only their owner can read.

From bytes to a file that is there whole, or as it was before.
"""

import os
import secrets
from pathlib import Path


def write_privately(file: Path, content: bytes) -> None:
    """Write a file, readable for its owner alone, in one step; OSError if that cannot be."""
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
