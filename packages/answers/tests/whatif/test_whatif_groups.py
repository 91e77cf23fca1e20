"""What becomes of pods of pod groups: they are placed, moved and left as a whole, as the living scheduler has it."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.models import a_model
from tests.support.pod_groups import GANGS, a_group, conditions_after, member
from tests.support.whatif import of_pods, state_of

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.scheduling import PodGroup
from kubesched.testing import a_node, a_pod
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.operations import AddNodes, Operation
from kubesched_answers.whatif.whatif import whatif
from kubesched_answers.whatif.whatif_answer import WhatIfAnswer

OWNED: dict[str, Any] = {"owner": "Job/g"}
ZONE, ZONES = "topology.kubernetes.io/zone", st.sampled_from("ab")
TWO_NODES = [a_node("n", cpu="2"), a_node("m", cpu="1")]


def members(names: str, **words: Any) -> list[ApiObject]:
    return [member(name, **words) for name in names.split()]


def ask(objects: Sequence[ApiObject], *operations: Operation, gates: str = "") -> WhatIfAnswer:
    """Ask what if; the model is as before afterwards."""
    model = a_model(*objects, gates=f"{GANGS} {gates}")
    before = state_of(model)
    answer = whatif(model, operations)
    assert state_of(model) == before
    return answer


def found(answer: WhatIfAnswer) -> dict[str, str]:
    """Return what becomes of each pod, anyway or by the operations, in a few words."""
    replaced = {each.replaced_by for each in answer.anyway}
    return of_pods((*answer.anyway, *(each for each in answer.changes if each.pod not in replaced)))


CASES: dict[str, tuple[Sequence[ApiObject], list[Operation], dict[str, str]]] = {
    "a gang that fits becomes bound": (
        [*TWO_NODES, a_group(min_count=3), *members("a b c")],
        [],
        {"a": "becomes-bound to n", "b": "becomes-bound to n", "c": "becomes-bound to m"},
    ),
    "a gang that fits in part stays pending": (
        [a_node("n", cpu="2"), a_group(min_count=3), *members("a b c")],
        [],
        dict.fromkeys("abc", "stays-pending"),
    ),
    "one more node, and the gang fits": (
        [a_node("n", cpu="2"), a_group(min_count=3), *members("a b c")],
        [AddNodes(1, a_node("n", cpu="2"))],
        {"a": "becomes-bound to n", "b": "becomes-bound to n-new-1", "c": "becomes-bound to n"},
    ),
    "one more node, and the gang still does not fit": (
        [a_node("n", cpu="1"), a_group(min_count=3), *members("a b c")],
        [AddNodes(1, a_node("n", cpu="1"))],
        dict.fromkeys("abc", "stays-pending"),
    ),
    "what a gang does not take is for others": (
        [a_node("n", cpu="2"), a_group(min_count=3), *members("a b c"), a_pod("alone", cpu="2")],
        [],
        {**dict.fromkeys("abc", "stays-pending"), "alone": "becomes-bound to n"},
    ),
    "a drained pod of a gang moves alone while the others stay": (
        [
            *TWO_NODES,
            a_group(min_count=3),
            *members("a b", node="n", **OWNED),
            *members("c", node="m", **OWNED),
            a_node("k"),
        ],
        [Drain(("m",))],
        {"c": "moves m to k"},
    ),
    "a drained pod of a gang without another place": (
        [*TWO_NODES, a_group(min_count=3), *members("a b", node="n", **OWNED), *members("c", node="m", **OWNED)],
        [Drain(("m",))],
        {"c": "becomes-pending m"},
    ),
    "a gang that is drained as a whole: the first pod counts those that still end": (
        [*TWO_NODES, a_group(min_count=2), *members("a b", node="n", **OWNED)],
        [Drain(("n",))],
        {"a": "moves n to m", "b": "becomes-pending n"},
    ),
    "a gang of high priority evicts others": (
        [
            a_node("n", cpu="2"),
            a_pod("low", cpu="2", node="n", **OWNED),
            a_group(min_count=2),
            *members("a b", priority=9),
        ],
        [],
        {"a": "becomes-bound to n", "b": "becomes-bound to n", "low": "becomes-pending n"},
    ),
    "a gang with too few pods is held back": (
        [a_node("n", cpu="2"), a_group(min_count=3), *members("a b")],
        [],
        dict.fromkeys("ab", "stays-pending"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_pods_of_groups(case: str) -> None:
    objects, operations, expected = CASES[case]
    # members are alike: which of them goes to which node depends on the order in which they came
    assert sorted(found(ask(objects, *operations)).values()) == sorted(expected.values())


def test_pods_that_wait_say_what_the_living_scheduler_says() -> None:
    objects = [a_node("n", cpu="2"), a_group(min_count=3), *members("a b c")]
    answer = ask(objects)
    assert not answer.fits
    said = [said for _, said in conditions_after(objects).values()]
    assert sorted(each.message or "" for each in answer.changes) == sorted(said)


def test_a_gang_that_is_held_back_has_no_place_to_have() -> None:
    answer = ask([a_node("n", cpu="2"), a_group(min_count=3), *members("a b")])
    assert answer.fits
    assert {each.message for each in answer.changes} == {
        "GangScheduling: waiting for minCount pods from a gang to appear in scheduling queue"
    }


def test_a_gang_is_evicted_for_as_a_whole() -> None:
    objects = [
        *(a_node(name, cpu="1") for name in "nm"),
        *(a_pod(f"low-{name}", cpu="1", node=name) for name in "nm"),
        a_group(min_count=2, priority=9),
        *members("a b"),
    ]
    answer = ask(objects, gates="WorkloadAwarePreemption")
    changes = found(answer)
    assert changes["low-n"] == "lost n"
    assert changes["low-m"] == "lost m"
    assert {changes["a"], changes["b"]} == {"becomes-bound to n", "becomes-bound to m"}


@st.composite
def clusters_with_gangs(draw: st.DrawFn) -> list[ApiObject]:
    """Draw nodes, two gangs of which some pods may be on nodes, and other pods."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 4)))]
    objects: list[ApiObject] = [a_node(name, cpu=draw(st.sampled_from("124")), zone=draw(ZONES)) for name in names]
    places = st.sampled_from(["", "", *names])
    for gang in "gh":
        count, priority = draw(st.integers(1, 4)), draw(st.sampled_from([0, 9]))
        topology = draw(st.sampled_from(["", "", ZONE]))
        objects.append(a_group(gang, min_count=draw(st.integers(1, count)), topology=topology, priority=priority))
        objects += [
            member(f"{gang}{number}", gang, node=draw(places), priority=priority, owner=f"Job/{gang}")
            for number in range(count)
        ]
    objects += [
        a_pod(f"p{number}", cpu="1", node=draw(places), owner=draw(st.sampled_from([None, "ReplicaSet/p"])))
        for number in range(draw(st.integers(0, 4)))
    ]
    return objects


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters_with_gangs(), st.booleans(), st.sampled_from(["", "WorkloadAwarePreemption"]))
def test_gangs_get_new_places_together_and_the_model_is_as_before(
    objects: list[ApiObject], drained: bool, gates: str
) -> None:
    answer = ask(objects, *([Drain(("n0",))] if drained else []), gates=f"{gates} TopologyAwareWorkloadScheduling")
    changes = {each.pod.partition("/")[2]: each for each in (*answer.anyway, *answer.changes)}
    pods = [obj for obj in objects if isinstance(obj, Pod)]
    for group in (obj for obj in objects if isinstance(obj, PodGroup)):
        members = [pod for pod in pods if pod.name.startswith(group.name)]
        nodes = [changes[pod.name].to_node if pod.name in changes else pod.spec.node_name for pod in members]
        placed = [pod for pod in members if pod.name in changes and changes[pod.name].to_node]
        gang = group.spec.scheduling_policy.gang
        assert gang is not None
        # preempted pods of a gang may have left since
        preempted = any(change.preempted_by for change in changes.values())
        assert not placed or preempted or len([node for node in nodes if node]) >= gang.min_count
