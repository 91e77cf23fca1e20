"""The queue of a cluster, read again and again: from its scheduler if it answers, else from pods' conditions.

From a shown cluster and the address of a scheduler to the answer of /v1/queue, and to the state of a named scheduler. A
scheduler that refuses or does not know the page is asked again only after a longer time.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

from kubesched import __version__
from kubesched.client.rest import Refused, RestClient, RestConfig, Unreachable
from kubesched.config.redacting import without_password
from kubesched.errors import KubeschedError
from kubesched.serving.queue.records import PATH, read_queue_page
from kubesched_lab.page.queue.answer import answer_of
from kubesched_lab.page.queue.history import QueueHistory
from kubesched_lab.page.queue.reading import QueueReading, of_conditions, of_metrics, of_page
from kubesched_lab.page.shown.shown_cluster import LOST, THERE, ShownCluster

READ_SECONDS: Final = 1.0
# until a scheduler that does not serve its queue is asked again
AGAIN_SECONDS: Final = 30.0
PATIENCE_SECONDS: Final = 5.0
METRICS_PATH: Final = "/metrics"
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
NO_SCHEDULER: Final = "files have no scheduler"
NOT_NAMED: Final = (
    f"no scheduler is named, and the API server has no {PATH} (that of kubesched up has one): add --scheduler URL"
)


class QueueFeed:
    """The queue of a shown cluster; `scheduler` is the address of its scheduler, None for that of the API server."""

    def __init__(self, shown: ShownCluster, scheduler: RestConfig | None = None) -> None:
        self._shown = shown
        self._scheduler = scheduler
        self.history = QueueHistory()
        self._why = NO_SCHEDULER if self.target is None else "the scheduler has not been asked yet"
        self._latest: QueueReading | None = None
        self._ask_at = 0.0

    @property
    def target(self) -> RestConfig | None:
        """Return the address of the current scheduler: a restarted cluster may have another one."""
        return self._scheduler or self._shown.model.source.server

    async def answer(self, shown: ShownCluster | None = None) -> dict[str, Any]:
        """Return the queue as it was last read; for files, the queue of the cluster `shown`."""
        reading = self._latest or of_conditions((shown or self._shown).model, self._now(), self._why)
        if self.target is None:
            self.history.note(reading.at.timestamp(), reading.counts)
        return answer_of(reading, self.history)

    def _now(self) -> datetime:
        return (self._shown.model.source.taken_at if self.target is None else None) or datetime.now(UTC)

    async def run(self) -> None:
        """Read the queue every second, until cancelled."""
        target = self.target
        client = self._client()
        try:
            while True:
                if target is not self.target:
                    await client.close()
                    target, client, self._ask_at = self.target, self._client(), 0.0
                if asyncio.get_running_loop().time() >= self._ask_at:
                    self._latest = await self._read_scheduler(client)
                counted = self._latest or of_conditions(self._shown.model, self._now(), self._why, named=False)
                self.history.note(counted.at.timestamp(), counted.counts, counted.moves)
                await asyncio.sleep(READ_SECONDS)
        finally:
            await client.close()

    def _client(self) -> RestClient:
        assert self.target is not None
        return RestClient(self.target, f"kubesched/{__version__}", timeout_seconds=PATIENCE_SECONDS)

    async def _read_scheduler(self, client: RestClient) -> QueueReading | None:
        """Return the reading of the scheduler, None without an answer; then `_why` has the reason."""
        try:
            found = await self._read(client)
        except Unreachable as error:
            self._why = str(error)
            self._report_state(LOST)
            return None
        except (KubeschedError, ValueError) as error:
            self._why = str(error)
            self._ask_at = asyncio.get_running_loop().time() + AGAIN_SECONDS
            # a scheduler that refuses a request is running
            self._report_state(THERE)
            return None
        self._report_state(THERE)
        return found

    def _report_state(self, state: str) -> None:
        """Report whether a named scheduler answers; the scheduler of `kubesched up` goes with its API server."""
        if self._scheduler is not None:
            why = self._why if state == LOST else ""
            self._shown.report_scheduler(without_password(self._scheduler.server), state, why)

    async def _read(self, client: RestClient) -> QueueReading:
        try:
            return of_page(read_queue_page(await client.get(PATH)))
        except Refused as refused:
            # kube-scheduler checks rights before it answers that the page does not exist
            if refused.code not in ((FORBIDDEN, NOT_FOUND) if self._scheduler else (NOT_FOUND,)):
                raise
        if self._scheduler is None:
            raise KubeschedError(NOT_NAMED)
        text = (await client.get(METRICS_PATH)).decode(errors="replace")
        return of_metrics(text, datetime.now(UTC), self._shown.model)
