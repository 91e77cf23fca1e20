"""Deployments and replica sets: how many pods, which ones, and how they are replaced."""

import asyncio
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster
from tests.support.workloads import (
    a_node,
    a_template,
    a_workload,
    conditions,
    images,
    set_image,
    status_of,
    staying,
    with_nodes,
)

from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.controllers.workloads import rollouts

Document = dict[str, Any]
REVISION = "deployment.kubernetes.io/revision"


def annotation(document: Document | None, name: str) -> str:
    """Return an annotation."""
    assert document is not None
    return str(document["metadata"]["annotations"].get(name, ""))


def sizes(cluster: SimulatedCluster) -> dict[str, int]:
    """Return the sizes of all replica sets, by the image of their template."""
    return {
        each["spec"]["template"]["spec"]["containers"][0]["image"]: each["spec"]["replicas"]
        for each in cluster.all("ReplicaSet")
    }


def scale(cluster: SimulatedCluster, kind: str, replicas: int, name: str = "web") -> None:
    """Scale something by its subresource."""
    cluster.client.patch(cluster.kind(kind), "default", name, {"spec": {"replicas": replicas}}, "scale")


# -- replica sets and replication controllers


def test_a_replica_set_has_as_many_pods_as_it_says() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        replicas = cluster.create(a_workload("ReplicaSet", replicas=3))
        await asyncio.sleep(2)
        pods = staying(cluster)
        assert len(pods) == 3
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": replicas["metadata"]["uid"]}
        for pod in pods:
            assert pod["metadata"]["ownerReferences"] == [{**owner, "controller": True, "blockOwnerDeletion": True}]
            assert pod["metadata"]["generateName"] == "web-"
        assert status_of(cluster, "ReplicaSet") == {
            "replicas": 3,
            "fullyLabeledReplicas": 3,
            "readyReplicas": 3,
            "availableReplicas": 3,
            "terminatingReplicas": 0,
            "observedGeneration": 1,
        }
        scale(cluster, "ReplicaSet", 60)
        await asyncio.sleep(2)
        assert len(staying(cluster)) == 60
        scale(cluster, "ReplicaSet", 1)
        await asyncio.sleep(0.5)
        assert status_of(cluster, "ReplicaSet")["terminatingReplicas"] == 59
        await asyncio.sleep(2)
        assert len(cluster.names("Pod")) == 1
        cluster.delete("Pod", cluster.names("Pod")[0])
        await asyncio.sleep(3)
        assert len(cluster.names("Pod")) == 1

    with_nodes(story)


def test_a_replication_controller_does_the_same() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        spec = {"replicas": 2, "selector": {"app": "web"}, "template": a_template()}
        cluster.create({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "web"}, "spec": spec})
        await asyncio.sleep(2)
        assert len(staying(cluster)) == 2
        assert "terminatingReplicas" not in status_of(cluster, "ReplicationController")
        scale(cluster, "ReplicationController", 0)
        await asyncio.sleep(3)
        assert status_of(cluster, "ReplicationController") == {"replicas": 0, "observedGeneration": 2}

    with_nodes(story)


def test_pods_that_nobody_owns_are_adopted_and_those_that_do_not_fit_are_let_go() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        lonely = {"apiVersion": "v1", "kind": "Pod", **a_template()}
        cluster.create({**lonely, "metadata": {"name": "lonely", "labels": {"app": "web"}}})
        over = {"name": "over", "labels": {"app": "web"}, "annotations": {"kubesched.io/run-seconds": "0"}}
        cluster.create({**lonely, "metadata": over, "spec": {**lonely["spec"], "restartPolicy": "Never"}})
        await asyncio.sleep(1)
        cluster.create(a_workload("ReplicaSet", replicas=2))
        await asyncio.sleep(1)
        adopted, ended = cluster.get("Pod", "lonely"), cluster.get("Pod", "over")
        assert adopted is not None
        assert ended is not None
        assert adopted["metadata"]["ownerReferences"][0]["name"] == "web"
        assert "ownerReferences" not in ended["metadata"], "a pod that is over is of no use"
        assert len(cluster.names("Pod")) == 3
        cluster.change("Pod", "lonely", lambda pod: pod["metadata"]["labels"].update(app="mine"))
        await asyncio.sleep(2)
        released = cluster.get("Pod", "lonely")
        assert released is not None
        assert "ownerReferences" not in released["metadata"]
        assert len(staying(cluster, app="web")) == 3, "another one takes its place"
        cluster.change("Pod", "lonely", lambda pod: pod["metadata"]["labels"].update(app="web"))
        await asyncio.sleep(3)
        assert len(staying(cluster, app="web")) == 3, "one too many goes"

    with_nodes(story)


