"""Decisions are judged in the state that they were made in, as far as it can be known."""

import pytest
from msgspec.structs import replace
from tests.support.shadow_stories import Story

from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import PodStatus
from kubesched.api.storage import PersistentVolumeClaim, StorageClass
from kubesched.api.volumes import PersistentVolumeClaimSpec
from kubesched.core.plugins.volume_binding.search import SELECTED_NODE
from kubesched.model.cluster_model import name_of_object
from kubesched.shadow.judgements import AMONG_BEST, FOUND_NONE, REJECTED, SAME_MESSAGE, SCORED_LESS
from kubesched.shadow.shadow_scheduler import INTERRUPTED, ITS_ERROR, ONLY_NOMINATED
from kubesched.testing import a_custom_object, a_node, a_pod, a_spread, an_affinity


def test_a_binding_is_judged_with_the_cluster_as_it_was_before() -> None:
    story = Story(a_node("a", cpu="1"), a_node("b", cpu="2"))
    story.put(a_pod("p", cpu="1"))
    story.bind("p", "a")
    tally = story.end()
    assert tally.counts == {SCORED_LESS: 1}
    (told,) = story.told
    assert told.sentence().startswith("default/p on a: its node is feasible but scored less: ")
    # the pod takes up its node from then on
    story.put(a_pod("q", cpu="1"))
    story.bind("q", "a")
    assert story.end().counts == {SCORED_LESS: 1, REJECTED: 1}
    assert "we reject its node: NodeResourcesFit: Insufficient cpu" in story.told[1].sentence()


def test_a_pod_that_was_assumed_before_and_bound_later() -> None:
    # p took a, q then b; the binding of q is written first
    story = Story(a_node("a", cpu="2"), a_node("b", cpu="1"))
    story.put(a_pod("p", cpu="2"), a_pod("q", cpu="1"))
    story.bind("q", "b")
    story.bind("p", "a")
    tally = story.end()
    assert (tally.counts, tally.other_moments) == ({AMONG_BEST: 2}, 1)


def test_a_pod_that_was_assumed_before_is_as_it_was_bound_though_it_is_deleted_soon_after() -> None:
    # spreading does not count pods that are being deleted
    labels, spread = {"app": "web"}, a_spread("hostname", "app=web", soft=True)
    story = Story(a_node("a"), a_node("b", cpu="3"), a_pod("busy", node="b", cpu="1"))
    story.put(a_pod("p", labels=labels), a_pod("q", labels=labels, spread=spread))
    story.bind("q", "b")
    story.bind("p", "a")
    story.put(replace(story.pod("p"), metadata=a_pod("p", labels=labels, terminating=True).metadata))
    story.drop("default/p")
    tally = story.end()
    assert (tally.counts, tally.other_moments) == ({AMONG_BEST: 2}, 1)


def test_a_pod_whose_binding_was_written_first_though_it_was_decided_later() -> None:
    story = Story(a_node("a"), a_node("b"))
    story.put(a_pod("p", cpu="1"), a_pod("q", cpu="3"), a_pod("big", cpu="1", priority=5))
    story.bind("big", "a")
    story.bind("q", "b")
    # before the two others: any node
    story.bind("p", "b")
    tally = story.end()
    assert (tally.counts, tally.other_moments) == ({AMONG_BEST: 3}, 1)


@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_a_change_that_it_had_not_seen_yet(seconds: float) -> None:
    story = Story(a_node("a"), a_node("b", cpu="8", unschedulable=True))
    story.put(a_pod("p", cpu="1"))
    story.put(a_node("b", cpu="8"))
    # a change that is older than that was seen
    story.now += seconds
    story.bind("p", "a")
    tally = story.end()
    assert tally.counts == ({SCORED_LESS: 1} if seconds else {AMONG_BEST: 1})


@pytest.mark.parametrize(("seconds", "counts"), [(0.0, {AMONG_BEST: 1}), (5.0, {SCORED_LESS: 1})])
def test_a_change_of_a_node_before_the_pod_came_was_seen_unless_the_watch_of_nodes_was_late(
    seconds: float, counts: dict[str, int]
) -> None:
    story = Story(a_node("a"), a_node("b", cpu="8", unschedulable=True))
    story.put(a_node("b", cpu="8"))
    story.now += seconds
    story.put(a_pod("p", cpu="1"))
    story.bind("p", "a")
    assert story.end().counts == counts


