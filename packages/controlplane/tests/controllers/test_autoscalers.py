"""HorizontalPodAutoscalers: how many replicas there are for what annotations say that pods use, and how fast."""

import asyncio
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.controllers.workloads.scaling_rates import History, bounds_of, rated

Document = dict[str, Any]


def a_deployment(replicas: int, usage: str = "", cpu: str = "100m") -> Document:
    """Return a deployment whose pods are said to use so much cpu."""
    meta: Document = {"labels": {"app": "web"}}
    if usage:
        meta["annotations"] = {"kubesched.io/cpu-usage": usage}
    requests = {"cpu": cpu} if cpu else {}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": meta, "spec": {"nodeName": "n", "containers": [container]}},
        },
    }


def an_autoscaler(least: int, most: int, target: Document | None = None, kind: str = "Deployment") -> Document:
    """Return an autoscaler of the deployment, for 50 % of what is requested unless another target is given."""
    goal = target or {"type": "Utilization", "averageUtilization": 50}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
            "minReplicas": least,
            "maxReplicas": most,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": goal}}],
        },
    }


def prepare(cluster: SimulatedCluster, deployment: Document, scaler: Document) -> None:
    """Create a node with room for everything, the deployment and its autoscaler."""
    capacity = {"cpu": "64", "memory": "64Gi", "pods": "500"}
    cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": capacity}})
    cluster.create(deployment)
    cluster.create(scaler)


def replicas(cluster: SimulatedCluster) -> int:
    """Return how many replicas there are to be."""
    found = cluster.get("Deployment", "web")
    assert found is not None
    return int(found["spec"]["replicas"])


def active(cluster: SimulatedCluster) -> tuple[str, str]:
    """Return whether the autoscaler is active, and the reason."""
    scaler = cluster.get("HorizontalPodAutoscaler", "web")
    assert scaler is not None
    conditions = {each["type"]: each for each in scaler["status"].get("conditions") or ()}
    found = conditions.get("ScalingActive", {"status": "", "reason": ""})
    return found["status"], found["reason"]


AVERAGE = {"type": "AverageValue", "averageValue": "30m"}
SCALES = [
    ("twice the target doubles the pods", a_deployment(3, "100m"), an_autoscaler(1, 10), 6),
    ("no more than the most", a_deployment(3, "100m"), an_autoscaler(1, 5), 5),
    ("a little above the target changes nothing", a_deployment(3, "54m"), an_autoscaler(1, 10), 3),
    ("an average value is a target, too", a_deployment(2, "60m"), an_autoscaler(1, 10, AVERAGE), 4),
    ("more than the most are cut down", a_deployment(7, "50m"), an_autoscaler(1, 4), 4),
    ("fewer than the least are added to", a_deployment(1, "50m"), an_autoscaler(3, 4), 3),
    ("what nobody says that pods use is no reason", a_deployment(3), an_autoscaler(1, 10), 3),
    ("a target of zero replicas is left alone", a_deployment(0, "100m"), an_autoscaler(1, 10), 0),
]


@pytest.mark.parametrize(("name", "deployment", "scaler", "expected"), SCALES, ids=[row[0] for row in SCALES])
def test_how_many_replicas(name: str, deployment: Document, scaler: Document, expected: int) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        prepare(cluster, deployment, scaler)
        await asyncio.sleep(16)
        assert replicas(cluster) == expected

    in_simulated_cluster(story)


def test_fewer_pods_are_left_only_after_the_window() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        prepare(cluster, a_deployment(4, "50m"), an_autoscaler(1, 10))
        await asyncio.sleep(16)
        cluster.change(
            "Deployment",
            "web",
            lambda each: each["spec"]["template"]["metadata"]["annotations"].update({"kubesched.io/cpu-usage": "10m"}),
        )
        await asyncio.sleep(200)
        assert replicas(cluster) == 4
        await asyncio.sleep(150)
        assert replicas(cluster) == 1

    in_simulated_cluster(story)


