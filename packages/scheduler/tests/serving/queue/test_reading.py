"""The queue as /debug/queue shows it, from event scripts in virtual time."""

from datetime import UTC, datetime

import pytest
from packages.scheduler.tests.core.queue.test_scheduling_queue import NODE_ADDED, Script

from kubesched.serving.queue.reading import read_queue
from kubesched.serving.queue.records import QueuePage, read_queue_page
from kubesched.testing import a_node

DATE = datetime(2026, 1, 1, tzinfo=UTC)


def read(script: Script, limit: int = 20) -> QueuePage:
    """The page as a client gets it."""
    return read_queue_page(read_queue(script.queue, script.now, DATE, limit).to_json())


def test_pods_are_counted_and_the_first_of_each_place_are_named() -> None:
    script = Script()
    script.add("tried")
    script.reject(script.pop())
    script.add("slow")
    script.error(script.pop())
    script.add("held", gates=["quota"])
    script.add("flies")
    script.pop()
    script.add("low")
    script.add("high", priority=5)
    found = read(script)
    assert found.counts == {"active": 2, "backoff": 1, "unschedulable": 1, "gated": 1, "inFlight": 1}
    assert [(each.place, each.pod) for each in found.first] == [
        ("inFlight", "default/flies"),
        ("active", "default/high"),
        ("active", "default/low"),
        ("backoff", "default/slow"),
        ("unschedulable", "default/tried"),
        ("gated", "default/held"),
    ]
    by_name = {each.pod.partition("/")[2]: each for each in found.first}
    assert by_name["tried"].rejected_by == ("Rejector",)
    assert (by_name["tried"].attempts, by_name["tried"].since, by_name["tried"].backoff_until) == (1, DATE, None)
    assert by_name["held"].gated_by == "Gatekeeper"
    until = by_name["slow"].backoff_until
    assert until is not None
    assert 0 <= (until - DATE).total_seconds() <= 1
    assert len(read(script, limit=1).first) == 5


def test_moves_are_counted_by_event_and_by_both_places() -> None:
    script = Script()
    for name in ("a", "b"):
        script.add(name)
        script.reject(script.pop())
    script.event(NODE_ADDED, None, a_node("n2"))
    script.pop()
    script.wait(5)
    assert {(each.event, each.from_place, each.to_place): each.pods for each in read(script).moves} == {
        ("ScheduleAttemptFailure", "inFlight", "unschedulable"): 2,
        ("NodeAdd", "unschedulable", "backoff"): 2,
        ("PopFromBackoffQ", "backoff", "active"): 1,
        ("BackoffComplete", "backoff", "active"): 1,
    }


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param(b"{}", "version None", id="another object"),
        pytest.param(b"[]", "version None", id="a list"),
        pytest.param(b'{"version": 9}', "version 9", id="a newer version"),
        pytest.param(b"<html>", "no page of a queue", id="no JSON"),
        pytest.param(b'{"version": 1, "now": 5, "counts": {}}', "no page of a queue", id="a wrong type"),
    ],
)
def test_what_is_no_page_is_told(body: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_queue_page(body)
