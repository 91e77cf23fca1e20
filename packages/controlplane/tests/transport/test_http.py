"""The API server on a socket: what clients send, well-formed or not, slowly or not at all."""

import asyncio
import gzip
import json
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp
import pytest

from kubesched_controlplane.access import AlwaysAllow, RoleBasedAccess, StaticTokens, always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR, Response, User
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.server.server import LARGEST_BODY, ApiServer
from kubesched_controlplane.server.verbs import watching
from kubesched_controlplane.server.verbs.writing import with_warnings
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.transport import http as http_module
from kubesched_controlplane.transport.certificates import make_tls
from kubesched_controlplane.transport.http import HttpServer, split_target
from kubesched_controlplane.transport.local_client import LocalClient

NODES = "/api/v1/nodes"
SECONDS = 30.0
TOO_LARGE = "RequestHeaderFieldsTooLarge"
# a few kilobytes that would become twenty megabytes
PACKED = gzip.compress(b" " * 20_000_000, 9)
Work = Callable[[HttpServer], Awaitable[Any]]


def served(work: Work, server: ApiServer | None = None, **options: Any) -> Any:
    """Return what `work` returns with a server on a free port."""

    async def play() -> Any:
        http = HttpServer(server or a_server(), **options)
        await http.start()
        try:
            async with asyncio.timeout(SECONDS):
                return await work(http)
        finally:
            await http.stop(0.5)

    return asyncio.run(play())


def a_server(*names: str, **options: Any) -> ApiServer:
    """Return a server with some nodes."""
    server = ApiServer(access=always_allow, seed=1, **options)
    for name in names or ("n1",):
        add_node(server, name)
    return server


def add_node(server: ApiServer, name: str, size: int = 0) -> None:
    client = LocalClient(server, ADMINISTRATOR)
    meta = {"name": name, "annotations": {"text": "x" * size}}
    client.create(client.resource("v1", "Node"), {"apiVersion": "v1", "kind": "Node", "metadata": meta})


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that happens soon."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


