"""Capacity with quotas: no more replicas fit than the API server accepts."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from packages.answers.tests.test_quotas import a_quota
from tests.support.templates import a_template

from kubesched.api.meta import ApiObject
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.core.assembly import load_config
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.reports.answers import ObjectName
from kubesched.testing import a_claim, a_node, a_pod, a_spread
from kubesched_answers.capacity.capacity import CapacityOptions, capacity
from kubesched_answers.capacity.capacity_answer import CapacityAnswer
from kubesched_answers.explain.explain_template import explain_manifests
from kubesched_answers.sources.files import read_files
from kubesched_answers.templates.reading import WorkloadTemplates, read_templates
from kubesched_answers.templates.workload_template import WorkloadTemplate

Document = dict[str, Any]
CONTAINER = {"name": "main", "image": "i"}


def a_model(*quotas: Document, objects: tuple[ApiObject, ...] = ()) -> ClusterModel:
    """Return a cluster of two nodes with 4 cpu each, and quotas."""
    nodes = (a_node("n1", cpu="4", zone="a"), a_node("n2", cpu="4", zone="b"))
    return ClusterModel(ClusterObjects((*nodes, *objects), admission=quotas), load_config(None))


def asked(model: ClusterModel, *templates: WorkloadTemplate, **options: Any) -> CapacityAnswer:
    """Return the answer about some templates."""
    return capacity(model, WorkloadTemplates(templates, ()), CapacityOptions(**options))


WEB = a_template(a_pod("web", cpu="1"))
SPREAD = a_template(a_pod("web", cpu="1", labels={"app": "web"}, spread=a_spread("zone", "app=web")))
BATCH = a_template(a_pod("batch", cpu="1"))
OTHER = a_template(a_pod("other", cpu="1", namespace="other"))


@pytest.mark.parametrize("template", [pytest.param(WEB, id="in a batch"), pytest.param(SPREAD, id="one by one")])
@pytest.mark.parametrize(
    ("hard", "options", "replicas", "fits", "summary"),
    [
        pytest.param(
            {"requests.cpu": "3"},
            {},
            3,
            True,
            "3 replicas of Pod default/web fit on 2 nodes; "
            "the quota q of namespace default allows 3 more: requests.cpu.",
            id="the quota is the limit",
        ),
        pytest.param(
            {"requests.cpu": "0"},
            {},
            0,
            False,
            "No replica of Pod default/web fits on 2 nodes; "
            "the quota q of namespace default allows 0 more: requests.cpu.",
            id="the quota is full",
        ),
        pytest.param(
            {"pods": "9"},
            {},
            8,
            True,
            "8 replicas of Pod default/web fit on 2 nodes; cpu runs out first, on 2 nodes.",
            id="the nodes are the limit",
        ),
        pytest.param({"pods": "3"}, {"until": 3}, 3, True, "All 3 replicas of Pod default/web fit.", id="a target"),
        pytest.param(
            {"pods": "3"},
            {"until": 4},
            3,
            False,
            "Of 4 replicas of Pod default/web, 3 fit; the quota q of namespace default allows 3 more: pods.",
            id="a target that the quota stops",
        ),
        pytest.param(
            {"pods": "9"},
            {"until": 12},
            8,
            False,
            "Of 12 replicas of Pod default/web, 8 fit; cpu runs out first, on 2 nodes; "
            "the quota q of namespace default allows 9 more: pods.",
            id="a target that nodes and quota stop: more nodes do not help",
        ),
    ],
)
def test_no_more_fit_than_quotas_allow(
    template: WorkloadTemplate, hard: Document, options: Any, replicas: int, fits: bool, summary: str
) -> None:
    answer = asked(a_model(a_quota(hard)), template, **options)
    assert (answer.templates[0].replicas, answer.fits, answer.plans) == (replicas, fits, ())
    assert answer.summary == summary


def test_the_answer_has_the_sentence_of_the_api_server() -> None:
    (part,) = asked(a_model(a_quota({"pods": "3"}, {"pods": "3"})), WEB).templates
    assert part.quota is not None
    assert part.message == part.quota.message
    assert part.message.endswith("is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3")


def test_templates_in_order_share_a_quota() -> None:
    answer = asked(a_model(a_quota({"pods": "5"})), WEB, OTHER, BATCH, until=3)
    assert [part.replicas for part in answer.templates] == [3, 3, 2]
    assert [part.quota is not None for part in answer.templates] == [False, False, True]


def test_rounds_end_where_a_quota_refuses_a_replica() -> None:
    answer = asked(a_model(a_quota({"pods": "5"})), WEB, BATCH, weights=(1, 2))
    assert (answer.rounds, [part.replicas for part in answer.templates]) == (1, [2, 3])
    assert [part.quota and part.quota.allows for part in answer.templates] == [None, 3]
    assert answer.summary == (
        "1 round of 1 of Pod default/web, 2 of Pod default/batch fit. Pod default/batch is the first that is refused; "
        "the quota q of namespace default allows 3 more: pods."
    )


def test_a_daemon_set_runs_on_no_more_nodes_than_its_quota_allows() -> None:
    labels = {"app": "agent"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}},
    }
    document = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec}
    for pods, expected in (("1", (1, True)), ("2", (2, False))):
        model = a_model(a_quota({"pods": pods}))
        (part,) = capacity(model, read_templates(model, [Manifest("here", document)])).templates
        assert (part.replicas, part.quota is not None) == expected
        assert part.wanted == 2


def test_volume_claims_are_counted_but_for_those_that_exist() -> None:
    claims = tuple(a_claim(f"data-db-{number}") for number in (0, 1))
    labels = {"app": "db"}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    document = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "selector": {"matchLabels": labels},
            "serviceName": "db",
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
            "volumeClaimTemplates": [claim],
        },
    }
    model = a_model(a_quota({"persistentvolumeclaims": "3"}, {"persistentvolumeclaims": "2"}), objects=claims)
    (template,) = read_templates(model, [Manifest("here", document)]).templates
    assert isinstance(template.claims[0].claim, PersistentVolumeClaim)
    (part,) = capacity(model, WorkloadTemplates((template,), ()), CapacityOptions(until=5)).templates
    assert part.quota is not None
    assert (part.quota.allows, part.quota.resources) == (3, ("persistentvolumeclaims",))
    assert template.workload == ObjectName("apps/v1", "StatefulSet", "default", "db")


def test_quotas_beside_the_workload_count() -> None:
    quota = {key: value for key, value in a_quota({"pods": "2"}).items() if key != "status"}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}}
    model = a_model(objects=(a_pod("old", node="n1"),))
    found = read_templates(model, [Manifest("one", quota), Manifest("two", pod)])
    assert capacity(model, found).templates[0].replicas == 1


def test_a_pod_that_does_not_exist_yet_is_explained_with_the_quota_that_refuses_it() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [CONTAINER]}}
    for used, expected in (("3", ["Pod default/web-0"]), ("2", [])):
        model = a_model(a_quota({"pods": "3"}, {"pods": used}))
        gaps = explain_manifests(model, [Manifest("here", pod)]).gaps
        assert [gap.what for gap in gaps] == expected
        assert all("exceeded quota: q, requested: pods=1" in gap.why for gap in gaps)


def test_the_limit_ranges_of_an_export_count(tmp_path: Path) -> None:
    meta = {"name": "lr", "namespace": "default", "uid": "u3"}
    item = {"type": "Container", "defaultRequest": {"cpu": "450m"}, "default": {"cpu": "1"}}
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": [item]}}
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "uid": "u1"},
        "status": {"allocatable": amounts},
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "t"}, "spec": {"containers": [CONTAINER]}}
    file = tmp_path / "cluster.json"
    file.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": [node, limits]}))
    model = ClusterModel(read_files([str(file)]), load_config(None))
    (part,) = capacity(model, read_templates(model, [Manifest("here", pod)])).templates
    assert (part.replicas, part.requests) == (8, {"cpu": "450m"})


def test_claims_that_are_created_with_a_pod_hold_no_pod_back() -> None:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "t"}}
    template = {**head, "spec": {"spec": {"devices": {"requests": [request]}}}}
    spec = {"containers": [CONTAINER], "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "t"}, "spec": spec}
    model = a_model()
    found = read_templates(model, [Manifest("one", template), Manifest("two", pod)])
    assert capacity(model, found).gaps == ()
