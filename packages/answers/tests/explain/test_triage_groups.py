"""Triage of pods of pod groups: a gang is pending as a whole, for one cause."""

from typing import Any

from tests.support.models import a_model
from tests.support.pod_groups import GANGS, a_group, member
from tests.support.whatif import state_of

from kubesched.testing import a_node, a_pod
from kubesched_answers.explain.triage import triage
from kubesched_answers.explain.triage_answer import PendingGroup, Triage


def triaged(*objects: Any) -> Triage:
    """Return the triage; the model is as before."""
    model = a_model(*objects, gates=GANGS)
    before = state_of(model)
    answer = triage(model)
    assert state_of(model) == before
    return answer


def told(groups: tuple[PendingGroup, ...]) -> list[tuple[str, int, str]]:
    return [(group.verdict, group.pods, group.cause) for group in groups]


def gang(name: str, pods: str, min_count: int, **words: Any) -> list[Any]:
    return [a_group(name, min_count=min_count), *(member(pod, name, **words) for pod in pods.split())]


FITS = "they fit: the scheduler places them as soon as it tries them"


def test_a_gang_fits_as_a_whole_or_not_at_all() -> None:
    answer = triaged(a_node("n", cpu="4"), *gang("g", "a b c", 3), *gang("h", "w x y z", 4))
    assert told(answer.groups) == [("unschedulable", 4, "their pod group does not fit as a whole: 1 lacks cpu")]
    assert told(answer.others) == [("schedulable", 3, FITS)]
    assert [owner.name for owner in answer.groups[0].owners] == ["PodGroup default/h"]


def test_a_gang_that_does_not_fit_leaves_the_room_to_others() -> None:
    answer = triaged(a_node("n", cpu="2"), *gang("g", "a b c", 3), a_pod("alone", cpu="2"))
    assert told(answer.groups) == [("unschedulable", 3, "their pod group does not fit as a whole: 1 lacks cpu")]
    assert told(answer.others) == [("schedulable", 1, FITS)]


def test_the_remedy_of_a_gang_is_for_all_of_its_pods() -> None:
    answer = triaged(a_node("n", cpu="1"), *gang("g", "a b c", 3))
    (group,) = answer.groups
    assert group.remedy is not None
    assert (group.remedy.summary, group.helps, group.tried) == ("add 2 nodes like n", 3, 3)


def test_pods_that_are_left_over_of_a_gang_are_pending_alone() -> None:
    answer = triaged(a_node("n", cpu="2"), *gang("g", "a b c", 2))
    cause = "enough pods of their pod group have a place, and they find none: 1 lacks cpu"
    assert told(answer.groups) == [("unschedulable", 1, cause)]
    assert told(answer.others) == [("schedulable", 2, FITS)]


def test_a_gang_with_too_few_pods_is_held_back() -> None:
    answer = triaged(a_node("n", cpu="2"), *gang("g", "a b", 3))
    waiting = "waiting for minCount pods from a gang to appear in scheduling queue"
    assert told(answer.others) == [("gated", 2, waiting)]


def test_a_gang_that_waits_for_a_pod_with_a_gate() -> None:
    answer = triaged(a_node("n", cpu="2"), *gang("g", "a", 2), member("b", gates=["later"]))
    assert told(answer.groups) == [
        ("unschedulable", 1, "their pod group does not fit as a whole: pod group is unschedulable")
    ]


def test_preemption_helps_a_gang() -> None:
    answer = triaged(a_node("n", cpu="2"), a_pod("low", cpu="2", node="n"), *gang("g", "a b", 2, priority=9))
    assert answer.groups[0].preemption == "evicting 1 pod from n makes room for the pod group"
