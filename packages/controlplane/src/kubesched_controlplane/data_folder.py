"""A folder with everything that a control plane needs to resume after a restart.

    state.db               every change (`journal`)
    authority.pem          the certificate authority of the server, with its key
    kubeconfig             the administrator's, with the last address and the token
    scheduler-kubeconfig   the same for a scheduler

From a path to a store, an authority and tokens. Tokens are in the kubeconfigs and nowhere else: removing a kubeconfig
revokes its token. Only the owner may read or write the folder: a folder that another user owns, or can write to, is
refused, since a kubeconfig put there would choose the token; files that other users can read are made private.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kubesched.config.document import DocumentError, parse
from kubesched_controlplane.storage.errors import DataError
from kubesched_controlplane.storage.journal import SqliteJournal
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.transport.certificates import VALID_FOR, Authority, new_authority, read_authority
from kubesched_controlplane.transport.kubeconfig import new_token
from kubesched_controlplane.transport.private_files import folder_problem, make_privately, tighten, write_privately

DATABASE, AUTHORITY = "state.db", "authority.pem"
KUBECONFIG, SCHEDULER_KUBECONFIG = "kubeconfig", "scheduler-kubeconfig"


class DataFolder:
    """A data folder, locked while it is open."""

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
        """Make the files private; raises DataError if another user owns the folder or can write to it."""
        problem = folder_problem(self._path)
        if problem:
            raise DataError(f"{self._path}: {problem}")
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", AUTHORITY, KUBECONFIG, SCHEDULER_KUBECONFIG):
            problem = tighten(self.file(name))
            if problem:
                raise DataError(f"{self.file(name)}: {problem}")

    def close(self) -> None:
        """Close the journal, which unlocks the folder."""
        self._journal.close()

    def file(self, name: str) -> Path:
        """Return the path of a file in the folder."""
        return self._path / name

    # -- authority, tokens and port

    def authority(self, now: datetime | None = None) -> Authority:
        """Return the stored authority, or a new one if there is none or it expires too soon."""
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
        """Return the token of a stored kubeconfig, or a new token if there is no such kubeconfig."""
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
        """Return the port in the stored kubeconfig if it is free, 0 otherwise."""
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
    """Return the content of a file, None if the file does not exist."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"{file}: {error.strerror or error}") from None


@contextmanager
def opened(path: Path, history: int) -> Iterator[DataFolder]:
    """Open a data folder, and close it at the end of the block."""
    folder = DataFolder(path, history)
    try:
        yield folder
    finally:
        folder.close()
