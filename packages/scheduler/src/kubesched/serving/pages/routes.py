"""The pages by path.

From an authorized request to a response. Long pages (metrics of many pods) are written in a thread, so that health is
answered meanwhile. Paths match exactly, without a slash more or less.
"""

# upstream: cmd/kube-scheduler/app/server.go, apiserver/pkg/server/mux/pathrecorder.go, component-base/{configz,metrics}
# (v1.36)

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import msgspec

from kubesched.api.go_text import to_json
from kubesched.common.notes import Note
from kubesched.config.redacting import without_secrets
from kubesched.serving.decisions.page import PATH, decisions_page
from kubesched.serving.decisions.ring import DecisionRing
from kubesched.serving.pages.health import HealthChecks, HealthPage
from kubesched.serving.pages.negotiation import accepted
from kubesched.serving.pages.profiling import DebugPages
from kubesched.serving.pages.zpages import ComponentVersions, flagz, statusz
from kubesched.serving.queue.records import PATH as QUEUE_PATH
from kubesched.serving.queue.records import QueuePage
from kubesched.serving.requests import JSON, NO_SNIFF, PageRequest, PageResponse, refused

COMPONENT = "kube-scheduler"
_METRICS = "text/plain; version=0.0.4; charset=utf-8; escaping="


class MetricsPage(msgspec.Struct, frozen=True):
    """A page of metrics; `text` may be called in any thread and returns None while the page is not available."""

    text: Callable[[], str | None]
    reset: Callable[[], None] | None = None


class Pages(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the pages; the callables are called in the server's threads, and must be safe there.

    `config` gives the completed configuration in plain values (`config.to_wire`), `started_at` is when the process
    started, in seconds of the epoch; `reload` says since when the configuration is in force and what became of the last
    reload, None if it is never read again. Without `flags` there is no /flagz, without `versions` no /statusz (their
    feature gates), with `cbor` both are also written in CBOR (its gate), without `set_verbosity` there is no /debug
    (profiling is off), without `decisions` no /debug/decisions, without `queue` no
    /debug/queue.
    """

    config: Callable[[], Mapping[str, Any]]
    metrics: MetricsPage
    slis: MetricsPage
    resources: MetricsPage
    started_at: float
    flags: Callable[[], Mapping[str, str]] | None = None
    versions: ComponentVersions | None = None
    set_verbosity: Callable[[int], None] | None = None
    cbor: bool = False
    decisions: DecisionRing | None = None
    queue: Callable[[], QueuePage] | None = None
    reload: Callable[[], Mapping[str, Any]] | None = None


Page = Callable[[PageRequest], PageResponse | Awaitable[PageResponse]]


class Routes:
    """Finds the page of a path."""

    def __init__(self, pages: Pages, checks: HealthChecks, note: Note) -> None:
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="pages")
        self._started_at = pages.started_at
        self._debug = None if pages.set_verbosity is None else DebugPages(pages.set_verbosity)
        self._pages: dict[str, Page] = {}
        for name in ("healthz", "livez", "readyz"):
            self._pages |= HealthPage(name, checks, note).paths()
        self._pages["/configz"] = partial(self._configz, pages)
        for path, metrics in {
            "/metrics": pages.metrics,
            "/metrics/slis": pages.slis,
            "/metrics/resources": pages.resources,
        }.items():
            self._pages[path] = partial(self._metrics, metrics)
        if pages.flags is not None:
            self._pages["/flagz"] = flagz(COMPONENT, pages.flags).with_cbor(pages.cbor).answer
        if pages.versions is not None:
            status = statusz(COMPONENT, pages.started_at, pages.versions, tuple(self._pages))
            self._pages["/statusz"] = status.with_cbor(pages.cbor).answer
        self._pages |= self._unlisted(pages)

    def _unlisted(self, pages: Pages) -> dict[str, Page]:
        """Return the pages that /statusz does not list: those below /debug."""
        found: dict[str, Page] = {}
        if pages.decisions is not None:
            found[PATH] = partial(self._decisions, decisions_page(pages.decisions))
        if pages.queue is not None:
            found[QUEUE_PATH] = partial(self._queue, pages.queue)
        return found

    def close(self) -> None:
        """Write no further page."""
        self._writer.shutdown(wait=False, cancel_futures=True)

    async def answer(self, request: PageRequest) -> PageResponse:
        """Return the page of a request's path."""
        page = self._pages.get(request.path)
        if page is not None:
            found = page(request)
            return found if isinstance(found, PageResponse) else await found
        if self._debug is not None and (shown := await self._debug.answer(request)) is not None:
            return shown
        return refused("404 page not found", 404)

    async def _configz(self, pages: Pages, request: PageRequest) -> PageResponse:
        # differs (D-103): the reference shows private keys and passwords to all users with access to the page
        value = {"componentconfig": without_secrets(await self._write(pages.config))}
        if pages.reload is not None:
            value["reload"] = await self._write(pages.reload)
        return PageResponse(to_json(value, sort_keys=False).encode(), 200, JSON, NO_SNIFF)

    async def _metrics(self, metrics: MetricsPage, request: PageRequest) -> PageResponse:
        if request.method == "DELETE" and metrics.reset is not None:
            await self._write(metrics.reset)
            return PageResponse(b"metrics reset\n")
        text = await self._write(metrics.text)
        if text is None:
            return PageResponse()
        headers = {"Process-Start-Time-Unix": str(int(self._started_at))}
        body = text.encode()
        if _takes_gzip(request):
            headers["Content-Encoding"] = "gzip"
            body = await self._write(partial(gzip.compress, body, 5))
        return PageResponse(body, 200, _METRICS + _escaping(request), headers)

    async def _decisions(self, page: Callable[[PageRequest], PageResponse], request: PageRequest) -> PageResponse:
        found: PageResponse = await self._write(partial(page, request))
        return found

    async def _queue(self, read: Callable[[], QueuePage], request: PageRequest) -> PageResponse:
        if request.method not in ("GET", "HEAD"):
            return refused("405 Method Not Allowed", 405)
        found: QueuePage = await self._write(read)
        return PageResponse(found.to_json(), 200, JSON, NO_SNIFF)

    async def _write(self, write: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._writer, write)


def _takes_gzip(request: PageRequest) -> bool:
    for media in accepted(request.headers.get("Accept-Encoding", "")):
        if media.name in ("gzip", "*"):
            return media.quality > 0
    return False


def _escaping(request: PageRequest) -> str:
    """Return the escaping parameter of the content type; no name here needs escaping."""
    for media in accepted(request.headers.get("Accept", "")):
        if media.covers("text/plain") and media.parameters.get("escaping") == "allow-utf-8":
            return "allow-utf-8"
    return "underscores"
