"""Stateful sets: pods by number, in order, with claims of their own."""

import asyncio
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster
from tests.support.workloads import (
    a_template,
    a_workload,
    images,
    phases,
    set_image,
    status_of,
    staying,
    with_nodes,
)

from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.controllers.workloads.stateful_pods import parent_and_ordinal

Document = dict[str, Any]
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
SLOWLY = Options(pod_start_seconds=1, ready_seconds=1)


def a_set(replicas: int = 3, **spec: Any) -> Document:
    """Return a stateful set."""
    return a_workload("StatefulSet", replicas=replicas, serviceName="web", **spec)


def scale(cluster: SimulatedCluster, replicas: int) -> None:
    """Scale the set."""
    cluster.change("StatefulSet", "web", lambda web: web["spec"].update(replicas=replicas))


def a_default_class(cluster: SimulatedCluster) -> None:
    """Have volumes made that nobody asks for by class."""
    meta = {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    cluster.create(
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta, "provisioner": "disk.example.com"}
    )


NAMES = [
    ("web-0", ("web", 0)),
    ("a-b-12", ("a-b", 12)),
    ("web", ("", -1)),
    ("web-", ("", -1)),
    ("web-99999999999", ("web", -1)),
]


@pytest.mark.parametrize(("name", "expected"), NAMES)
def test_what_a_name_stands_for(name: str, expected: tuple[str, int]) -> None:
    assert parent_and_ordinal(name) == expected


def test_pods_come_one_after_another_and_go_the_other_way_round() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_set())
        await asyncio.sleep(1.5)
        assert phases(cluster) == {"web-0": "Running"}
        await asyncio.sleep(2)
        assert phases(cluster) == {"web-0": "Running", "web-1": "Running"}
        await asyncio.sleep(5)
        assert list(phases(cluster)) == ["web-0", "web-1", "web-2"]
        status = status_of(cluster, "StatefulSet")
        assert status["currentRevision"] == status["updateRevision"]
        assert {
            field: status[field] for field in ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas")
        } == {
            "replicas": 3,
            "readyReplicas": 3,
            "currentReplicas": 3,
            "updatedReplicas": 3,
        }
        scale(cluster, 1)
        await asyncio.sleep(0.5)
        assert phases(cluster) == {"web-0": "Running", "web-1": "Running", "web-2": "Running, going"}
        await asyncio.sleep(1)
        assert phases(cluster) == {"web-0": "Running", "web-1": "Running, going"}
        await asyncio.sleep(2)
        assert phases(cluster) == {"web-0": "Running"}

    with_nodes(story, options=SLOWLY)


def test_a_pod_knows_who_it_is() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_set(1, ordinals={"start": 7}))
        await asyncio.sleep(1)
        pod = cluster.get("Pod", "web-7")
        assert pod is not None
        labels = pod["metadata"]["labels"]
        assert (labels["statefulset.kubernetes.io/pod-name"], labels["apps.kubernetes.io/pod-index"]) == ("web-7", "7")
        assert labels["controller-revision-hash"] == cluster.names("ControllerRevision")[0]
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("web-7", "web")

    with_nodes(story)


def test_a_parallel_set_does_everything_at_once() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_set(60, podManagementPolicy="Parallel"))
        await asyncio.sleep(0.5)
        assert len(cluster.names("Pod")) == 60
        await asyncio.sleep(5)
        scale(cluster, 2)
        await asyncio.sleep(0.5)
        assert len(staying(cluster)) == 2

    with_nodes(story, options=SLOWLY)


def test_a_pod_that_is_lost_comes_back_under_its_name() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_set(2))
        await asyncio.sleep(2)
        before = cluster.get("Pod", "web-0")
        cluster.delete("Pod", "web-0")
        await asyncio.sleep(3)
        after = cluster.get("Pod", "web-0")
        assert before is not None
        assert after is not None
        assert before["metadata"]["uid"] != after["metadata"]["uid"]

    with_nodes(story)