def test_what_became_of_other_pods_before_the_pod_came_was_seen() -> None:
    story = Story(a_node("a"), a_node("b", cpu="8"), a_pod("busy", node="b", cpu="8"))
    story.drop("default/busy")
    story.put(a_pod("p", cpu="1"))
    story.bind("p", "a")
    assert story.end().counts == {SCORED_LESS: 1}


def test_it_found_a_node_where_we_find_none() -> None:
    story = Story(a_node("a", unschedulable=True))
    story.put(a_pod("p"))
    story.bind("p", "a")
    assert story.end().counts == {FOUND_NONE: 1}
    assert "we found none, it did: 0/1 nodes are available" in story.told[0].sentence()


def test_a_nomination_without_a_failure_shows_the_decision_and_the_binding_is_not_judged_again() -> None:
    story = Story(a_node("a"), a_node("b"), a_pod("busy", node="a", cpu="2"))
    story.put(a_pod("p", cpu="1"))
    story.status("p", nominated_node_name="b")
    # its volumes are bound meanwhile, and a is free again
    story.drop("default/busy")
    story.bind("p", "b")
    assert story.end().counts == {AMONG_BEST: 1}


def test_a_nomination_that_differs_is_told_when_the_pod_is_bound_there() -> None:
    story = Story(a_node("a"), a_node("b"), a_pod("busy", node="a", cpu="2"))
    story.put(a_pod("p", cpu="1"))
    story.status("p", nominated_node_name="a")
    assert (story.end().counts, story.told) == ({}, [])
    story.bind("p", "a")
    assert story.end().counts == {SCORED_LESS: 1}
    assert len(story.told) == 1


@pytest.mark.parametrize("then", ["it is bound elsewhere", "it fails", "it is gone", "the end"])
def test_a_nomination_that_differs_may_be_that_of_others_than_the_scheduler(then: str) -> None:
    story = Story(a_node("a"), a_node("b"), a_pod("busy", node="a", cpu="4"))
    story.put(a_pod("p", cpu="1"))
    story.status("p", nominated_node_name="a")
    match then:
        case "it is bound elsewhere":
            story.bind("p", "b")
        case "it fails":
            story.fail("p", "it broke", "SchedulerError")
        case "it is gone":
            story.drop("default/p")
    story.shadow.step(all_of_them=True)
    assert (story.told, story.tally.not_judged[ONLY_NOMINATED]) == ([], 1)
    assert story.tally.counts == ({AMONG_BEST: 1} if then == "it is bound elsewhere" else {})


def test_a_pod_in_pre_bind_is_on_its_node_already() -> None:
    story = Story(a_node("a"), a_node("b"), a_pod("there", cpu="3", nominated="b"))
    story.put(a_pod("p", cpu="3"))
    story.status("p", nominated_node_name="a")
    story.put(a_pod("q", cpu="1"))
    story.bind("q", "a")
    assert story.end().counts == {AMONG_BEST: 2}, story.told
    story.put(a_pod("r", cpu="3"))
    # its volumes could not be bound: the node is free again
    story.fail("p", "it broke", "SchedulerError", nominated_node_name="")
    story.bind("r", "a")
    tally = story.end()
    assert (tally.counts, tally.not_judged) == ({AMONG_BEST: 3}, {ITS_ERROR: 1}), story.told


def test_a_pod_in_pre_bind_that_is_preempted_was_on_its_node_before() -> None:
    story = Story(a_node("a", cpu="3"))
    story.put(a_pod("p", cpu="3"))
    story.status("p", nominated_node_name="a")
    story.put(a_pod("q", cpu="3", priority=5))
    # what becomes of the victim is written before the message of the pod that it makes room for
    story.fail("p", "preempted", "SchedulerError", nominated_node_name="")
    story.fail("q", "0/1 nodes are available: 1 Insufficient cpu.", nominated_node_name="a")
    tally = story.end()
    assert (tally.counts, tally.other_moments) == ({AMONG_BEST: 1, SAME_MESSAGE: 1}, 1), story.told


