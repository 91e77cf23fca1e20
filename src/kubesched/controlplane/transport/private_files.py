"""Files that only their owner can read, and the user's state folder.

From bytes to a file that is replaced as a whole or not at all. A user who can write a token file can impersonate any
other: folders and files of other users are not used.
"""

import errno
import os
import pwd
import secrets
import stat
from pathlib import Path


def state_folder() -> Path:
    """Return where files go that are to be found again: among the user's state."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state, "kubesched")


def make_privately(folder: Path) -> None:
    """Make a folder and those above it that are missing, for their owner alone whatever the umask says; OSError."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))


def folder_problem(folder: Path) -> str:
    """Return why a folder must not be trusted, and what to do; empty if it may be."""
    found = folder.stat()
    if found.st_uid != os.geteuid():
        return (
            f"belongs to {_user(found.st_uid)}, who could let anybody in: name a folder of your own, "
            f"or make it yours (chown {_user(os.geteuid())})"
        )
    if found.st_mode & 0o022:
        mode = stat.S_IMODE(found.st_mode)
        return f"others can write in it (mode {mode:04o}), and could let anybody in: chmod 700 makes it yours alone"
    return ""


def tighten(file: Path) -> str:
    """Make a file its owner's alone; return why it must not be used, empty if it may be, or is not there."""
    try:
        found = file.lstat()
    except FileNotFoundError:
        return ""
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link: put the file itself there, or remove it"
    if not stat.S_ISREG(found.st_mode):
        return "is no file: remove it"
    if found.st_uid != os.geteuid():
        return f"belongs to {_user(found.st_uid)}, who could let anybody in: remove it, or make it yours"
    if found.st_mode & 0o077:
        file.chmod(0o600)
    return ""


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


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
