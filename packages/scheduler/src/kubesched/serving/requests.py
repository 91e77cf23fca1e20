"""Requests, users and responses of the scheduler's pages, as values.

No I/O; `server` converts them from and to HTTP.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
from multidict import CIMultiDictProxy

PLAIN = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
JSON = "application/json"
# the reference sends it with responses that echo a client's text
NO_SNIFF: Mapping[str, str] = {"X-Content-Type-Options": "nosniff"}


class UserInfo(msgspec.Struct, frozen=True):
    """The user of a request."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, Sequence[str]] = {}


class PageRequest(msgspec.Struct, frozen=True):
    """A request; `target` is the path and query as sent, `body` reads the body."""

    method: str
    path: str
    target: str
    query: Mapping[str, Sequence[str]]
    headers: CIMultiDictProxy[str]
    body: Callable[[], Awaitable[bytes]]

    @property
    def verb(self) -> str:
        """Return the verb for authorization."""
        return self.method.lower()

    def parameter(self, name: str) -> str:
        """Return the first value of a query parameter, or an empty text."""
        return next(iter(self.query.get(name, ())), "")


class PageResponse(msgspec.Struct, frozen=True):
    """A response."""

    body: bytes = b""
    code: int = 200
    content_type: str = PLAIN
    headers: Mapping[str, str] = {}


def plain(text: str, code: int = 200) -> PageResponse:
    """Return a text."""
    return PageResponse(text.encode("utf-8", "replace"), code, PLAIN, NO_SNIFF)


def refused(text: str, code: int) -> PageResponse:
    """Return an error as a single line."""
    return plain(text + "\n", code)
