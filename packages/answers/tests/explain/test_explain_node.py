"""The answer about a node: what is free, and what would still fit."""

import msgspec
import pytest
from tests.support.models import a_model
from tests.support.pod_groups import GANGS, a_group, member

from kubesched.api.nodes import NodeCondition
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.reports.blocks import Table
from kubesched.testing import a_node, a_pod
from kubesched_answers.explain.explain_node import explain_node
from kubesched_answers.placing import Placer
from kubesched_answers.reports.triage_report import node_report


def test_what_is_free_and_what_it_holds() -> None:
    model = a_model(
        a_node("n", cpu="4", memory="8Gi", allocatable={"example.com/gpu": 2}),
        a_pod("a", node="n", cpu="1", memory="2Gi", owner="ReplicaSet/web"),
        a_pod("b", node="n", requests={"example.com/gpu": 1}, priority=5),
    )
    answer = explain_node(model, "n")
    assert [(each.resource, each.requested, each.free, each.used) for each in answer.resources] == [
        ("cpu", "1", "3", 0.25),
        ("memory", "2Gi", "6Gi", 0.25),
        ("example.com/gpu", "1", "1", 0.5),
        ("pods", "2", "108", 0.0182),
    ]
    assert [(pod.pod, pod.owner, pod.priority) for pod in answer.pods] == [
        ("default/b", None, 5),
        ("default/a", "ReplicaSet default/web", 0),
    ]
    assert answer.summary == "Node n holds 2 pods. No pod is pending that it could take."


def test_what_would_still_fit_and_how_many() -> None:
    model = a_model(
        a_node("n", cpu="4", pods=6),
        a_node("other", cpu="64"),
        a_pod("there", node="n", cpu="1"),
        *(a_pod(f"web-{number}", cpu="1", owner="ReplicaSet/web") for number in range(2)),
        a_pod("tiny"),
        a_pod("large", cpu="4"),
        a_pod("lost", volumes=["data"]),
        a_pod("gated", gates=["quota"]),
        a_pod("volcano", scheduler="volcano"),
    )
    answer = explain_node(model, "n")
    assert [(kind.owner, kind.pods, kind.room_for) for kind in answer.pending] == [
        ("ReplicaSet default/web", 2, 3),
        ("Pod default/tiny", 1, 5),
        ("Pod default/large", 1, 0),
        ("Pod default/lost", 1, 0),
    ]
    large, lost = answer.pending[2:]
    assert [lack.message for lack in large.lacks] == ["lacks 1 cpu: 4 wanted, 3 free"]
    assert lost.message == "claim data does not exist"
    assert answer.summary == "Node n holds 1 pod. Of 5 pending pods it would take any of 3."
    assert explain_node(model, "n") == answer


def test_notices() -> None:
    node = a_node("n", taints=["spot=yes:NoSchedule"], unschedulable=True)
    conditions = (
        NodeCondition(type="Ready", status="Unknown", reason="NodeStatusUnknown"),
        NodeCondition(type="MemoryPressure", status="True"),
        NodeCondition(type="DiskPressure", status="False"),
    )
    node = msgspec.structs.replace(node, status=msgspec.structs.replace(node.status, conditions=conditions))
    assert explain_node(a_model(node), "n").notices == (
        "it is cordoned",
        "it has taint spot=yes:NoSchedule",
        "its condition Ready is Unknown (NodeStatusUnknown)",
        "its condition MemoryPressure is True",
    )


def test_a_wrong_name() -> None:
    with pytest.raises(UnknownObjectError, match=r"there is no node nod-1; did you mean node-1\?"):
        explain_node(a_model(a_node("node-1")), "nod-1")


def test_placing_a_pod_and_taking_it_back_keeps_its_nomination() -> None:
    model = a_model(a_node("n"), a_pod("p", nominated="n", priority=5))
    placer = Placer(model)
    placer.place(model.pod("default/p"))
    placer.undo()
    assert len(model.cluster.nominations) == 1


def test_of_pods_of_a_group_the_group_decides() -> None:
    objects = [a_node("n", cpu="2"), a_group(min_count=3), *(member(f"m{number}") for number in range(3)), a_pod("p")]
    gates = FeatureGates(dict.fromkeys(GANGS.split(), True))
    answer = explain_node(ClusterModel(ClusterObjects(tuple(objects)), load_config(None, gates)), "n")
    assert {kind.example: (kind.group, bool(kind.room_for)) for kind in answer.pending} == {
        "default/m0": ("default/g", True),
        "default/p": (None, True),
    }
    [table] = [block for section in node_report(answer).sections[1:2] for block in section.blocks]
    assert isinstance(table, Table)
    told = [row[-1] for row in table.rows if "m" in str(row[0])]
    assert set(told) == {"yes, 2 of them; its pod group default/g decides"}
