"""Pods of groups are placed as the living scheduler places them: together, or not at all."""

from typing import Any

import pytest
from tests.support.corpus_models import a_model_of, scenarios
from tests.support.models import a_model
from tests.support.pod_groups import GANGS, a_group, conditions_after, member
from tests.support.whatif import state_of

from kubesched.core.scheduling.outcomes import Failed, Placed
from kubesched.testing import a_node, a_pod
from kubesched_answers.placing import Placer

ZONE = "topology.kubernetes.io/zone"


def members(names: str, **words: Any) -> list[Any]:
    return [member(name, **words) for name in names.split()]


CASES: dict[str, tuple[list[Any], str]] = {
    "a gang that fits": ([a_node("n", cpu="3"), a_group(min_count=3), *members("a b c")], ""),
    "a gang with too few members": ([a_node("n", cpu="3"), a_group(min_count=3), *members("a b")], ""),
    "a gang whose group does not exist": ([a_node("n", cpu="3"), *members("a b")], ""),
    "a gang that fits in part": ([a_node("n", cpu="2"), a_group(min_count=3), *members("a b c")], ""),
    "a gang of which enough fit": ([a_node("n", cpu="2"), a_group(min_count=2), *members("a b c")], ""),
    "a group that is no gang": ([a_node("n", cpu="2"), a_group(min_count=None), *members("a b c")], ""),
    "a gang whose pods are too large": ([a_node("n", cpu="2"), a_group(min_count=2), *members("a b", cpu="4")], ""),
    "a gang of which a pod is on a node": (
        [a_node("n", cpu="3"), a_group(min_count=3), *members("a", node="n"), *members("b c")],
        "",
    ),
    "a gang with a pod that is held back": (
        [a_node("n", cpu="3"), a_group(min_count=2), *members("a"), *members("b", gates=["later"])],
        "",
    ),
    "no nodes": ([a_group(min_count=2), *members("a b")], ""),
    "a gang in one zone": (
        [
            a_node("n", cpu="1", zone="a"),
            a_node("m", cpu="2", zone="b"),
            a_group(min_count=2, topology=ZONE),
            *members("a b"),
        ],
        "TopologyAwareWorkloadScheduling",
    ),
    "a gang that no zone has room for": (
        [
            a_node("n", cpu="1", zone="a"),
            a_node("m", cpu="1", zone="b"),
            a_group(min_count=2, topology=ZONE),
            *members("a b"),
        ],
        "TopologyAwareWorkloadScheduling",
    ),
    "a gang that preemption does not help": (
        [a_node("n", cpu="2"), a_pod("old", cpu="1", node="n"), a_group(min_count=2, priority=0), *members("a b")],
        "WorkloadAwarePreemption",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_pods_of_groups_get_the_places_and_the_messages_of_the_living_scheduler(case: str) -> None:
    objects, gates = CASES[case]
    model = a_model(*objects, gates=f"{GANGS} {gates}")
    before = state_of(model)
    placer = Placer(model)
    found: dict[str, tuple[str, str]] = {}
    for pod in list(model.pods.values()):
        outcome = placer.place(pod)
        if isinstance(outcome, Failed):
            found[pod.full_name] = "", outcome.message
        elif pod.full_name not in found:
            placed = model.cluster.table.pods.get(pod.uid)
            found[pod.full_name] = placed.spec.node_name if placed is not None else "", ""
    expected = conditions_after(objects, *gates.split())
    # which of the equal pods of a gang comes first depends on when they came to the scheduler
    assert sorted((node, "" if node else said) for node, said in expected.values()) == sorted(found.values())
    placer.undo()
    assert state_of(model) == before


def test_a_gang_takes_the_places_of_less_important_pods() -> None:
    objects = [
        a_node("n", cpu="2"),
        a_node("m", cpu="1"),
        a_pod("low", cpu="2", node="n"),
        a_group(min_count=3),
        *members("a b c", priority=9),
    ]
    model = a_model(*objects, gates=GANGS)
    before = state_of(model)
    placer = Placer(model)
    outcomes, victims = placer.place_or_preempt(model.pod("default/a"))
    assert [victim.name for victim in victims] == ["low"]
    assert {uid: type(outcome) for uid, outcome in outcomes.items()} == dict.fromkeys(
        ["default-a", "default-b", "default-c"], Placed
    )
    nodes = sorted(pod.spec.node_name for pod in model.cluster.table.pods.values())
    assert nodes == sorted(node for node, _ in conditions_after(objects).values()) == ["m", "n", "n"]
    placer.undo()
    assert state_of(model) == before


def test_a_gang_of_high_priority_takes_places_as_a_whole() -> None:
    objects = [
        a_node("n", cpu="2"),
        a_pod("low", cpu="1", node="n"),
        a_pod("lower", cpu="1", node="n"),
        a_group(min_count=2, priority=9),
        *members("a b"),
    ]
    model = a_model(*objects, gates=f"{GANGS} WorkloadAwarePreemption")
    before = state_of(model)
    placer = Placer(model)
    outcomes, victims = placer.place_or_preempt(model.pod("default/b"))
    assert sorted(victim.name for victim in victims) == ["low", "lower"]
    assert all(isinstance(outcome, Placed) for outcome in outcomes.values())
    assert set(conditions_after(objects, "WorkloadAwarePreemption")) == {"default/a", "default/b"}
    placer.undo()
    assert state_of(model) == before


def test_a_gang_of_which_enough_fit_waits_while_another_of_its_pods_makes_room() -> None:
    objects = [
        a_node("n", cpu="2"),
        a_node("m", cpu="1"),
        a_pod("low", cpu="1", node="m"),
        a_group(min_count=2),
        *members("a b c", priority=9),
    ]
    model = a_model(*objects, gates=GANGS)
    before = state_of(model)
    placer = Placer(model)
    pod = model.pod("default/a")
    assert not placer.place_if_it_fits(pod)
    outcome = placer.place(pod)
    assert isinstance(outcome, Failed)
    assert outcome.message == "pod group is unschedulable, pod group is waiting for preemption to complete"
    assert state_of(model) == before
    # a moment after the attempt
    said = {message for _, message in conditions_after(objects, seconds=0.02).values()}
    assert outcome.message in said


def test_a_pod_that_is_only_asked_about_leaves_nothing_behind() -> None:
    model = a_model(a_node("n", cpu="1"), a_group(min_count=None), gates=GANGS)
    before = state_of(model)
    placer = Placer(model)
    pod = model.read(member("a"))
    assert isinstance(placer.place(pod), Placed)
    placer.undo()
    assert state_of(model) == before
    large = model.read(member("b", cpu="2"))
    assert isinstance(placer.place(large), Failed)
    assert state_of(model) == before


TWO_SCHEDULERS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}, {schedulerName: other}]
"""


def test_a_gang_of_two_schedulers_is_an_error() -> None:
    pods = [*members("a"), *members("b", scheduler="other")]
    model = a_model(a_node("n"), a_group(min_count=2), *pods, config=TWO_SCHEDULERS, gates=GANGS)
    outcome = Placer(model).place(model.pod("default/a"))
    assert isinstance(outcome, Failed)
    assert outcome.reason == "SchedulerError"
    assert outcome.message.startswith("all pods in a single pod group should have the same .spec.schedulerName set")


def test_groups_of_the_corpus_are_placed_one_after_the_other_as_by_the_reference() -> None:
    asked = 0
    for line in scenarios("pod-groups"):
        if not line.get("sequence"):
            continue
        model = a_model_of(line)
        before = state_of(model)
        placer = Placer(model)
        for group in line["expected"]["groups"]:
            pods = {each["pod"]: model.pods[each["pod"]] for each in group["pods"]}
            outcomes = placer.place_group(next(iter(pods.values())))
            for each in group["pods"]:
                outcome = outcomes.get(pods[each["pod"]].uid)
                placed = group.get("code") == "Success" and "status" not in each
                assert (outcome.node_name if isinstance(outcome, Placed) else "") == (each["node"] if placed else "")
                asked += 1
        placer.undo()
        assert state_of(model) == before, line["name"]
    assert asked
