"""Requests and responses of aiohttp's low-level server: targets decoded, bodies bounded, responses sent in pieces.

A malformed target is a ValueError; a body that is too large is a BodyTooLargeError, one that does not arrive in time
a TimeoutError.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qs, unquote

from aiohttp import web

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)


class BodyTooLargeError(Exception):
    """A body larger than the server's limit."""


def readable(text: str) -> str:
    """Return a text of a request; bytes that are not UTF-8 become replacement characters."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def decode_path(path: str) -> str:
    """Return a path with its escapes decoded; ValueError for a malformed one."""
    if "%" not in path:
        return path
    wrong = _BAD_ESCAPE.search(path)
    if wrong is not None:
        raise ValueError(f'invalid URL escape "{wrong[0]}"')
    return unquote(path)


def parse_query(query: str, most: int) -> Mapping[str, list[str]]:
    """Return the parameters of a query; ValueError if there are more than `most`."""
    if not query:
        return {}
    try:
        return parse_qs(query, keep_blank_values=True, max_num_fields=most)
    except ValueError:
        raise ValueError(f"more than {most} parameters") from None


async def read_body(message: web.BaseRequest, largest: int, seconds: float) -> bytes:
    """Return the body of a request; a body that is too large is not read to its end."""
    content = message.content
    if (message.content_length or 0) > largest:
        raise BodyTooLargeError
    if content.is_eof() and content.exception() is None:
        body = content.read_nowait()
    else:
        async with asyncio.timeout(seconds):
            body = await _arriving_body(message, largest)
    if len(body) > largest:
        raise BodyTooLargeError
    return body


async def _arriving_body(message: web.BaseRequest, largest: int) -> bytes:
    """Return a body once it has arrived, or more than `largest` bytes of it."""
    if message.headers.get("Expect", "").lower() == "100-continue":
        await message.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        message.writer.output_size = 0
    read = bytearray()
    while len(read) <= largest:
        piece = await message.content.readany()
        if not piece:
            break
        read += piece
    return bytes(read)


async def send(
    message: web.BaseRequest,
    code: int,
    headers: Mapping[str, str],
    pieces: Iterable[bytes | memoryview],
    length: int,
    seconds: float | None = None,
) -> web.StreamResponse:
    """Send a response piece by piece, as fast as the client reads; `seconds` is the time limit for each piece."""
    response = web.StreamResponse(status=code, headers=headers)
    response.content_length = length
    await response.prepare(message)
    if message.method != "HEAD":
        for piece in pieces:
            async with asyncio.timeout(seconds):
                await response.write(piece)
    await response.write_eof()
    return response
