"""Short requests over kept connections, against a server that plays a script: whole, torn, slow and lying answers."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from packages.scheduler.tests.client.conftest import Authority

from kubesched.client import connection_pool
from kubesched.client.connection_pool import CannotConnectError, ConnectionPool, HttpRequest, HttpResponse
from kubesched.client.rate_limiter import RateLimiter
from kubesched.client.rest import RestClient, RestConfig, Unreachable
from kubesched.common.server_trust import trusting_context

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Plays the same script on each connection; counts these."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._play(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def read_question(reader: asyncio.StreamReader) -> str:
    """Return the head of a request; its body is read, too."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    for line in head.split("\r\n"):
        if line.startswith("Content-Length: "):
            await reader.readexactly(int(line.removeprefix("Content-Length: ")))
    return head


def always(*pieces: bytes, close: bool = False) -> Play:
    """Return a script that answers each request with the same pieces."""

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_question(reader)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            if close:
                return

    return play


@asynccontextmanager
async def serving(play: Play, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[Server, str]]:
    """Give a server and its address."""
    server = Server(play)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    yield server, f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    listening.close()


def a_question(path: str = "/x", *, body: bytes | None = b"{}", silence: float = 10.0, **headers: str) -> HttpRequest:
    return HttpRequest("POST", path, headers, body, None, silence)


async def asked(pool: ConnectionPool, question: HttpRequest | None = None) -> HttpResponse:
    return await pool.ask(question or a_question(), None)


WHOLE = {
    "with a length": ((OK,), 200, b"ok"),
    "in pieces of one byte": (tuple(bytes([byte]) for byte in OK), 200, b"ok"),
    "in chunks": (
        (b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", b"1\r\nc\r\n0\r\n\r\n"),
        201,
        b"abc",
    ),
    "without a body": ((b"HTTP/1.1 204 No Content\r\n\r\n",), 204, b""),
    "after a word that it may go on": ((b"HTTP/1.1 100 Continue\r\n\r\n", OK), 200, b"ok"),
    "a refusal": ((b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n",), 409, b""),
}


@pytest.mark.parametrize("case", WHOLE)
def test_an_answer_is_whole_and_the_connection_serves_again(case: str) -> None:
    pieces, code, body = WHOLE[case]

    async def story() -> None:
        async with serving(always(*pieces)) as (server, address):
            pool = ConnectionPool(address)
            for _ in range(3):
                answer = await asked(pool)
                assert (answer.code, answer.body) == (code, body)
            assert server.connections == 1
            await pool.close()

    asyncio.run(story())


LAST = {
    "a server that says so": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    "the old protocol": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "a body that ends with the connection": b"HTTP/1.1 200 OK\r\n\r\nok",
}


@pytest.mark.parametrize("case", LAST)
def test_a_connection_that_ends_is_not_used_again(case: str) -> None:
    async def story() -> None:
        async with serving(always(LAST[case], close=True)) as (server, address):
            pool = ConnectionPool(address)
            for number in range(3):
                assert (await asked(pool)).body == b"ok"
                assert server.connections == number + 1
            await pool.close()

    asyncio.run(story())


TORN = {
    "before it answers": (b"", "the server closed the connection before it answered"),
    "in the head": (b"HTTP/1.1 200 OK\r\nContent-Le", "the server closed the connection before it answered"),
    "in the body": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
        "the connection broke before the answer was complete",
    ),
    "in a chunk": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nab",
        "the connection broke before the answer",
    ),
    "with something that is not HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n", "the answer is not HTTP"),
}


@pytest.mark.parametrize("case", TORN)
def test_a_torn_answer_is_an_error_of_that_request_alone(case: str) -> None:
    piece, told = TORN[case]
    answers = iter([always(piece, close=True), always(OK)])

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await next(answers)(reader, writer)

    async def story() -> None:
        async with serving(play) as (_, address):
            pool = ConnectionPool(address)
            with pytest.raises(OSError, match=told):
                await asked(pool)
            assert (await asked(pool)).body == b"ok"
            await pool.close()

    asyncio.run(story())


