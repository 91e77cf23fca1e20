"""Resource claims that come and go with pods."""

import asyncio
from typing import Any

from tests.support.simulated import SimulatedCluster, in_simulated_cluster

Document = dict[str, Any]
FINALIZER = "resource.kubernetes.io/delete-protection"
REQUEST = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}


def a_template(name: str) -> Document:
    """Return a template of claims for a device."""
    described = {"labels": {"from": "template"}}
    spec = {"metadata": described, "spec": {"devices": {"requests": [REQUEST]}}}
    meta = {"name": name}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta, "spec": spec}


def a_claim(name: str) -> Document:
    """Return a claim for a device."""
    spec = {"devices": {"requests": [REQUEST]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}


def a_pod(name: str, **claim: str) -> Document:
    """Return a pod with one claim that runs until somebody ends it."""
    spec = {"containers": [{"name": "main", "image": "i"}], "resourceClaims": [{"name": "gpu", **claim}]}
    meta = {"name": name, "annotations": {"kubesched.io/run-seconds": "inf"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**spec, "restartPolicy": "Never"}}


def allocate(cluster: SimulatedCluster, claim: str, *consumers: Document) -> None:
    """Give a claim a device, as a scheduler does, for some pods."""
    cluster.change("ResourceClaim", claim, lambda found: found["metadata"].update(finalizers=[FINALIZER]))
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}
    users = [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]} for pod in consumers]

    def change(found: Document) -> None:
        found["status"] = {"allocation": {"devices": {"results": [result]}}}
        if users:
            found["status"]["reservedFor"] = users

    cluster.change("ResourceClaim", claim, change, "status")


def consumers(cluster: SimulatedCluster, claim: str) -> list[str]:
    """Return the names of those for whom a claim is reserved."""
    found = cluster.get("ResourceClaim", claim)
    assert found is not None
    return [user["name"] for user in found["status"].get("reservedFor") or ()]


def test_a_claim_is_made_from_the_template_and_named_in_the_pod() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        pod = cluster.create(a_pod("p", resourceClaimTemplateName="t"))
        await asyncio.sleep(1)
        assert cluster.names("ResourceClaim") == []
        cluster.create(a_template("t"))
        await asyncio.sleep(1)
        (name,) = cluster.names("ResourceClaim")
        assert name.startswith("p-gpu-")
        claim, found = cluster.get("ResourceClaim", name), cluster.get("Pod", "p")
        assert claim is not None
        assert found is not None
        assert found["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": name}]
        assert claim["metadata"]["annotations"] == {"resource.kubernetes.io/pod-claim-name": "gpu"}
        assert claim["metadata"]["labels"] == {"from": "template"}
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True}
        assert claim["metadata"]["ownerReferences"] == [owner]

    in_simulated_cluster(story)


def test_a_claim_that_was_deleted_is_made_anew() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_template("t"))
        cluster.create(a_pod("p", resourceClaimTemplateName="t"))
        await asyncio.sleep(1)
        (first,) = cluster.names("ResourceClaim")
        cluster.delete("ResourceClaim", first)
        await asyncio.sleep(1)
        (second,) = cluster.names("ResourceClaim")
        assert second != first
        pod = cluster.get("Pod", "p")
        assert pod is not None
        assert pod["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": second}]

    in_simulated_cluster(story)


def test_names_that_would_be_too_long_are_cut() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_template("t"))
        cluster.create(a_pod("p" * 100, resourceClaimTemplateName="t"))
        await asyncio.sleep(1)
        (name,) = cluster.names("ResourceClaim")
        assert len(name) <= 63
        assert name.startswith("pppp")

    in_simulated_cluster(story)


def test_a_generated_claim_goes_with_its_pod_and_its_devices_are_free() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        cluster.create(a_template("t"))
        pod = cluster.create(a_pod("p", resourceClaimTemplateName="t"))
        await asyncio.sleep(1)
        (name,) = cluster.names("ResourceClaim")
        allocate(cluster, name, pod)
        cluster.bind("p", "n")
        await asyncio.sleep(1)
        assert consumers(cluster, name) == ["p"]
        cluster.delete("Pod", "p")
        await asyncio.sleep(5)
        assert cluster.names("ResourceClaim") == []

    in_simulated_cluster(story)


def test_a_pod_that_is_over_lets_go_of_its_claims() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        cluster.create(a_template("t"))
        cluster.create(a_claim("shared"))
        generated = a_pod("generated", resourceClaimTemplateName="t")
        named = a_pod("named", resourceClaimName="shared")
        for pod in (generated, named):
            pod["metadata"]["annotations"] = {"kubesched.io/run-seconds": "5"}
        made = [cluster.create(generated), cluster.create(named)]
        await asyncio.sleep(1)
        (own,) = [name for name in cluster.names("ResourceClaim") if name != "shared"]
        allocate(cluster, own, made[0])
        allocate(cluster, "shared", made[1])
        cluster.bind("generated", "n")
        cluster.bind("named", "n")
        await asyncio.sleep(10)
        assert cluster.names("ResourceClaim") == ["shared"]
        claim = cluster.get("ResourceClaim", "shared")
        assert claim is not None
        assert claim["status"] == {}
        assert "finalizers" not in claim["metadata"] or not claim["metadata"]["finalizers"]

    in_simulated_cluster(story)


def test_a_shared_claim_stays_allocated_while_somebody_uses_it() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        cluster.create(a_claim("shared"))
        made = [cluster.create(a_pod(name, resourceClaimName="shared")) for name in ("a", "b")]
        allocate(cluster, "shared", *made)
        for name in ("a", "b"):
            cluster.bind(name, "n")
        await asyncio.sleep(1)
        cluster.delete("Pod", "a")
        await asyncio.sleep(5)
        assert consumers(cluster, "shared") == ["b"]
        claim = cluster.get("ResourceClaim", "shared")
        assert claim is not None
        assert claim["status"]["allocation"]["devices"]["results"][0]["device"] == "gpu-0"

    in_simulated_cluster(story)


def test_a_deleted_claim_waits_for_its_consumers() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        cluster.create(a_claim("c"))
        pod = cluster.create(a_pod("p", resourceClaimName="c"))
        allocate(cluster, "c", pod)
        cluster.bind("p", "n")
        await asyncio.sleep(1)
        cluster.delete("ResourceClaim", "c")
        await asyncio.sleep(5)
        assert cluster.names("ResourceClaim") == ["c"]
        cluster.delete("Pod", "p")
        await asyncio.sleep(5)
        assert cluster.names("ResourceClaim") == []

    in_simulated_cluster(story)


def test_an_allocated_claim_that_nobody_uses_goes_when_deleted() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_claim("c"))
        allocate(cluster, "c")
        await asyncio.sleep(1)
        assert cluster.names("ResourceClaim") == ["c"]
        cluster.delete("ResourceClaim", "c")
        await asyncio.sleep(1)
        assert cluster.names("ResourceClaim") == []

    in_simulated_cluster(story)


def test_a_pod_that_was_bound_without_a_scheduler_gets_its_claim_reserved() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        cluster.create(a_claim("c"))
        allocate(cluster, "c")
        pod = a_pod("p", resourceClaimName="c")
        pod["spec"]["nodeName"] = "n"
        cluster.create(pod)
        await asyncio.sleep(1)
        assert consumers(cluster, "c") == ["p"]

    in_simulated_cluster(story)
