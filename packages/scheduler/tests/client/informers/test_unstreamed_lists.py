"""Servers, and proxies before them, that do not stream lists for whatever reason: pages do, and nothing is lost."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from packages.scheduler.tests.client.conftest import Eventually, Serving

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.client.informers import reflector
from kubesched.client.informers.reflector import Reflector
from kubesched.client.rest import RestClient, RestConfig

NODES = "/api/v1/nodes"
NEW = {"type": "ADDED", "object": {"metadata": {"name": "new", "uid": "new", "resourceVersion": "8"}}}
FIRST = {"metadata": {"name": "first", "uid": "first", "resourceVersion": "5"}}
WORDS = "a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled"

Refusing = Callable[[web.Request], Awaitable[web.StreamResponse]]


def status(code: int) -> Refusing:
    """Return what answers with a code."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": "Status", "code": code, "message": WORDS}, status=code)

    return answer


def streaming(*lines: Any, then: float = 0.0) -> Refusing:
    """Return what answers with some lines of a watch, and ends after a while."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for line in lines:
            await response.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
        await asyncio.sleep(then)
        return response

    return answer


async def holding_back(request: web.Request) -> web.StreamResponse:
    """Answer nothing, as a proxy that waits for the end."""
    await asyncio.sleep(3600)
    raise AssertionError


def error(code: int, reason: str) -> dict[str, Any]:
    return {"type": "ERROR", "object": {"kind": "Status", "code": code, "reason": reason, "message": WORDS}}


CASES: dict[str, Refusing] = {
    **{f"HTTP {code}": status(code) for code in (400, 404, 405, 406, 410, 415, 422, 500, 501, 503, 504)},
    "an ERROR event with code 500, as of a server with an old etcd": streaming(error(500, "InternalError")),
    "an ERROR event that the version is too old": streaming(error(410, "Expired")),
    "an ERROR event after some objects": streaming({"type": "ADDED", "object": FIRST}, error(500, "InternalError")),
    "a stream that ends at once": streaming(),
    "a stream that ends before the list does": streaming({"type": "ADDED", "object": FIRST}),
    "something else than events": streaming(b"<html>"),
    "objects, and then silence": streaming({"type": "ADDED", "object": FIRST}, then=3600),
    "a proxy that holds everything back": holding_back,
}


class Known:
    """Remembers which nodes there are."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def put(self, obj: ApiObject) -> None:
        """Remember it."""
        self.names.append(obj.name)

    def drop(self, obj: ApiObject) -> None:
        """Forget it."""
        self.names.remove(obj.name)


async def no_headers() -> dict[str, str]:
    return {}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_streamed_is_listed_in_pages(
    case: str, serving: Serving, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reflector, "LIST_SILENCE_SECONDS", 0.5)
    asked: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path != NODES:
            return web.json_response({"metadata": {"uid": "one"}})
        if "sendInitialEvents" in request.query:
            asked.append("stream")
            return await CASES[case](request)
        if "watch" in request.query:
            asked.append("watch")
            return await streaming(NEW, then=3600)(request)
        if request.query.get("limit") != "1":
            asked.append("pages")
        return web.json_response({"metadata": {"resourceVersion": "7"}, "items": [FIRST]})

    async def story() -> None:
        async with serving(answer) as url:
            notes: list[str] = []
            known, client = Known(), RestClient(RestConfig(url, no_headers), "test")
            reflector = Reflector(client, NODES, Node, known, note=notes.append)
            following = asyncio.create_task(reflector.run())
            await eventually(lambda: known.names == ["first", "new"])
            assert asked == ["stream", "pages", "watch"], "without a pause, and once"
            assert [note.startswith(f"lists are read in pages, since {NODES} could not be") for note in notes] == [True]
            reflector.relist()
            await eventually(lambda: len(asked) == 5)
            assert asked[3:] == ["pages", "watch"], "who could not stream is not asked to stream again soon"
            following.cancel()
            await asyncio.wait([following])
            await client.close()

    asyncio.run(story())


def test_a_kind_that_the_server_does_not_have_is_named_with_what_follows(
    serving: Serving, eventually: Eventually
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path != "/apis/example.com/v1/foos":
            return web.json_response({"metadata": {"uid": "one"}})
        return web.Response(status=404, text="404 page not found\n")

    async def story() -> None:
        async with serving(answer) as url:
            notes: list[str] = []
            client = RestClient(RestConfig(url, no_headers), "test")
            reflector = Reflector(client, "/apis/example.com/v1/foos", Node, Known(), note=notes.append)
            reflector.needed_by = ("Fast", "Slow")
            following = asyncio.create_task(reflector.run())
            await eventually(lambda: notes)
            assert notes == [
                "failed to list and watch /apis/example.com/v1/foos: 404 page not found; nothing is scheduled until "
                "the API server serves /apis/example.com/v1/foos (needed by Fast, Slow)"
            ]
            following.cancel()
            await asyncio.wait([following])
            await client.close()

    asyncio.run(story())
