"""Volumes and claims: who finds whom, what is made on request, and what becomes of both."""

import asyncio
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.controllers.framework.options import Options

Document = dict[str, Any]
SELECTED = "volume.kubernetes.io/selected-node"
ZONE = "topology.kubernetes.io/zone"


def a_claim(name: str, size: str = "1Gi", **spec: Any) -> Document:
    """Return a claim; without a class it wants none."""
    spec = {"storageClassName": "", "accessModes": ["ReadWriteOnce"], **spec}
    spec["resources"] = {"requests": {"storage": size}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def a_volume(name: str, size: str = "1Gi", **spec: Any) -> Document:
    """Return a volume."""
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def a_class(name: str, mode: str = "Immediate", provisioner: str = "example.com/disk", **more: Any) -> Document:
    """Return a storage class."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        **more,
    }


def a_node(name: str, **labels: str) -> Document:
    """Return a node."""
    meta = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta}


def a_pod(name: str, claim: str, node: str = "") -> Document:
    """Return a pod with a claim."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    spec = {"containers": [{"name": "main", "image": "i"}], "volumes": [volume], **({"nodeName": node} if node else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def claim_state(cluster: SimulatedCluster, name: str) -> tuple[str, str]:
    """Return phase and volume of a claim."""
    claim = cluster.get("PersistentVolumeClaim", name)
    if claim is None:
        return "gone", ""
    return claim["status"]["phase"], claim["spec"].get("volumeName", "")


def volume_phase(cluster: SimulatedCluster, name: str) -> str:
    """Return the phase of a volume, or `gone`."""
    volume = cluster.get("PersistentVolume", name)
    return str(volume["status"]["phase"]) if volume is not None else "gone"


def test_a_new_volume_is_available() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_volume("v"))
        assert volume_phase(cluster, "v") == "Pending"
        await asyncio.sleep(1)
        assert volume_phase(cluster, "v") == "Available"

    in_simulated_cluster(story)


MATCHES = [
    (
        "the smallest that is large enough",
        a_claim("c", "5Gi"),
        [a_volume("large", "9Gi"), a_volume("fits", "6Gi")],
        "fits",
    ),
    ("none that is too small", a_claim("c", "5Gi"), [a_volume("small", "4Gi")], ""),
    ("none of another class", a_claim("c"), [a_volume("v", storageClassName="fast")], ""),
    ("one of its class", a_claim("c", storageClassName="fast"), [a_volume("v", storageClassName="fast")], "v"),
    ("none of another mode", a_claim("c", volumeMode="Block"), [a_volume("v")], ""),
    ("none with fewer ways of access", a_claim("c", accessModes=["ReadWriteMany"]), [a_volume("v")], ""),
    (
        "the one that it names",
        a_claim("c", volumeName="named"),
        [a_volume("other"), a_volume("named", "10Gi")],
        "named",
    ),
    ("none that it names and that does not fit", a_claim("c", "5Gi", volumeName="v"), [a_volume("v", "1Gi")], ""),
    (
        "the one that names it",
        a_claim("c"),
        [a_volume("other"), a_volume("promised", "10Gi", claimRef={"namespace": "default", "name": "c"})],
        "promised",
    ),
    (
        "none that is promised to somebody else",
        a_claim("c"),
        [a_volume("v", claimRef={"namespace": "default", "name": "other"})],
        "",
    ),
    ("none that its selector leaves out", a_claim("c", selector={"matchLabels": {"a": "b"}}), [a_volume("v")], ""),
]


@pytest.mark.parametrize("volumes_first", [True, False], ids=["volumes first", "claim first"])
@pytest.mark.parametrize(("name", "claim", "volumes", "expected"), MATCHES, ids=[row[0] for row in MATCHES])
def test_a_claim_is_bound_to(
    name: str, claim: Document, volumes: list[Document], expected: str, volumes_first: bool
) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for document in [*volumes, claim] if volumes_first else [claim, *volumes]:
            cluster.create(document)
        await asyncio.sleep(1)
        if not expected:
            assert claim_state(cluster, "c")[0] == "Pending"
            return
        assert claim_state(cluster, "c") == ("Bound", expected)
        found, volume = cluster.get("PersistentVolumeClaim", "c"), cluster.get("PersistentVolume", expected)
        assert found is not None
        assert volume is not None
        assert found["status"]["capacity"] == volume["spec"]["capacity"]
        assert found["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] == "yes"
        assert volume["status"]["phase"] == "Bound"
        assert volume["spec"]["claimRef"]["uid"] == found["metadata"]["uid"]

    in_simulated_cluster(story)


def test_two_claims_never_share_a_volume() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for number in range(3):
            cluster.create(a_claim(f"c{number}"))
        cluster.create(a_volume("v0"))
        cluster.create(a_volume("v1"))
        await asyncio.sleep(1)
        states = [claim_state(cluster, f"c{number}") for number in range(3)]
        assert sorted(volume for _, volume in states) == ["", "v0", "v1"]

    in_simulated_cluster(story)


# -- made on request


def test_a_class_that_does_not_wait_gives_a_volume_after_its_delay() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_class("fast"))
        cluster.create(a_claim("c", storageClassName="fast"))
        await asyncio.sleep(4)
        assert claim_state(cluster, "c") == ("Pending", "")
        await asyncio.sleep(2)
        phase, name = claim_state(cluster, "c")
        assert (phase, name.startswith("pvc-")) == ("Bound", True)
        volume = cluster.get("PersistentVolume", name)
        assert volume is not None
        assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
        assert volume["spec"]["storageClassName"] == "fast"
        assert volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == "example.com/disk"
        assert "nodeAffinity" not in volume["spec"]

    in_simulated_cluster(story, Options(provision_seconds=5))


