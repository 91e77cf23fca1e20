"""Autoscalers in two versions: what one cannot say is kept in annotations of the other."""

import json
from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api

Document = dict[str, Any]
PLACE = "autoscaling.alpha.kubernetes.io"
PATHS = {
    version: f"/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers" for version in ("v1", "v2")
}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def an_autoscaler(version: str, annotations: Document | None = None, **spec: Any) -> Document:
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a", "annotations": annotations or {}},
        "spec": {"scaleTargetRef": TARGET, "maxReplicas": 5, **spec},
    }


def processor(share: int) -> Document:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": share}},
    }


def made(version: str, *wanted: Any, **spec: Any) -> tuple[Asking, Document]:
    api = an_api()
    return api, api.ok("POST", PATHS[version], an_autoscaler(version, *wanted, **spec))


def other(api: Asking, version: str) -> Document:
    return api.ok("GET", f"{PATHS[version]}/a")


@pytest.mark.parametrize(
    ("given", "metrics"),
    [
        pytest.param({}, [processor(80)], id="nothing is said: 80 percent of the processor"),
        pytest.param({"targetCPUUtilizationPercentage": 50}, [processor(50)], id="a share of the processor"),
    ],
)
def test_the_first_version_is_read_in_the_second(given: Document, metrics: list[Document]) -> None:
    api, first = made("v1", **given)
    assert first["spec"]["targetCPUUtilizationPercentage"] == metrics[0]["resource"]["target"]["averageUtilization"]
    assert first["spec"]["minReplicas"] == 1
    assert first["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    assert other(api, "v2")["spec"]["metrics"] == metrics


METRICS = [
    processor(70),
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
    {
        "type": "Pods",
        "pods": {
            "metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "AverageValue", "averageValue": "1500m"},
        },
    },
    {
        "type": "Object",
        "object": {
            "describedObject": {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "i"},
            "metric": {"name": "r"},
            "target": {"type": "Value", "value": "2k"},
        },
    },
    {
        "type": "External",
        "external": {"metric": {"name": "e"}, "target": {"type": "AverageValue", "averageValue": "3"}},
    },
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "container": "c",
            "target": {"type": "Utilization", "averageUtilization": 60},
        },
    },
]


def test_what_the_first_version_cannot_say_comes_back() -> None:
    api, second = made("v2", metrics=METRICS, behavior={"scaleDown": {"stabilizationWindowSeconds": 60}})
    first = other(api, "v1")
    assert first["spec"]["targetCPUUtilizationPercentage"] == 70
    kept = first["metadata"]["annotations"]
    assert [each["type"] for each in json.loads(kept[f"{PLACE}/metrics"])] == [each["type"] for each in METRICS[1:]]
    assert json.loads(kept[f"{PLACE}/behavior"])["ScaleDown"]["StabilizationWindowSeconds"] == 60
    first["spec"]["maxReplicas"] = 9
    api.ok("PUT", f"{PATHS['v1']}/a", first)
    found = other(api, "v2")
    assert "annotations" not in found["metadata"]
    assert found["spec"]["maxReplicas"] == 9
    assert found["spec"]["behavior"] == second["spec"]["behavior"]
    types = [each["type"] for each in found["spec"]["metrics"]]
    # the share of the processor comes last, as in Kubernetes
    assert types == [*(each["type"] for each in METRICS[1:]), "Resource"]
    assert all(metric in found["spec"]["metrics"] for metric in METRICS)
    (changed,) = (each for each in found["metadata"]["managedFields"] if each["apiVersion"] == "autoscaling/v1")
    assert changed["fieldsV1"] == {"f:spec": {"f:maxReplicas": {}}}, "and nothing else was changed"


def test_the_status_is_kept_along() -> None:
    api, _ = made("v2")
    status = {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentMetrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "current": {"averageUtilization": 12, "averageValue": "5m"}},
            }
        ],
        "conditions": [{"type": "AbleToScale", "status": "True", "reason": "R"}],
    }
    api.ok("PATCH", f"{PATHS['v2']}/a/status", {"status": status}, "application/merge-patch+json")
    first = other(api, "v1")
    assert first["status"] == {"currentReplicas": 2, "desiredReplicas": 3, "currentCPUUtilizationPercentage": 12}
    assert json.loads(first["metadata"]["annotations"][f"{PLACE}/conditions"])[0]["type"] == "AbleToScale"
    api.ok("PUT", f"{PATHS['v1']}/a/status", first)
    assert other(api, "v2")["status"] == status


@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param({f"{PLACE}/metrics": "[{]"}, id="no JSON"),
        pytest.param({f"{PLACE}/metrics": "7"}, id="no list"),
        pytest.param({f"{PLACE}/metrics": "[7]"}, id="no metrics in it"),
        pytest.param({f"{PLACE}/metrics": '[{"type":"Pods","pods":[]}]'}, id="no object in a metric"),
        pytest.param({f"{PLACE}/metrics": '[{"type":"Resource","resource":{"name":7}}]'}, id="a wrong type"),
        pytest.param({f"{PLACE}/behavior": "[]", f"{PLACE}/conditions": "{}"}, id="lists and objects mixed up"),
    ],
)
def test_annotations_that_cannot_be_read_are_passed_over(annotations: Document) -> None:
    api, first = made("v1", {**annotations, "mine": "stays"})
    assert first["metadata"]["annotations"] == {"mine": "stays"}
    found = other(api, "v2")
    assert (found["spec"]["metrics"], "behavior" in found["spec"]) == ([processor(80)], False)


REFUSALS: list[tuple[Document, str]] = [
    ({"maxReplicas": 0}, "spec.maxReplicas: Required value: must be set and greater than 0"),
    ({"minReplicas": 9}, "spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`"),
    (
        {"scaleTargetRef": {"kind": "Deployment", "name": "w"}},
        'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ),
    ({"targetCPUUtilizationPercentage": 0}, "averageUtilization: Invalid value: 0: must be greater than 0"),
]


@pytest.mark.parametrize(("spec", "problem"), REFUSALS)
def test_what_is_refused_in_the_first_version(spec: Document, problem: str) -> None:
    code, _, message = an_api().refused("POST", PATHS["v1"], an_autoscaler("v1", **spec))
    assert code == 422
    assert problem in message


def test_the_only_kind_without_a_group_that_can_be_scaled() -> None:
    made("v1", scaleTargetRef={"kind": "ReplicationController", "name": "web"})


def test_both_versions_are_watched_and_listed() -> None:
    api, _ = made("v1")
    for version, path in PATHS.items():
        found = api.ok("GET", path)
        assert [each["apiVersion"] for each in found["items"]] == [f"autoscaling/{version}"]
        (event,) = api.watch(path).take().splitlines()
        assert json.loads(event)["object"]["apiVersion"] == f"autoscaling/{version}"
    api.ok("DELETE", f"{PATHS['v1']}/a")
    assert api.ok("GET", PATHS["v2"])["items"] == []
