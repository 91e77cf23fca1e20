"""Files that only their owner can read, and the user's state folder.

From bytes to a file that is replaced as a whole or not at all. Folders and files of other users are not used: their
owners could choose the tokens.
"""

import errno
import os
import pwd
import secrets
import stat
from pathlib import Path


def state_folder() -> Path:
    """Return kubesched's folder in the user's state folder (XDG_STATE_HOME)."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state, "kubesched")


def make_privately(folder: Path) -> None:
    """Make a folder and its missing parents with mode 0700; raises OSError."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))


def folder_problem(folder: Path) -> str:
    """Return why a folder must not be trusted, with a remedy; empty if it is private."""
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
    """Make a file private; return why it must not be used, empty if it may be used or does not exist."""
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
    """Write a file atomically, readable for its owner alone; raises OSError."""
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
