"""Requests and responses of HTTP/1.1 as values, and the text of a request.

From an `HttpRequest` to the bytes that a connection sends. Headers are formatted once for many requests
(`header_lines`), and a path is quoted only if it has to be.
"""

import re
from collections.abc import Mapping
from typing import NewType
from urllib.parse import quote, urlencode, urlsplit

import msgspec

# the longest status line and headers of a response; the reference takes ten times that
LONGEST_HEAD = 1 << 20
# characters that are not quoted in a path; a percent sign begins a part that is quoted already
_PLAIN = "/%:@!$&'()*+,;=~"
_is_plain = re.compile(rf"[A-Za-z0-9_.{_PLAIN}-]*").fullmatch
_SECURE = "https"

# headers as the lines of a request, each with its line break
HeaderLines = NewType("HeaderLines", str)


class CannotConnectError(Exception):
    """No connection could be opened; `cause` is why. Nothing was sent."""

    def __init__(self, cause: OSError | UnicodeError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class HttpRequest(msgspec.Struct, gc=False):
    """A request; `path` is without the query, `silence` is how many seconds the server may send nothing.

    `timeout` limits a response that is read as it arrives, in seconds from the request to the end of the body.
    """

    method: str
    path: str
    headers: Mapping[str, str] | HeaderLines
    body: bytes | None = None
    query: Mapping[str, str] | None = None
    silence: float = 60.0
    timeout: float | None = None


class HttpResponse(msgspec.Struct, gc=False):
    """A server's response, with its headers as the server wrote them."""

    code: int
    headers: Mapping[bytes, bytes]
    body: bytes

    def header(self, name: bytes) -> str | None:
        """Return the value of a header; `name` is in lower case."""
        return header_of(self.headers, name)

    async def beginning(self, most: int) -> bytes:
        """Return at most so many bytes of the body."""
        return self.body[:most]

    def close(self) -> None:
        """Do nothing: the response is complete."""


class ServerAddress:
    """The address of a server, and the beginning of every request to it."""

    def __init__(self, server: str, server_name: str | None = None) -> None:
        parts = urlsplit(server)
        self.secure = parts.scheme == _SECURE
        self.host = parts.hostname or ""
        self.port = parts.port or (443 if self.secure else 80)
        # the name that the server's certificate has to have
        self.server_name = server_name or self.host
        self._before = quote(parts.path.rstrip("/"), safe=_PLAIN)
        self._host_line = header_lines({"Host": parts.netloc.rpartition("@")[2]})

    def text(self, request: HttpRequest) -> bytes:
        """Return the bytes of a request; raises ValueError if a header or the method holds a line break."""
        path, headers, body = request.path, request.headers, request.body
        if not request.method.isalpha():
            raise ValueError(f"the method of the request is no word: {request.method!r}")
        if _is_plain(path) is None:
            path = quote(path, safe=_PLAIN)
        if request.query:
            path += "?" + urlencode(request.query)
        lines = headers if isinstance(headers, str) else header_lines(headers)
        head = f"{request.method} {self._before}{path} HTTP/1.1\r\n{self._host_line}{lines}"
        if body is None:
            return f"{head}\r\n".encode("latin-1", "replace")
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1", "replace") + body


def header_lines(headers: Mapping[str, str]) -> HeaderLines:
    """Return headers as lines of a request; raises ValueError if one holds a line break."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    for line in lines:
        if "\n" in line or "\r" in line:
            raise ValueError("a header of the request holds a line break")
    return HeaderLines("".join([f"{line}\r\n" for line in lines]))


def header_of(headers: Mapping[bytes, bytes], name: bytes) -> str | None:
    """Return the value of a header of a response; `name` is in lower case."""
    # most responses do not have it: one comparison in place of one a header
    if name not in b"\n".join(headers).lower():
        return None
    for written, value in headers.items():
        if written.lower() == name:
            return value.decode("latin-1")
    return None
