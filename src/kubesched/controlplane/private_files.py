"""Files that only their owner can read, and the folder for those that nobody names.

From bytes to a file that is there whole, or as it was before.
"""

import os
import secrets
from pathlib import Path


def state_folder() -> Path:
    """Return where files go that are to be found again: among the user's state."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state, "kubesched")


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
