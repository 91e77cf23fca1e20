"""The kubeconfig for clients: the server's address, its authority, and a random token.

From a server's address to a file that only its owner can read. The token is in the file and nowhere else. A file that
kubesched did not write is never replaced.
"""

import secrets
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubesched.config.document import dump
from kubesched.errors import KubeconfigError
from kubesched_controlplane.transport.private_files import make_privately, state_folder, write_privately

MARK = "# written by kubesched; replaced when it starts again\n"
NAME = "kubesched"


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(32)


def default_file(port: int) -> Path:
    """Return the default path of the kubeconfig of a server on a port: in the user's state folder."""
    return state_folder() / f"kubeconfig-{port}"


def kubeconfig(url: str, token: str, authority: bytes = b"") -> dict[str, Any]:
    """Return a kubeconfig with one cluster, one user and one context."""
    cluster: dict[str, Any] = {"server": url}
    if authority:
        cluster["certificate-authority-data"] = b64encode(authority).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }


@contextmanager
def offered(file: Path | None, port: int, content: dict[str, Any]) -> Iterator[Path]:
    """Write a kubeconfig and yield its path; a file at the default path is removed when the block ends."""
    path = (file or default_file(port)).absolute()
    write_kubeconfig(path, content)
    try:
        yield path
    finally:
        if file is None:
            path.unlink(missing_ok=True)


def write_kubeconfig(file: Path, content: dict[str, Any]) -> None:
    """Write a kubeconfig atomically, readable for its owner alone; raises KubeconfigError if that fails."""
    try:
        if file.exists() and not file.read_bytes().startswith(MARK.encode()):
            raise KubeconfigError(f"{file}: exists and was not written by kubesched; choose another file")
        make_privately(file.parent)
        write_privately(file, (MARK + dump(content)).encode())
    except OSError as error:
        raise KubeconfigError(f"{file}: {error.strerror or error}; --kubeconfig names another file") from None