def test_silence_ends_the_wait_but_slow_words_do_not() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        await reader.read()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        for byte in OK:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.02)
        await reader.read()

    async def story() -> None:
        async with serving(silent) as (_, address):
            with pytest.raises(TimeoutError):
                await asked(ConnectionPool(address), a_question(silence=0.2))
        async with serving(slow) as (_, address):
            pool = ConnectionPool(address)
            assert (await asked(pool, a_question(silence=0.3))).body == b"ok"
            await pool.close()

    asyncio.run(story())


def test_an_answer_that_nobody_waits_for_goes_to_nobody_else() -> None:
    held = asyncio.Event()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await read_question(reader)
            if "/late" in head:
                await held.wait()
            path = head.split()[1].encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(path), path))

    async def story() -> None:
        async with serving(play) as (server, address):
            pool = ConnectionPool(address, most_connections=1)
            late = asyncio.create_task(asked(pool, a_question("/late")))
            while not server.connections:
                await asyncio.sleep(0)
            next_one = asyncio.create_task(asked(pool, a_question("/next")))
            await asyncio.sleep(0)
            late.cancel()
            held.set()
            assert (await next_one).body == b"/next"
            await pool.close()

    asyncio.run(story())


def test_those_who_come_late_wait_in_line_and_may_leave_it() -> None:
    async def story() -> None:
        async with serving(always(OK)) as (server, address):
            pool = ConnectionPool(address, most_connections=2)
            asks = [asyncio.create_task(asked(pool)) for _ in range(50)]
            await asyncio.sleep(0)
            for ask in asks[5:50:3]:
                ask.cancel()
            answers = await asyncio.gather(*asks, return_exceptions=True)
            assert sum(isinstance(answer, HttpResponse) for answer in answers) == 35
            assert server.connections <= 2
            await pool.close()

    asyncio.run(story())


def test_a_connection_that_the_server_closed_meanwhile_is_not_used() -> None:
    gone = asyncio.Event()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        writer.write(OK)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        gone.set()

    async def story() -> None:
        async with serving(play) as (server, address):
            pool = ConnectionPool(address)
            await asked(pool)
            await gone.wait()
            # the end of the connection arrives in its own time
            async with asyncio.timeout(10):
                while pool._idle:
                    await asyncio.sleep(0)
            assert (await asked(pool)).body == b"ok"
            assert server.connections == 2

    asyncio.run(story())


def test_nobody_there_means_that_nothing_was_sent() -> None:
    async def story() -> None:
        async with serving(always(OK)) as (_, address):
            pass
        pool = ConnectionPool(address, most_connections=1)
        for _ in range(3):
            with pytest.raises(CannotConnectError):
                await asked(pool)

    asyncio.run(story())


def test_other_credentials_mean_another_connection(tmp_path: Path) -> None:
    authority = Authority()

    def client() -> ssl.SSLContext:
        return trusting_context(ca_data=authority.certificate.decode())

    async def story() -> None:
        context = authority.serving(tmp_path)
        context.verify_mode = ssl.CERT_NONE
        async with serving(always(OK), context) as (server, address):
            pool = ConnectionPool(address)
            first, second = client(), client()
            for tls, connections in ((first, 1), (first, 1), (second, 2), (second, 2)):
                assert (await pool.ask(a_question(), tls)).body == b"ok"
                assert server.connections == connections
            with pytest.raises(CannotConnectError) as error:
                await ConnectionPool(address).ask(a_question(), ssl.create_default_context())
            assert isinstance(error.value.cause, ssl.SSLCertVerificationError)
            await pool.close()

    asyncio.run(story())