async def exchange(http: HttpServer, sent: bytes, answers: int = 1) -> list[tuple[int, dict[str, str], bytes]]:
    """Return the answers to bytes on one connection: code, headers in lower case, body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
    try:
        writer.write(sent)
        await writer.drain()
        method = sent.partition(b" ")[0]
        return [await answer_of(reader, method) for _ in range(answers)]
    finally:
        writer.close()


async def answer_of(reader: asyncio.StreamReader, method: bytes = b"GET") -> tuple[int, dict[str, str], bytes]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    size = 0 if method == b"HEAD" else int(headers.get("content-length", "0"))
    return int(first.split()[1]), headers, await reader.readexactly(size)


def get(target: str | bytes, *headers: str, method: str = "GET") -> bytes:
    where = target if isinstance(target, bytes) else target.encode()
    lines = "".join(f"{line}\r\n" for line in ("Host: x", *headers))
    return method.encode() + b" " + where + b" HTTP/1.1\r\n" + lines.encode() + b"\r\n"


# -- requests and answers


@pytest.mark.parametrize(
    ("host", "url"),
    [("localhost", "http://localhost:"), ("0.0.0.0", "http://127.0.0.1:"), ("::1", "http://[::1]:")],
)
def test_the_address_that_is_told_is_one_that_answers(host: str, url: str) -> None:
    if host == "::1" and not _has_ipv6():
        pytest.skip("no IPv6 on loopback")

    async def work(http: HttpServer) -> None:
        assert http.url == f"{url}{http.port}"
        async with aiohttp.ClientSession() as session, session.get(f"{http.url}/healthz") as response:
            assert await response.text() == "ok"

    served(work, host=host)


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_several_requests_share_a_connection_also_when_they_are_sent_ahead() -> None:
    ahead = get(f"{NODES}/n1") + get("/version") + get(f"{NODES}/n2") + get("/healthz")

    async def work(http: HttpServer) -> None:
        first, second, third, fourth = await exchange(http, ahead, 4)
        assert (first[0], json.loads(first[2])["metadata"]["name"]) == (200, "n1")
        assert first[1]["content-type"] == "application/json"
        assert json.loads(second[2])["gitVersion"].startswith("v1.")
        assert (third[0], json.loads(third[2])["reason"]) == (404, "NotFound")
        assert (fourth[0], fourth[2]) == (200, b"ok")

    served(work)


def test_head_is_answered_without_a_body_and_the_connection_goes_on() -> None:
    async def work(http: HttpServer) -> None:
        sent = get(f"{NODES}/n1", method="HEAD")
        reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
        writer.write(sent)
        code, headers, _ = await answer_of(reader, b"HEAD")
        assert (code, int(headers["content-length"]) > 0) == (200, True)
        writer.write(get("/healthz"))
        assert (await answer_of(reader))[2] == b"ok"
        writer.close()

    served(work)


@pytest.mark.parametrize(
    ("sent", "code", "reason"),
    [
        pytest.param(get("/api/v1/nodes/%zz"), 400, "BadRequest", id="an escape that is none"),
        pytest.param(get("/api/v1/nodes/a%"), 400, "BadRequest", id="an escape that is cut off"),
        pytest.param(get("/api/v1/nodes/../secrets"), 404, "NotFound", id="a path that climbs"),
        pytest.param(get("/api/v1/nodes/%2e%2e/secrets"), 404, "NotFound", id="a path that climbs in disguise"),
        pytest.param(get("/api/v1//nodes"), 404, "NotFound", id="a path with a hole"),
        pytest.param(get(b"/api/v1/nodes/\xff\xfe"), 400, "BadRequest", id="a name that is no text"),
        pytest.param(get("/api/v1/nodes/%ff%00"), 404, "NotFound", id="a name that is no text, escaped"),
        pytest.param(get("/api/v1/nodes", method="TRACE"), 405, "MethodNotAllowed", id="a verb of HTTP, not ours"),
        pytest.param(get("/api/v1/nodes", method="BREW"), 400, "BadRequest", id="a verb that nobody knows"),
        pytest.param(b"\x16\x03\x01\x02\x00\r\n\r\n", 400, "BadRequest", id="TLS on a port without"),
        pytest.param(get("/api/v1/nodes", "x: " + "y" * 80_000), 431, TOO_LARGE, id="a header without end"),
        pytest.param(get("/api/v1/nodes?a=" + "y" * 80_000), 431, TOO_LARGE, id="a query without end"),
        pytest.param(get("/api/v1/nodes?" + "a=b&" * 1001), 400, "BadRequest", id="parameters without end"),
        pytest.param(get("/api/v1/nodes?resourceVersion=x"), 400, "BadRequest", id="a version that is no number"),
        pytest.param(get("/api/v1/nodes?watch=1&resourceVersion=x"), 400, "BadRequest", id="the same for a watch"),
        pytest.param(get("/api/v1/nodes", "Content-Length: -1"), 400, "BadRequest", id="a length below nothing"),
    ],
)
def test_what_is_wrong_gets_a_status_and_the_server_lives_on(sent: bytes, code: int, reason: str) -> None:
    async def work(http: HttpServer) -> None:
        found, _, body = (await exchange(http, sent))[0]
        status = json.loads(body)
        assert (found, status["kind"], status["code"], status["reason"]) == (code, "Status", code, reason)
        assert (await exchange(http, get(f"{NODES}/n1")))[0][0] == 200

    served(work)


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        pytest.param("/a/b", "/a/b", {}, id="a path"),
        pytest.param("/a%2Fb%20c", "/a/b c", {}, id="escapes are decoded"),
        pytest.param("/a?x=1&x=2&y", "/a", {"x": ["1", "2"], "y": [""]}, id="parameters can repeat and be empty"),
        pytest.param("/a?x=%3D,%zz+b", "/a", {"x": ["=,%zz b"]}, id="a bad escape in a query stays as it is"),
        pytest.param("http://host:1/a?x=1", "/a", {"x": ["1"]}, id="the absolute form"),
        pytest.param("/a#part", "/a", {}, id="a fragment is nobody's"),
        pytest.param("*", "/", {}, id="the asterisk"),
    ],
)
def test_a_target_is_a_path_and_a_query(target: str, path: str, query: Mapping[str, list[str]]) -> None:
    assert split_target(target) == (path, query)


def test_a_fault_in_the_server_is_a_500_and_no_end() -> None:
    class Broken(AlwaysAllow):
        def user_of(self, headers: Mapping[str, str]) -> User:
            raise KeyError("oops") if "x-break" in headers else ApiError(401, "Unauthorized", "Unauthorized")

    async def work(http: HttpServer) -> None:
        found = await exchange(http, get("/healthz", "X-Break: 1") + get("/healthz"), 2)
        assert [code for code, _, _ in found] == [500, 401]

    served(work, ApiServer(access=lambda services: Broken()))


def test_whoever_brings_a_token_is_known_by_it() -> None:
    server = ApiServer(access=lambda services: RoleBasedAccess(services, StaticTokens({"right": ADMINISTRATOR})))
    bootstrap(LocalClient(server, ADMINISTRATOR))

    async def work(http: HttpServer) -> None:
        sent = get(NODES, "Authorization: Bearer right")
        sent += get(NODES, "Authorization: Bearer wrong")
        sent += get(NODES)
        sent += get(NODES, "authorization: bearer \xff\xfe")
        assert [code for code, _, _ in await exchange(http, sent, 4)] == [200, 401, 403, 401]

    served(work, server)


# -- bodies


def post(body: bytes, *headers: str) -> bytes:
    return get(NODES, "Content-Type: application/json", *headers, method="POST") + body


def test_a_body_is_read_whether_it_comes_at_once_or_in_pieces() -> None:
    node = json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}}).encode()
    chunked = post(b"%x\r\n%s\r\n0\r\n\r\n" % (len(node), node), "Transfer-Encoding: chunked")

    async def work(http: HttpServer) -> None:
        assert (await exchange(http, chunked))[0][0] == 201
        reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
        writer.write(post(b"", f"Content-Length: {len(node)}", "Expect: 100-continue"))
        assert (await answer_of(reader))[0] == 100
        writer.write(node)
        assert (await answer_of(reader))[0] == 409
        writer.close()

    served(work)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        pytest.param(post(b"", f"Content-Length: {10**12}"), 413, id="announced as too long: not waited for"),
        pytest.param(
            post(b"%x\r\n" % (LARGEST_BODY + 1), "Transfer-Encoding: chunked") + b"x" * (LARGEST_BODY + 1) + b"\r\n",
            413,
            id="too long without saying so: not read to the end",
        ),
        pytest.param(post(b"zz\r\n", "Transfer-Encoding: chunked"), 400, id="chunks that are none"),
        pytest.param(post(b"nonsense", "Content-Length: 8", "Content-Encoding: gzip"), 400, id="packed, but it is not"),
        pytest.param(
            post(PACKED, f"Content-Length: {len(PACKED)}", "Content-Encoding: gzip"), 400, id="packed: taken as it is"
        ),
        pytest.param(post(b"{", "Content-Length: 1"), 400, id="torn JSON"),
        pytest.param(post(b"[" * 100_000, "Content-Length: 100000"), 400, id="JSON as deep as the sea"),
    ],
)
def test_a_body_that_is_too_long_or_malformed_is_refused(sent: bytes, code: int) -> None:
    async def work(http: HttpServer) -> None:
        found, _, body = (await exchange(http, sent))[0]
        assert (found, json.loads(body)["code"]) == (code, code)

    served(work)


NOBODY = User("nobody")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Authorization: Bearer wrong", 401),
        ("Authorization: Bearer nobody", 403),
        ("X-Nothing: at all", 403),
    ],
    ids=["a wrong token", "a user without rights", "no token"],
)
@pytest.mark.parametrize("length", ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
def test_nobody_waits_for_the_body_of_a_request_that_will_be_refused(line: str, code: int, length: str) -> None:
    async def work(http: HttpServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
        # the body does not end
        writer.write(get(NODES, line, length, method="POST"))
        found, headers, _ = await answer_of(reader)
        assert (found, headers["connection"]) == (code, "close")
        assert await reader.read() == b""
        writer.close()

    tokens = StaticTokens({"right": ADMINISTRATOR, "nobody": NOBODY})
    served(work, ApiServer(access=lambda registry: RoleBasedAccess(registry, tokens)))


def test_a_body_is_read_of_a_user_who_may_write() -> None:
    node = json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}}).encode()

    async def work(http: HttpServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
        head = get(NODES, "Authorization: Bearer right", f"Content-Length: {len(node)}", method="POST")
        writer.write(head + node[:5])
        await writer.drain()
        await asyncio.sleep(0)
        writer.write(node[5:])
        assert (await answer_of(reader))[0] == 201
        writer.close()

    tokens = StaticTokens({"right": ADMINISTRATOR})
    served(work, ApiServer(access=lambda registry: RoleBasedAccess(registry, tokens)))


def test_a_body_that_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_module, "REQUEST_SECONDS", 0.05)

    async def work(http: HttpServer) -> None:
        code, _, body = (await exchange(http, post(b"{", "Content-Length: 100")))[0]
        assert (code, json.loads(body)["reason"]) == (408, "Timeout")

    served(work)


def test_a_long_list_is_sent_whole() -> None:
    server = ApiServer(access=always_allow, seed=1)
    for number in range(1200):
        add_node(server, f"n{number:04}", size=500)

    async def work(http: HttpServer) -> None:
        code, headers, body = (await exchange(http, get(NODES)))[0]
        assert (code, len(body)) == (200, int(headers["content-length"]))
        assert len(body) > http_module.WHOLE_BYTES
        assert [item["metadata"]["name"] for item in json.loads(body)["items"]][-1] == "n1199"
        code, headers, _ = (await exchange(http, get(NODES, method="HEAD")))[0]
        assert (code, int(headers["content-length"])) == (200, len(body))

    served(work, server)


# -- watches


class Stream:
    """A watch as a client reads it."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def event(self) -> tuple[str, dict[str, Any]]:
        event = json.loads(await self._response.content.readline())
        return event["type"], event["object"]

    async def name(self) -> tuple[str, str]:
        kind, found = await self.event()
        return kind, found["metadata"]["name"]

    async def rest(self) -> bytes:
        return await self._response.content.read()


