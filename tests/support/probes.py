"""Looking at a scheduler from outside, as kubelets and people do.

From a port to the code and the text of a page.
"""

import socket
import ssl
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def fetch(port: int, path: str, token: str = "") -> tuple[int, str]:
    """Return the code and the text of a page."""
    # the certificate signs itself, as that of the reference
    trusting = ssl._create_unverified_context()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urlopen(Request(f"https://127.0.0.1:{port}{path}", headers=headers), context=trusting) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()
