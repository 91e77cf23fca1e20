"""What can be read of a queue: from metrics of a scheduler, and from pods' conditions."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.models import a_model

from kubesched.api.meta import Condition
from kubesched.api.pods import Pod, PodStatus
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.queue.reading import of_conditions, of_metrics

NOW = datetime(2026, 1, 1, tzinfo=UTC)
METRICS = """\
# HELP scheduler_pending_pods [STABLE] Number of pending pods, by the queue type.
# TYPE scheduler_pending_pods gauge
scheduler_pending_pods{queue="active"} 3
scheduler_pending_pods{queue="backoff"} 1
scheduler_pending_pods{queue="gated"} 0
scheduler_pending_pods{queue="unschedulable"} 1.2e+03
scheduler_queue_incoming_pods_total{event="NodeAdd",queue="active"} 12
scheduler_queue_incoming_pods_total{event="NodeAdd",queue="backoff"} 0
scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 5
"""


def tried(name: str, **words: Any) -> Pod:
    condition = Condition(type="PodScheduled", status="False", reason="Unschedulable")
    return a_pod(name, status=PodStatus(conditions=(condition,)), **words)


def test_pods_are_told_apart_by_their_conditions() -> None:
    model = a_model(
        a_node("n"),
        a_pod("bound", node="n"),
        a_pod("new"),
        a_pod("held", gates=["quota"]),
        a_pod("elsewhere", scheduler="another"),
        tried("old", created="2025-01-01T00:00:00Z"),
        tried("older", created="2024-01-01T00:00:00Z", priority=7),
    )
    found = of_conditions(model, NOW, "files have no scheduler")
    assert found.counts == {"active": 1, "unschedulable": 2, "gated": 1}
    assert [(each.place, each.pod, each.priority) for each in found.first] == [
        ("active", "default/new", 0),
        ("unschedulable", "default/older", 7),
        ("unschedulable", "default/old", 0),
        ("gated", "default/held", 0),
    ]
    (gap,) = found.gaps
    assert gap.why == "files have no scheduler"
    assert "the end of their backoff" in gap.uncertain


def test_numbers_and_moves_from_metrics() -> None:
    found = of_metrics(METRICS, NOW, a_model(a_node("n"), a_pod("new")))
    assert found.counts == {"active": 3, "backoff": 1, "gated": 0, "unschedulable": 1200, "inFlight": None}
    assert [(each.event, each.from_place, each.to_place, each.pods) for each in found.moves] == [
        ("NodeAdd", "", "active", 12)
    ]
    assert [each.pod for each in found.first] == ["default/new"]


@pytest.mark.parametrize("text", ["", "<html>", "process_cpu_seconds_total 4", "scheduler_pending_pods{} x"])
def test_metrics_of_something_else_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="scheduler_pending_pods"):
        of_metrics(text, NOW, a_model())
