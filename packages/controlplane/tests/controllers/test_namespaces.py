"""Namespaces: how they begin, what they refuse, and how they end."""

import asyncio
from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.options import Options

Document = dict[str, Any]


def a_namespace(name: str, **spec: Any) -> Document:
    """Return a namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": spec}


def a_config_map(name: str, namespace: str, *finalizers: str) -> Document:
    """Return a config map."""
    meta = {"name": name, "namespace": namespace, "finalizers": list(finalizers)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


def test_a_new_namespace_is_active_labelled_and_held() -> None:
    asking = Asking()
    namespace = asking.ok("POST", "/api/v1/namespaces", a_namespace("a", finalizers=["example.com/mine"]))
    assert namespace["status"] == {"phase": "Active"}
    assert namespace["spec"] == {"finalizers": ["example.com/mine", "kubernetes"]}
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a"}
    namespace["metadata"]["labels"] = {}
    namespace["spec"] = {}
    changed = asking.ok("PUT", "/api/v1/namespaces/a", namespace)
    assert changed["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a"}, "the label comes back"
    assert changed["spec"]["finalizers"] == ["example.com/mine", "kubernetes"], "finalizers have a path of their own"


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_are_always_there(name: str) -> None:
    asking = Asking()
    asking.ask("POST", "/api/v1/namespaces", a_namespace(name))
    message = f'namespaces "{name}" is forbidden: this namespace may not be deleted'
    assert asking.refused("DELETE", f"/api/v1/namespaces/{name}") == (403, "Forbidden", message)


def test_without_anybody_to_empty_it_a_namespace_terminates_for_ever() -> None:
    asking = Asking()
    asking.ok("POST", "/api/v1/namespaces", a_namespace("a"))
    gone = asking.ok("DELETE", "/api/v1/namespaces/a")
    assert gone["status"]["phase"] == "Terminating"
    assert gone["metadata"]["deletionTimestamp"]
    again = asking.ok("DELETE", "/api/v1/namespaces/a")
    assert again["status"]["phase"] == "Terminating"
    path = "/api/v1/namespaces/a/configmaps"
    code, reason, message = asking.refused("POST", path, a_config_map("c", "a"))
    assert (code, reason) == (403, "Forbidden")
    assert message == (
        'configmaps "c" is forbidden: unable to create new content in namespace a because it is being terminated'
    )
    found = asking.ok("GET", "/api/v1/namespaces", fieldSelector="status.phase=Terminating")
    assert [each["metadata"]["name"] for each in found["items"]] == ["a"]


FINALIZE = [
    ("a name that is neither known nor qualified", ["mine"], 422),
    ("a name that is none", ["a b"], 422),
    ("none left", [], 200),
]


@pytest.mark.parametrize(("name", "finalizers", "code"), FINALIZE, ids=[row[0] for row in FINALIZE])
def test_finalizers_are_replaced_through_their_own_path(name: str, finalizers: list[str], code: int) -> None:
    asking = Asking()
    namespace = asking.ok("POST", "/api/v1/namespaces", a_namespace("a"))
    namespace["spec"]["finalizers"] = finalizers
    namespace["status"]["phase"] = "Terminating"
    found, answer = asking.ask("PUT", "/api/v1/namespaces/a/finalize", namespace)
    assert found == code, answer
    if code == 200:
        assert answer["spec"].get("finalizers", []) == []
        assert answer["status"]["phase"] == "Active", "the status stays"


def test_the_last_finalizer_of_a_terminating_namespace_lets_it_go() -> None:
    asking = Asking()
    asking.ok("POST", "/api/v1/namespaces", a_namespace("a"))
    namespace = asking.ok("DELETE", "/api/v1/namespaces/a")
    namespace["spec"]["finalizers"] = []
    asking.ok("PUT", "/api/v1/namespaces/a/finalize", namespace)
    assert asking.ask("GET", "/api/v1/namespaces/a")[0] == 404


PHASES = [
    ("an active one cannot terminate by its status", False, "Terminating", 422),
    ("an active one stays active", False, "Active", 200),
    ("a terminating one cannot come back", True, "Active", 422),
]


@pytest.mark.parametrize(("name", "deleted", "phase", "code"), PHASES, ids=[row[0] for row in PHASES])
def test_the_phase_follows_the_deletion(name: str, deleted: bool, phase: str, code: int) -> None:
    asking = Asking()
    namespace = asking.ok("POST", "/api/v1/namespaces", a_namespace("a"))
    if deleted:
        namespace = asking.ok("DELETE", "/api/v1/namespaces/a")
    namespace["status"] = {"phase": phase}
    assert asking.ask("PUT", "/api/v1/namespaces/a/status", namespace)[0] == code


# -- how they end


def test_a_deleted_namespace_takes_its_contents_with_it() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        cluster.create(a_namespace("a"))
        for number in range(300):
            cluster.create(a_config_map(f"c{number}", "a"))
        cluster.create(a_config_map("elsewhere", "default"))
        spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"}
        meta = {"name": "p", "namespace": "a"}
        cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        await asyncio.sleep(1)
        cluster.delete("Namespace", "a")
        await asyncio.sleep(4)
        assert cluster.get("Namespace", "a") is not None, "its pod has still to end"
        assert len([name for name in cluster.names("ConfigMap") if name.startswith("c")]) == 300, "pods go first"
        await asyncio.sleep(2)
        assert cluster.get("Namespace", "a") is None
        assert cluster.get("Pod", "p", "a") is None
        assert cluster.get("ConfigMap", "elsewhere") is not None

    in_simulated_cluster(story, Options(termination_seconds=5))


def test_a_namespace_waits_for_what_is_held() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_namespace("a"))
        cluster.create(a_config_map("held", "a", "example.com/hold"))
        cluster.delete("Namespace", "a")
        await asyncio.sleep(100)
        assert cluster.get("Namespace", "a") is not None
        held = cluster.get("ConfigMap", "held", "a")
        assert held is not None
        held["metadata"]["finalizers"] = []
        cluster.update(held)
        await asyncio.sleep(1)
        assert cluster.get("Namespace", "a") is None
        cluster.create(a_namespace("a"))
        assert cluster.get("ConfigMap", "held", "a") is None

    in_simulated_cluster(story)


def test_what_has_lost_its_owner_goes() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        owners = [cluster.create(a_config_map(name, "default")) for name in ("first", "second")]
        references = [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": each["metadata"]["name"], "uid": each["metadata"]["uid"]}
            for each in owners
        ]
        child = a_config_map("child", "default")
        child["metadata"]["ownerReferences"] = references
        grandchild = a_config_map("grandchild", "default")
        made = cluster.create(child)
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "child", "uid": made["metadata"]["uid"]}
        grandchild["metadata"]["ownerReferences"] = [reference]
        cluster.create(grandchild)
        orphan = a_config_map("orphan", "default")
        orphan["metadata"]["ownerReferences"] = [{**reference, "name": "never", "uid": "never"}]
        cluster.create(orphan)
        cluster.delete("ConfigMap", "first")
        await asyncio.sleep(1)
        assert cluster.get("ConfigMap", "child") is not None, "one owner is left"
        cluster.delete("ConfigMap", "second")
        await asyncio.sleep(1)
        assert cluster.get("ConfigMap", "child") is None
        assert cluster.get("ConfigMap", "grandchild") is None
        assert cluster.get("ConfigMap", "orphan") is not None, "its owner was never there"

    in_simulated_cluster(story)


def test_collections_of_namespaces_are_not_deleted() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        code, _, _ = Asking(cluster.server).refused("DELETE", "/api/v1/namespaces")
        assert code == 405
        with pytest.raises(ApiError):
            cluster.delete("Namespace", "default")

    in_simulated_cluster(story)
