"""Servers, or whoever answers in their place, that write what no API server would: it costs a pause, never more."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from packages.scheduler.tests.client.conftest import Serving

from kubesched.api.nodes import Node
from kubesched.client.election.leases import LeaseLock
from kubesched.client.informers.reflector import Reflector
from kubesched.client.informers.watch_events import LONGEST_LINE, lines
from kubesched.client.rest import LONGEST_PATIENCE_SECONDS, Query, RestClient, RestConfig, Unreachable, refusal_of
from kubesched.common.virtual_time import run_in_virtual_time

NODES = "/api/v1/nodes"
END = (
    b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","annotations":'
    b'{"k8s.io/initial-events-end":"true"}}}}\n'
)
NEW_NODE = b'{"type":"ADDED","object":{"metadata":{"name":"late","uid":"late","resourceVersion":"8"}}}\n'


class Garbling:
    """A server that says something strange once, in its list or after it; then a node appears."""

    def __init__(self, strange: bytes, *, in_list: bool) -> None:
        self.strange = strange
        self._in_list = in_list

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return an object that says little."""
        return b'{"metadata":{"uid":"one","resourceVersion":"7"}}'

    async def send(self, method: str, path: str, body: bytes | None = None, **more: object) -> bytes:
        """Never called."""
        raise AssertionError(method, path)

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator["Garbling.Lines"]:
        """Give the list or the watch."""
        if "watch" not in query:
            yield Garbling.Lines([b'{"metadata":{"resourceVersion":"7"},"items":[]}'], ends=True)
            return
        lines = [END, NEW_NODE] if "sendInitialEvents" in query else [NEW_NODE]
        if self.strange:
            lines = [self.strange, *lines] if self._in_list else [END, self.strange, NEW_NODE]
            self.strange = b""
        yield Garbling.Lines(lines)

    class Lines:
        """What is said; after that, silence, unless it ends."""

        def __init__(self, lines: list[bytes], *, ends: bool = False) -> None:
            self._lines = lines
            self._ends = ends

        async def iter_any(self) -> AsyncIterator[bytes]:
            """Yield the lines."""
            for line in self._lines:
                yield line
            if not self._ends:
                await asyncio.Event().wait()


class RecordingHandler:
    """Whoever is told of nodes."""

    def put(self, obj: object) -> None:
        """Take note of nothing."""

    drop = put


STRANGE = {
    "no JSON": (b"<html>oops</html>\n", "a line of the watch is no event"),
    "no UTF-8": (b'{"type":"ADDED\xff","object":{}}\n', "a line of the watch is no event"),
    "an event without a type": (b'{"object":{}}\n', "a line of the watch is no event"),
    "a bookmark without metadata": (b'{"type":"BOOKMARK","object":{}}\n', "a bookmark of the watch cannot be read"),
    "a bookmark that is a number": (b'{"type":"BOOKMARK","object":7}\n', "a bookmark of the watch cannot be read"),
    "an error without words": (b'{"type":"ERROR","object":[]}\n', "a line of the watch is no event"),
    "an object without end": (
        b'{"type":"ADDED","object":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        "cannot be read and is left out: Node: expected",
    ),
}


@pytest.mark.parametrize("in_list", [True, False], ids=["in the list", "in the watch"])
@pytest.mark.parametrize("case", STRANGE)
def test_a_kind_is_followed_on_after_a_strange_line(case: str, in_list: bool) -> None:
    strange, told = STRANGE[case]

    async def story() -> None:
        notes: list[str] = []
        reflector = Reflector(Garbling(strange, in_list=in_list), NODES, Node, RecordingHandler(), note=notes.append)
        following = asyncio.create_task(reflector.run())
        async with asyncio.timeout(600):
            while not reflector.objects:
                await asyncio.sleep(1)
        assert [told in note and NODES in note for note in notes] == [True]
        following.cancel()

    run_in_virtual_time(story())


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [
        pytest.param("3", b"", 3.0, id="the header counts"),
        pytest.param("3", b'"retryAfterSeconds":5', 3.0, id="the header counts more than the body"),
        pytest.param(None, b'"retryAfterSeconds":5', 5.0, id="without a header the body counts"),
        pytest.param("Wed, 21 Oct 2037 07:28:00 GMT", b'"retryAfterSeconds":5', 5.0, id="a date is passed over"),
        pytest.param("nan", b"", None, id="what is no number is passed over"),
        pytest.param("1e400", b"", None, id="so is what is no whole number"),
        pytest.param("-5", b"", None, id="and what is none of seconds"),
        pytest.param("86400", b"", LONGEST_PATIENCE_SECONDS, id="nobody waits for a day"),
        pytest.param(None, b'"retryAfterSeconds":1e300', LONGEST_PATIENCE_SECONDS, id="nor for ever"),
        pytest.param(None, b'"retryAfterSeconds":-1', 0.0, id="nor for less than nothing"),
    ],
)
def test_how_long_a_server_may_ask_to_wait(header: str | None, details: bytes, seconds: float | None) -> None:
    refused = refusal_of(503, header, b'{"message":"busy","details":{%s}}' % details)
    assert (str(refused), refused.retry_after_seconds) == ("busy", seconds)


BOMB = gzip.compress(bytes(1 << 20))


@pytest.mark.parametrize("how", ["a short answer", "a list"])
def test_an_answer_that_is_compressed_is_refused_before_it_grows(how: str, serving: Serving) -> None:
    accepted: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        accepted.append(request.headers.get("Accept-Encoding", ""))
        return web.Response(body=BOMB, headers={"Content-Encoding": "gzip"})

    async def story() -> None:
        async with serving(answer) as url:
            client = RestClient(RestConfig(url, no_headers), "test")
            asking = client.get(NODES) if how == "a short answer" else client.stream(NODES, {}).__aenter__()
            with pytest.raises(Unreachable, match=r"the answer is compressed \(gzip\), which was not asked for"):
                await asking
            await client.close()

    asyncio.run(story())
    assert accepted == ["identity"]


def test_a_line_of_a_watch_without_end_is_given_up() -> None:
    read = 0

    class Endless:
        async def iter_any(self) -> AsyncIterator[bytes]:
            nonlocal read
            yield b'{"type":"ADDED","object":{}}\n{"type":"'
            while True:
                read += 1 << 20
                yield b"x" * (1 << 20)

    async def story() -> None:
        found = lines(Endless())
        assert await anext(found) == [b'{"type":"ADDED","object":{}}']
        with pytest.raises(Unreachable, match="a line of the watch is longer than 16 MiB"):
            await anext(found)

    asyncio.run(story())
    assert read <= LONGEST_LINE + (1 << 20)


async def no_headers() -> dict[str, str]:
    return {}


def test_a_name_that_no_host_can_have_is_said_to_be_the_trouble() -> None:
    async def story() -> None:
        client = RestClient(RestConfig("http://a..b:6443", no_headers), "test")
        with pytest.raises(Unreachable, match=r"cannot connect to http://a\.\.b:6443: ") as error:
            await client.get("/version")
        assert not error.value.maybe_done
        await client.close()

    asyncio.run(story())


def test_a_lease_that_is_no_text_is_read_again_later() -> None:
    class Strange(RestClient):
        def __init__(self) -> None: ...

        async def get(self, path: str, query: Query | None = None) -> bytes:
            return b'{"metadata":{"annotations":{"a":"\xff"}},"spec":{}}'

    async def story() -> None:
        with pytest.raises(Unreachable, match="the answer is no Lease"):
            await LeaseLock(Strange(), "kube-system", "kube-scheduler").read()

    asyncio.run(story())