VICTIMS = [
    ("a pod without a node goes before one with a node", {"a": {}, "b": {"node": ""}}, "b"),
    ("a pod that is not ready goes before one that is", {"a": {}, "b": {"ready": False}}, "b"),
    ("a pod that is cheap to delete goes first", {"a": {}, "b": {"cost": "-1"}}, "b"),
    ("a dear one goes last", {"a": {"cost": "5"}, "b": {"cost": "-5"}, "c": {}}, "b"),
    ("cost counts less than being ready", {"a": {"cost": "-1"}, "b": {"ready": False}}, "b"),
]


@pytest.mark.parametrize(("name", "pods", "victim"), VICTIMS, ids=[row[0] for row in VICTIMS])
def test_which_pod_goes_first(name: str, pods: dict[str, Document], victim: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for pod, traits in pods.items():
            cost = {"controller.kubernetes.io/pod-deletion-cost": traits["cost"]} if "cost" in traits else {}
            gates = {"readinessGates": [{"conditionType": "never"}]} if not traits.get("ready", True) else {}
            node = {} if traits.get("node", "n0") else {"schedulingGates": [{"name": "closed"}]}
            meta = {"name": pod, "labels": {"app": "web"}, "annotations": cost}
            spec = {**a_template()["spec"], **gates, **node}
            cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        await asyncio.sleep(1)
        cluster.create(a_workload("ReplicaSet", replicas=len(pods) - 1))
        await asyncio.sleep(3)
        assert set(pods) - set(cluster.names("Pod")) == {victim}

    with_nodes(story, 1)


def test_of_many_pods_that_go_bit_by_bit_none_goes_before_its_turn() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for cost in range(60):
            annotations = {"controller.kubernetes.io/pod-deletion-cost": str(cost)}
            meta = {"name": f"web-{cost:02}", "labels": {"app": "web"}, "annotations": annotations}
            cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": a_template()["spec"]})
        await asyncio.sleep(1)
        cluster.create(a_workload("ReplicaSet", replicas=8))
        await asyncio.sleep(3)
        assert cluster.names("Pod") == [f"web-{cost:02}" for cost in range(52, 60)]
        scale(cluster, "ReplicaSet", 40)
        await asyncio.sleep(2)
        assert len(staying(cluster)) == 40, "those that were chosen to go are forgotten when more are wanted"
        assert status_of(cluster, "ReplicaSet")["availableReplicas"] == 40

    with_nodes(story)


def test_of_equal_pods_those_doubled_up_on_a_node_go_first() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=4))
        await asyncio.sleep(2)
        scale(cluster, "Deployment", 3)
        await asyncio.sleep(3)
        assert sorted(pod["spec"]["nodeName"] for pod in staying(cluster)) == ["n0", "n1", "n2"]

    with_nodes(story)


def test_pods_that_cannot_be_made_are_a_condition_and_are_tried_again() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        quota = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q"},
            "spec": {"hard": {"pods": "1"}},
        }
        cluster.create(quota)
        await asyncio.sleep(1)
        cluster.create(a_workload("Deployment", replicas=3))
        await asyncio.sleep(2)
        status = status_of(cluster, "ReplicaSet", cluster.names("ReplicaSet")[0])
        (condition,) = status["conditions"]
        assert (condition["type"], condition["reason"]) == ("ReplicaFailure", "FailedCreate")
        assert condition["message"].endswith(
            "is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"
        )
        assert conditions(cluster, "Deployment")["ReplicaFailure"] == ("True", "FailedCreate")
        cluster.change("ResourceQuota", "q", lambda quota: quota["spec"].update(hard={"pods": "9"}))
        await asyncio.sleep(20)
        assert len(staying(cluster)) == 3
        assert "ReplicaFailure" not in conditions(cluster, "Deployment")

    with_nodes(story)


