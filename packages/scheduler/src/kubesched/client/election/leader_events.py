"""Events of leader election: an identity became leader or stopped leading; they regard the Lease.

From words to core/v1 events, in the background and one after the other; an event that cannot be written after some
tries is dropped.
"""

# upstream: client-go/tools/record/event.go, resourcelock/leaselock.go (v1.36)

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from kubesched.api import tolerant_json
from kubesched.api.kinds import API_VERSIONS
from kubesched.client.election.leases import LeaseLock, Wall, wall_clock
from kubesched.client.rest import Refused, RestClient, Unreachable

REASON = "LeaderElection"
MOST_TRIES = 12
TRY_AGAIN_SECONDS = 10.0


class LeaderEvents:
    """Writes the events of an identity on a Lease; `reporter` is the name of the scheduler."""

    def __init__(
        self,
        rest: RestClient,
        lock: LeaseLock,
        identity: str,
        reporter: str,
        *,
        wall: Wall = wall_clock,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._rest = rest
        self._lock = lock
        self._identity = identity
        self._reporter = reporter
        self._wall = wall
        self._note = note
        self._waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def record(self, words: str) -> None:
        """Queue an event to be written."""
        self._waiting.put_nowait(self._event(words))

    async def run(self) -> None:
        """Write events until cancelled."""
        while True:
            event = await self._waiting.get()
            try:
                await self._write(event)
            finally:
                self._waiting.task_done()

    async def drain(self, seconds: float) -> None:
        """Wait a little for pending events to be written."""
        try:
            async with asyncio.timeout(seconds):
                await self._waiting.join()
        except TimeoutError:
            pass

    async def _write(self, event: dict[str, Any]) -> None:
        path = f"/api/v1/namespaces/{self._lock.namespace}/events"
        body = tolerant_json.encode(event)
        for number in range(MOST_TRIES):
            try:
                await self._rest.send("POST", path, body)
                return
            except Refused as refused:
                if refused.code != 409:
                    self._note(f"the server rejected the event that {event['message']}: {refused}")
                return
            except Unreachable as error:
                self._note(f"the event that {event['message']} could not be written: {error}")
            # the first wait is random, lest all clients of a restarted server send at the same time
            await asyncio.sleep(TRY_AGAIN_SECONDS * (Random().random() if number == 0 else 1.0))

    def _event(self, words: str) -> dict[str, Any]:
        lock = self._lock
        lease = lock.document.get("metadata", {})
        moment = self._wall()
        stamp = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{lock.name}.{round(moment.timestamp() * 1e9):x}", "namespace": lock.namespace},
            "involvedObject": {
                "kind": "Lease",
                "apiVersion": API_VERSIONS["Lease"],
                "namespace": lock.namespace,
                "name": lock.name,
                "uid": lease.get("uid", ""),
                "resourceVersion": lease.get("resourceVersion", ""),
            },
            "reason": REASON,
            "message": f"{self._identity} {words}",
            "source": {"component": self._reporter},
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
            "type": "Normal",
            "reportingComponent": self._reporter,
        }
