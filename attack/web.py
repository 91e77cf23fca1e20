"""HTTP for attacks: requests of an owner, and bytes that no client would send."""

import contextlib
import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# how long an owner waits for an answer, also on a machine that is busy
PATIENCE_SECONDS = 30.0


class Web:
    """A server on loopback."""

    def __init__(self, port: int, token: str = "", tls: ssl.SSLContext | None = None) -> None:
        self.port, self.token, self._tls = port, token, tls

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        token: str | None = None,
        hosts: Sequence[str] = (),
        seconds: float = PATIENCE_SECONDS,
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Return the status, the body (decoded, if it is JSON) and the headers of an answer.

        Without `token` it is the owner's; an empty one is none.
        """
        if self._tls is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        else:
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=seconds, context=self._tls)
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {"Content-Type": "application/json"} if content is not None else {}
        token = self.token if token is None else token
        if token:
            given["Authorization"] = f"Bearer {token}"
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host=bool(hosts), skip_accept_encoding=True)
            for host in hosts:
                connection.putheader("Host", host)
            if content is not None:
                connection.putheader("Content-Length", str(len(content)))
            for name, value in {**given, **(headers or {})}.items():
                connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            data = answer.read()
            with contextlib.suppress(ValueError):
                return answer.status, json.loads(data), dict(answer.getheaders())
            return answer.status, data, dict(answer.getheaders())

    def connected(self, seconds: float = 5.0) -> socket.socket:
        """Return a connection."""
        found = socket.create_connection(("127.0.0.1", self.port), timeout=seconds)
        return self._tls.wrap_socket(found, server_hostname="localhost") if self._tls is not None else found

    def sent(self, data: bytes, seconds: float = 5.0) -> bytes:
        """Return what comes back for bytes, until there is silence or the end."""
        with self.connected(seconds) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(data)
            answer = b""
            with contextlib.suppress(OSError):
                while piece := connection.recv(1 << 16):
                    answer += piece
            return answer

    @contextlib.contextmanager
    def many(self, number: int, data: bytes = b"") -> Iterator[list[socket.socket]]:
        """Hold many connections, each of which has sent some bytes and reads nothing."""
        held: list[socket.socket] = []
        try:
            for _ in range(number):
                with contextlib.suppress(OSError):
                    connection = self.connected()
                    held.append(connection)
                    connection.settimeout(0.2)
                    if data:
                        connection.sendall(data)
            yield held
        finally:
            for connection in held:
                connection.close()
