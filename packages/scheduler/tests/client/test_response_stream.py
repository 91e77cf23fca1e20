"""Responses that are read as they arrive, from servers that play a script: whole, torn, slow and hostile responses."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator

import pytest
from packages.scheduler.tests.client.test_connection_pool import (
    HEADS,
    Play,
    a_question,
    always,
    asked,
    read_question,
    serving,
)

from kubesched.client import response_stream
from kubesched.client.connection_pool import ConnectionPool, HttpRequest
from kubesched.client.response_stream import ResponseStream, ResponseStreams
from kubesched.client.rest import Refused, RestClient, RestConfig, Unreachable

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
RESPONSE = CHUNKED + b"3\r\nab\n\r\n4;x=y\r\ncde\n\r\n0\r\n\r\n"
BODY = b"ab\ncde\n"
MIB = 1 << 20


def a_watch(*, silence: float = 10.0, timeout: float | None = None) -> HttpRequest:
    return HttpRequest("GET", "/watch", {}, None, {"watch": "true"}, silence, timeout)


async def no_headers() -> dict[str, str]:
    return {}


def once(pieces: Iterable[bytes]) -> Play:
    """Return a script that responds once, and closes the connection when the client does."""

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        await reader.read()

    return play


def told(play: Play, story: Callable[[ResponseStreams], Awaitable[None]]) -> None:
    """Run a story with the streams of a server."""

    async def run() -> None:
        async with serving(play) as (_, address), asyncio.timeout(30):
            streams = ResponseStreams(address)
            await story(streams)
            await streams.close()

    asyncio.run(run())


async def body_of(stream: ResponseStream) -> bytes:
    return b"".join([piece async for piece in stream.iter_any()])


WHOLE = {
    "in chunks": ([RESPONSE], BODY),
    "with a length": ([b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", BODY], BODY),
    "after 1xx responses": ([b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: y\r\n\r\n" + RESPONSE], BODY),
    "with trailers": ([RESPONSE[:-2] + b"X: y\r\n\r\n"], BODY),
    "without a body": ([b"HTTP/1.1 204 No Content\r\n\r\n"], b""),
    **{f"cut after {at} bytes": ([RESPONSE[:at], RESPONSE[at:]], BODY) for at in range(1, len(RESPONSE))},
    "in single bytes": ([bytes([byte]) for byte in RESPONSE], BODY),
}


def test_a_response_is_whole_wherever_its_pieces_are_cut() -> None:
    async def story(pieces: list[bytes], body: bytes) -> None:
        async with serving(always(*pieces)) as (server, address), asyncio.timeout(10):
            streams = ResponseStreams(address)
            for _ in range(2):
                stream = await streams.ask(a_watch(), None)
                assert await body_of(stream) == body
                stream.close()
                assert stream.total_bytes == len(body)
            assert server.connections == 1, "the connection carries the next request"
            await streams.close()

    for case in WHOLE.values():
        asyncio.run(story(*case))


def test_a_response_without_a_length_ends_with_its_connection() -> None:
    async def story(streams: ResponseStreams) -> None:
        stream = await streams.ask(a_watch(), None)
        assert await stream.read() == b"all"
        stream.close()

    told(always(b"HTTP/1.1 200 OK\r\n\r\nall", close=True), story)


def test_a_connection_that_breaks_at_any_byte_is_an_error_after_the_pieces_that_arrived() -> None:
    head = len(CHUNKED)

    async def story(at: int) -> None:
        async with serving(always(RESPONSE[:at], close=True)) as (_, address), asyncio.timeout(10):
            client = RestClient(RestConfig(address, no_headers), "test")
            body = bytearray()

            async def read() -> None:
                async with client.stream("/watch", {"watch": "true"}) as stream:
                    async for piece in stream.iter_any():
                        body.extend(piece)

            with pytest.raises(Unreachable) as error:
                await read()
            assert error.value.maybe_done
            words = "the connection broke before the answer was complete"
            assert str(error.value) == (words if at >= head else "the server closed the connection before it answered")
            assert BODY.startswith(body)
            assert (b"ab\n" in body) == (at >= head + 6)
            await client.close()

    for at in range(len(RESPONSE)):
        asyncio.run(story(at))


NO_HTTP = {
    "a chunk size that is no number": CHUNKED + b"xyz\r\n",
    "a chunk that is longer than its size": CHUNKED + b"1\r\nab\r\n",
    "a negative chunk size": CHUNKED + b"-1\r\nab\r\n",
    "a chunk size beyond 64 bits": CHUNKED + b"fffffffffffffffff\r\n",
    "a length that is no number": b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
    "a length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "a change to another protocol": b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
}


@pytest.mark.parametrize("case", NO_HTTP)
def test_something_that_is_not_http_is_an_error(case: str) -> None:
    async def story(streams: ResponseStreams) -> None:
        with pytest.raises(ConnectionError, match="the answer is not HTTP"):
            await (await streams.ask(a_watch(), None)).read()

    told(once([NO_HTTP[case]]), story)


def test_a_short_request_is_not_answered_by_a_change_to_another_protocol() -> None:
    async def story() -> None:
        async with serving(once([NO_HTTP["a change to another protocol"]])) as (_, address), asyncio.timeout(10):
            with pytest.raises(ConnectionError, match="the answer is not HTTP: the server changes to another protocol"):
                await asked(ConnectionPool(address))

    asyncio.run(story())


ENDLESS = {**HEADS, "a chunk whose extension never ends": (CHUNKED + b"2;", b"x" * 8000)}


@pytest.mark.parametrize("case", ENDLESS)
def test_an_endless_response_without_a_body_is_given_up(case: str) -> None:
    first, more = ENDLESS[case]
    pieces: list[bytes] = []

    async def story(streams: ResponseStreams) -> None:
        with pytest.raises(ConnectionError, match=r"more than 1 MiB without a body|is not HTTP"):
            await (await streams.ask(a_watch(), None)).read()

    def endless() -> Iterator[bytes]:
        yield first
        while len(pieces) < 10_000:
            pieces.append(more)
            yield more

    told(once(endless()), story)
    assert len(pieces) * len(more) < 1 << 25


def test_a_reader_that_does_not_read_stops_the_server_and_loses_nothing() -> None:
    size, sent = 64 * MIB, 0

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await read_question(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        while sent < size:
            writer.write(b"%08d" % (sent // MIB) * (MIB // 8))
            sent += MIB
            await writer.drain()
        await reader.read()

    async def story(streams: ResponseStreams) -> None:
        stream = await streams.ask(a_watch(), None)
        (connection,) = streams._reading
        while not connection._paused:
            await asyncio.sleep(0.01)
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.1)
        assert sent < size, "the server waits, too"
        assert connection._held <= response_stream.MOST_WAITING + MIB
        whole = await stream.read()
        assert whole == b"".join(b"%08d" % number * (MIB // 8) for number in range(64))
        stream.close()

    told(play, story)


def test_silence_is_not_the_server_s_while_nobody_reads() -> None:
    size = 8 * MIB

    async def story(streams: ResponseStreams) -> None:
        stream = await streams.ask(a_watch(silence=0.2), None)
        (connection,) = streams._reading
        while not connection._paused:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.6)
        assert len(await stream.read()) == size
        stream.close()
        silent = await streams.ask(a_watch(silence=0.2), None)
        assert len(await silent.read()) == size

    told(always(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size, bytes(size)), story)


def test_a_silent_server_and_a_response_that_takes_too_long_are_timeouts() -> None:
    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        writer.write(CHUNKED + b"3\r\nab\n\r\n")
        head = await read_question(reader)
        assert not head

    async def dripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        writer.write(CHUNKED)
        while True:
            writer.write(b"1\r\n\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    async def silence(streams: ResponseStreams) -> None:
        stream = await streams.ask(a_watch(silence=0.2), None)
        assert await stream.readany() == b"ab\n"
        with pytest.raises(TimeoutError):
            await stream.readany()
        stream.close()
        assert not streams._idle

    async def too_long(streams: ResponseStreams) -> None:
        stream = await streams.ask(a_watch(timeout=0.3), None)
        with pytest.raises(TimeoutError):
            await stream.read()
        stream.close()

    told(play, silence)
    told(dripping, too_long)


def test_a_cancelled_reader_and_one_that_leaves_close_the_connection() -> None:
    closed = asyncio.Event()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        writer.write(CHUNKED + b"3\r\nab\n\r\n")
        await reader.read()
        closed.set()

    async def story() -> None:
        async with serving(play) as (_, address), asyncio.timeout(10):
            client = RestClient(RestConfig(address, no_headers), "test")
            begun = asyncio.Event()

            async def follow(forever: bool) -> None:
                async with client.stream("/watch", {"watch": "true"}) as stream:
                    async for _ in stream.iter_any():
                        begun.set()
                        if not forever:
                            return

            await follow(forever=False)
            await closed.wait()
            closed.clear()
            begun.clear()
            following = asyncio.create_task(follow(forever=True))
            await begun.wait()
            following.cancel()
            with pytest.raises(asyncio.CancelledError):
                await following
            await closed.wait()
            await client.close()

    asyncio.run(story())


EARLY = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
UNASKED = {
    "a whole response": EARLY,
    "a part of a response": EARLY[:20],
    "after the end of the body": b"",
}


@pytest.mark.parametrize("case", UNASKED)
def test_a_response_that_nobody_asked_for_answers_no_request(case: str) -> None:
    early = UNASKED[case]
    good = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        writer.write(good if early else good + EARLY[:20])
        await writer.drain()
        if early:
            # the first response is read, and its connection idle, before the other one is sent
            await idle.wait()
            writer.write(early)
            await writer.drain()
            idle.clear()
        await read_question(reader)
        writer.write(EARLY[20:] if early != EARLY else good)

    idle = asyncio.Event()

    async def story() -> None:
        async with serving(play) as (server, address), asyncio.timeout(10):
            pool, streams = ConnectionPool(address), ResponseStreams(address)
            for ask in (lambda: body_by(streams), lambda: short_body(pool)):
                connections = server.connections
                assert await ask() == b"good"
                if early:
                    idle.set()
                    while pool._idle or streams._idle:
                        await asyncio.sleep(0.01)
                idle.clear()
                again = asyncio.create_task(ask())
                assert await again == b"good"
                assert server.connections == connections + 2
                idle.set()
                await asyncio.sleep(0)
            await pool.close()
            await streams.close()

    async def body_by(streams: ResponseStreams) -> bytes:
        stream = await streams.ask(a_watch(), None)
        try:
            return await stream.read()
        finally:
            stream.close()

    async def short_body(pool: ConnectionPool) -> bytes:
        return (await asked(pool, a_question())).body

    asyncio.run(story())


def test_a_refusal_has_the_words_of_the_server_and_a_long_one_is_cut() -> None:
    async def story(response: bytes, words: str, connections: int) -> None:
        async with serving(always(response)) as (server, address), asyncio.timeout(10):
            client = RestClient(RestConfig(address, no_headers), "test")
            for _ in range(2):
                with pytest.raises(Refused, match=words) as refused:
                    async with client.stream("/watch", {"watch": "true"}):
                        raise AssertionError("there is no stream")
                assert (refused.value.code, refused.value.retry_after_seconds) == (503, 7.0)
            assert server.connections == connections
            await client.close()

    head = b"HTTP/1.1 503 Busy\r\nRETRY-AFTER: 7\r\nContent-Length: %d\r\n\r\n"
    status = b'{"message":"too busy"}'
    asyncio.run(story(head % len(status) + status, "too busy", 1))
    asyncio.run(story(head % (64 * MIB) + b"n" * (2 * MIB), "^n{2000}$", 2))


def test_a_response_that_was_closed_cannot_be_read() -> None:
    async def story(streams: ResponseStreams) -> None:
        stream = await streams.ask(a_watch(), None)
        stream.close()
        stream.close()
        with pytest.raises(RuntimeError, match="the response was closed"):
            await stream.read()

    told(always(RESPONSE), story)
