"""/v1/pending: everything pending by cause, as `kubesched explain pods` reports it.

From the cluster on display to an answer. Many pending pods take seconds: a thread explains them with a separate model,
once for all requests about the same moment.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime

import msgspec
from aiohttp import web

from kubesched.common.daemon_thread import on_thread
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.reports.answers import plain
from kubesched_answers.explain.triage import triage
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.routes.bodies import encoded_answer
from kubesched_lab.page.shown.shown_cluster import ShownCluster


@dataclass(frozen=True, slots=True)
class _Asked:
    """The subject of an answer: a moment of a cluster, with remedies or without."""

    shown: ShownCluster
    seq: int
    remedied: bool


class PendingRoutes:
    """Answers about pending pods; the last answer is cached."""

    def __init__(self, state: PageState) -> None:
        self._state = state
        self._turn = asyncio.Lock()
        self._last: tuple[_Asked, bytes] | None = None

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [web.get("/v1/pending", self._pending)]

    async def _pending(self, request: web.Request) -> web.StreamResponse:
        async with self._turn:
            shown = self._state.shown
            asked = _Asked(shown, shown.seq, request.query.get("remedies") != "no")
            if self._last is None or self._last[0] != asked:
                objects, now = shown.model.objects_now(), self._state.now
                self._last = asked, await on_thread(lambda: _explained(objects, shown.model, now, asked))
            return encoded_answer(self._last[1])


def _explained(objects: ClusterObjects, model: ClusterModel, now: datetime, asked: _Asked) -> bytes:
    own = ClusterModel(objects, model.loaded, model.registry)
    return msgspec.json.encode({"seq": asked.seq, "explanation": plain(triage(own, now, remedied=asked.remedied))})