def test_a_class_that_comes_late_serves_those_who_waited() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_claim("c", storageClassName="fast"))
        unsaid = a_claim("unsaid")
        del unsaid["spec"]["storageClassName"]
        cluster.create(unsaid)
        await asyncio.sleep(1)
        late = a_class("fast")
        late["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
        cluster.create(late)
        await asyncio.sleep(1)
        assert claim_state(cluster, "c")[0] == "Bound"
        assert claim_state(cluster, "unsaid")[0] == "Bound"

    in_simulated_cluster(story)


def choose(cluster: SimulatedCluster, claim: str, node: str) -> None:
    """Choose a node for a claim's volume, as a scheduler does."""

    def change(found: Document) -> None:
        found["metadata"].setdefault("annotations", {})[SELECTED] = node

    cluster.change("PersistentVolumeClaim", claim, change)


def test_a_class_that_waits_makes_the_volume_where_the_pod_goes() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n", **{ZONE: "a", "rack": "7"}))
        driver = {"name": "disk.example.com", "nodeID": "n", "topologyKeys": [ZONE]}
        meta = {"name": "n"}
        cluster.create(
            {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": meta, "spec": {"drivers": [driver]}}
        )
        cluster.create(a_class("slow", "WaitForFirstConsumer", "disk.example.com"))
        cluster.create(a_claim("c", storageClassName="slow"))
        # a volume of the class that is there already is for the scheduler to find
        cluster.create(a_volume("there", storageClassName="slow"))
        await asyncio.sleep(10)
        assert claim_state(cluster, "c") == ("Pending", "")
        choose(cluster, "c", "n")
        await asyncio.sleep(1)
        phase, name = claim_state(cluster, "c")
        volume = cluster.get("PersistentVolume", name)
        assert phase == "Bound"
        assert volume is not None
        expression = {"key": ZONE, "operator": "In", "values": ["a"]}
        assert volume["spec"]["nodeAffinity"]["required"] == {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}

    in_simulated_cluster(story)


def test_a_scheduler_that_promises_a_volume_to_a_claim_gets_both_bound() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_class("slow", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"))
        claim = cluster.create(a_claim("c", storageClassName="slow"))
        cluster.create(a_volume("v", storageClassName="slow"))
        await asyncio.sleep(1)
        assert claim_state(cluster, "c") == ("Pending", "")
        reference = {"namespace": "default", "name": "c", "uid": claim["metadata"]["uid"]}
        cluster.change("PersistentVolume", "v", lambda volume: volume["spec"].update(claimRef=reference))
        await asyncio.sleep(1)
        assert claim_state(cluster, "c") == ("Bound", "v")

    in_simulated_cluster(story)


ELSEWHERE = [
    ("a node that does not exist", "missing", []),
    ("a node outside of the allowed topologies", "n", [{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]),
]


@pytest.mark.parametrize(("name", "node", "topologies"), ELSEWHERE, ids=[row[0] for row in ELSEWHERE])
def test_the_choice_is_given_back_of(name: str, node: str, topologies: list[Document]) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n", **{ZONE: "a"}))
        cluster.create(a_class("slow", "WaitForFirstConsumer", allowedTopologies=topologies))
        cluster.create(a_claim("c", storageClassName="slow"))
        choose(cluster, "c", node)
        await asyncio.sleep(1)
        claim = cluster.get("PersistentVolumeClaim", "c")
        assert claim is not None
        assert SELECTED not in claim["metadata"]["annotations"]
        assert claim["status"]["phase"] == "Pending"

    in_simulated_cluster(story)


def test_a_class_without_a_provisioner_makes_nothing() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_class("local", provisioner="kubernetes.io/no-provisioner"))
        cluster.create(a_claim("c", storageClassName="local"))
        await asyncio.sleep(10)
        assert claim_state(cluster, "c") == ("Pending", "")
        assert cluster.names("PersistentVolume") == []

    in_simulated_cluster(story)


# -- what goes


RECLAIMS = [("Delete", "gone"), ("Retain", "Released")]


@pytest.mark.parametrize(("policy", "expected"), RECLAIMS)
def test_a_volume_whose_claim_is_gone_is_kept_or_deleted(policy: str, expected: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_volume("v", persistentVolumeReclaimPolicy=policy))
        cluster.create(a_claim("c"))
        await asyncio.sleep(1)
        assert volume_phase(cluster, "v") == "Bound"
        cluster.delete("PersistentVolumeClaim", "c")
        await asyncio.sleep(1)
        assert claim_state(cluster, "c") == ("gone", "")
        assert volume_phase(cluster, "v") == expected

    in_simulated_cluster(story)


def test_a_released_volume_is_nobodys() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_volume("v"))
        cluster.create(a_claim("c"))
        await asyncio.sleep(1)
        cluster.delete("PersistentVolumeClaim", "c")
        await asyncio.sleep(1)
        cluster.create(a_claim("c"))
        await asyncio.sleep(1)
        assert (claim_state(cluster, "c"), volume_phase(cluster, "v")) == (("Pending", ""), "Released")

    in_simulated_cluster(story)


def test_a_claim_goes_when_the_last_pod_that_uses_it_does() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_volume("v", persistentVolumeReclaimPolicy="Retain"))
        cluster.create(a_claim("c"))
        cluster.create(a_pod("p", "c", "n"))
        cluster.create(a_pod("waiting", "c"))
        await asyncio.sleep(1)
        cluster.delete("PersistentVolumeClaim", "c")
        await asyncio.sleep(10)
        claim = cluster.get("PersistentVolumeClaim", "c")
        assert claim is not None
        assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
        cluster.delete("Pod", "p")
        await asyncio.sleep(10)
        assert claim_state(cluster, "c") == ("gone", "")

    in_simulated_cluster(story)


def test_a_volume_that_is_bound_stays_until_its_claim_goes() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_volume("v", persistentVolumeReclaimPolicy="Retain"))
        cluster.create(a_claim("c"))
        await asyncio.sleep(1)
        cluster.delete("PersistentVolume", "v")
        await asyncio.sleep(1)
        assert volume_phase(cluster, "v") == "Bound"
        cluster.delete("PersistentVolumeClaim", "c")
        await asyncio.sleep(1)
        assert volume_phase(cluster, "v") == "gone"

    in_simulated_cluster(story)