def test_a_pod_that_preempted_others_is_on_its_node_when_its_volume_is_bound() -> None:
    storage = StorageClass(metadata=ObjectMeta(name="fast"), volume_binding_mode="WaitForFirstConsumer")
    claim = PersistentVolumeClaim(
        metadata=ObjectMeta(name="c", namespace="default", uid="c"),
        spec=PersistentVolumeClaimSpec(storage_class_name="fast"),
    )
    story = Story(a_node("a"), a_node("b"), storage, claim)
    story.put(a_pod("p", cpu="3", volumes=["c"], priority=5))
    story.fail("p", "whatever it says", nominated_node_name="b")
    # it fits there by now, and is nominated already: its claim alone shows it
    story.put(replace(claim, metadata=replace(claim.metadata, annotations={SELECTED_NODE: "b"})))
    story.put(a_pod("q", cpu="1"))
    story.bind("q", "a")
    assert story.end().counts[AMONG_BEST] == 1, story.told
    story.put(a_pod("r", cpu="3"))
    story.bind("r", "b")
    assert story.end().counts[REJECTED] == 1, story.told


def test_a_pod_that_was_expected_on_another_node_is_judged_anew() -> None:
    story = Story(a_node("a"), a_node("b"))
    story.put(a_pod("p", cpu="3"))
    story.status("p", nominated_node_name="a")
    story.status("p", nominated_node_name="")
    story.bind("p", "b")
    assert story.end().counts == {AMONG_BEST: 2}, story.told


UNFIT = (
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
    "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
)


def test_a_message_is_judged_when_it_changes() -> None:
    story = Story(a_node("a", cpu="1"))
    story.put(a_pod("p", cpu="2"))
    story.fail("p", UNFIT)
    story.status("p", observed_generation=2)
    assert story.end().counts == {SAME_MESSAGE: 1}


def test_a_nomination_by_preemption_is_a_message_and_the_node_is_taken_later() -> None:
    story = Story(a_node("a", cpu="1"), a_pod("victim", node="a", cpu="1"))
    story.put(a_pod("p", cpu="1", priority=5))
    # the victim is gone before the message is written
    story.drop("default/victim")
    story.fail("p", "0/1 nodes are available: 1 Insufficient cpu.", nominated_node_name="a")
    story.bind("p", "a")
    tally = story.end()
    assert (tally.counts, tally.other_moments) == ({SAME_MESSAGE: 1, AMONG_BEST: 1}, 1), story.told


def test_another_nomination_with_the_same_message_is_preemption_again() -> None:
    victims = [a_pod(f"victim-{node}", node=node, cpu="1") for node in "ab"]
    story = Story(a_node("a", cpu="1"), a_node("b", cpu="1"), *victims)
    story.put(a_pod("p", cpu="1", priority=5))
    story.fail("p", "0/2 nodes are available: 2 Insufficient cpu.", nominated_node_name="a")
    story.status("p", nominated_node_name="b")
    story.drop("default/victim-b")
    story.bind("p", "b")
    assert story.end().counts == {SAME_MESSAGE: 2, AMONG_BEST: 1}, story.told


def test_other_schedulers_pods_and_pods_with_a_node_from_the_beginning_are_not_judged() -> None:
    story = Story(a_node("a", unschedulable=True))
    story.put(a_pod("p", scheduler="other"), a_pod("q", node="a"))
    story.bind("p", "a")
    tally = story.end()
    assert (tally.judged, tally.not_judged) == (0, {})
    assert "no pod was decided" in tally.summary()


@pytest.mark.parametrize(
    ("listed", "reason", "why"),
    [
        # a list after a gap tells where a pod is, not what was before
        (True, "", INTERRUPTED),
        (False, "SchedulerError", ITS_ERROR),
    ],
)
def test_what_cannot_be_judged_is_counted_by_reason(listed: bool, reason: str, why: str) -> None:
    story = Story(a_node("a", unschedulable=True))
    story.put(a_pod("p"))
    story.end()
    story.stream.is_listing = lambda kind: listed
    if reason:
        story.fail("p", "it broke", reason)
    else:
        story.bind("p", "a")
    tally = story.end()
    assert (tally.not_judged, tally.counts, story.told) == ({why: 1}, {}, [])


