"""What anonymous clients can do to a server by what they send or do not send: little, in memory, time and number."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from kubesched.http import connections, protocol
from kubesched.http.connections import Connections, most_connections
from kubesched.http.protocol import ALWAYS_LET_IN, LARGEST_HEADERS, Handlers, HttpConnection
from kubesched_controlplane.transport.certificates import make_tls

BEGIN = b"POST / HTTP/1.1\r\nHost: a\r\n"
LONG = b"x: " + b"y" * 8000 + b"\r\n"
CHUNKED = BEGIN + b"Transfer-Encoding: chunked\r\n\r\n"
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Plain(Handlers):
    """Connections as they come."""

    connection_class = HttpConnection


class House:
    """A server whose requests take until `done`."""

    def __init__(self, most: int, tls: Any) -> None:
        self.done = asyncio.Event()
        self.asked = 0
        self.handlers = Plain(self._answer)
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        self.address = listener.getsockname()[:2]
        self.connections = self.handlers.accepted = Connections(
            listener, lambda local: tls, self.handlers, lambda line: None, most
        )

    async def _answer(self, message: web.BaseRequest) -> web.StreamResponse:
        self.asked += 1
        if message.path == "/slow":
            await self.done.wait()
        return web.Response(body=await message.read())

    async def client(self, sent: bytes = b"") -> Client:
        reader, writer = await asyncio.open_connection(*self.address)
        writer.write(sent)
        return reader, writer

    async def flood(self, begin: bytes, piece: bytes, most: int) -> bytes:
        """Return what a client hears that sends pieces until it is stopped; one that is not stopped hears nothing."""
        reader, writer = await self.client(begin)
        sent = 0
        while sent < most and not reader.at_eof():
            writer.write(piece)
            sent += len(piece)
            try:
                await writer.drain()
                await asyncio.sleep(0)
            except ConnectionError:
                break
        try:
            return await asyncio.wait_for(reader.read(), 2.0)
        except ConnectionError:
            return b"cut"
        except TimeoutError:
            return b""
        finally:
            writer.close()


def played(work: Callable[[House], Awaitable[None]], *, most: int = 100, tls: Any = None) -> None:
    async def play() -> None:
        house = House(most, tls)
        house.connections.open()
        try:
            async with asyncio.timeout(20):
                await work(house)
        finally:
            house.done.set()
            house.connections.close()
            await house.handlers.shutdown(1.0)
            await house.connections.closed()

    asyncio.run(play())


async def ends(client: Client) -> bool:
    """Return whether the server ends a connection."""
    try:
        while await asyncio.wait_for(client[0].read(1 << 16), 10.0):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize(
    ("case", "begin", "piece", "heard"),
    [
        ("headers without end", BEGIN, LONG, b"HTTP/1.1 431 Request Header Fields Too Large"),
        ("requests that are sent ahead", b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n" * 3, BEGIN + LONG + b"\r\n", b"cut"),
        ("extensions of a piece of a body", CHUNKED + b"1;", b"a=b;" * 2000, b"cut"),
        ("trailers without end", CHUNKED + b"0\r\n", LONG, b"cut"),
    ],
)
def test_what_a_client_sends_around_its_requests_is_bounded(
    case: str, begin: bytes, piece: bytes, heard: bytes
) -> None:
    async def work(house: House) -> None:
        said = await house.flood(begin, piece, 8 * LARGEST_HEADERS)
        assert said.startswith(heard), f"{case}: {said!r}"
        while house.handlers.unfinished:
            await asyncio.sleep(0.01)

    played(work)


def test_headers_of_many_clients_are_bounded_together_and_short_ones_are_let_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "MOST_UNFINISHED", 4 * ALWAYS_LET_IN)

    async def work(house: House) -> None:
        held = [await house.client(BEGIN + LONG * 1) for _ in range(10)]
        while house.handlers.unfinished < 10 * len(LONG):
            await asyncio.sleep(0.01)
        assert (await house.flood(BEGIN, LONG, LARGEST_HEADERS // 2)).startswith(b"HTTP/1.1 431")
        reader, writer = await house.client(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
        for _, each in (*held, (reader, writer)):
            each.close()
        while house.handlers.unfinished:
            await asyncio.sleep(0.01)

    played(work)


def test_a_body_in_small_pieces_is_no_flood() -> None:
    async def work(house: House) -> None:
        pieces = b"1\r\na\r\n" * 100_000
        reader, writer = await house.client(CHUNKED + pieces + b"0\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(100_000) == b"a" * 100_000
        writer.close()

    played(work)


@pytest.mark.parametrize("size", [1000, 200_000, 900_000])
def test_a_body_that_comes_with_its_headers_is_no_header(size: int) -> None:
    async def work(house: House) -> None:
        reader, writer = await house.client()
        for _ in range(3):
            writer.write(BEGIN + b"Content-Length: %d\r\n\r\n" % size + b"a" * size)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            assert await reader.readexactly(size) == b"a" * size
        writer.close()

    played(work)


def test_the_quietest_connection_makes_room_and_one_in_use_stays() -> None:
    async def work(house: House) -> None:
        watching = await house.client(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        while not house.asked:
            await asyncio.sleep(0.01)
        silent = [await house.client() for _ in range(3)]
        newcomer = await house.client(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await newcomer[0].readline()).startswith(b"HTTP/1.1 200")
        assert await ends(silent[0])
        house.done.set()
        assert (await watching[0].readline()).startswith(b"HTTP/1.1 200")
        for _, writer in (watching, newcomer, *silent):
            writer.close()

    played(work, most=4)


def test_headers_that_do_not_come_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.1)

    async def work(house: House) -> None:
        silent, slow = await house.client(), await house.client(BEGIN)
        later = await house.client(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await later[0].readuntil(b"\r\n\r\n")
        later[1].write(BEGIN)
        for client in (silent, slow, later):
            assert await ends(client)
            client[1].close()

    played(work)


def test_a_client_that_says_nothing_has_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    class Counted(connections._SmallTls):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            begun.append(self)

    monkeypatch.setattr(connections, "_SmallTls", Counted)

    async def work(house: House) -> None:
        silent = [await house.client() for _ in range(5)]
        while len(house.connections) < 5:
            await asyncio.sleep(0.01)
        speaking = await house.client(b"\x16\x03\x01")
        while not begun:
            await asyncio.sleep(0.01)
        assert len(begun) == 1
        assert len(begun[0]._ssl_buffer) <= 16 * 1024
        for _, writer in (speaking, *silent):
            writer.close()
        while len(house.connections):
            await asyncio.sleep(0.01)
        assert len(begun) == 1

    played(work, tls=make_tls(["127.0.0.1"]).context)


@pytest.mark.parametrize(("descriptors", "expected"), [(1024, 500), (512, 384), (16, 12), (-1, 500)])
def test_connections_leave_descriptors_for_others(
    monkeypatch: pytest.MonkeyPatch, descriptors: int, expected: int
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda which: (descriptors, descriptors))
    assert most_connections(500) == expected


def is_closed(client: socket.socket) -> bool:
    """Return whether the server has closed a connection by now."""
    client.setblocking(False)
    try:
        return not client.recv(1)
    except ConnectionError:
        return True
    except BlockingIOError:
        return False


SLOW = b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize("turns", range(8))
def test_a_connection_that_arrives_while_the_server_stops_is_closed(turns: int) -> None:
    async def play() -> None:
        house = House(100, None)
        house.connections.open()
        with socket.create_connection(house.address) as slow, socket.create_connection(house.address) as client:
            slow.sendall(SLOW)
            for _ in range(turns):
                await asyncio.sleep(0)
            house.connections.close()
            await house.handlers.shutdown(0.1)
            await house.connections.closed()
            assert is_closed(client)
            assert is_closed(slow)

    asyncio.run(play())


def test_a_request_that_is_not_answered_in_time_is_cut_when_the_server_stops() -> None:
    async def play() -> None:
        house = House(100, None)
        house.connections.open()
        with socket.create_connection(house.address) as client:
            client.sendall(SLOW)
            while not house.asked:
                await asyncio.sleep(0)
            house.connections.close()
            # without aiohttp's shutdown, whose time may be over before all requests are answered
            await house.connections.closed()
            assert is_closed(client)

    asyncio.run(play())
