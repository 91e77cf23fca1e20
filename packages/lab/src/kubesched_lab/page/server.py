"""The page's server: its files, the cluster as JSON, and changes as server-sent events.

From requests to responses; `docs/reference/page-api.md` has the interface. Questions are answered on the event loop,
between reports, so that each answer is about one moment.
"""

import asyncio
import os
import secrets
from contextlib import suppress
from importlib.resources import files
from typing import Any, Final

import msgspec
from aiohttp import web

from kubesched.errors import KubeschedError
from kubesched.reports.answers import plain
from kubesched.sources.scheduler_records import SchedulerAddress
from kubesched_answers.explain.explain_node import explain_node
from kubesched_answers.explain.explain_pod import explain_named_pod
from kubesched_answers.explain.funnel import funnel_of
from kubesched_answers.explain.recorded import with_records
from kubesched_answers.remedies.search import find_remedies
from kubesched_answers.sources.remembering import remembered
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.queue.feed import QueueFeed
from kubesched_lab.page.routes.actions import ActionRoutes
from kubesched_lab.page.routes.bodies import encoded_answer, json_answer
from kubesched_lab.page.routes.capacity import CapacityRoutes
from kubesched_lab.page.routes.clock import clock_routes
from kubesched_lab.page.routes.configuration import ConfigurationRoutes
from kubesched_lab.page.routes.connections import PageConnections
from kubesched_lab.page.routes.endpoint import LOOPBACK, PageEndpoint
from kubesched_lab.page.routes.files import ScenarioFileRoutes
from kubesched_lab.page.routes.guard import guard, refusal, with_headers
from kubesched_lab.page.routes.pending import PendingRoutes
from kubesched_lab.page.routes.placing import placing_routes
from kubesched_lab.page.routes.queue import queue_routes
from kubesched_lab.page.routes.timeline import TimelineRoutes
from kubesched_lab.page.shown.shown_cluster import ShownCluster
from kubesched_lab.page.shown.shown_devices import shown_devices

# between two messages to a browser: ten a second
PACE_SECONDS: Final = 0.1
HEARTBEAT_SECONDS: Final = 10.0
# limit of streams of changes, one for each tab; the other connections are for questions
MOST_STREAMS: Final = 100
MEDIA_TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
INDEX: Final = "index.html"


