"""Bodies of requests and responses: JSON, bounded.

From requests to values of a type, from values to responses. A sentence describes each fault of a body.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from aiohttp import web

from kubesched.api.tolerant_json import UNREADABLE
from kubesched.errors import KubeschedError
from kubesched.reports.answers import Answer

T = TypeVar("T")

LARGEST_BODY: Final = 1 << 20


class RefusedRequestError(KubeschedError):
    """A request is refused: the status of its response, and the reason."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def read_bytes(request: web.Request, most: int = LARGEST_BODY) -> bytes:
    """Return the body of a request."""
    parts = bytearray()
    async for part in request.content.iter_any():
        parts += part
        if len(parts) > most:
            raise RefusedRequestError(413, f"the body of the request has more than {most} bytes")
    return bytes(parts)


async def read_body(request: web.Request, kind: type[T], most: int = LARGEST_BODY) -> T:
    """Return the body of a request as a value of a type; raises RefusedRequestError."""
    if request.content_type != "application/json":
        raise RefusedRequestError(415, "the request needs Content-Type: application/json")
    try:
        return msgspec.json.decode(await read_bytes(request, most), type=kind)
    except UNREADABLE as error:
        raise RefusedRequestError(400, f"the body of the request: {error}") from None


def json_answer(value: Mapping[str, Any]) -> web.Response:
    """Return a JSON response of a value; answer objects in it become plain values."""
    plain = {key: each.to_dict() if isinstance(each, Answer) else each for key, each in value.items()}
    return encoded_answer(msgspec.json.encode(plain))


def encoded_answer(body: bytes) -> web.Response:
    """Return a response of JSON that is already encoded."""
    # not compressed: on loopback compression takes longer than it saves
    return web.Response(body=body, content_type="application/json", charset="utf-8")
