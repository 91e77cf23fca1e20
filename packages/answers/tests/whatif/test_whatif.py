"""What becomes of pods: a case for each operation, and for each thing that happens to a pod."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.models import a_model
from tests.support.whatif import a_kept_budget, by_pod, of_pods

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Taint
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_claim, a_node, a_pod, a_volume
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.operations import AddNodes, Cordon, Operation, RemoveNodes, TaintNodes
from kubesched_answers.whatif.whatif import whatif
from kubesched_answers.whatif.whatif_answer import WhatIfAnswer
from kubesched_answers.whatif.workload_operations import DeleteObject, RescheduleAll, ScaleWorkload
from kubesched_answers.whatif.workloads import NamedObject

WEB: dict[str, Any] = {"labels": {"app": "web"}, "owner": "ReplicaSet/web", "cpu": "1"}
NO_EXECUTE = Taint(key="broken", effect="NoExecute")


def ask(objects: Sequence[ApiObject], *operations: Operation) -> WhatIfAnswer:
    return whatif(a_model(*objects), operations)


def found(answer: WhatIfAnswer) -> dict[str, str]:
    """Return what becomes of each pod, in a few words."""
    return of_pods(answer.changes)


TWO: list[ApiObject] = [a_node("a", cpu="2"), a_node("b", cpu="2")]
CASES: dict[str, tuple[list[ApiObject], list[Operation], dict[str, str]]] = {
    "without an operation there is no effect": ([*TWO, a_pod("p", cpu="1")], [], {}),
    "a drained node's pods move": (
        [*TWO, a_pod("p", node="a", **WEB)],
        [Drain(("a",))],
        {"p": "moves a to b"},
    ),
    "a pod without another place becomes pending": (
        [a_node("a"), a_pod("p", node="a", **WEB)],
        [Drain(("a",))],
        {"p": "becomes-pending a"},
    ),
    "a bare pod refuses the drain of its node": (
        [*TWO, a_pod("p", node="a"), a_pod("q", node="a", **WEB)],
        [Drain(("a",))],
        {},
    ),
    "a bare pod does not come back from a drain by force": (
        [*TWO, a_pod("p", node="a"), a_pod("q", node="a", **WEB)],
        [Drain(("a",), force=True)],
        {"p": "lost a", "q": "moves a to b"},
    ),
    "a pod that is being deleted goes anyway": (
        [*TWO, a_pod("p", node="a", terminating=True, **WEB)],
        [Drain(("a",))],
        {},
    ),
    "a drain leaves DaemonSets and static pods": (
        [
            *TWO,
            a_pod("agent", node="a", owner="DaemonSet/agent"),
            a_pod("static", node="a", annotations={"kubernetes.io/config.mirror": "x"}),
        ],
        [Drain(("a",))],
        {},
    ),
    "all drained nodes are cordoned before the first pod leaves": (
        [*TWO, a_node("c"), a_pod("p", node="a", **WEB), a_pod("q", node="b", **WEB)],
        [Drain(("a", "b"))],
        {"p": "moves a to c", "q": "moves b to c"},
    ),
    "a cordoned node keeps its pods and takes none": (
        [*TWO, a_pod("p", node="a", **WEB)],
        [Cordon(("a", "b")), ScaleWorkload(NamedObject("ReplicaSet", "", "web"), 2)],
        {"new web 0": "new-pending"},
    ),
    "a removed node takes its DaemonSet pods along": (
        [*TWO, a_pod("p", node="a", **WEB), a_pod("agent", node="a", owner="DaemonSet/agent")],
        [RemoveNodes(("a",))],
        {"p": "moves a to b", "agent": "deleted a"},
    ),
    "a taint without NoExecute leaves running pods": (
        [*TWO, a_pod("p", node="a", **WEB)],
        [TaintNodes(("a",), Taint(key="k", effect="NoSchedule"))],
        {},
    ),
    "NoExecute evicts pods that do not tolerate it": (
        [
            *TWO,
            a_pod("p", node="a", **WEB),
            a_pod("tolerant", node="a", tolerations=["broken:NoExecute"]),
            a_pod("agent", node="a", owner="DaemonSet/agent"),
        ],
        [TaintNodes(("a",), NO_EXECUTE)],
        {"p": "moves a to b", "agent": "deleted a"},
    ),
    "a taint that is taken off lets pods in": (
        [a_node("a", taints=["broken:NoSchedule"]), a_pod("p")],
        [TaintNodes(("a",), Taint(key="broken"), remove=True)],
        {"p": "becomes-bound to a"},
    ),
    "new nodes take pods, and have the pods of DaemonSets": (
        [
            a_node("a", cpu="1"),
            a_pod("agent-a", node="a", owner="DaemonSet/agent", cpu="500m"),
            a_pod("p", cpu="500m"),
            a_pod("q", node="a", cpu="500m"),
        ],
        [AddNodes(2, a_node("a", cpu="1"))],
        {
            "new agent 0": "new to a-new-1",
            "new agent 1": "new to a-new-2",
            "p": "becomes-bound to a-new-1",
        },
    ),
    "a scaled workload gets pods like the ones it has": (
        [*TWO, a_pod("web-x", node="a", **WEB)],
        [ScaleWorkload(NamedObject("ReplicaSet", "", "web"), 3)],
        {"new web 0": "new to a", "new web 1": "new to b"},
    ),
    "pods that do not fit stay pending": (
        [a_node("a", cpu="2"), a_pod("web-x", node="a", **WEB)],
        [ScaleWorkload(NamedObject("ReplicaSet", "", "web"), 3)],
        {"new web 0": "new to a", "new web 1": "new-pending"},
    ),
    "pending pods go first when a workload shrinks, then the newest": (
        [
            a_node("a"),
            a_pod("old", node="a", created="2026-01-01T00:00:00+00:00", **WEB),
            a_pod("new", node="a", created="2026-02-01T00:00:00+00:00", **WEB),
            a_pod("waits", created="2025-01-01T00:00:00+00:00", **{**WEB, "cpu": "9"}),
        ],
        [ScaleWorkload(NamedObject("ReplicaSet", "", "web"), 1)],
        {"waits": "deleted", "new": "deleted a"},
    ),
    "a StatefulSet loses its highest ordinals": (
        [a_node("a"), *(a_pod(f"db-{number}", node="a", owner="StatefulSet/db") for number in range(12))],
        [ScaleWorkload(NamedObject("StatefulSet", "", "db"), 10)],
        {"db-10": "deleted a", "db-11": "deleted a"},
    ),
    "a deleted workload's pods make room": (
        [a_node("a", cpu="1"), a_pod("web-x", node="a", **WEB), a_pod("p", cpu="1")],
        [DeleteObject(NamedObject("ReplicaSet", "", "web"))],
        {"web-x": "deleted a", "p": "becomes-bound to a"},
    ),
    "operations count in their order: what is added later takes what was drained": (
        [a_node("a"), a_pod("p", node="a", **WEB)],
        [Drain(("a",)), AddNodes(1, a_node("a"))],
        {"p": "moves a to a-new-1"},
    ),
    "a more important pod preempts, and its victim waits": (
        [
            a_node("a", cpu="1"),
            a_node("b", cpu="1"),
            a_pod("p", node="a", **WEB),
            a_pod("vip", node="b", cpu="1", priority=100, owner="ReplicaSet/vip"),
        ],
        [Drain(("b",))],
        {"vip": "moves b to a", "p": "becomes-pending a"},
    ),
    "everything is placed again, the oldest first": (
        [
            *TWO,
            a_pod("first", node="b", created="2026-01-01T00:00:00+00:00", cpu="2"),
            a_pod("second", node="a", created="2026-02-01T00:00:00+00:00", cpu="2"),
        ],
        [RescheduleAll()],
        {"first": "moves b to a", "second": "moves a to b"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_pods(case: str) -> None:
    objects, operations, expected = CASES[case]
    assert found(ask(objects, *operations)) == expected


def test_a_preempted_pod_names_who_preempted_it() -> None:
    objects, operations, _ = CASES["a more important pod preempts, and its victim waits"]
    victim = by_pod(ask(objects, *operations))["p"]
    assert victim.preempted_by == "default/vip"
    assert (victim.message or "").startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."
    )


def test_a_budget_makes_rounds() -> None:
    pods = [a_pod(f"p{number}", node="a", **WEB) for number in range(3)]
    answer = ask([a_node("a"), a_node("b"), *pods, a_kept_budget("web", "app=web", max_unavailable=2)], Drain(("a",)))
    step = answer.steps[0]
    assert [(each.number, each.pods) for each in step.rounds] == [
        (1, ("default/p0", "default/p1")),
        (2, ("default/p2",)),
    ]
    assert answer.fits


def test_a_budget_that_allows_nothing_holds_up_the_drain() -> None:
    pods = [a_pod("p", node="a", **WEB), a_pod("q", node="a", owner="ReplicaSet/free")]
    answer = ask([a_node("a"), a_node("b"), *pods, a_kept_budget("web", "app=web", min_available=1)], Drain(("a",)))
    [held] = answer.steps[0].held_up
    assert (held.pod, held.budgets) == ("default/p", ("default/web",))
    assert held.message == "The disruption budget web needs 1 healthy pods and has 1 currently"
    assert found(answer) == {"q": "moves a to b"}
    assert not answer.fits


def test_pods_that_find_no_place_use_up_their_budget() -> None:
    pods = [a_pod(f"p{number}", node="a", **WEB) for number in range(3)]
    answer = ask(
        [a_node("a"), a_node("b", cpu="1"), *pods, a_kept_budget("web", "app=web", max_unavailable=2)], Drain(("a",))
    )
    step = answer.steps[0]
    # one of two got a place and is healthy again, so one more may go
    assert [each.pods for each in step.rounds] == [("default/p0", "default/p1"), ("default/p2",)]
    assert found(answer) == {"p0": "moves a to b", "p1": "becomes-pending a", "p2": "becomes-pending a"}


def test_a_pod_with_two_budgets_is_never_evicted() -> None:
    objects = [*TWO, a_pod("p", node="a", **WEB), a_kept_budget("one", "app=web", max_unavailable=9)]
    answer = ask([*objects, a_kept_budget("two", "app", max_unavailable=9)], Drain(("a",)))
    [held] = answer.steps[0].held_up
    assert held.budgets == ("default/one", "default/two")
    assert "more than one PodDisruptionBudget" in held.message


def test_a_local_volume_holds_its_pod_back_with_the_schedulers_message() -> None:
    volume = a_volume("disk", claimed_by="default/data", nodes="kubernetes.io/hostname=a", phase="Bound")
    pod = a_pod("p", node="a", volumes=["data"], **WEB)
    answer = ask([*TWO, volume, a_claim("data", bound_to="disk"), pod], Drain(("a",)))
    change = by_pod(answer)["p"]
    assert change.change == "becomes-pending"
    assert "didn't match PersistentVolume's node affinity" in (change.message or "")


def test_utilisation_spread_and_fragmentation_before_and_after() -> None:
    nodes = [a_node("a", cpu="2", memory="4Gi", zone="x"), a_node("b", cpu="2", memory="4Gi", zone="y")]
    pods: list[Any] = [a_pod("p", node="a", memory="1Gi", **WEB), a_pod("q", node="b", memory="1Gi", **WEB)]
    answer = ask([*nodes, *pods], Drain(("a",)))
    assert [(use.resource, use.requested, use.allocatable) for use in answer.after.uses][:2] == [
        ("cpu", 2000, 4000),
        ("memory", 2 << 30, 8 << 30),
    ]
    assert [(zone.zone, zone.uses[0].requested) for zone in answer.after.zones] == [("x", 0), ("y", 2000)]
    assert (answer.before.spread.worst_skew, answer.after.spread.worst_skew) == (0, 2)
    [spread] = answer.spread
    assert (spread.owner, spread.before, spread.after) == (
        "ReplicaSet default/web",
        {"x": 1, "y": 1},
        {"x": 0, "y": 2},
    )
    before, after = answer.before.fragmentation, answer.after.fragmentation
    assert (before.largest_cpu, before.largest_memory) == (1000, 3 << 30)
    assert (after.largest_cpu, after.stranded_memory) == (0, 2 << 30)


ANYWAY: dict[str, tuple[list[ApiObject], dict[str, str]]] = {
    "pods that fit become bound": ([*TWO, a_pod("p", cpu="1")], {"p": "becomes-bound to a"}),
    "a more important pod preempts": (
        [a_node("a", cpu="1"), a_pod("p", node="a", **WEB), a_pod("vip", cpu="1", priority=100)],
        {"vip": "becomes-bound to a", "p": "becomes-pending a"},
    ),
    "a pod that is being deleted goes": (
        [*TWO, a_pod("p", node="a", terminating=True, **WEB)],
        {"p": "deleted a"},
    ),
}


@pytest.mark.parametrize("case", ANYWAY)
def test_what_happens_anyway_is_no_effect_of_the_operations(case: str) -> None:
    objects, expected = ANYWAY[case]
    for operations in ([], [Cordon(("a",))]):
        answer = ask(objects, *operations)
        assert of_pods(answer.anyway) == expected
        assert {each.change for each in answer.changes} <= {"stays-pending"}


def test_an_empty_cluster_has_an_answer() -> None:
    answer = ask([])
    assert (answer.fits, answer.summary) == (True, "There are no pods.")


STUCK = a_pod("stuck", cpu="9", owner="ReplicaSet/stuck")
FITS: dict[str, tuple[list[ApiObject], list[Operation], bool]] = {
    "a pod that is pending as before is not what a cordon is about": ([*TWO, STUCK], [Cordon(("a",))], True),
    "nor is it what a drain is about": ([*TWO, STUCK, a_pod("p", node="a", **WEB)], [Drain(("a",))], True),
    "a pod that had a place should have one": ([TWO[0], a_pod("p", node="a", **WEB)], [Drain(("a",))], False),
    "a bare pod had a place, too": ([*TWO, a_pod("p", node="a")], [Drain(("a",))], False),
    "new pods should have places": (
        [*TWO, a_pod("p", node="a", **WEB)],
        [ScaleWorkload(NamedObject("ReplicaSet", "", "web"), 9)],
        False,
    ),
    "so should all pods of a workload that is scaled": (
        [*TWO, STUCK, a_pod("bound", node="a", owner="ReplicaSet/stuck")],
        [ScaleWorkload(NamedObject("ReplicaSet", "", "stuck"), 2)],
        False,
    ),
    "pods of other workloads do not count then": (
        [*TWO, STUCK, a_pod("p", node="a", **WEB)],
        [ScaleWorkload(NamedObject("ReplicaSet", "", "web"), 2)],
        True,
    ),
    "nodes are added for pods that are pending": ([*TWO, STUCK], [AddNodes(1, a_node("b", cpu="2"))], False),
    "nodes that are added suffice": ([*TWO, STUCK], [AddNodes(1, a_node("big", cpu="9"))], True),
    "a taint ends for them, too": ([*TWO, STUCK], [TaintNodes(("a",), NO_EXECUTE, remove=True)], False),
    "nodes beside something else are for that": (
        [*TWO, STUCK, a_pod("p", node="a", **WEB)],
        [AddNodes(1, a_node("b", cpu="2")), Drain(("a",))],
        True,
    ),
    "without an operation all pods are meant": ([*TWO, STUCK], [], False),
}


@pytest.mark.parametrize("case", FITS)
def test_it_fits_if_each_pod_that_should_has_a_place(case: str) -> None:
    objects, operations, fits = FITS[case]
    assert ask(objects, *operations).fits is fits


def test_pods_that_are_not_to_be_scheduled_yet_are_no_failure() -> None:
    answer = ask([a_node("a"), a_pod("gated", gates=["wait"]), a_pod("other", scheduler="somebody")])
    assert {name: each.held for name, each in by_pod(answer).items()} == {"gated": True, "other": True}
    assert answer.fits


def test_a_cluster_that_never_calms_down_is_a_gap() -> None:
    """Pods that name a node which evicts them are created for ever."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"nodeName": "a", "containers": [{"name": "c"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    meta = {"name": "web", "namespace": "default", "uid": "web"}
    document = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": spec}
    source = ClusterObjects((a_node("a"),), workloads=(document,))
    answer = whatif(ClusterModel(source, load_config()), [TaintNodes(("a",), NO_EXECUTE)])
    assert [str(gap.what) for gap in answer.gaps] == ["later changes"]
    assert answer.gaps[0].why.startswith("the cluster does not settle")