def test_a_claim_whose_volume_vanished_is_lost() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_volume("v"))
        cluster.create(a_claim("c"))
        await asyncio.sleep(1)
        cluster.change("PersistentVolume", "v", lambda volume: volume["metadata"].pop("finalizers"))
        cluster.delete("PersistentVolume", "v")
        await asyncio.sleep(1)
        assert claim_state(cluster, "c") == ("Lost", "v")

    in_simulated_cluster(story)


def test_ephemeral_volumes_come_and_go_with_their_pod() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_node("n"))
        cluster.create(a_class("fast"))
        template = {"metadata": {"labels": {"a": "b"}}, "spec": a_claim("x", storageClassName="fast")["spec"]}
        pod = a_pod("p", "x", "n")
        pod["spec"]["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
        cluster.create(pod)
        await asyncio.sleep(1)
        claim = cluster.get("PersistentVolumeClaim", "p-scratch")
        assert claim is not None
        assert (claim["metadata"]["labels"], claim["metadata"]["ownerReferences"][0]["name"]) == ({"a": "b"}, "p")
        assert claim["status"]["phase"] == "Bound"
        cluster.delete("Pod", "p")
        await asyncio.sleep(5)
        assert cluster.names("PersistentVolumeClaim") == []
        assert cluster.names("PersistentVolume") == []

    in_simulated_cluster(story)


def test_a_class_of_attributes_goes_when_no_claim_names_it() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        meta = {"name": "gold"}
        more = {"driverName": "disk.example.com", "parameters": {"iops": "1"}}
        cluster.create({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "metadata": meta, **more})
        cluster.create(a_claim("c", volumeAttributesClassName="gold"))
        cluster.delete("VolumeAttributesClass", "gold")
        await asyncio.sleep(1)
        assert cluster.names("VolumeAttributesClass") == ["gold"]
        cluster.delete("PersistentVolumeClaim", "c")
        await asyncio.sleep(1)
        assert cluster.names("VolumeAttributesClass") == []

    in_simulated_cluster(story)
