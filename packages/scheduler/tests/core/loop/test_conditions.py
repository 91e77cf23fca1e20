"""What a status patch holds so that a pod says something of itself."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kubesched.api.meta import Condition
from kubesched.api.pods import PodStatus
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.loop.conditions import condition_patch
from kubesched.testing import a_pod

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
SAID = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
NEW = {"lastTransitionTime": "2026-03-04T05:06:07Z"}
READY = Condition(type="Ready", status="True")
GATED = Condition(type="PodScheduled", status="False", reason="SchedulingGated")
BOUND = Condition(type="PodScheduled", status="True")


@pytest.mark.parametrize(
    ("conditions", "time", "order"),
    [
        pytest.param((), NEW, [], id="the first condition has a time"),
        pytest.param((GATED,), {}, [], id="other words do not change the time"),
        pytest.param((BOUND,), NEW, [], id="another status does"),
        pytest.param((READY,), NEW, ["Ready", "PodScheduled"], id="a new condition comes last"),
        pytest.param((GATED, READY), {}, ["PodScheduled", "Ready"], id="a known one keeps its place"),
        pytest.param((Condition(),), NEW, [], id="a condition without a type is not named"),
    ],
)
def test_a_condition_is_said_with_its_time_and_place(
    conditions: tuple[Condition, ...], time: dict[str, Any], order: list[str]
) -> None:
    pod = ClusterState().reader.read(a_pod("p", status=PodStatus(conditions=conditions)))
    fields = condition_patch(pod, SAID, NOW)
    assert fields["conditions"] == [{**SAID, "observedGeneration": pod.metadata.generation, **time}]
    assert [entry["type"] for entry in fields.get("$setElementOrder/conditions", ())] == order
