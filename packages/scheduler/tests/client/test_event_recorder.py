"""The recorder of events when more happens than a server takes at once: news can wait, but none is left out."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta, timezone
from typing import Any

from kubesched.api.pods import Pod
from kubesched.client.events import WORKERS, EventRecorder
from kubesched.client.rest import Refused, Stream
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.core.framework.values.effects import Emit
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


class Bodies(SlowServer):
    """Keeps the requests; refuses the first patch of an event as one that does not exist."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str, dict[str, Any]]] = []

    async def send(self, method: str, path: str, body: bytes | None = None, **options: Any) -> bytes:
        self.sent.append((method, path, json.loads(body or b"")))
        if method == "PATCH":
            raise Refused(404, "NotFound", "there is no such event")
        return await super().send(method, path, body)


def written(*emits: Emit) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the requests that write some events, one second apart."""
    server = Bodies()
    moment = datetime(2026, 11, 18, 1, 2, 3, tzinfo=timezone(timedelta(hours=1)))
    moments = iter([moment + timedelta(seconds=seconds, microseconds=7) for seconds in range(100)])
    recorder = EventRecorder(server, "host", clock=lambda: next(moments))

    async def play() -> None:
        running = asyncio.create_task(recorder.run())
        for emit in emits:
            recorder.record(emit)
            await recorder.drain(300)
        running.cancel()
        await asyncio.wait([running])

    run_in_virtual_time(play())
    return server.sent


def scheduled(note: str, pod: Pod | None = None) -> Emit:
    return Emit(pod or a_pod("web", namespace="shop"), "Normal", "Scheduled", "Binding", note)


def test_an_event_has_the_fields_of_the_api() -> None:
    pod = a_pod("web", namespace="shop")
    ((method, path, body),) = written(scheduled("assigned", pod))
    assert (method, path) == ("POST", "/apis/events.k8s.io/v1/namespaces/shop/events")
    assert body == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": body["metadata"]["name"], "namespace": "shop"},
        "eventTime": "2026-11-18T00:02:03.000007Z",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-host",
        "action": "Binding",
        "reason": "Scheduled",
        "regarding": {
            "kind": "Pod",
            "apiVersion": "v1",
            "namespace": "shop",
            "name": "web",
            "uid": pod.uid,
            "resourceVersion": pod.metadata.resource_version,
        },
        "note": "assigned",
        "type": "Normal",
    }
    assert body["metadata"]["name"].startswith("web.")


def test_a_repeat_patches_the_event_or_writes_it_again_with_its_series() -> None:
    emit = scheduled("assigned")
    first, patch, again = written(emit, emit)
    series = patch[2]["series"]
    assert (patch[0], patch[2]) == (
        "PATCH",
        {"series": {"count": 2, "lastObservedTime": "2026-11-18T00:02:05.000007Z"}},
    )
    assert patch[1] == f"{first[1]}/{first[2]['metadata']['name']}"
    assert again == ("POST", first[1], {**first[2], "series": series})


def test_a_note_that_is_no_unicode_is_written_nevertheless() -> None:
    ((_, _, body),) = written(scheduled("bad \ud800 words"))
    assert body["note"] == "bad \ufffd words"
    assert body["regarding"]["name"] == "web"


def test_reporters_in_turns_have_their_own_instances() -> None:
    emits = [Emit(a_pod(name), "Normal", "R", "A", "n", reporter) for name, reporter in ("ax", "by", "cx")]
    instances = [(body["reportingController"], body["reportingInstance"]) for _, _, body in written(*emits)]
    assert instances == [("x", "x-host"), ("y", "y-host"), ("x", "x-host")]


def test_a_recorder_that_is_started_again_writes_what_was_recorded_meanwhile() -> None:
    server = SlowServer()
    recorder = EventRecorder(server, "host")

    async def play() -> None:
        for number in range(3):
            running = asyncio.create_task(recorder.run())
            await asyncio.sleep(0.1)
            running.cancel()
            await asyncio.wait([running])
            recorder.record(scheduled("assigned", a_pod(f"p{number}")))
        running = asyncio.create_task(recorder.run())
        await asyncio.gather(recorder.drain(10), recorder.drain(10))
        running.cancel()
        await asyncio.wait([running])

    run_in_virtual_time(play())
    assert server.written == 3
