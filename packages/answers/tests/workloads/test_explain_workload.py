"""Workloads: which of their pods have a node, and why the others have none."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.models import a_model

from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.reports.blocks import Table
from kubesched.testing import a_node, a_pod
from kubesched_answers.reports.answer_reports import report_of
from kubesched_answers.whatif.workloads import parse_name
from kubesched_answers.workloads.explain_workload import explain_workload
from kubesched_answers.workloads.workload_answer import WorkloadAnswer

NOW = datetime(2026, 1, 2, tzinfo=UTC)
NODES = (a_node("a", cpu="4", zone="z1"), a_node("b", cpu="4", zone="z2", taints=["spot=yes:NoSchedule"]))


def a_workload(kind: str = "Deployment", name: str = "web", cpu: str = "1", **spec: Any) -> dict[str, Any]:
    """Return the document of a workload."""
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    template: dict[str, Any] = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
    whole = {"selector": {"matchLabels": {"app": name}}, "template": template, **spec}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": whole}


def explained(name: str, *objects: Any, workloads: tuple[dict[str, Any], ...] = ()) -> WorkloadAnswer:
    source = ClusterObjects((*NODES, *objects), workloads)
    return explain_workload(ClusterModel(source, load_config()), parse_name(name), NOW)


def pods(count: int, *, owner: str = "ReplicaSet/web", first: int = 0, **words: Any) -> list[Any]:
    names = [f"{owner.partition('/')[2]}-{number}" for number in range(first, first + count)]
    return [a_pod(name, owner=owner, labels={"app": "web"}, **{"cpu": "1", **words}) for name in names]


def test_pods_with_and_without_a_node() -> None:
    answer = explained(
        "rs/web",
        *pods(2, node="a"),
        *pods(2, first=2, cpu="3"),
        a_pod("other", cpu="9"),
        workloads=(a_workload("ReplicaSet", replicas=5),),
    )
    assert answer.summary == (
        "ReplicaSet default/web has 4 pods: 2 on 1 node, 2 pending. It wants 5 pods; 1 has not been created. "
        "2 do not fit: 1 lacks cpu, 1 has a taint that it does not tolerate."
    )
    assert [(group.pods, group.names) for group in answer.groups] == [(2, ("default/web-2", "default/web-3"))]
    assert [(each.node, each.zone, each.pods) for each in answer.nodes] == [
        ("a", "z1", ("default/web-0", "default/web-1"))
    ]
    assert not answer.fits


def test_pods_that_fit_are_no_cause() -> None:
    answer = explained("rs/web", *pods(1))
    assert answer.summary == "ReplicaSet default/web has 1 pod: 1 pending."
    assert (answer.groups, [group.pods for group in answer.others]) == ((), [1])
    assert answer.fits


def test_pending_pods_of_others_take_their_places_first() -> None:
    answer = explained("rs/web", *pods(1, cpu="2"), a_pod("important", cpu="3", priority=10))
    assert [group.cause for group in answer.groups] == ["1 lacks cpu, 1 has a taint that it does not tolerate"]


NEXT: dict[str, tuple[dict[str, Any], str, bool]] = {
    "a Deployment that is scaled to nothing": (
        a_workload(replicas=0),
        "Deployment default/web has no pods. Its next pod: Pod default/web-0 fits on 1 of 2 nodes: it goes to a.",
        True,
    ),
    "pods that were not created": (
        a_workload(replicas=2),
        "Deployment default/web has no pods. It wants 2 pods; 2 have not been created. "
        "Its next pod: Pod default/web-0 fits on 1 of 2 nodes: it goes to a.",
        True,
    ),
    "a Job whose pod is too large": (
        a_workload("Job", cpu="9", selector=None),
        "Job default/web has no pods. Its next pod: Pod default/web-0 does not fit on any of 2 nodes: 1 lacks cpu, "
        "1 has a taint that it does not tolerate.",
        False,
    ),
    "a DaemonSet": (
        a_workload("DaemonSet"),
        "DaemonSet default/web has no pods. It wants 1 pod; 1 has not been created. "
        "Its next pod: Pod default/web-a fits on 1 of 2 nodes: it goes to a.",
        True,
    ),
}


@pytest.mark.parametrize(("document", "summary", "fits"), NEXT.values(), ids=NEXT)
def test_without_pods_the_next_one_is_explained(document: dict[str, Any], summary: str, fits: bool) -> None:
    document["spec"] = {key: value for key, value in document["spec"].items() if value is not None}
    answer = explained(f"{document['kind']}/web", workloads=(document,))
    assert (answer.summary, answer.fits) == (summary, fits)
    headings = [section.heading for section in report_of(answer).sections]
    assert ("Scores" if fits else "Why") in headings


def test_a_daemon_set_names_the_nodes_without_a_pod() -> None:
    running = pods(1, owner="DaemonSet/web", node="a")
    tolerant = a_workload("DaemonSet")
    tolerant["spec"]["template"]["spec"]["tolerations"] = [{"operator": "Exists"}]
    answer = explained("ds/web", *running, workloads=(tolerant,))
    assert (answer.wanted, answer.missing_on) == (2, ("b",))
    assert report_of(answer).sections[-1].heading == "Nodes without a pod of it"


def test_a_workload_that_does_not_exist() -> None:
    with pytest.raises(UnknownObjectError) as error:
        explained("deploy/wbe", workloads=(a_workload(),))
    assert str(error.value) == "there is no Deployment wbe; did you mean web?"


def test_the_report_has_every_pod_and_shows_the_first_nodes() -> None:
    nodes = [a_node(f"n{number:02}") for number in range(12)]
    spread = [
        pod for number in range(12) for pod in pods(1, owner="ReplicaSet/web", first=number, node=f"n{number:02}")
    ]
    answer = explain_workload(a_model(*nodes, *spread), parse_name("rs/web"))
    (table,) = report_of(answer).sections[-1].blocks
    assert isinstance(table, Table)
    assert (len(table.rows), len(table.shown()), table.about) == (12, 10, "NODE")
