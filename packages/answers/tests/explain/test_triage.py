"""Triage: what is pending, by cause."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model
from tests.support.pod_templates import TEMPLATES

from kubesched.api.meta import Condition, OwnerReference
from kubesched.api.pods import PodStatus
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_budget, a_container, a_namespace, a_node, a_pod, an_affinity
from kubesched_answers.explain.triage import triage
from kubesched_answers.explain.triage_answer import PendingGroup, Triage

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def triaged(*objects: Any) -> Triage:
    return triage(a_model(*objects), NOW)


def told(groups: tuple[PendingGroup, ...]) -> list[tuple[str, int, str]]:
    return [(group.verdict, group.pods, group.cause) for group in groups]


def test_nothing_is_pending() -> None:
    assert triaged(a_node(), a_pod(node="node")).summary == "No pod is pending."


def test_a_namespace_that_does_not_exist_gets_the_nearest_one() -> None:
    objects = (a_node("a"), a_namespace("shop"), a_pod("p", namespace="data"))
    for name in ("shop", "data"):
        assert triage(ClusterModel(ClusterObjects(objects, only_namespace=name), load_config())).unschedulable == 0
    with pytest.raises(UnknownObjectError) as error:
        triage(ClusterModel(ClusterObjects(objects, only_namespace="shpo"), load_config()))
    assert str(error.value) == "there is no namespace shpo; did you mean shop?"


def test_no_nodes() -> None:
    answer = triaged(a_pod("a"), a_pod("b", cpu="1"))
    assert told(answer.groups) == [("unschedulable", 2, "no nodes available to schedule pods")]


def test_pods_with_one_cause_are_one_group_whatever_their_template() -> None:
    answer = triaged(
        a_node("n", cpu="2"),
        a_pod("there", node="n", cpu="1500m"),
        a_pod("a", cpu="1"),
        a_pod("b", cpu="1", memory="1Gi", labels={"app": "b"}),
        a_pod("c", node_selector={"disk": "ssd"}),
    )
    assert answer.summary == "3 of 3 pending pods do not fit on 1 node, for 2 causes."
    assert told(answer.groups) == [
        ("unschedulable", 2, "1 lacks cpu"),
        ("unschedulable", 1, "1 does not match its node selector or node affinity"),
    ]
    assert answer.groups[0].requests == {"cpu": "2", "memory": "1Gi"}
    assert (answer.groups[0].share, answer.groups[0].share_of) == (1.0, "cpu")


FULL = (a_node("n", cpu="4"), a_pod("there", node="n", cpu="3500m"))
APART: dict[str, tuple[list[Any], list[tuple[str, ...]]]] = {
    "pods that request other amounts of what is short": (
        [*FULL, a_pod("a", cpu="2"), a_pod("b", cpu="3"), a_pod("c", cpu="2", labels={"app": "c"})],
        [("default/a", "default/c"), ("default/b",)],
    ),
    "other amounts of what is not short are one cause": (
        [*FULL, a_pod("a", cpu="2", memory="1Gi"), a_pod("b", cpu="2", memory="2Gi")],
        [("default/a", "default/b")],
    ),
    "a pod that may preempt others and one that may not": (
        [*FULL, a_pod("a", cpu="2", priority=10), a_pod("b", cpu="2")],
        [("default/a",), ("default/b",)],
    ),
    "pods that may preempt others of different priority": (
        [*FULL, a_pod("a", cpu="2", priority=10), a_pod("b", cpu="2", priority=20)],
        [("default/a",), ("default/b",)],
    ),
    "priorities with which nothing can be preempted are one cause": (
        [*FULL, a_pod("a", cpu="2", priority=-1), a_pod("b", cpu="2", priority=-2)],
        [("default/a", "default/b")],
    ),
    "a priority that never preempts is as good as none": (
        [*FULL, a_pod("a", cpu="2", priority=10, preemption_policy="Never"), a_pod("b", cpu="2")],
        [("default/a", "default/b")],
    ),
}


@pytest.mark.parametrize(("objects", "groups"), APART.values(), ids=APART)
def test_pods_are_one_group_if_the_same_would_help_them(objects: list[Any], groups: list[tuple[str, ...]]) -> None:
    assert sorted(group.names for group in triaged(*objects).groups) == groups


def test_a_remedy_helps_the_pods_of_which_it_is_true() -> None:
    answer = triaged(
        a_node("n", cpu="4"),
        a_pod("a", containers=[a_container("main", cpu="5")]),
        a_pod("b", containers=[a_container("other", cpu="5")]),
    )
    (group,) = answer.groups
    assert group.remedy is not None
    # the new node has room for one of them
    assert (group.remedy.summary, group.helps, group.tried) == ("add a node like n with 5 cpu", 1, 2)


def test_preemption_names_the_budgets_that_it_violates() -> None:
    answer = triaged(
        a_node("n", cpu="4"),
        a_pod("web-0", node="n", cpu="2", labels={"app": "web"}),
        a_pod("web-1", node="n", cpu="2", labels={"app": "web"}),
        a_budget("web", "app=web", allowed=1),
        a_pod("urgent", cpu="4", priority=10),
    )
    assert answer.groups[0].preemption == (
        "evicting 2 pods from n makes room, but evicting 1 of them violates PodDisruptionBudget default/web"
    )


def test_the_same_reason_for_other_labels_is_another_cause() -> None:
    answer = triaged(
        a_node("n"), a_pod("a", node_selector={"disk": "ssd"}), a_pod("b", node_selector={"arch": "arm64"})
    )
    assert [group.pods for group in answer.groups] == [1, 1]


def test_names_in_messages_do_not_make_another_cause() -> None:
    answer = triaged(a_node("n"), a_pod("a", volumes=["data-0"]), a_pod("b", volumes=["data-1"]))
    assert told(answer.groups) == [("unschedulable", 2, 'persistentvolumeclaim "data-0" not found')]


def test_the_costliest_group_is_first() -> None:
    answer = triaged(
        a_node("n", cpu="10", memory="10Gi"),
        *(a_pod(f"many-{number}", node_selector={"disk": "ssd"}, cpu="1") for number in range(3)),
        a_pod("one", node_selector={"arch": "arm64"}, memory="5Gi"),
    )
    assert [(group.pods, group.share, group.share_of) for group in answer.groups] == [
        (1, 0.5, "memory"),
        (3, 0.3, "cpu"),
    ]


def test_pods_that_fit_are_told_apart_and_take_their_place_first() -> None:
    answer = triaged(
        a_node("n", cpu="2"),
        a_pod("later", cpu="1", created="2026-01-01T02:00:00Z"),
        a_pod("first", cpu="1", created="2026-01-01T01:00:00Z"),
        a_pod("important", cpu="1", priority=10, created="2026-01-01T03:00:00Z"),
    )
    assert [group.names for group in answer.others] == [("default/first", "default/important")]
    assert [group.names for group in answer.groups] == [("default/later",)]
    assert answer.groups[0].waiting_seconds == 22 * 3600
    assert answer.groups[0].since == "2026-01-01T02:00:00Z"


def test_a_pod_that_fits_beside_another_pending_pod_is_placed_after_it() -> None:
    answer = triaged(
        a_node("n", zone="z"),
        a_pod("follower", affinity=an_affinity(near="app=leader@zone"), priority=10),
        a_pod("leader", labels={"app": "leader"}),
    )
    assert not answer.groups
    assert answer.others[0].pods == 2


def test_pods_that_the_scheduler_does_not_try() -> None:
    answer = triaged(
        a_node("n"),
        a_pod("gated", gates=["quota"]),
        a_pod("volcano", scheduler="volcano"),
        a_pod("gone", terminating=True),
    )
    assert not answer.groups
    assert sorted(told(answer.others)) == [
        ("another-schedulers", 1, "they are for scheduler volcano, which is not known here"),
        ("gated", 1, "waiting for scheduling gates: [quota]"),
        ("terminating", 1, "they are being deleted"),
    ]


def test_a_pod_of_a_manifest_need_not_name_the_default_scheduler() -> None:
    answer = triaged(a_node("n", taints=["a=b:NoSchedule"]), a_node("m", cpu="1"), a_pod("a", cpu="1", scheduler=""))
    assert told(answer.others) == [("schedulable", 1, "they fit: the scheduler places them as soon as it tries them")]


def test_the_remedy_that_helps_most_pods_is_told() -> None:
    answer = triaged(
        a_node("n", cpu="4", taints=["a=b:NoSchedule"]),
        *(a_pod(f"p{number}", cpu="1") for number in range(6)),
    )
    (group,) = answer.groups
    assert group.remedy is not None
    assert (group.remedy.summary, group.helps) == ("add a toleration for taint a=b:NoSchedule", 4)


def test_the_condition_says_since_when() -> None:
    condition = Condition(
        type="PodScheduled", status="False", last_transition_time=datetime(2026, 1, 1, 23, tzinfo=UTC)
    )
    pod = a_pod(cpu="9", created="2026-01-01T00:00:00Z", status=PodStatus(conditions=(condition,)))
    assert triaged(a_node("n"), pod).groups[0].waiting_seconds == 3600


def test_owners_are_workloads_at_the_top() -> None:
    def owned(name: str, kind: str, owner: str, **labels: str) -> Any:
        reference = OwnerReference(api_version="apps/v1", kind=kind, name=owner, controller=True)
        return a_pod(name, cpu="9", owner=reference, labels=labels)

    documents = (
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": "report-1",
                "namespace": "default",
                "ownerReferences": [
                    {"apiVersion": "batch/v1", "kind": "CronJob", "name": "report", "uid": "u", "controller": True}
                ],
            },
        },
    )
    objects = (
        a_node("n"),
        owned("a", "ReplicaSet", "web-5d9", **{"pod-template-hash": "5d9"}),
        owned("b", "ReplicaSet", "web-5d9", **{"pod-template-hash": "5d9"}),
        owned("c", "Job", "report-1"),
        owned("d", "ReplicaSet", "plain"),
        a_pod("e", cpu="9"),
    )
    model = ClusterModel(ClusterObjects(objects, documents), load_config())
    assert [(owner.name, owner.pods) for owner in triage(model).groups[0].owners] == [
        ("Deployment default/web", 2),
        ("CronJob default/report", 1),
        ("Pod default/e", 1),
        ("ReplicaSet default/plain", 1),
    ]


NODES = st.lists(st.fixed_dictionaries({"cpu": st.sampled_from(["1", "2", "4"])}), max_size=4)
PODS = st.lists(st.tuples(st.sampled_from(TEMPLATES), st.integers(1, 3)), max_size=5)


@settings(max_examples=50, deadline=None)
@given(NODES, PODS)
def test_every_pending_pod_is_told_once_and_the_model_is_as_before(nodes: Any, pods: Any) -> None:
    model = a_model(
        *(a_node(f"n{number}", zone=f"z{number % 2}", **words) for number, words in enumerate(nodes)),
        *(a_pod(f"p{kind}-{number}", **words) for kind, (words, count) in enumerate(pods) for number in range(count)),
    )
    answer = triage(model)
    names = [name for group in (*answer.groups, *answer.others) for name in group.names]
    assert sorted(names) == sorted(model.pods)
    assert answer.pending == len(names)
    assert not model.cluster.table.pods
    assert triage(model) == answer
