"""Recorders: which reports become lines, and what of objects is in them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kubesched.api.meta import ApiObject, OwnerReference
from kubesched.api.nodes import NodeCondition
from kubesched.api.owners import ReplicasStatus
from kubesched.api.pods import Pod, PodStatus
from kubesched.testing import a_budget, a_claim, a_node, a_pod, a_replica_set, a_storage_class, a_volume
from kubesched_lab.simulate.traces.recording.recorder import Recorder

replace = msgspec.structs.replace
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def with_meta(obj: Any, **fields: Any) -> Any:
    return replace(obj, metadata=replace(obj.metadata, **fields))


def bound(pod: Pod, node: str) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_name=node))


class Story:
    """A recorder whose clock is set by hand."""

    def __init__(self, *there: ApiObject) -> None:
        self.lines: list[Mapping[str, Any]] = []
        self.seconds = 0.0
        self.recorder = Recorder(self.lines.append, lambda: self.seconds, timedelta())
        self.recorder.begin(there)
        self.lines.clear()

    def after(self, seconds: float) -> "Story":
        self.seconds = seconds
        return self

    def told(self) -> list[tuple[Any, ...]]:
        """Return the lines in short: objects by their names."""
        return [
            tuple(value.full_name if isinstance(value, ApiObject) else value for value in line.values())
            for line in self.lines
        ]


POD = with_meta(a_pod("web"), uid="u1")
NODE = a_node("node-1")


def beating(node: Any, at: datetime) -> Any:
    condition = NodeCondition(type="Ready", status="True", last_heartbeat_time=at)
    return replace(node, status=replace(node.status, conditions=(condition,)))


def test_what_is_there_comes_first_nodes_before_pods() -> None:
    lines: list[Mapping[str, Any]] = []
    recorder = Recorder(lines.append, lambda: 0.0, timedelta())
    recorder.begin([bound(POD, "node-1"), a_storage_class("fast"), NODE])
    assert [(line["at"], line["object"].full_name) for line in lines] == [
        (0, "node-1"),
        (0, "fast"),
        (0, "default/web"),
    ]
    assert lines[-1]["object"].spec.node_name == "node-1"
    assert recorder.events == 0


def test_a_pod_arrives_is_bound_and_ends() -> None:
    story = Story(NODE)
    story.after(1).recorder.put(POD)
    story.after(2.5).recorder.put(bound(POD, "node-1"))
    story.after(12.5).recorder.drop(bound(POD, "node-1"))
    assert story.told() == [
        (1, "default/web"),
        (2.5, "default/web", "node-1"),
        (12.5, "default/web", 10.0),
    ]
    assert [list(line) for line in story.lines] == [["at", "object"], ["at", "bound", "node"], ["at", "ended", "ran"]]


def test_a_pod_that_was_deleted_is_told_from_one_that_ended() -> None:
    story = Story(bound(POD, "node-1"))
    story.after(3).recorder.drop(with_meta(bound(POD, "node-1"), deletion_timestamp=NOON))
    assert story.lines == [{"at": 3, "delete": "Pod/default/web", "ran": 3.0}]


def test_a_pod_that_was_never_bound_has_not_run() -> None:
    story = Story()
    story.after(1).recorder.put(POD)
    story.after(3).recorder.drop(POD)
    assert story.lines[-1] == {"at": 3, "delete": "Pod/default/web"}


def test_another_pod_of_the_same_name_is_another_pod() -> None:
    story = Story(bound(POD, "node-1"))
    story.after(2).recorder.put(with_meta(POD, uid="u2"))
    assert story.told() == [(2, "default/web", 2.0), (2, "default/web")]
    assert list(story.lines[0]) == ["at", "ended", "ran"]


def test_time_never_goes_back() -> None:
    story = Story()
    story.after(5).recorder.put(POD)
    story.after(3).recorder.drop(POD)
    assert [line["at"] for line in story.lines] == [5, 5]


WAITING = a_storage_class("waiting")
CLAIM = a_claim("data", storage_class="waiting")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(beating(NODE, NOON), beating(NODE, NOON + timedelta(seconds=10)), id="a heartbeat"),
        pytest.param(
            bound(POD, "node-1"), replace(bound(POD, "node-1"), status=PodStatus(phase="Running")), id="a pod runs"
        ),
        pytest.param(POD, replace(POD, status=PodStatus(nominated_node_name="node-1")), id="a nomination"),
        pytest.param(POD, with_meta(POD, annotations={"note": "x"}), id="an annotation that nobody reads"),
        pytest.param(POD, with_meta(POD, resource_version="7"), id="a version"),
        pytest.param(CLAIM, replace(CLAIM, spec=replace(CLAIM.spec, volume_name="v")), id="a claim that waited"),
        pytest.param(
            None, a_volume("v", storage_class="waiting", claimed_by="default/data"), id="a provisioned volume"
        ),
    ],
)
def test_what_the_scheduler_does_not_read_or_has_decided_makes_no_line(
    before: ApiObject | None, after: ApiObject
) -> None:
    story = Story(WAITING, *([] if before is None else [before]))
    story.recorder.put(after)
    if before is None:
        story.recorder.drop(after)
    assert story.lines == []


@pytest.mark.parametrize(
    ("before", "change"),
    [
        pytest.param(NODE, lambda node: replace(node, spec=replace(node.spec, unschedulable=True)), id="cordoned"),
        pytest.param(POD, lambda pod: with_meta(pod, labels={"app": "x"}), id="labels"),
        pytest.param(
            a_claim("data", storage_class="at-once"),
            lambda claim: replace(claim, spec=replace(claim.spec, volume_name="v")),
            id="a claim that does not wait for its consumer is bound",
        ),
    ],
)
def test_what_people_and_controllers_change_is_a_change(before: ApiObject, change: Callable[[Any], ApiObject]) -> None:
    story = Story(WAITING, before)
    story.recorder.put(change(before))
    story.recorder.put(change(before))
    assert [list(line) for line in story.lines] == [["at", "change"]]


def test_labels_that_a_binding_copies_are_not_replayed() -> None:
    story = Story()
    story.recorder.put(POD)
    story.recorder.put(with_meta(bound(POD, "node-1"), labels={"topology.kubernetes.io/zone": "a"}))
    assert [list(line) for line in story.lines] == [["at", "object"], ["at", "bound", "node"]]


@pytest.mark.parametrize(
    ("pod", "listing", "placed"),
    [
        pytest.param(POD, False, True, id="created with its node"),
        pytest.param(POD, True, False, id="found in a list: a scheduler may have bound it before"),
        pytest.param(
            with_meta(POD, owner_references=(OwnerReference(kind="Node", name="node-1"),)),
            True,
            True,
            id="found in a list, but of a kubelet",
        ),
    ],
)
def test_a_pod_keeps_a_node_that_no_scheduler_chose(pod: Pod, listing: bool, placed: bool) -> None:
    story = Story(NODE)
    story.recorder.is_listing = lambda kind: listing
    story.recorder.put(bound(pod, "node-1"))
    assert story.lines[0]["object"].spec.node_name == ("node-1" if placed else "")
    assert [list(line) for line in story.lines[1:]] == ([] if placed else [["at", "bound", "node"]])


def test_counts_of_owners_and_budgets_make_no_lines_but_allowed_disruptions_do() -> None:
    owner, budget = a_replica_set("web", "app=web"), a_budget("web", "app=web", allowed=1)
    story = Story(owner, budget)
    story.recorder.put(replace(owner, spec=replace(owner.spec, replicas=7), status=ReplicasStatus(replicas=3)))
    story.recorder.put(replace(budget, status=replace(budget.status, current_healthy=3)))
    assert story.lines == []
    story.recorder.put(replace(budget, status=replace(budget.status, disruptions_allowed=0)))
    assert [list(line) for line in story.lines] == [["at", "change"]]
