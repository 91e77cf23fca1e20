"""A folder with everything that a control plane needs to start again as if it had never ended.

    state.db               every change (`journal`)
    authority.pem          who signs the server's certificates, with the key
    kubeconfig             the administrator's, with the address of last time and the token
    scheduler-kubeconfig   the same for a scheduler

From a path to a store, an authority and tokens. Tokens are in the kubeconfigs and nowhere else: whoever removes one
takes it back. All of it is for its owner's eyes alone: a folder of somebody else, or one in which others can write, is
refused, since whoever puts a kubeconfig there chooses the token; files that others can read are made the owner's alone.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kubesched.config.document import DocumentError, parse
from kubesched.controlplane.storage.errors import DataError
from kubesched.controlplane.storage.journal import SqliteJournal
from kubesched.controlplane.storage.store import Store
from kubesched.controlplane.transport.certificates import VALID_FOR, Authority, new_authority, read_authority
from kubesched.controlplane.transport.kubeconfig import new_token
from kubesched.controlplane.transport.private_files import folder_problem, make_privately, tighten, write_privately

DATABASE, AUTHORITY = "state.db", "authority.pem"
KUBECONFIG, SCHEDULER_KUBECONFIG = "kubeconfig", "scheduler-kubeconfig"


class DataFolder:
    """A folder that is ours while it is open."""

    def __init__(self, path: Path, history: int) -> None:
        self._path = path
        try:
            make_privately(path)
            self._check()
        except FileExistsError:
            raise DataError(f"{path}: is a file, and no folder") from None
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
        self._journal = SqliteJournal(path / DATABASE)
        try:
            self.store = Store(history, self._journal)
        except BaseException:
            self._journal.close()
            raise

    def _check(self) -> None:
        """Raise unless the folder is its owner's alone to read and write."""
        problem = folder_problem(self._path)
        if problem:
            raise DataError(f"{self._path}: {problem}")
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", AUTHORITY, KUBECONFIG, SCHEDULER_KUBECONFIG):
            problem = tighten(self.file(name))
            if problem:
                raise DataError(f"{self.file(name)}: {problem}")

    def close(self) -> None:
        """Let others have it."""
        self._journal.close()

    def file(self, name: str) -> Path:
        """Return a file in it."""
        return self._path / name

    # -- who is trusted

    def authority(self, now: datetime | None = None) -> Authority:
        """Return the authority of last time, or a new one where there is none that lasts."""
        file, moment = self.file(AUTHORITY), now or datetime.now(UTC)
        text = _content(file)
        if text is not None:
            try:
                kept = read_authority(text)
            except ValueError as error:
                raise DataError(f"{file}: is damaged: {error}; remove it for a new one") from None
            if kept.certificate.not_valid_after_utc > moment + VALID_FOR:
                return kept
        made = new_authority(moment)
        try:
            write_privately(file, made.text())
        except OSError as error:
            raise DataError(f"{file}: {error.strerror or error}") from None
        return made

    def token(self, name: str) -> str:
        """Return the token in a kubeconfig of last time, or a new one."""
        config = self._kubeconfig(name)
        if config is None:
            return new_token()
        try:
            token = config["users"][0]["user"]["token"]
        except (LookupError, TypeError):
            token = None
        if not isinstance(token, str) or not token or any(map(str.isspace, token)):
            raise DataError(f"{self.file(name)}: there is no token in it; remove it for a new one")
        return token

    def port(self, host: str) -> int:
        """Return the port of last time if it is free, 0 otherwise."""
        config = self._kubeconfig(KUBECONFIG) or {}
        try:
            port = urlsplit(config["clusters"][0]["cluster"]["server"]).port or 0
            with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
                return port
        except (LookupError, TypeError, ValueError, AttributeError, OSError, OverflowError):
            return 0

    def _kubeconfig(self, name: str) -> Any:
        file = self.file(name)
        text = _content(file)
        if text is None:
            return None
        try:
            return parse(text) or {}
        except DocumentError as error:
            raise DataError(f"{file}: is damaged: {error}; remove it for a new one") from None


def _content(file: Path) -> bytes | None:
    """Return the content of a file, None if there is none."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"{file}: {error.strerror or error}") from None


@contextmanager
def opened(path: Path, history: int) -> Iterator[DataFolder]:
    """Have a folder for as long as a block lasts."""
    folder = DataFolder(path, history)
    try:
        yield folder
    finally:
        folder.close()
