"""Which nodes can be emptied, and which cannot, with the reason."""

from typing import Any

import pytest
from tests.support.models import a_model

from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_budget, a_node, a_pod
from kubesched_answers.whatif.consolidate import consolidate
from kubesched_answers.whatif.whatif_answer import ConsolidationAnswer

WEB: dict[str, Any] = {"labels": {"app": "web"}, "owner": "ReplicaSet/web", "cpu": "1"}
THREE = [a_node("a", cpu="4"), a_node("b", cpu="4"), a_node("c", cpu="4")]


def emptied(answer: ConsolidationAnswer) -> dict[str, list[str]]:
    return {
        each.node: [f"{move.pod.partition('/')[2]}>{move.to_node}" for moves in each.rounds for move in moves]
        for each in answer.emptied
    }


def kept(answer: ConsolidationAnswer) -> dict[str, str]:
    return {each.node: each.why for each in answer.kept}


def test_the_least_used_nodes_are_emptied_and_each_pod_moves_once() -> None:
    pods = [a_pod("p", node="a", **WEB), a_pod("q", node="b", **WEB), a_pod("r", node="b", **WEB)]
    answer = consolidate(a_model(*THREE, *pods, a_pod("s", node="c", cpu="2", owner="ReplicaSet/s")))
    assert (emptied(answer), answer.freed_cpu) == ({"a": ["p>c"]}, 4000)
    assert (answer.before.nodes, answer.after.nodes) == (3, 2)


def test_an_empty_node_needs_no_moves() -> None:
    answer = consolidate(a_model(*THREE[:2], a_pod("p", node="a", cpu="4", owner="ReplicaSet/p")))
    assert (emptied(answer), answer.summary) == ({"b": []}, "1 of 2 nodes can be emptied by moving 0 pods.")


def test_pods_that_must_not_move_keep_their_node() -> None:
    answer = consolidate(
        a_model(
            *THREE,
            a_pod("bare", node="a"),
            a_pod("kept", node="b", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}, **WEB),
            a_pod("agent", node="c", owner="DaemonSet/agent"),
        )
    )
    assert kept(answer) == {
        "a": "pod default/bare has no controller",
        "b": "pod default/kept may not be evicted",
    }
    [node] = answer.emptied
    assert (node.node, [each.pod for each in node.left]) == ("c", ["default/agent"])


def test_a_budget_keeps_a_node() -> None:
    answer = consolidate(
        a_model(*THREE[:2], a_pod("p", node="a", **WEB), a_pod("q", node="b", **WEB), a_budget("web", "app=web"))
    )
    assert not answer.fits
    assert kept(answer)["a"].startswith("pod default/p: The disruption budget web needs")
    assert answer.summary == "None of 2 nodes can be emptied."


def limits(most: str) -> dict[str, Any]:
    spec = {"limits": [{"type": "Container", "max": {"cpu": most}}]}
    meta = {"name": "small", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": spec}


def quota(pods: int) -> dict[str, Any]:
    hard = {"pods": str(pods)}
    status = {"hard": hard, "used": {"pods": "2"}}
    meta = {"name": "few", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}, "status": status}


ADMISSION: dict[str, tuple[dict[str, Any], str]] = {
    "a LimitRange that allows the pod": (limits("2"), ""),
    "a LimitRange that is stricter than the pod": (limits("500m"), "pod default/p cannot be created again: "),
    "a quota that is full, but has room once the pod is gone": (quota(2), ""),
    "a quota that was lowered below what runs": (quota(1), "exceeded quota: few"),
}


@pytest.mark.parametrize("case", ADMISSION)
def test_a_pod_that_the_api_server_would_not_create_again_keeps_its_node(case: str) -> None:
    document, why = ADMISSION[case]
    objects = (*THREE[:2], a_pod("p", node="a", **WEB), a_pod("q", node="b", **WEB))
    model = ClusterModel(ClusterObjects(objects, admission=(document,)), load_config())
    answer = consolidate(model)
    assert answer.fits is not bool(why)
    assert why in kept(answer).get("a", "")


def test_no_pod_is_preempted_for_it() -> None:
    low = a_pod("low", node="b", cpu="3", owner="ReplicaSet/low")
    high = a_pod("high", node="a", cpu="2", owner="ReplicaSet/high", priority=10)
    answer = consolidate(a_model(*THREE[:2], low, high))
    assert emptied(answer) == {}


def test_at_most_so_many() -> None:
    answer = consolidate(a_model(*THREE), most=1)
    assert emptied(answer) == {"a": []}


def test_a_cluster_without_nodes() -> None:
    assert consolidate(a_model()).summary == "None of 0 nodes can be emptied."


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    consolidate(a_model(*THREE), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
