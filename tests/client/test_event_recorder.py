"""The recorder of events when more happens than a server takes at once: news can wait, but none is left out."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from kubesched.client.events import WORKERS, EventRecorder
from kubesched.client.rest import Stream
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.core.framework.effects import Emit
from kubesched.testing import a_pod

SECONDS_A_REQUEST = 0.1


class SlowServer:
    """Takes a while for each event; counts them, and how many it had to do with at once."""

    def __init__(self) -> None:
        self.written = 0
        self.at_once = 0
        self.most_at_once = 0

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        raise AssertionError("nobody reads events")

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(SECONDS_A_REQUEST)
        self.at_once -= 1
        self.written += 1
        return b"{}"

    def stream(self, path: str, query: Mapping[str, str]) -> AbstractAsyncContextManager[Stream]:
        raise AssertionError("nobody watches events")


async def record(recorder: EventRecorder, events: int, *, a_second: int) -> None:
    """Have so many different events happen, at a rate."""
    for number in range(events):
        pod = a_pod(f"p{number}")
        recorder.record(Emit(pod, "Normal", "Scheduled", "Binding", f"Successfully assigned default/{pod.name} to n"))
        if number % (a_second // 10) == 0:
            await asyncio.sleep(0.1)


def played(events: int, *, a_second: int) -> tuple[SlowServer, EventRecorder]:
    """Return a server and a recorder after so many events, and a while."""
    server = SlowServer()
    recorder = EventRecorder(server, "host")

    async def play() -> None:
        running = asyncio.create_task(recorder.run())
        await record(recorder, events, a_second=a_second)
        await recorder.drain(300)
        running.cancel()
        await asyncio.wait([running])

    run_in_virtual_time(play())
    return server, recorder


def test_news_that_can_wait_take_few_requests_at_once() -> None:
    server, recorder = played(4000, a_second=800)
    assert (server.written, recorder.left_out) == (4000, 0)
    assert server.most_at_once == WORKERS


def test_none_are_left_out_of_a_long_backlog() -> None:
    server, recorder = played(40_000, a_second=800)
    assert (server.written, recorder.left_out) == (40_000, 0)
    assert server.most_at_once > WORKERS