def watched(
    work: Callable[[HttpServer, Stream], Awaitable[None]], server: ApiServer | None = None, **query: str
) -> None:
    """Run `work` with a watch of nodes over HTTP."""

    async def play(http: HttpServer) -> None:
        async with (
            aiohttp.ClientSession(http.url, read_bufsize=2**20) as session,
            session.get(NODES, params={"watch": "true", **query}) as response,
        ):
            assert response.status == 200
            assert response.headers["Transfer-Encoding"] == "chunked"
            await work(http, Stream(response))

    served(play, server)


def test_a_watch_sends_lines_as_things_happen() -> None:
    async def work(http: HttpServer, stream: Stream) -> None:
        assert await stream.name() == ("ADDED", "n1")
        for number in range(2, 5):
            add_node(http.server, f"n{number}")
        assert [await stream.name() for _ in range(3)] == [("ADDED", "n2"), ("ADDED", "n3"), ("ADDED", "n4")]

    watched(work)


def test_a_watch_ends_on_the_server_as_soon_as_its_client_leaves() -> None:
    server = a_server()

    async def play(http: HttpServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
        writer.write(get(f"{NODES}?watch=true"))
        await reader.readuntil(b"n1")
        assert len(server.watching.watches) == 1
        writer.close()
        await until(lambda: not server.watching.watches)

    served(play, server)


def test_a_watch_lasts_as_long_as_its_client_wants_and_says_where_it_ended() -> None:
    async def work(http: HttpServer, stream: Stream) -> None:
        begun = time.monotonic()
        assert await stream.name() == ("ADDED", "n1")
        kind, mark = await stream.event()
        assert (kind, mark["metadata"]["resourceVersion"]) == ("BOOKMARK", str(http.server.registry.store.version))
        assert await stream.rest() == b""
        # half an hour and more if it did not care
        assert 0.9 < time.monotonic() - begun < SECONDS

    watched(work, timeoutSeconds="1", allowWatchBookmarks="true")


def test_a_watch_without_a_wish_lasts_half_an_hour_or_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_module, "WATCH_SECONDS", 0.02)

    async def work(http: HttpServer, stream: Stream) -> None:
        assert await stream.name() == ("ADDED", "n1")
        assert await stream.rest() == b""

    watched(work)