def test_a_pod_that_came_and_was_bound_during_a_gap_was_missed() -> None:
    story = Story(a_node("a"))
    story.stream.is_listing = lambda kind: True
    story.put(a_pod("p", node="a"))
    assert story.end().not_judged == {INTERRUPTED: 1}


def test_objects_of_custom_kinds_come_and_go() -> None:
    story = Story(a_node("a"))
    history = story.shadow.history
    rack = a_custom_object("racks.v1.example.com", "r", spec={"size": 1})
    story.put(rack)
    story.end()
    objects = history.model.cluster.objects
    assert [each.name for each in objects.of(type(rack))] == ["r"]
    with history.as_of({name_of_object(rack): None}):
        assert list(objects.of(type(rack))) == []
    assert [each.name for each in objects.of(type(rack))] == ["r"]
    story.drop(rack.full_name)
    story.end()
    assert list(objects.of(type(rack))) == []


def test_a_pod_of_the_same_name_is_another_one() -> None:
    story = Story(a_node("a"))
    story.put(a_pod("p", uid="1"))
    story.bind("p", "a")
    story.put(a_pod("p", uid="2", status=PodStatus()))
    story.bind("p", "a")
    assert story.end().counts == {AMONG_BEST: 2}


def test_moments_before_a_pod_was_replaced_leave_nothing_behind() -> None:
    story = Story(a_node("a", cpu="1"), a_node("b", cpu="1"), a_pod("r", uid="1", node="a", cpu="1"))
    story.put(a_pod("p", cpu="1"))
    story.drop("default/r")
    story.put(a_pod("r", uid="2", node="b", cpu="1"))
    # nowhere but on a, whatever was seen: other moments are tried, and taken back
    story.bind("p", "b")
    story.end()
    model = story.shadow.history.model
    placed = {
        pod.full_name: node
        for node in "ab"
        for pod in model.cluster.table.pods_on[model.cluster.table.row_of[node]].values()
    }
    assert placed == {"default/r": "b", "default/p": "b"}
    assert sorted(pod.uid for pod in model.cluster.table.pods.values() if pod.name == "r") == ["2"]


def test_a_pod_that_failed_before_may_have_been_tried_before_some_and_after_others() -> None:
    shy = a_pod("shy", node="b", cpu="1", labels={"app": "shy"})
    story = Story(a_node("a"), a_node("b"), shy)
    story.put(a_pod("p", cpu="3", affinity=an_affinity(apart="app=shy@kubernetes.io/hostname")))
    story.fail("p", "it broke", "SchedulerError")
    story.put(a_pod("q", cpu="2"), a_pod("r", cpu="3"))
    # tried when q was assumed and r was not: after the one, before the other
    story.bind("r", "b")
    story.fail("p", BESIDE_Q)
    story.bind("q", "a")
    tally = story.end()
    assert (tally.counts[SAME_MESSAGE], tally.other_moments >= 1) == (1, True), story.told


BESIDE_Q = (
    "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod anti-affinity rules. no new claims to "
    "deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
)


def test_a_node_that_came_a_moment_ago_is_judged() -> None:
    story = Story(a_node("a", cpu="8"))
    story.put(a_node("b", cpu="2"), a_pod("p", cpu="1"))
    story.bind("p", "b")
    tally = story.end()
    assert (tally.counts, tally.not_judged) == ({SCORED_LESS: 1}, {})


def test_objects_that_cannot_be_understood_leave_the_others_alone() -> None:
    story = Story(a_node("a"), a_node("odd", cpu="plenty"), a_pod("before", cpu="some"))
    story.put(a_pod("p", cpu="1"), a_pod("q", cpu="some"), a_node("odder", cpu="1e1000000000"))
    story.bind("p", "a")
    assert story.end().counts == {AMONG_BEST: 1}