def test_min_ready_seconds_hold_back_what_is_available() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("ReplicaSet", replicas=2, minReadySeconds=10))
        await asyncio.sleep(5)
        status = status_of(cluster, "ReplicaSet")
        assert (status["readyReplicas"], status.get("availableReplicas", 0)) == (2, 0)
        await asyncio.sleep(6)
        assert status_of(cluster, "ReplicaSet")["availableReplicas"] == 2

    with_nodes(story)


# -- deployments


def test_a_deployment_makes_a_replica_set_for_its_template() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=3))
        await asyncio.sleep(2)
        (replicas,) = cluster.all("ReplicaSet")
        name_hash = replicas["metadata"]["labels"]["pod-template-hash"]
        assert replicas["metadata"]["name"] == f"web-{name_hash}"
        assert replicas["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": name_hash}
        assert replicas["metadata"]["annotations"] == {
            REVISION: "1",
            "deployment.kubernetes.io/desired-replicas": "3",
            "deployment.kubernetes.io/max-replicas": "4",
        }
        assert all(pod["metadata"]["labels"]["pod-template-hash"] == name_hash for pod in staying(cluster))
        status = status_of(cluster, "Deployment")
        assert {field: status[field] for field in ("replicas", "updatedReplicas", "availableReplicas")} == {
            "replicas": 3,
            "updatedReplicas": 3,
            "availableReplicas": 3,
        }
        assert conditions(cluster, "Deployment") == {
            "Available": ("True", "MinimumReplicasAvailable"),
            "Progressing": ("True", "NewReplicaSetAvailable"),
        }
        assert annotation(cluster.get("Deployment", "web"), REVISION) == "1"
        assert cluster.events("web") == [
            ("ScalingReplicaSet", f"Scaled up replica set web-{name_hash} from 0 to 3"),
        ]

    with_nodes(story)


def test_pods_are_replaced_without_too_many_or_too_few() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 1}}
        cluster.create(a_workload("Deployment", replicas=8, strategy=strategy))
        await asyncio.sleep(10)
        cluster.change("Deployment", "web", set_image("app:2"))
        for _ in range(200):
            await asyncio.sleep(0.5)
            pods = staying(cluster)
            ready = [
                pod
                for pod in pods
                if any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"]["conditions"])
            ]
            assert len(pods) <= 10
            assert len(ready) >= 7
        assert images(cluster) == ["app:2"] * 8
        assert sizes(cluster) == {"app:1": 0, "app:2": 8}
        assert annotation(cluster.get("Deployment", "web"), REVISION) == "2"

    with_nodes(story, options=Options(ready_seconds=3, pod_start_seconds=1))


def test_pods_are_all_gone_before_new_ones_come() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=3, strategy={"type": "Recreate"}))
        await asyncio.sleep(5)
        cluster.change("Deployment", "web", set_image("app:2"))
        seen = set()
        for _ in range(60):
            await asyncio.sleep(0.25)
            seen.add(tuple(sorted({pod["spec"]["containers"][0]["image"] for pod in cluster.all("Pod")})))
        assert seen == {("app:1",), ("app:2",)} or seen == {("app:1",), (), ("app:2",)}
        assert images(cluster) == ["app:2"] * 3

    with_nodes(story, options=Options(termination_seconds=3))


def test_a_deployment_that_is_paused_can_be_scaled_but_does_not_roll() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=2))
        await asyncio.sleep(2)
        cluster.change("Deployment", "web", lambda web: web["spec"].update(paused=True))
        cluster.change("Deployment", "web", set_image("app:2"))
        await asyncio.sleep(2)
        assert conditions(cluster, "Deployment")["Progressing"] == ("Unknown", "DeploymentPaused")
        scale(cluster, "Deployment", 4)
        await asyncio.sleep(2)
        assert images(cluster) == ["app:1"] * 4
        cluster.change("Deployment", "web", lambda web: web["spec"].update(paused=False))
        await asyncio.sleep(20)
        assert images(cluster) == ["app:2"] * 4
        assert conditions(cluster, "Deployment")["Progressing"] == ("True", "NewReplicaSetAvailable")

    with_nodes(story)