def test_bookmarks_come_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched_controlplane.transport.transport.BOOKMARK_SECONDS", 0.02)

    async def work(http: HttpServer, stream: Stream) -> None:
        assert await stream.name() == ("ADDED", "n1")
        assert [(await stream.event())[0] for _ in range(2)] == ["BOOKMARK", "BOOKMARK"]

    watched(work, allowWatchBookmarks="true")


def test_a_watch_from_a_forgotten_version_is_told_so_and_ends() -> None:
    server = a_server("n1", "n2", "n3", store=Store(1))

    async def work(http: HttpServer, stream: Stream) -> None:
        kind, status = await stream.event()
        assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired")
        assert await stream.rest() == b""

    watched(work, server, resourceVersion="2")


def test_a_client_that_does_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_BEHIND", 100)
    monkeypatch.setattr(http_module, "LAST_SECONDS", 0.05)
    server = a_server()

    async def play(http: HttpServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", http.port, limit=1024)
        writer.write(get(f"{NODES}?watch=true"))
        await reader.readuntil(b"n1")
        (watch,) = server.watching.watches
        number = 0
        while not watch.ended:
            number += 1
            add_node(server, f"big{number}", size=100_000)
            assert number < 2000
            await asyncio.sleep(0)
        # its lines are gone, and soon its connection, too
        assert len(watch) <= 100
        await until(lambda: not http._handlers.connections)  # type: ignore[union-attr]
        writer.close()
        assert (await exchange(http, get(f"{NODES}/n1")))[0][0] == 200

    served(play, server)


def test_the_end_of_the_server_ends_watches_in_good_order() -> None:
    async def work(http: HttpServer, stream: Stream) -> None:
        assert await stream.name() == ("ADDED", "n1")
        begun = time.monotonic()
        await http.stop(2 * SECONDS)
        assert await stream.rest() == b""
        assert time.monotonic() - begun < SECONDS
        assert not http.server.watching.watches

    watched(work)


def test_a_watch_by_head_or_by_an_old_client_works_too() -> None:
    async def play(http: HttpServer) -> None:
        code, _, _ = (await exchange(http, get(f"{NODES}?watch=1", method="HEAD")))[0]
        assert code == 200
        reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
        writer.write(f"GET {NODES}?watch=1&timeoutSeconds=1 HTTP/1.0\r\n\r\n".encode())
        lines = (await reader.read()).partition(b"\r\n\r\n")[2]
        assert json.loads(lines)["object"]["metadata"]["name"] == "n1"
        writer.close()

    served(play)


# -- TLS


def test_tls_is_trusted_by_whoever_has_the_authority_and_by_nobody_else() -> None:
    tls = make_tls(["127.0.0.1"])

    async def play(http: HttpServer) -> None:
        trusting = ssl.create_default_context(cadata=tls.authority.decode())
        trusting.verify_flags |= ssl.VERIFY_X509_STRICT
        async with aiohttp.ClientSession(http.url) as session:
            for host in ("127.0.0.1", "localhost"):
                async with session.get(f"https://{host}:{http.port}/healthz", ssl=trusting) as response:
                    assert await response.text() == "ok"
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await session.get("/healthz")

    served(play, tls=tls.context)


# -- warnings


def test_warnings_are_quoted_as_headers_have_them() -> None:
    found = with_warnings(Response(200, ()), ['unknown field "a\\b"', "torn\nline", 'unknown field "a\\b"', "x" * 5000])
    assert found.headers == {"Warning": '299 - "unknown field \\"a\\\\b\\""'}
    assert with_warnings(Response(200, ()), []).headers == {}