TROUBLES = [
    ("pods that request nothing", a_deployment(1, "100m", cpu=""), an_autoscaler(1, 3), "FailedGetResourceMetric"),
    ("what nobody says", a_deployment(1), an_autoscaler(1, 3), "UsageNotTold"),
    ("nothing to scale", a_deployment(0, "100m"), an_autoscaler(1, 3), "ScalingDisabled"),
]


@pytest.mark.parametrize(("name", "deployment", "scaler", "reason"), TROUBLES, ids=[row[0] for row in TROUBLES])
def test_why_an_autoscaler_does_nothing(name: str, deployment: Document, scaler: Document, reason: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        prepare(cluster, deployment, scaler)
        await asyncio.sleep(16)
        assert active(cluster) == ("False", reason)

    in_simulated_cluster(story)


def test_an_autoscaler_without_a_target_says_so() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        prepare(cluster, a_deployment(1), an_autoscaler(1, 3, kind="StatefulSet"))
        await asyncio.sleep(16)
        scaler = cluster.get("HorizontalPodAutoscaler", "web")
        assert scaler is not None
        condition = scaler["status"]["conditions"][0]
        assert (condition["reason"], condition["message"].rpartition(": ")[2]) == (
            "FailedGetScale",
            'statefulsets.apps "web" not found',
        )

    in_simulated_cluster(story)


def test_the_status_shows_what_pods_use_though_it_is_a_guess() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        prepare(cluster, a_deployment(2), an_autoscaler(1, 3))
        await asyncio.sleep(16)
        scaler = cluster.get("HorizontalPodAutoscaler", "web")
        assert scaler is not None
        current = scaler["status"]["currentMetrics"][0]["resource"]["current"]
        assert current == {"averageValue": "100m", "averageUtilization": 100}

    in_simulated_cluster(story)


PODS = {"type": "Pods", "value": 2, "periodSeconds": 60}
PERCENT = {"type": "Percent", "value": 50, "periodSeconds": 60}
RATES = [
    ("two pods a minute", {"scaleUp": {"policies": [PODS]}}, 10, 40, 12, "ScaleUpLimit"),
    ("the larger change", {"scaleUp": {"policies": [PODS, PERCENT]}}, 10, 40, 15, "ScaleUpLimit"),
    (
        "the smaller change",
        {"scaleUp": {"policies": [PODS, PERCENT], "selectPolicy": "Min"}},
        10,
        40,
        12,
        "ScaleUpLimit",
    ),
    ("not at all", {"scaleUp": {"selectPolicy": "Disabled"}}, 10, 40, 10, "ScaleUpLimit"),
    (
        "down by half",
        {"scaleDown": {"policies": [PERCENT], "stabilizationWindowSeconds": 0}},
        10,
        1,
        5,
        "ScaleDownLimit",
    ),
    ("down to the least", {"scaleDown": {"stabilizationWindowSeconds": 0}}, 10, 1, 2, "TooFewReplicas"),
    ("up to the most", {}, 40, 99, 50, "TooManyReplicas"),
    ("as wanted", {}, 10, 12, 12, "DesiredWithinRange"),
]


@pytest.mark.parametrize(
    ("name", "behavior", "current", "wanted", "expected", "reason"), RATES, ids=[row[0] for row in RATES]
)
def test_how_fast(name: str, behavior: Document, current: int, wanted: int, expected: int, reason: str) -> None:
    bounds = bounds_of({"minReplicas": 2, "maxReplicas": 50, "behavior": behavior})
    outcome = rated(wanted, current, bounds, History(), 1000.0)
    assert (outcome.replicas, outcome.limited[1]) == (expected, reason)


def test_what_was_changed_within_a_period_counts_against_its_policies() -> None:
    bounds = bounds_of({"maxReplicas": 50, "behavior": {"scaleUp": {"policies": [PODS]}}})
    history = History()
    history.changes.append((1000.0, 2))
    assert rated(40, 12, bounds, history, 1030.0).replicas == 12
    assert rated(40, 12, bounds, history, 1061.0).replicas == 14
