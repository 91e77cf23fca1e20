"""The page's server: its files, the cluster as JSON, and changes as server-sent events.

From requests to responses; `docs/page.md` has the interface. Questions are answered on the loop, between reports, so
that an answer is about one moment.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any, Final

import msgspec
from aiohttp import web

from kubesched.asking.answers import Answer
from kubesched.asking.explain.explain_node import explain_node
from kubesched.asking.explain.explain_pod import explain_named_pod
from kubesched.asking.explain.funnel import funnel_of
from kubesched.asking.explain.triage import triage
from kubesched.asking.model import UnknownObjectError
from kubesched.asking.sources.remembering import remembered
from kubesched.errors import KubeschedError
from kubesched.page.guard import guard, refusal, with_headers
from kubesched.page.shown_cluster import ShownCluster

LOOPBACK: Final = "127.0.0.1"
# between two messages to a browser: ten a second
PACE_SECONDS: Final = 0.1
HEARTBEAT_SECONDS: Final = 10.0
MEDIA_TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
INDEX: Final = "index.html"


class PageServer:
    """Serves a cluster on loopback."""

    def __init__(self, shown: ShownCluster, *, token: str = "", now: Callable[[], Any] = lambda: None) -> None:
        self._shown = shown
        self._now = now
        self.token = token or secrets.token_urlsafe(24)
        self._files = static_files()
        self._runner: web.AppRunner | None = None
        self._ending = asyncio.Event()

    async def start(self, port: int = 0) -> str:
        """Listen; return the address with the token."""
        # the first view is ready when the address is printed
        self._shown.encoded()
        hosts: set[str] = set()
        app = web.Application(middlewares=[guard(self.token, hosts)])
        app.on_response_prepare.append(with_headers)
        app.add_routes(
            [
                web.get("/v1/cluster", self._cluster),
                web.get("/v1/changes", self._changes),
                web.get("/v1/pending", self._pending),
                web.get("/v1/pods/{namespace}/{name}", self._pod),
                web.get("/v1/nodes/{name}", self._node),
                web.get("/{path:.*}", self._file),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, LOOPBACK, port)
        try:
            await site.start()
        except OSError as error:
            await self.close()
            why = error.strerror or str(error)
            raise KubeschedError(f"--port {port}: {why}; name another one, or 0 for any that is free") from None
        port = self._runner.addresses[0][1]
        hosts.update((f"{LOOPBACK}:{port}", f"localhost:{port}"))
        return f"http://{LOOPBACK}:{port}/#token={self.token}"

    async def close(self) -> None:
        """End all connections."""
        self._ending.set()
        if self._runner is not None:
            await self._runner.cleanup()

    # -- files

    async def _file(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"] or INDEX
        content = self._files.get(path)
        if content is None:
            raise web.HTTPNotFound
        suffix = path[path.rfind(".") :]
        return web.Response(
            body=content, content_type=MEDIA_TYPES[suffix], charset=None if suffix == ".png" else "utf-8"
        )

    # -- the cluster

    async def _cluster(self, request: web.Request) -> web.StreamResponse:
        return _response(self._shown.encoded())

    async def _changes(self, request: web.Request) -> web.StreamResponse:
        """Send what changes, until the browser leaves."""
        try:
            seq = int(request.query.get("since", ""))
        except ValueError:
            return refusal(400, "since: expected the seq of /v1/cluster")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        # whoever leaves is not told anything more
        with suppress(ConnectionResetError):
            await self._send_changes(response, seq)
        return response

    async def _send_changes(self, response: web.StreamResponse, seq: int) -> None:
        source = None
        with self._shown.listening() as changed:
            while not self._ending.is_set():
                changed.clear()
                if source != self._shown.source:
                    source = self._shown.source
                    await response.write(_event("source", source))
                if seq != self._shown.seq:
                    found = self._shown.since(seq)
                    if found is None:
                        await response.write(_event("reset", {}))
                        return
                    seq = found["seq"]
                    await response.write(_event("changes", found, seq))
                await asyncio.sleep(PACE_SECONDS)
                try:
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    await response.write(b": still here\n\n")

    # -- questions

    async def _pod(self, request: web.Request) -> web.StreamResponse:
        model = self._shown.model
        full_name = f"{request.match_info['namespace']}/{request.match_info['name']}"
        try:
            answer = explain_named_pod(model, full_name)
        except KubeschedError as error:
            return _refused(error)
        pod = model.pods.get(full_name)
        funnel = None if pod is None else funnel_of(model, pod)
        seq = self._shown.seq
        if model.source.server is not None:
            # asks a scheduler, and waits for it
            answer = await asyncio.to_thread(remembered, model, answer)
        return _json({"seq": seq, "explanation": answer, "funnel": funnel})

    async def _node(self, request: web.Request) -> web.StreamResponse:
        try:
            answer = explain_node(self._shown.model, request.match_info["name"])
        except KubeschedError as error:
            return _refused(error)
        return _json({"seq": self._shown.seq, "explanation": answer})

    async def _pending(self, request: web.Request) -> web.StreamResponse:
        return _json({"seq": self._shown.seq, "explanation": triage(self._shown.model, self._now())})


def _refused(error: KubeschedError) -> web.Response:
    return refusal(404 if isinstance(error, UnknownObjectError) else 422, str(error))


def _json(value: Mapping[str, Any]) -> web.Response:
    plain = {key: each.to_dict() if isinstance(each, Answer) else each for key, each in value.items()}
    return _response(msgspec.json.encode(plain))


def _response(body: bytes) -> web.Response:
    # not compressed: on loopback that takes longer than it saves
    return web.Response(body=body, content_type="application/json", charset="utf-8")


def _event(name: str, value: object, number: int | None = None) -> bytes:
    """Return a server-sent event; JSON has no line breaks."""
    numbered = b"" if number is None else b"id: %d\n" % number
    return b"event: %s\n%sdata: %s\n\n" % (name.encode(), numbered, msgspec.json.encode(value))


def static_files() -> dict[str, bytes]:
    """Return the page's files by their paths."""
    found: dict[str, bytes] = {}

    def collect(folder: Any, prefix: str) -> None:
        for entry in folder.iterdir():
            if entry.is_dir():
                collect(entry, f"{prefix}{entry.name}/")
            elif entry.name[entry.name.rfind(".") :] in MEDIA_TYPES:
                found[prefix + entry.name] = entry.read_bytes()

    collect(files("kubesched.page").joinpath("static"), "")
    return found
