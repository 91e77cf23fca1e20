"""Single requests whose answers are those of kube-apiserver v1.36.4, found by the end-to-end suite of Kubernetes."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api
from tests.support.roles import a_binding, a_guarded_server, a_role, a_rule
from tests.support.roles import create as create_objects
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched.manifests import Manifest
from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import Request, Response, User
from kubesched_controlplane.loading.loader import create
from kubesched_controlplane.server.server import ApiServer

Document = dict[str, Any]
SPACE = "/api/v1/namespaces/default"
MERGE = "application/merge-patch+json"

# -- addresses and ports of services


def a_service(name: str, *ports: Document, **spec: Any) -> Document:
    return {"metadata": {"name": name}, "spec": {"ports": list(ports) or [{"port": 80}], **spec}}


TAKEN, STRANGE = (
    "provided port is already allocated",
    "provided port is not in the valid range. The range of valid ports is 30000-32767",
)
NODE = {"type": "NodePort"}
PORTS: list[tuple[str, Document, str]] = [
    (
        "a node port that another service has",
        a_service("b", {"port": 80, "nodePort": 30123}, **NODE),
        f"spec.ports[0].nodePort: Invalid value: 30123: {TAKEN}",
    ),
    (
        "the same for another protocol",
        a_service("b", {"port": 80, "protocol": "UDP", "nodePort": 30123}, **NODE),
        f"spec.ports[0].nodePort: Invalid value: 30123: {TAKEN}",
    ),
    (
        "one that is too large",
        a_service("b", {"port": 80, "nodePort": 40000}, **NODE),
        f"spec.ports[0].nodePort: Invalid value: 40000: {STRANGE}",
    ),
    (
        "one that is too small",
        a_service("b", {"port": 80, "nodePort": 80}, **NODE),
        f"spec.ports[0].nodePort: Invalid value: 80: {STRANGE}",
    ),
    (
        "the same node port for two ports",
        a_service(
            "b", {"name": "x", "port": 80, "nodePort": 30125}, {"name": "y", "port": 81, "nodePort": 30125}, **NODE
        ),
        f"spec.ports[1].nodePort: Invalid value: 30125: {TAKEN}",
    ),
    (
        "an address that another service has",
        a_service("b", clusterIP="10.96.0.7"),
        'spec.clusterIPs: Invalid value: ["10.96.0.7"]: failed to allocate IP 10.96.0.7: '
        "provided IP is already allocated",
    ),
    (
        "an address of another network",
        a_service("b", clusterIP="8.8.8.8"),
        'spec.clusterIPs: Invalid value: ["8.8.8.8"]: failed to allocate IP 8.8.8.8: '
        "the provided IP (8.8.8.8) is not in the valid range. The range of valid IPs is 10.96.0.0/12",
    ),
    (
        "an address of a family that there is not",
        a_service("b", clusterIP="fd00::1"),
        'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    ),
]


@pytest.mark.parametrize(("case", "service", "problem"), PORTS, ids=[row[0] for row in PORTS])
def test_addresses_and_ports_that_a_service_cannot_have(case: str, service: Document, problem: str) -> None:
    asking = an_api()
    asking.ok(
        "POST", f"{SPACE}/services", a_service("a", {"port": 80, "nodePort": 30123}, clusterIP="10.96.0.7", **NODE)
    )
    refused = (422, "Invalid", f'Service "b" is invalid: {problem}')
    assert asking.refused("POST", f"{SPACE}/services", service) == refused
    assert asking.refused("POST", f"{SPACE}/services", service, dryRun="All") == refused


def test_ports_of_one_number_share_a_node_port() -> None:
    asking = an_api()
    ports: list[Document] = [
        {"name": "x", "port": 53, "protocol": "UDP", "nodePort": 30124},
        {"name": "y", "port": 53, "protocol": "TCP"},
        {"name": "z", "port": 54},
    ]
    made = asking.ok("POST", f"{SPACE}/services", a_service("a", *ports, **NODE))["spec"]["ports"]
    assert [port["nodePort"] for port in made][:2] == [30124, 30124]
    assert made[2]["nodePort"] not in (0, 30124)


def test_a_change_to_a_node_port_that_is_not_to_be_had() -> None:
    asking = an_api()
    asking.ok("POST", f"{SPACE}/services", a_service("a", {"port": 80, "nodePort": 30123}, **NODE))
    asking.ok("POST", f"{SPACE}/services", a_service("b", {"port": 80, "nodePort": 30124}, **NODE))

    def moved(port: int) -> int:
        change = [{"op": "replace", "path": "/spec/ports/0/nodePort", "value": port}]
        return asking.ask("PATCH", f"{SPACE}/services/b", change, "application/json-patch+json")[0]

    assert [moved(port) for port in (30123, 40000, 30125, 30125)] == [422, 422, 200, 200]
    assert moved(30124) == 200, "the one it had is free again"


def test_a_service_that_is_loaded_keeps_what_it_had_elsewhere() -> None:
    server = ApiServer(access=always_allow, seed=1)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    service = {"apiVersion": "v1", "kind": "Service", **a_service("a", {"port": 80, "nodePort": 40000}, **NODE)}
    service["spec"]["clusterIP"] = "172.20.0.10"
    report = create(server, [Manifest("f", space), Manifest("f", service)])
    assert not report.problems
    spec = Asking(server).ok("GET", f"{SPACE}/services/a")["spec"]
    assert (spec["clusterIP"], spec["ports"][0]["nodePort"]) == ("172.20.0.10", 40000)
    assert spec["ports"][0]["targetPort"] == 80


# -- pods


SYSCTL = (
    "must have at most 253 characters and match regex "
    r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
)
SYSCTLS = [
    ("a dash at the end", ["foo-"], f'[0].name: Invalid value: "foo-": {SYSCTL}'),
    ("two dots", ["kernel.shm_rmid_forced", "bar.."], f'[1].name: Invalid value: "bar..": {SYSCTL}'),
    ("none", [""], "[0].name: Required value"),
    ("twice", ["net/a", "net/a"], '[1].name: Duplicate value: "net/a"'),
]


@pytest.mark.parametrize(("case", "names", "problem"), SYSCTLS, ids=[row[0] for row in SYSCTLS])
def test_names_of_sysctls(case: str, names: list[str], problem: str) -> None:
    context = {"sysctls": [{"name": name, "value": "1"} for name in names]}
    pod = {"metadata": {"name": "p"}, "spec": {"securityContext": context, "containers": [{"name": "c", "image": "i"}]}}
    message = f'Pod "p" is invalid: spec.securityContext.sysctls{problem}'
    assert an_api().refused("POST", f"{SPACE}/pods", pod) == (422, "Invalid", message)


# -- forms


def test_yaml_that_begins_like_json() -> None:
    asking = an_api()
    body = b'{\n"apiVersion": "v1",\n"kind": "ConfigMap",\n"metadata": {"name": "m"},\n"data": {"k": "v",},\n}'
    applied = asking.raw("PATCH", f"{SPACE}/configmaps/m", body, "application/apply-patch+yaml", fieldManager="me")
    assert (applied.code, applied.document()["data"]) == (201, {"k": "v"})
    posted = asking.raw("POST", f"{SPACE}/configmaps", body.replace(b'"m"', b'"n"'), "application/yaml")
    assert posted.code == 201
    assert asking.raw("POST", f"{SPACE}/configmaps", body, "application/json").code == 400, "which is no JSON"


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(("accept", "code"), [(TABLE, 406), (f"{TABLE},application/json", 201), ("", 201)])
def test_a_review_is_no_table(accept: str, code: int) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = msgspec.json.encode({"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}})
    found = ApiServer(access=always_allow, seed=1).handle(
        Request("POST", path, {}, {"accept": accept} if accept else {}, body)
    )
    assert isinstance(found, Response)
    assert found.code == code


def test_an_unreadable_time_limit() -> None:
    asking = an_api()
    why = 'invalid timeout specified in the request URL - time: invalid duration "invalid"'
    for path in (f"{SPACE}/configmaps", "/version"):
        assert asking.refused("GET", path, timeout="invalid") == (400, "BadRequest", why)
    for span in ("90s", "0s", "1m30s"):
        assert asking.ask("GET", f"{SPACE}/configmaps", timeout=span)[0] == 200
    asking.watch(f"{SPACE}/configmaps", timeout="invalid")


# -- what there is

# as kube-apiserver v1.36.4 has them
HASHES = [
    ("/api/v1", "configmaps", "qFsyl6wFWjQ="),
    ("/apis/apps/v1", "deployments", "8aSe+NMegvE="),
    ("/apis/autoscaling/v1", "horizontalpodautoscalers", "qwQve8ut294="),
    ("/apis/autoscaling/v2", "horizontalpodautoscalers", "qwQve8ut294="),
    ("/apis/events.k8s.io/v1", "events", "r2yiGXH7wu8="),
    ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions", "jfWCUB31mvA="),
    ("/apis/authentication.k8s.io/v1", "tokenreviews", None),
]


@pytest.mark.parametrize(("path", "name", "mark"), HASHES)
def test_marks_of_the_versions_that_are_stored(path: str, name: str, mark: str | None) -> None:
    resources = an_api().ok("GET", path)["resources"]
    assert [each.get("storageVersionHash") for each in resources if each["name"] == name] == [mark]


@pytest.mark.parametrize("path", ["healthz", "livez", "readyz"])
def test_health_line_by_line(path: str) -> None:
    asking = an_api()

    def text(suffix: str = "", **query: str) -> str:
        return b"".join(asking.raw("GET", f"/{path}{suffix}", b"", **query).chunks).decode()

    lines = text(verbose="").splitlines()
    assert lines[:2] == ["[+]ping ok", "[+]log ok"]
    assert lines[-1] == f"{path} check passed"
    assert {"[+]etcd ok", "[+]poststarthook/crd-informer-synced ok", "[+]autoregister-completion ok"} <= set(lines)
    assert ("[+]informer-sync ok" in lines, "[+]shutdown ok" in lines) == (path == "readyz",) * 2
    assert "[+]etcd excluded: ok" in text(verbose="true", exclude="etcd")
    assert (text(), text("/etcd"), text("/poststarthook/rbac/bootstrap-roles")) == ("ok", "ok", "ok")
    assert asking.ask("GET", f"/{path}/nothing")[0] == 404


def test_the_third_edition_leaves_out_what_is_empty() -> None:
    body = b"".join(an_api().raw("GET", "/openapi/v3/apis/policy/v1").chunks)
    assert b'"parameters":[]' not in body


def a_definition(**schema: Any) -> Document:
    names = {"plural": "foos", "kind": "Foo"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", **schema}},
    }
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": "foos.example.com"}, "spec": spec}


def test_a_kind_that_takes_whatever_comes_is_published_as_an_object() -> None:
    asking = an_api()
    definition = a_definition(
        **{"x-kubernetes-preserve-unknown-fields": True, "properties": {"spec": {"type": "object"}}}
    )
    asking.ok("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    kind = [{"group": "example.com", "kind": "Foo", "version": "v1"}]
    second = asking.ok("GET", "/openapi/v2")["definitions"]["com.example.v1.Foo"]
    assert second == {"type": "object", "x-kubernetes-group-version-kind": kind}
    third = asking.ok("GET", "/openapi/v3/apis/example.com/v1")["components"]["schemas"]["com.example.v1.Foo"]
    assert third["properties"]["apiVersion"]["description"].startswith("APIVersion defines the versioned schema")
    assert third["properties"]["metadata"]["description"].startswith("Standard object's metadata")


# -- lists in pages


def test_pages_are_of_one_moment_for_some_minutes() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    asking = Asking(ApiServer(access=always_allow, seed=1, clock=lambda: now))
    asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    for number in range(4):
        asking.ok("POST", f"{SPACE}/configmaps", {"metadata": {"name": f"m{number}"}})
    token = asking.ok("GET", f"{SPACE}/configmaps", limit="2")["metadata"]["continue"]
    asking.ok("DELETE", f"{SPACE}/configmaps/m3")
    now += timedelta(minutes=4)
    page = asking.ok("GET", f"{SPACE}/configmaps", **{"limit": "1", "continue": token})
    assert [each["metadata"]["name"] for each in page["items"]] == ["m2"]
    now += timedelta(minutes=2)
    for old in (token, page["metadata"]["continue"]):
        code, status = asking.ask("GET", f"{SPACE}/configmaps", **{"limit": "2", "continue": old})
        assert (code, status["reason"]) == (410, "Expired")
        assert "or use the continue token in this response" in status["message"]
    first = asking.ask("GET", f"{SPACE}/configmaps", **{"limit": "2", "continue": token})[1]
    rest = asking.ok("GET", f"{SPACE}/configmaps", **{"limit": "2", "continue": first["metadata"]["continue"]})
    assert [each["metadata"]["name"] for each in rest["items"]] == ["m2"], "as it is now"
    assert rest["metadata"]["resourceVersion"] != page["metadata"]["resourceVersion"]


# -- who may say what of a claim for devices

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
RESULT = {"request": "r", "driver": "d.example.com", "pool": "p", "device": "dev"}
ALLOCATION = {"status": {"allocation": {"devices": {"results": [RESULT]}}}}
DEVICES = {"status": {"devices": [{"driver": "d.example.com", "pool": "p", "device": "dev"}]}}


def test_the_status_of_a_claim_takes_more_than_one_right() -> None:
    server = a_guarded_server()
    admin, anna = Asking(server), Asking(server, User("anna"))
    group = "resource.k8s.io"
    writes = a_rule("update patch", "resourceclaims/status", group)
    create_objects(server, a_role("writes", writes), a_binding("anna", "writes", "User anna"))
    requests = [{"name": "r", "exactly": {"deviceClassName": "x"}}]
    admin.ok("POST", CLAIMS, {"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}})
    refused = anna.refused("PATCH", f"{CLAIMS}/c/status", ALLOCATION, MERGE)
    assert refused == (
        422,
        "Invalid",
        'ResourceClaim.resource.k8s.io "c" is invalid: status.allocation: Forbidden: changing status.allocation or '
        'status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: '
        'resourceclaims.resource.k8s.io is forbidden: User "anna" cannot patch resource "resourceclaims/binding" in '
        'API group "resource.k8s.io" at the cluster scope',
    )
    admin.ok("PATCH", f"{CLAIMS}/c/status", ALLOCATION, MERGE)
    message = anna.refused("PATCH", f"{CLAIMS}/c/status", DEVICES, MERGE)[2]
    assert (
        "status.devices: Forbidden: changing status.devices requires "
        'resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: '
    ) in message
    reports = a_rule("arbitrary-node:patch", "resourceclaims/driver", group, "d.example.com")
    create_objects(server, a_role("reports", reports), a_binding("anna-reports", "reports", "User anna"))
    anna.ok("PATCH", f"{CLAIMS}/c/status", DEVICES, MERGE)


# -- controllers


def test_the_pods_of_a_namespace_go_first() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})
        held = ["example.com/finalizer"]
        cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "keep", "namespace": "a"}})
        meta = {"name": "p", "namespace": "a", "finalizers": held}
        spec = {"containers": [{"name": "c", "image": "i"}]}
        cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        cluster.delete("Namespace", "a")
        await asyncio.sleep(1)
        assert cluster.get("ConfigMap", "keep", "a") is not None
        assert conditions(cluster) == {
            "NamespaceDeletionDiscoveryFailure": "ResourcesDiscovered",
            "NamespaceDeletionGroupVersionParsingFailure": "ParsedGroupVersions",
            "NamespaceDeletionContentFailure": "ContentDeleted",
            "NamespaceContentRemaining": "ContentRemoved",
            "NamespaceFinalizersRemaining": "ContentHasNoFinalizers",
        }
        cluster.change("ConfigMap", "keep", lambda each: each["metadata"].update(finalizers=held), namespace="a")
        cluster.change("Pod", "p", lambda each: each["metadata"].update(finalizers=[]), namespace="a")
        await asyncio.sleep(1)
        assert cluster.get("Pod", "p", "a") is None
        said = {each["type"]: each["message"] for each in cluster.get("Namespace", "a")["status"]["conditions"]}  # type: ignore[index]
        assert said["NamespaceContentRemaining"] == "Some resources are remaining: configmaps. has 1 resource instances"
        assert said["NamespaceFinalizersRemaining"] == (
            "Some content in the namespace has finalizers remaining: example.com/finalizer in 1 resource instances"
        )
        cluster.change("ConfigMap", "keep", lambda each: each["metadata"].update(finalizers=[]), namespace="a")
        await asyncio.sleep(1)
        assert cluster.get("Namespace", "a") is None

    def conditions(cluster: SimulatedCluster) -> dict[str, str]:
        namespace = cluster.get("Namespace", "a")
        assert namespace is not None
        return {each["type"]: each["reason"] for each in namespace["status"]["conditions"]}

    in_simulated_cluster(story)


@pytest.mark.parametrize("kind", ["ReplicationController", "ReplicaSet"])
def test_a_status_that_somebody_else_overwrites_is_put_right(kind: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        selector = {"a": "b"} if kind == "ReplicationController" else {"matchLabels": {"a": "b"}}
        version = "v1" if kind == "ReplicationController" else "apps/v1"
        spec = {"replicas": 1, "selector": selector, "template": template}
        cluster.create({"apiVersion": version, "kind": kind, "metadata": {"name": "r"}, "spec": spec})
        await asyncio.sleep(1)
        cluster.change(kind, "r", lambda each: each["status"].update(replicas=7), "status")
        await asyncio.sleep(1)
        found = cluster.get(kind, "r")
        assert found is not None
        assert found["status"]["replicas"] == 1

    in_simulated_cluster(story)


def test_a_bound_claim_says_which_attributes_its_volume_has() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        wanted = {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeAttributesClassName": "gold"}
        csi = {"driver": "d.example.com", "volumeHandle": "h"}
        volume = {**wanted, "capacity": {"storage": "1Gi"}, "csi": csi}
        cluster.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": volume})
        claim = {**wanted, "resources": {"requests": {"storage": "1Gi"}}}
        cluster.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": claim})
        await asyncio.sleep(1)
        found = cluster.get("PersistentVolumeClaim", "c")
        assert found is not None
        assert found["status"]["phase"] == "Bound"
        assert found["status"]["currentVolumeAttributesClassName"] == "gold"

    in_simulated_cluster(story)
