"""Where the queue of a live cluster comes from: the scheduler, its metrics, or pods' conditions."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from packages.lab.tests.page.queue.test_queue_reading import METRICS
from tests.support.models import a_model

from kubesched.client.rest import Refused, RestConfig, Unreachable
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.queue import feed as queue_feed
from kubesched_lab.page.queue.feed import QueueFeed
from kubesched_lab.page.shown.shown_cluster import ShownCluster

PAGE = b'{"version":1,"now":"2026-01-01T00:00:00Z","counts":{"active":7}}'
FORBIDDEN = Refused(403, "Forbidden", "forbidden: nobody may")
NOT_FOUND = Refused(404, "NotFound", "not found")


class Answering:
    """A scheduler that answers by path."""

    def __init__(self, answers: dict[str, bytes | Exception]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def get(self, path: str) -> bytes:
        self.asked.append(path)
        found = self.answers.get(path, NOT_FOUND)
        if isinstance(found, Exception):
            raise found
        return found

    async def close(self) -> None:
        pass


async def no_headers() -> dict[str, str]:
    return {}


# a sentence: what is answered, whether the scheduler is named, the kind of the answer, and what it says
CASES: dict[str, tuple[dict[str, bytes | Exception], bool, str, str]] = {
    "a scheduler with the page": ({"/debug/queue": PAGE}, True, "scheduler", ""),
    "an API server of kubesched up": ({"/debug/queue": PAGE}, False, "scheduler", ""),
    "a kube-scheduler": ({"/metrics": METRICS.encode()}, True, "metrics", "has no /debug/queue"),
    "a kube-scheduler that asks for rights first": (
        {"/debug/queue": FORBIDDEN, "/metrics": METRICS.encode()},
        True,
        "metrics",
        "has no /debug/queue",
    ),
    "no rights at all": ({"/debug/queue": FORBIDDEN, "/metrics": FORBIDDEN}, True, "conditions", "nobody may"),
    "an API server of another cluster": ({}, False, "conditions", "add --scheduler URL"),
    "a server that is gone": (
        {"/debug/queue": Unreachable("connection refused", maybe_done=False)},
        True,
        "conditions",
        "connection refused",
    ),
    "a page of another version": ({"/debug/queue": b'{"version":9}'}, True, "conditions", "version 9"),
    "something else": ({"/debug/queue": b"<html>"}, True, "conditions", "no page of a queue"),
    "a page that is nested too deep": ({"/debug/queue": b"[" * 100_000}, True, "conditions", "no page of a queue"),
    "a page of no time that there is": (
        {"/debug/queue": PAGE.replace(b"2026-01-01T00:00:00Z", b"0001-01-01T00:00:00")},
        True,
        "conditions",
        "no page of a queue",
    ),
    "metrics beyond all bounds": (
        {"/metrics": b'scheduler_pending_pods{queue="active"} 1e999'},
        True,
        "conditions",
        "no scheduler_pending_pods",
    ),
    "metrics of something else": ({"/metrics": b"up 1"}, True, "conditions", "no scheduler_pending_pods"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_best_source_that_answers_counts(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, named, kind, why = CASES[case]
    answering = Answering(answers)
    monkeypatch.setattr(queue_feed, "RestClient", lambda *_, **__: answering)
    monkeypatch.setattr(queue_feed, "READ_SECONDS", 0.001)
    target = RestConfig("https://127.0.0.1:1", no_headers)
    model = a_model(a_node("n"), a_pod("p"))
    model.source = replace(model.source, server=target)
    feed_shown = ShownCluster(model)
    feed = QueueFeed(feed_shown, target if named else None)

    turns: list[float] = []
    monkeypatch.setattr(feed.history, "note", lambda at, *_: turns.append(at))

    async def story() -> dict[str, Any]:
        reading = asyncio.create_task(feed.run())
        async with asyncio.timeout(10):
            while len(turns) < 3:
                await asyncio.sleep(0.001)
        reading.cancel()
        return await feed.answer()

    found = asyncio.run(story())
    told = feed_shown.scheduler
    assert (told is not None) == named, "a scheduler that is not named goes with its API server"
    assert told is None or told["state"] == ("lost" if "gone" in case else "there")
    assert found["kind"] == kind
    assert any(why in gap["why"] for gap in found["gaps"]) == bool(why)
    assert found["counts"]["active"] == {"scheduler": 7, "metrics": 3, "conditions": 1}[kind]
    if kind == "conditions" and "gone" not in case:
        assert answering.asked.count("/debug/queue") == 1, "who refuses is not asked again every second"
