"""Objects and their owners: who goes with whom, in which order, and who stays."""

import asyncio
from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api
from tests.support.simulated import SimulatedCluster, in_simulated_cluster
from tests.support.workloads import a_job, a_template, a_workload, phases, with_nodes

from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.options import Options

Document = dict[str, Any]
FINALIZER = "example.com/mine"


def a_map(name: str, *owners: Document, blocking: bool = True, **meta: Any) -> Document:
    """Return a config map with owners."""
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocking,
        }
        for owner in owners
    ]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **({"ownerReferences": references} if owners else {}), **meta},
    }


def meta_of(cluster: SimulatedCluster, kind: str, name: str) -> Document:
    """Return the metadata of an object that is there."""
    found = cluster.get(kind, name)
    assert found is not None, f"{kind} {name} is gone"
    meta: Document = found["metadata"]
    return meta


def release(cluster: SimulatedCluster, name: str) -> None:
    """Take the finalizers off a config map."""
    cluster.change("ConfigMap", name, lambda found: found["metadata"].update(finalizers=[]))


def test_in_the_background_the_owner_goes_first() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=3))
        await asyncio.sleep(3)
        cluster.delete("Deployment", "web")
        assert not cluster.names("Deployment")
        assert len(cluster.names("Pod")) == 3
        await asyncio.sleep(3)
        assert not cluster.names("ReplicaSet")
        assert not cluster.names("Pod")

    with_nodes(story)


def test_in_the_foreground_the_owner_goes_last() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=3))
        await asyncio.sleep(3)
        cluster.delete("Deployment", "web", propagationPolicy="Foreground")
        meta = meta_of(cluster, "Deployment", "web")
        assert meta["finalizers"] == ["foregroundDeletion"]
        assert meta["deletionTimestamp"]
        await asyncio.sleep(2)
        assert set(phases(cluster).values()) == {"Running, going"}
        assert cluster.names("Deployment") == ["web"]
        assert meta_of(cluster, "ReplicaSet", cluster.names("ReplicaSet")[0])["finalizers"] == ["foregroundDeletion"]
        await asyncio.sleep(5)
        assert not cluster.names("Pod")
        assert not cluster.names("ReplicaSet")
        assert not cluster.names("Deployment")

    with_nodes(story, options=Options(termination_seconds=5))


def test_orphans_stay_and_forget_their_owner() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_workload("Deployment", replicas=2))
        await asyncio.sleep(3)
        cluster.delete("Deployment", "web", propagationPolicy="Orphan")
        await asyncio.sleep(3)
        assert not cluster.names("Deployment")
        (name,) = cluster.names("ReplicaSet")
        assert "ownerReferences" not in meta_of(cluster, "ReplicaSet", name)
        assert len(cluster.names("Pod")) == 2
        assert all(pod["metadata"]["ownerReferences"] for pod in cluster.all("Pod"))
        cluster.create(a_workload("Deployment", replicas=2))
        await asyncio.sleep(3)
        assert cluster.names("ReplicaSet") == [name], "it is adopted by the next one"

    with_nodes(story)


def test_only_those_who_block_are_waited_for() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        owner = cluster.create(a_map("owner"))
        cluster.create(a_map("blocking", owner, finalizers=[FINALIZER]))
        cluster.create(a_map("other", owner, blocking=False, finalizers=[FINALIZER]))
        cluster.delete("ConfigMap", "owner", propagationPolicy="Foreground")
        await asyncio.sleep(1)
        assert meta_of(cluster, "ConfigMap", "other")["deletionTimestamp"]
        assert meta_of(cluster, "ConfigMap", "owner")["finalizers"] == ["foregroundDeletion"]
        release(cluster, "blocking")
        await asyncio.sleep(1)
        assert "owner" not in cluster.names("ConfigMap")
        assert "other" in cluster.names("ConfigMap")

    in_simulated_cluster(story)


def test_an_object_with_another_owner_stays_and_forgets_the_one_that_goes() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        first, second = cluster.create(a_map("first")), cluster.create(a_map("second"))
        cluster.create(a_map("both", first, second))
        cluster.delete("ConfigMap", "first", propagationPolicy="Foreground")
        await asyncio.sleep(1)
        assert "first" not in cluster.names("ConfigMap")
        (owner,) = meta_of(cluster, "ConfigMap", "both")["ownerReferences"]
        assert owner["name"] == "second"
        cluster.delete("ConfigMap", "second")
        await asyncio.sleep(1)
        assert "both" not in cluster.names("ConfigMap")

    in_simulated_cluster(story)


def test_whole_families_go_in_the_foreground() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        owner = cluster.create(a_map("a"))
        for name in "bcd":
            owner = cluster.create(a_map(name, owner))
        cluster.change("ConfigMap", "d", lambda found: found["metadata"].update(finalizers=[FINALIZER]))
        cluster.delete("ConfigMap", "a", propagationPolicy="Foreground")
        await asyncio.sleep(1)
        assert [name for name in cluster.names("ConfigMap") if len(name) == 1] == ["a", "b", "c", "d"]
        release(cluster, "d")
        await asyncio.sleep(1)
        assert not [name for name in cluster.names("ConfigMap") if len(name) == 1]

    in_simulated_cluster(story)