def test_each_pod_has_claims_that_outlive_it() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_default_class(cluster)
        cluster.create(a_set(2, volumeClaimTemplates=[CLAIM]))
        await asyncio.sleep(3)
        assert cluster.names("PersistentVolumeClaim") == ["data-web-0", "data-web-1"]
        pod = cluster.get("Pod", "web-1")
        assert pod is not None
        assert pod["spec"]["volumes"][0] == {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-1"}}
        claim = cluster.get("PersistentVolumeClaim", "data-web-1")
        assert claim is not None
        assert claim["metadata"]["labels"] == {"app": "web"}
        scale(cluster, 0)
        await asyncio.sleep(5)
        assert not cluster.names("Pod")
        cluster.delete("StatefulSet", "web")
        await asyncio.sleep(2)
        assert cluster.names("PersistentVolumeClaim") == ["data-web-0", "data-web-1"]

    with_nodes(story)


RETENTION = [
    ("kept when scaled down, and when deleted", "Retain", "Retain", ["0", "1"], ["0", "1"]),
    ("gone with the pod that is not wanted", "Retain", "Delete", ["0"], ["0"]),
    ("gone with the set", "Delete", "Retain", ["0", "1"], []),
    ("gone either way", "Delete", "Delete", ["0"], []),
]


@pytest.mark.parametrize(
    ("name", "deleted", "scaled", "after_scaling", "after_deletion"), RETENTION, ids=[row[0] for row in RETENTION]
)
def test_what_becomes_of_claims(
    name: str, deleted: str, scaled: str, after_scaling: list[str], after_deletion: list[str]
) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_default_class(cluster)
        policy = {"whenDeleted": deleted, "whenScaled": scaled}
        cluster.create(a_set(2, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy))
        await asyncio.sleep(3)
        scale(cluster, 1)
        await asyncio.sleep(5)
        assert cluster.names("PersistentVolumeClaim") == [f"data-web-{number}" for number in after_scaling]
        scale(cluster, 2)
        await asyncio.sleep(5)
        assert cluster.names("PersistentVolumeClaim") == ["data-web-0", "data-web-1"], "it comes back"
        scale(cluster, 1)
        await asyncio.sleep(5)
        cluster.delete("StatefulSet", "web", propagationPolicy="Foreground")
        await asyncio.sleep(10)
        assert cluster.names("PersistentVolumeClaim") == [f"data-web-{number}" for number in after_deletion]

    with_nodes(story)


def test_new_templates_replace_the_last_pod_first_one_at_a_time() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_set())
        await asyncio.sleep(10)
        cluster.change("StatefulSet", "web", set_image("app:2"))
        order = []
        for _ in range(80):
            await asyncio.sleep(0.25)
            going = [name for name, phase in phases(cluster).items() if phase.endswith("going")]
            assert len(going) <= 1
            order += [name for name in going if name not in order]
        assert order == ["web-2", "web-1", "web-0"]
        assert images(cluster) == ["app:2"] * 3
        status = status_of(cluster, "StatefulSet")
        assert status["currentRevision"] == status["updateRevision"]
        assert len(cluster.names("ControllerRevision")) == 2

    with_nodes(story, options=SLOWLY)


def test_a_partition_holds_pods_back() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
        cluster.create(a_set(3, updateStrategy=strategy))
        await asyncio.sleep(3)
        cluster.change("StatefulSet", "web", set_image("app:2"))
        await asyncio.sleep(10)
        assert images(cluster) == ["app:1", "app:1", "app:2"]
        status = status_of(cluster, "StatefulSet")
        assert (status["currentReplicas"], status["updatedReplicas"]) == (2, 1)
        assert status["currentRevision"] != status["updateRevision"]
        cluster.delete("Pod", "web-0")
        await asyncio.sleep(5)
        assert images(cluster) == ["app:1", "app:1", "app:2"], "it comes back as it was"
        cluster.change(
            "StatefulSet", "web", lambda web: web["spec"]["updateStrategy"]["rollingUpdate"].update(partition=0)
        )
        await asyncio.sleep(10)
        assert images(cluster) == ["app:2"] * 3

    with_nodes(story)


def test_pods_are_replaced_only_when_somebody_deletes_them() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_set(2, updateStrategy={"type": "OnDelete"}))
        await asyncio.sleep(3)
        cluster.change("StatefulSet", "web", set_image("app:2"))
        await asyncio.sleep(5)
        assert images(cluster) == ["app:1"] * 2
        cluster.delete("Pod", "web-1")
        await asyncio.sleep(5)
        assert images(cluster) == ["app:1", "app:2"]

    with_nodes(story)


def test_going_back_uses_the_revision_that_there_was_and_old_ones_are_dropped() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_set(1, revisionHistoryLimit=1))
        for image in ("app:2", "app:3", "app:4", "app:3"):
            await asyncio.sleep(5)
            cluster.change("StatefulSet", "web", set_image(image))
        await asyncio.sleep(5)
        revisions = {
            each["data"]["spec"]["template"]["spec"]["containers"][0]["image"]: each["revision"]
            for each in cluster.all("ControllerRevision")
        }
        assert revisions == {"app:3": 5, "app:4": 4}
        assert images(cluster) == ["app:3"]

    with_nodes(story)


def test_a_pod_of_the_right_name_is_adopted_and_others_are_left_alone() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for name in ("web-0", "web-x"):
            meta = {"name": name, "labels": {"app": "web"}}
            cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": a_template()["spec"]})
        await asyncio.sleep(1)
        cluster.create(a_set(1))
        await asyncio.sleep(3)
        adopted, other = cluster.get("Pod", "web-0"), cluster.get("Pod", "web-x")
        assert adopted is not None
        assert other is not None
        assert adopted["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet"
        assert "ownerReferences" not in other["metadata"]

    with_nodes(story)


def test_pods_that_are_over_are_replaced() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_set(2))
        await asyncio.sleep(3)
        cluster.change("Pod", "web-0", lambda pod: pod["status"].update(phase="Failed"), "status")
        await asyncio.sleep(3)
        assert phases(cluster) == {"web-0": "Running", "web-1": "Running"}

    with_nodes(story)