class PageServer:
    """Serves the cluster on display, on loopback unless another endpoint is given."""

    def __init__(
        self,
        shown: ShownCluster | PageState,
        *,
        token: str = "",
        queue: QueueFeed | None = None,
        scheduler: SchedulerAddress | None = None,
        endpoint: PageEndpoint | None = None,
    ) -> None:
        self.state = shown if isinstance(shown, PageState) else PageState(shown)
        self._queue = queue or (None if self.state.source is None else QueueFeed(self.state.source))
        self._scheduler = scheduler
        self._endpoint = endpoint or PageEndpoint()
        self.token = token or secrets.token_urlsafe(24)
        self._actions = ActionRoutes(self.state)
        self._scenario_files = ScenarioFileRoutes(self.state)
        self._files = static_files()
        self._connections: PageConnections | None = None
        self._ending = asyncio.Event()
        # the connections that follow changes, the oldest first
        self._streams: dict[asyncio.Transport, None] = {}

    async def start(self, port: int = 0) -> str:
        """Listen; return the address with the token."""
        # the first view is ready when the address is printed
        self.state.encoded()
        hosts: set[str] = set()
        app = web.Application(middlewares=[guard(self.token, hosts)])
        app.on_response_prepare.append(with_headers)
        app.add_routes(
            [
                web.get("/v1/cluster", self._cluster),
                web.get("/v1/changes", self._changes),
                web.get("/v1/pods/{namespace}/{name}", self._pod),
                web.get("/v1/pods/{namespace}/{name}/remedies", self._remedies),
                web.get("/v1/nodes/{name}", self._node),
                *ConfigurationRoutes(self.state, self._actions.configure).routes(),
                *self._actions.routes(),
                *self._scenario_files.routes(),
                *clock_routes(self.state),
                *queue_routes(self.state, self._queue),
                *PendingRoutes(self.state).routes(),
                *CapacityRoutes(self.state).routes(),
                *placing_routes(self.state),
                *TimelineRoutes(self.state, self._scheduler).routes(),
                web.get("/{path:.*}", self._file),
            ]
        )
        endpoint = self._endpoint
        self._connections = PageConnections(app, endpoint)
        try:
            port = await self._connections.open(port)
        except OSError as error:
            await self.close()
            why = os.strerror(error.errno) if error.errno else str(error)
            where = f"--port {port}" if endpoint.address == LOOPBACK else f"{endpoint.address}, --port {port}"
            raise KubeschedError(f"{where}: {why}; name another one, or 0 for any free port") from None
        hosts.update(endpoint.hosts(port))
        return f"{endpoint.url(port)}/#token={self.token}"

    async def close(self) -> None:
        """End all connections."""
        self._ending.set()
        await self._actions.close()
        self._scenario_files.close()
        if self._connections is not None:
            await self._connections.close()
        await self.state.close()

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
        return encoded_answer(self.state.encoded())

    async def _changes(self, request: web.Request) -> web.StreamResponse:
        """Send changes until the browser disconnects."""
        try:
            seq = int(request.query.get("since", ""))
        except ValueError:
            return refusal(400, "since: expected the seq of /v1/cluster")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        transport = request.transport
        if transport is None:
            return response
        self._make_room()
        self._streams[transport] = None
        try:
            # a browser that disconnects gets no more changes
            with suppress(ConnectionResetError):
                await self._send_changes(response, seq)
        finally:
            self._streams.pop(transport, None)
        return response

    def _make_room(self) -> None:
        """Close the oldest stream of changes if there are too many; its browser opens it again."""
        if len(self._streams) < MOST_STREAMS:
            return
        oldest = next(iter(self._streams))
        del self._streams[oldest]
        oldest.abort()

    async def _send_changes(self, response: web.StreamResponse, seq: int) -> None:
        source = scheduler = clock = None
        shown = self.state.shown
        with shown.listening() as changed:
            while not self._ending.is_set():
                changed.clear()
                if shown is not self.state.shown:
                    await response.write(_event("reset", {}))
                    return
                if source != shown.source:
                    source = shown.source
                    await response.write(_event("source", source))
                if scheduler != shown.scheduler:
                    scheduler = shown.scheduler
                    await response.write(_event("scheduler", scheduler))
                if seq != shown.seq:
                    found = shown.encoded_since(seq)
                    if found is None:
                        await response.write(_event("reset", {}))
                        return
                    seq = shown.seq
                    await response.write(_event("changes", msgspec.Raw(found), seq))
                if clock != self.state.clock:
                    clock = self.state.clock
                    await response.write(_event("clock", clock))
                await asyncio.sleep(PACE_SECONDS)
                try:
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    await response.write(b": still here\n\n")

    # -- questions

    async def _pod(self, request: web.Request) -> web.StreamResponse:
        shown, simulation = self.state.shown, self.state.simulation
        model = shown.model
        full_name = f"{request.match_info['namespace']}/{request.match_info['name']}"
        answer = explain_named_pod(model, full_name, remedied=request.query.get("remedies") != "no")
        pod = model.pods.get(full_name)
        funnel = None if pod is None else funnel_of(model, pod)
        seq, later, placed = shown.seq, False, pod is not None and pod.uid in shown.placed
        if simulation is not None and pod is not None:
            records = await simulation.records_of(full_name)
            later = records is None
            if records is not None:
                answer = with_records(answer, records, pod.uid, pod.spec.node_name)
        elif model.source.server is not None:
            # this asks a scheduler, and waits for it
            answer = await asyncio.to_thread(remembered, model, answer, self._scheduler)
        return json_answer(
            {"seq": seq, "explanation": answer, "funnel": funnel, "recordsLater": later, "placed": placed}
        )

    async def _remedies(self, request: web.Request) -> web.StreamResponse:
        """Send the remedies, which take longest to find."""
        shown = self.state.shown
        pod = shown.model.pod(f"{request.match_info['namespace']}/{request.match_info['name']}")
        found = () if pod.spec.node_name else find_remedies(shown.model, pod)
        return json_answer({"seq": shown.seq, "remedies": plain(found)})

    async def _node(self, request: web.Request) -> web.StreamResponse:
        shown, name = self.state.shown, request.match_info["name"]
        explanation = explain_node(shown.model, name)
        devices = [each._asdict() for each in shown_devices(shown.model, shown.model.node(name))]
        return json_answer({"seq": shown.seq, "explanation": explanation, "devices": devices})


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

    collect(files("kubesched_lab.page").joinpath("static"), "")
    return found