def test_a_circle_of_owners_does_not_wait_for_ever() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        first = cluster.create(a_map("x"))
        second = cluster.create(a_map("y", first))
        reference = a_map("", second)["metadata"]["ownerReferences"]
        cluster.change("ConfigMap", "x", lambda found: found["metadata"].update(ownerReferences=reference))
        cluster.delete("ConfigMap", "x", propagationPolicy="Foreground")
        await asyncio.sleep(1)
        assert not {"x", "y"} & set(cluster.names("ConfigMap"))

    in_simulated_cluster(story)


def test_somebody_who_comes_to_a_going_owner_goes_along() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        owner = cluster.create(a_map("owner"))
        cluster.create(a_map("first", owner, finalizers=[FINALIZER]))
        cluster.delete("ConfigMap", "owner", propagationPolicy="Foreground")
        await asyncio.sleep(1)
        cluster.create(a_map("late", owner))
        await asyncio.sleep(1)
        assert "late" not in cluster.names("ConfigMap")
        release(cluster, "first")
        await asyncio.sleep(1)
        assert "owner" not in cluster.names("ConfigMap")

    in_simulated_cluster(story)


def test_whoever_waits_may_be_told_otherwise() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        owner = cluster.create(a_map("owner"))
        cluster.create(a_map("held", owner, finalizers=[FINALIZER]))
        cluster.delete("ConfigMap", "owner", propagationPolicy="Foreground")
        await asyncio.sleep(1)
        cluster.delete("ConfigMap", "owner", propagationPolicy="Background")
        await asyncio.sleep(1)
        assert "owner" not in cluster.names("ConfigMap")

    in_simulated_cluster(story)


def test_an_owner_that_never_was_is_no_reason_to_go() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        stranger = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gone", "uid": "unknown"}}
        cluster.create(a_map("left", stranger))
        await asyncio.sleep(1)
        assert "left" in cluster.names("ConfigMap")

    in_simulated_cluster(story)


# -- what the server writes

POLICIES: list[tuple[str, str, Document, list[str]]] = [
    ("a deployment goes at once", "deployments", {}, []),
    ("in the foreground", "deployments", {"propagationPolicy": "Foreground"}, ["foregroundDeletion"]),
    ("leaving orphans", "deployments", {"propagationPolicy": "Orphan"}, ["orphan"]),
    ("leaving orphans, said the old way", "deployments", {"orphanDependents": True}, ["orphan"]),
    ("not leaving orphans, said the old way", "deployments", {"orphanDependents": False}, []),
    ("a job leaves its pods unless told otherwise", "jobs", {}, ["orphan"]),
    ("a job that is told otherwise", "jobs", {"propagationPolicy": "Background"}, []),
]
PATHS = {
    "deployments": "/apis/apps/v1/namespaces/default/deployments",
    "jobs": "/apis/batch/v1/namespaces/default/jobs",
}


def an_object(asking: Asking, kind: str) -> str:
    """Create an object; return its path."""
    document = a_workload("Deployment") if kind == "deployments" else a_job("web")
    asking.ok("POST", PATHS[kind], document)
    return f"{PATHS[kind]}/web"


@pytest.mark.parametrize(("name", "kind", "options", "finalizers"), POLICIES, ids=[row[0] for row in POLICIES])
def test_what_is_written_into_an_object_that_goes(
    name: str, kind: str, options: Document, finalizers: list[str]
) -> None:
    asking = an_api()
    path = an_object(asking, kind)
    asking.ok("DELETE", path, options or None)
    code, left = asking.ask("GET", path)
    assert (code == 404) is (not finalizers)
    assert (left["metadata"].get("finalizers") or []) == finalizers


def test_whoever_deletes_a_job_is_warned() -> None:
    asking = an_api()
    response = asking.raw("DELETE", an_object(asking, "jobs"))
    assert response.headers["Warning"] == (
        '299 - "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove '
        'them or set propagationPolicy=Orphan to suppress this warning"'
    )


def test_two_ways_to_say_it_are_one_too_many() -> None:
    asking = an_api()
    options = {"propagationPolicy": "Orphan", "orphanDependents": True}
    code, _, message = asking.refused("DELETE", an_object(asking, "deployments"), options)
    assert code in (400, 422)
    assert "orphanDependents and deletionPropagation cannot be both set" in message


def test_a_pod_with_an_owner_of_another_namespace_is_left_alone() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
        owner = cluster.create(a_map("owner"))
        pod: Document = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": dict(a_map("p", owner)["metadata"]),
        }
        pod["metadata"]["namespace"] = "other"
        pod["spec"] = a_template()["spec"]
        cluster.create(pod)
        await asyncio.sleep(1)
        assert cluster.names("Pod") == ["p"]
        with pytest.raises(ApiError):
            cluster.create(a_map("owner"))

    in_simulated_cluster(story)
