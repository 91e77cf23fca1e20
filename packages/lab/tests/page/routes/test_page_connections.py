"""What clients without the token do to the page by what they send, or do not send: nothing that its user notices."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from tests.support.models import a_model

from kubesched.http import protocol
from kubesched.testing import a_node
from kubesched_lab.page import server
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.routes import connections
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster

TOKEN = "of-this-test"
SECONDS = 20


class Page:
    """A served page, and its clients."""

    def __init__(self) -> None:
        self.server = PageServer(PageState(ShownCluster(a_model(a_node("n")))), token=TOKEN)
        self.address = ("", 0)

    async def start(self) -> None:
        host, port = (await self.server.start()).removeprefix("http://").partition("/")[0].split(":")
        self.address = (host, int(port))

    def request(self, path: str, *headers: bytes) -> bytes:
        lines = [f"GET {path} HTTP/1.1".encode(), f"Host: {':'.join(map(str, self.address))}".encode(), *headers]
        return b"\r\n".join([*lines, b"", b""])

    async def hears(self, sent: bytes) -> bytes:
        """Return all that a client hears until it is closed."""
        reader, writer = await asyncio.open_connection(*self.address)
        writer.write(sent)
        try:
            return await reader.read()
        except ConnectionError:
            return b"cut"
        finally:
            writer.close()

    async def user(self) -> bytes:
        """Return the first line that the page's user gets."""
        token = f"Authorization: Bearer {TOKEN}".encode()
        return (await self.hears(self.request("/v1/cluster", token, b"Connection: close"))).partition(b"\r\n")[0]

    async def until(self, met: Callable[[int], bool]) -> None:
        """Wait until the number of connections is as it should be."""
        assert self.server._connections is not None
        while not met(len(self.server._connections)):
            await asyncio.sleep(0.01)


def played(work: Callable[[Page], Awaitable[None]]) -> None:
    async def play() -> None:
        page = Page()
        await page.start()
        try:
            async with asyncio.timeout(SECONDS):
                await work(page)
        finally:
            await page.server.close()

    asyncio.run(play())


def test_silent_connections_do_not_keep_the_user_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 10)

    async def story(page: Page) -> None:
        silent = [await asyncio.open_connection(*page.address) for _ in range(40)]
        for _ in range(3):
            assert await page.user() == b"HTTP/1.1 200 OK"
        await page.until(lambda number: number <= 10)
        for _, writer in silent:
            writer.close()

    played(story)


def test_a_request_whose_head_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.2)

    async def story(page: Page) -> None:
        assert await page.hears(b"") == b""
        assert await page.hears(b"GET / HTTP/1.1\r\nHost: ") == b""

    played(story)


def test_a_client_that_does_not_read_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SEND_SECONDS", 0.2)

    async def story(page: Page) -> None:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, page.address)
        await page.until(lambda number: number == 1)
        asking = loop.create_task(loop.sock_sendall(client, page.request("/js/main.js") * 100_000))
        await page.until(lambda number: number == 0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        client.close()

    played(story)


MALFORMED: dict[str, tuple[Callable[[Page], bytes], bytes]] = {
    "what is no HTTP": (lambda page: b"GARBAGE\r\n\r\n", b"400"),
    "a header without a name": (lambda page: page.request("/", b": x"), b"400"),
    "two lengths": (lambda page: page.request("/", b"Content-Length: 1", b"Content-Length: 2"), b"400"),
    "a header of a megabyte": (lambda page: page.request("/", b"x: " + b"y" * (1 << 20)), b"431"),
    "a thousand headers": (lambda page: page.request("/", *[b"x: y"] * 1000), b"431"),
    "a token that is no UTF-8": (
        lambda page: page.request("/v1/cluster", b"Authorization: Bearer \xff", b"Connection: close"),
        b"401",
    ),
    "a host that is no UTF-8": (lambda page: b"GET / HTTP/1.1\r\nHost: \xff\r\nConnection: close\r\n\r\n", b"421"),
    "an origin that is no UTF-8": (
        lambda page: page.request("/", b"Origin: http://\xff", b"Connection: close"),
        b"403",
    ),
    "an expectation": (lambda page: page.request("/", b"Expect: the unexpected", b"Connection: close"), b"417"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_request_is_refused_without_a_word_in_the_terminal(
    case: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    made, status = MALFORMED[case]

    async def story(page: Page) -> None:
        heard = await page.hears(made(page))
        # a client that still sends when it is refused may lose the response
        assert heard.split(b" ", 2)[1:2] == [status] or (heard, status) == (b"cut", b"431")
        assert b"aiohttp" not in heard
        assert b"Traceback" not in heard
        assert await page.user() == b"HTTP/1.1 200 OK"

    played(story)
    assert not caplog.records
    assert capfd.readouterr().err == ""


def test_a_fault_of_the_page_is_told_in_the_terminal(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(*_: Any) -> bytes:
        raise RuntimeError("a bug")

    async def story(page: Page) -> None:
        monkeypatch.setattr(PageState, "encoded", faulty)
        assert await page.user() == b"HTTP/1.1 500 Internal Server Error"

    played(story)
    assert "RuntimeError: a bug" in caplog.text


def test_requests_that_come_at_once_give_way_to_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    send = connections._send

    async def counted(request: web.BaseRequest, response: web.StreamResponse) -> None:
        await send(request, response)
        sent.append(response.status)

    monkeypatch.setattr(connections, "_send", counted)

    async def story(page: Page) -> None:
        clients, many = 50, 100
        floods = [await asyncio.open_connection(*page.address) for _ in range(clients)]
        for _, writer in floods:
            writer.write(page.request("/v1/cluster") * many)
        while not sent:
            await asyncio.sleep(0)
        assert await page.user() == b"HTTP/1.1 200 OK"
        # without giving way each turn of the loop has one request of every client
        assert sent.count(401) < 2 * clients
        for _, writer in floods:
            writer.close()

    played(story)


def test_streams_that_nobody_reads_leave_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(server, "MOST_STREAMS", 10)

    async def story(page: Page) -> None:
        token = f"Authorization: Bearer {TOKEN}".encode()
        streams = []
        for _ in range(40):
            reader, writer = await asyncio.open_connection(*page.address)
            writer.write(page.request("/v1/changes?since=0", token))
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            streams.append(writer)
        assert await page.user() == b"HTTP/1.1 200 OK"
        await page.until(lambda number: number <= 11)
        for writer in streams:
            writer.close()

    played(story)