def test_a_deployment_that_does_not_get_on_says_so_after_its_deadline() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=2, progressDeadlineSeconds=60))
        await asyncio.sleep(2)
        cluster.change(
            "Deployment", "web", lambda web: web["spec"]["template"]["spec"].update(nodeSelector={"no": "where"})
        )
        await asyncio.sleep(50)
        assert conditions(cluster, "Deployment")["Progressing"] == ("True", "ReplicaSetUpdated")
        await asyncio.sleep(20)
        assert conditions(cluster, "Deployment")["Progressing"] == ("False", "ProgressDeadlineExceeded")
        assert conditions(cluster, "Deployment")["Available"] == ("True", "MinimumReplicasAvailable")
        assert len(staying(cluster)) == 3, "old pods stay until new ones are available"
        cluster.create(a_node("n9", no="where"))
        await asyncio.sleep(10)
        assert conditions(cluster, "Deployment")["Progressing"] == ("True", "NewReplicaSetAvailable")

    with_nodes(story)


def test_going_back_gives_an_old_set_a_new_revision() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=2))
        for image in ("app:2", "app:3", "app:1"):
            await asyncio.sleep(5)
            cluster.change("Deployment", "web", set_image(image))
        await asyncio.sleep(5)
        assert sizes(cluster) == {"app:1": 2, "app:2": 0, "app:3": 0}
        first = next(each for each in cluster.all("ReplicaSet") if each["spec"]["replicas"])
        assert annotation(first, REVISION) == "4"
        assert annotation(first, "deployment.kubernetes.io/revision-history") == "1"
        assert annotation(cluster.get("Deployment", "web"), REVISION) == "4"

    with_nodes(story)


def test_old_sets_are_kept_for_going_back_up_to_a_limit() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=1, revisionHistoryLimit=2))
        for number in range(2, 7):
            await asyncio.sleep(5)
            cluster.change("Deployment", "web", set_image(f"app:{number}"))
        await asyncio.sleep(5)
        assert sizes(cluster) == {"app:4": 0, "app:5": 0, "app:6": 1}

    with_nodes(story)


def test_annotations_are_handed_on_and_raise_the_generation() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=1))
        await asyncio.sleep(2)

        def annotate(web: Document) -> None:
            web["metadata"]["annotations"].update(
                {"kubernetes.io/change-cause": "why", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
            )

        changed = cluster.change("Deployment", "web", annotate)
        assert changed["metadata"]["generation"] == 2
        await asyncio.sleep(2)
        (replicas,) = cluster.all("ReplicaSet")
        assert annotation(replicas, "kubernetes.io/change-cause") == "why"
        assert "last-applied" not in str(replicas["metadata"]["annotations"])
        assert status_of(cluster, "Deployment")["observedGeneration"] == 2

    with_nodes(story)


def test_scaling_in_the_middle_of_a_rollout_keeps_proportions() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=10))
        await asyncio.sleep(2)
        # nothing new becomes ready: the rollout stands still
        cluster.change(
            "Deployment", "web", lambda web: web["spec"]["template"]["spec"].update(nodeSelector={"no": "where"})
        )
        await asyncio.sleep(5)
        before = sorted(each["spec"]["replicas"] for each in cluster.all("ReplicaSet"))
        assert before == [5, 8]
        scale(cluster, "Deployment", 20)
        await asyncio.sleep(5)
        assert sorted(each["spec"]["replicas"] for each in cluster.all("ReplicaSet")) == [10, 15]

    with_nodes(story)