def test_what_is_asked_is_what_was_meant() -> None:
    heads: list[str] = []

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            heads.append(await read_question(reader))
            writer.write(OK)

    async def story() -> None:
        async with serving(play) as (_, address):
            pool = ConnectionPool(f"{address}/clusters/c-1/")
            await pool.ask(HttpRequest("PATCH", "/a b/ü", {"X-One": "1"}, b"{}", {"fieldManager": "a&b"}), None)
            with pytest.raises(ValueError, match="line break"):
                await pool.ask(a_question(X_Two="1\r\nX-Evil: 1"), None)
            with pytest.raises(ValueError, match="line break"):
                await pool.ask(a_question(X_Two="1\nX-Evil: 1"), None)
            await pool.ask(a_question("/x\r\nX-Evil: 1"), None)
            await pool.close()

    asyncio.run(story())
    assert heads[0].startswith("PATCH /clusters/c-1/a%20b/%C3%BC?fieldManager=a%26b HTTP/1.1\r\nHost: 127.0.0.1:")
    assert heads[0].endswith("X-One: 1\r\nContent-Length: 2\r\n\r\n")
    assert heads[1].startswith("POST /clusters/c-1/x%0D%0AX-Evil:%201 HTTP/1.1\r\n")


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_pool, "LONGEST_ANSWER", 1 << 20)

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + bytes(1 << 16) + b"\r\n")
            await writer.drain()

    async def story() -> None:
        async with serving(play) as (_, address):
            async with asyncio.timeout(10):
                with pytest.raises(ConnectionError, match="the answer is longer than 1 MiB"):
                    await asked(ConnectionPool(address))

    asyncio.run(story())


HEADS = {
    "headers without end": (b"HTTP/1.1 200 OK\r\n", b"X-%d: y\r\n" % 7 * 1000),
    "a header without end": (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 8000),
    "a reason without end": (b"HTTP/1.1 200 ", b"y" * 8000),
    "answers that only say to go on": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 300),
    "trailers without end": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
        b"X-%d: y\r\n" % 7 * 1000,
    ),
}


@pytest.mark.parametrize("case", HEADS)
def test_headers_without_end_are_given_up(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_pool, "LONGEST_ANSWER", 1 << 20)
    first, more = HEADS[case]
    sent = 0

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await read_question(reader)
        writer.write(first)
        while sent < 1 << 28:
            writer.write(more)
            sent += len(more)
            await writer.drain()

    async def story() -> None:
        async with serving(play) as (_, address):
            async with asyncio.timeout(20):
                with pytest.raises(ConnectionError, match=r"longer than 1 MiB|is not HTTP"):
                    await asked(ConnectionPool(address))

    asyncio.run(story())
    assert sent < 1 << 24


def test_a_connection_that_is_ending_carries_no_further_question() -> None:
    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_question(reader)
        # more than was asked for
        writer.write(OK + OK)
        await reader.read()

    async def story() -> None:
        async with serving(play) as (server, address):
            pool = ConnectionPool(address)
            for number in range(3):
                # without a pause between them: the end of one connection has not been told yet
                assert (await asked(pool)).body == b"ok"
                assert server.connections == number + 1

    asyncio.run(story())


def test_nothing_is_changed_while_there_is_an_objection_not_even_by_who_waited_for_a_turn() -> None:
    heads: list[str] = []
    lost = False

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            heads.append((await read_question(reader)).split(" HTTP")[0])
            writer.write(OK)

    async def no_headers() -> dict[str, str]:
        return {}

    async def story() -> None:
        nonlocal lost
        async with serving(play) as (_, address):
            client = RestClient(RestConfig(address, no_headers), "test", limiter=RateLimiter(5.0, 1))
            client.unless(lambda: "the lease has run out" if lost else "")
            await client.send("POST", "/first", b"{}")
            waiting = asyncio.create_task(client.send("POST", "/second", b"{}"))
            await asyncio.sleep(0)
            lost = True
            with pytest.raises(Unreachable, match="the lease has run out") as error:
                await waiting
            assert not error.value.maybe_done
            await client.get("/third")
            await client.close()

    asyncio.run(story())
    assert heads == ["POST /first", "GET /third"]