def test_a_name_that_is_taken_counts_as_a_collision() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=1))
        await asyncio.sleep(2)
        taken = cluster.names("ReplicaSet")[0]
        cluster.delete("Deployment", "web", propagationPolicy="Foreground")
        await asyncio.sleep(5)
        assert not cluster.names("ReplicaSet")
        other = a_workload("ReplicaSet", "other", replicas=0)
        other["metadata"]["name"] = taken
        cluster.create(other)
        cluster.create(a_workload("Deployment", replicas=1))
        await asyncio.sleep(2)
        assert status_of(cluster, "Deployment")["collisionCount"] == 1
        assert len(staying(cluster)) == 1

    with_nodes(story)


def test_a_deployment_adopts_a_set_that_fits_and_lets_go_one_that_does_not() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        lonely = a_workload("ReplicaSet", replicas=2)
        lonely["metadata"]["labels"] = {"app": "web"}
        cluster.create(lonely)
        await asyncio.sleep(2)
        cluster.create(a_workload("Deployment", replicas=2))
        await asyncio.sleep(5)
        adopted = cluster.get("ReplicaSet", "web")
        assert adopted is not None
        assert adopted["metadata"]["ownerReferences"][0]["kind"] == "Deployment"
        assert len(cluster.names("ReplicaSet")) == 1, "it has the template that is wanted"
        cluster.change("ReplicaSet", "web", lambda replicas: replicas["metadata"].update(labels={"app": "mine"}))
        await asyncio.sleep(5)
        released = cluster.get("ReplicaSet", "web")
        assert released is not None
        assert not released["metadata"].get("ownerReferences")
        assert len(cluster.names("ReplicaSet")) == 2

    with_nodes(story)


def test_nothing_is_made_in_a_namespace_that_is_going() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}})
        deployment = a_workload("Deployment", replicas=5)
        deployment["metadata"]["namespace"] = "mine"
        cluster.create(deployment)
        await asyncio.sleep(2)
        assert len(staying(cluster)) == 5
        cluster.delete("Namespace", "mine")
        await asyncio.sleep(10)
        assert "mine" not in cluster.names("Namespace")
        assert not cluster.names("Pod")

    with_nodes(story)


REFUSALS: list[tuple[str, Document, str]] = [
    (
        "a selector that does not select",
        {"selector": {"matchLabels": {"app": "other"}}},
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ),
    ("fewer than none", {"replicas": -1}, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
    (
        "neither more nor fewer",
        {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
        "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
    ),
    (
        "a deadline before anything can be available",
        {"minReadySeconds": 700},
        "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
    ),
    (
        "both ways at once",
        {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
        "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ),
]


@pytest.mark.parametrize(("name", "spec", "message"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_what_a_deployment_may_not_say(name: str, spec: Document, message: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        with pytest.raises(ApiError) as refusal:
            cluster.create(a_workload("Deployment", **spec))
        assert refusal.value.message == f'Deployment.apps "web" is invalid: {message}'

    with_nodes(story, 0)


def test_the_selector_of_a_deployment_does_not_change() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment"))

        def select(web: Document) -> None:
            web["spec"]["selector"] = {"matchLabels": {"app": "b"}}
            web["spec"]["template"]["metadata"]["labels"] = {"app": "b"}

        with pytest.raises(ApiError) as refusal:
            cluster.change("Deployment", "web", select)
        assert 'spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable' in refusal.value.message

    with_nodes(story, 0)


# -- arithmetic

SHARES = [
    ("percentages: more is rounded up, fewer is rounded down", "25%", "25%", 10, (3, 2)),
    ("numbers are taken as they are", 1, 2, 10, (1, 2)),
    ("no more are missing than there are", 0, 5, 3, (0, 3)),
    ("if both come to nothing one may be missing", "0%", "1%", 10, (0, 1)),
    ("of nothing nothing", "25%", "25%", 0, (0, 0)),
]


@pytest.mark.parametrize(("name", "surge", "shortage", "replicas", "expected"), SHARES, ids=[row[0] for row in SHARES])
def test_how_many_at_a_time(
    name: str, surge: int | str, shortage: int | str, replicas: int, expected: tuple[int, int]
) -> None:
    rolling = {"maxSurge": surge, "maxUnavailable": shortage}
    spec = {"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}
    assert rollouts.surge_and_shortage({"spec": spec}) == expected
