"""Kinds with rules that take more than one object, or more than one step, to show."""

from typing import Any

import pytest
from tests.support.good_objects import an_api, good, path_of, put

Document = dict[str, Any]


# -- kinds with a story of their own


def test_only_one_priority_class_is_the_default() -> None:
    asking = an_api()
    asking.ok("POST", path_of("PriorityClass"), {**good("PriorityClass"), "globalDefault": True})
    second = {**good("PriorityClass", "b"), "globalDefault": True}
    code, reason, message = asking.refused("POST", path_of("PriorityClass"), second)
    assert (code, reason) == (403, "Forbidden")
    assert message == (
        'priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass a is already marked as default. '
        "Only one default can exist"
    )
    first = asking.ok("GET", path_of("PriorityClass", "a"))
    asking.ok("PUT", path_of("PriorityClass", "a"), put(first, "description", "new"))


def test_the_classes_of_the_system_cannot_be_deleted() -> None:
    asking = an_api()
    name = "system-node-critical"
    asking.ok("POST", path_of("PriorityClass"), {**good("PriorityClass", name), "value": 2_000_001_000})
    code, _, message = asking.refused("DELETE", path_of("PriorityClass", name))
    assert code == 403
    assert message.endswith("this is a system priority class and cannot be deleted")


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_what_is_marked_immutable_is(kind: str) -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(kind), {**good(kind), "immutable": True})
    for path, value, field in (("data", {}, "data"), ("immutable", False, "immutable")):
        _, _, message = asking.refused("PUT", path_of(kind, "a"), put(made, path, value))
        assert f"{field}: Forbidden: field is immutable when `immutable` is set" in message
    asking.ok("PUT", path_of(kind, "a"), put(made, "metadata|labels", {"new": "label"}))


def test_data_that_is_not_base64_is_a_bad_request() -> None:
    code, reason, _ = an_api().refused("POST", path_of("Secret"), put(good("Secret"), "data", {"a": "?"}))
    assert (code, reason) == (400, "BadRequest")


def test_services_get_addresses_of_their_own_and_keep_them() -> None:
    asking = an_api()
    made = [asking.ok("POST", path_of("Service"), good("Service", f"s{number}")) for number in range(20)]
    addresses = {each["spec"]["clusterIP"] for each in made}
    assert len(addresses) == 20
    assert all(96 <= int(address.split(".")[1]) < 112 for address in addresses)
    first = made[0]
    assert first["spec"]["clusterIPs"] == [first["spec"]["clusterIP"]]
    assert 30000 <= first["spec"]["ports"][0]["nodePort"] < 32768
    for field in ("clusterIP", "clusterIPs", "ipFamilies"):
        first = put(first, f"spec|{field}", ...)
    del first["spec"]["ports"][0]["nodePort"]
    again = asking.ok("PUT", path_of("Service", "s0"), first)
    assert again["spec"] == made[0]["spec"], "who leaves them out gets them back"


SERVICES = [
    ("a headless one has none", {"clusterIP": "None", "selector": {"a": "b"}}, "None"),
    ("one by name has none", {"type": "ExternalName", "externalName": "example.com"}, None),
    ("one that is asked for", {"clusterIP": "10.96.0.10", "ports": [{"port": 1}]}, "10.96.0.10"),
]


@pytest.mark.parametrize(("name", "spec", "expected"), SERVICES, ids=[row[0] for row in SERVICES])
def test_the_address_of_a_service(name: str, spec: Document, expected: str | None) -> None:
    made = an_api().ok("POST", path_of("Service"), {**good("Service"), "spec": spec})
    assert made["spec"].get("clusterIP") == expected


def test_a_claim_without_a_class_gets_the_default_one() -> None:
    asking = an_api()
    for name, default in (("plain", "false"), ("usual", "true")):
        annotations = {"storageclass.kubernetes.io/is-default-class": default}
        asking.ok("POST", path_of("StorageClass"), put(good("StorageClass", name), "metadata|annotations", annotations))
    unsaid = put(good("PersistentVolumeClaim"), "spec|storageClassName", ...)
    assert asking.ok("POST", path_of("PersistentVolumeClaim"), unsaid)["spec"]["storageClassName"] == "usual"
    none = put(good("PersistentVolumeClaim", "b"), "spec|storageClassName", "")
    assert asking.ok("POST", path_of("PersistentVolumeClaim"), none)["spec"]["storageClassName"] == ""


GROWTH = [
    ("only when it is bound", "Pending", True, "Only bound persistent volume claims can be expanded"),
    ("only if its class allows it", "Bound", False, "must support resize"),
    ("both", "Bound", True, ""),
]


@pytest.mark.parametrize(("name", "phase", "allowed", "message"), GROWTH, ids=[row[0] for row in GROWTH])
def test_when_a_claim_may_grow(name: str, phase: str, allowed: bool, message: str) -> None:
    asking = an_api()
    asking.ok("POST", path_of("StorageClass"), {**good("StorageClass", "fast"), "allowVolumeExpansion": allowed})
    made = asking.ok("POST", path_of("PersistentVolumeClaim"), good("PersistentVolumeClaim"))
    status = {"phase": phase, "capacity": {"storage": "1Gi"}}
    made = asking.ok("PUT", path_of("PersistentVolumeClaim", "a/status"), {**made, "status": status})
    larger = put(made, "spec|resources|requests|storage", "2Gi")
    code, answer = asking.ask("PUT", path_of("PersistentVolumeClaim", "a"), larger)
    assert code == (403 if message else 200), answer
    assert message in answer.get("message", "")
    if not message:
        smaller = put(answer, "spec|resources|requests|storage", "512Mi")
        _, _, text = asking.refused("PUT", path_of("PersistentVolumeClaim", "a"), smaller)
        assert "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity" in text


def test_the_time_of_a_volumes_phase_is_noted() -> None:
    asking = an_api()
    made = asking.ok("POST", path_of("PersistentVolume"), good("PersistentVolume"))
    assert made["status"]["lastPhaseTransitionTime"]
    made["status"] = {"phase": "Available"}
    changed = asking.ok("PUT", path_of("PersistentVolume", "a/status"), made)
    assert changed["status"]["lastPhaseTransitionTime"]


RESULT = {"request": "gpu", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}
ALLOCATION = {"devices": {"results": [RESULT]}}
USER = {"resource": "pods", "name": "p", "uid": "1"}
STATUSES: list[tuple[str, Document, Document, str]] = [
    ("an allocation", {}, {"allocation": ALLOCATION}, ""),
    ("an allocation with a user", {}, {"allocation": ALLOCATION, "reservedFor": [USER]}, ""),
    (
        "a user without an allocation",
        {},
        {"reservedFor": [USER]},
        "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
    ),
    (
        "a user twice",
        {},
        {"allocation": ALLOCATION, "reservedFor": [USER, USER]},
        'status.reservedFor[1]: Duplicate value: "1"',
    ),
    (
        "too many users",
        {},
        {"allocation": ALLOCATION, "reservedFor": [{**USER, "uid": str(number)} for number in range(257)]},
        "status.reservedFor: Too many: 257: must have at most 256 items",
    ),
    (
        "a user without a name",
        {},
        {"allocation": ALLOCATION, "reservedFor": [{**USER, "name": ""}]},
        "status.reservedFor[0].name: Required value",
    ),
    (
        "another allocation",
        {"allocation": ALLOCATION},
        {"allocation": {"devices": {"results": [{**RESULT, "device": "gpu-1"}]}}},
        "status.allocation: Invalid value",
    ),
    ("giving back", {"allocation": ALLOCATION}, {}, ""),
    (
        "an unknown request",
        {},
        {"allocation": {"devices": {"results": [{**RESULT, "request": "x"}]}}},
        "must be the name of a request in the claim",
    ),
    (
        "a device that is not allocated",
        {"allocation": ALLOCATION},
        {"allocation": ALLOCATION, "devices": [{"driver": "gpu.example.com", "pool": "n", "device": "gpu-7"}]},
        "must be an allocated device in the claim",
    ),
    (
        "a device that is",
        {"allocation": ALLOCATION},
        {"allocation": ALLOCATION, "devices": [{"driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}]},
        "",
    ),
]


@pytest.mark.parametrize(("name", "before", "after", "message"), STATUSES, ids=[row[0] for row in STATUSES])
def test_the_status_of_a_resource_claim(name: str, before: Document, after: Document, message: str) -> None:
    asking = an_api()
    made = asking.ok("POST", path_of("ResourceClaim"), good("ResourceClaim"))
    path = path_of("ResourceClaim", "a/status")
    made = asking.ok("PUT", path, {**made, "status": before})
    changed = {**made, "status": after, "metadata": {**made["metadata"], "labels": {"not": "taken"}}}
    code, answer = asking.ask("PUT", path, changed)
    assert code == (422 if message else 200), answer
    assert message in answer.get("message", "")
    if not message:
        assert answer["status"] == after
        assert "labels" not in answer["metadata"], "a status is a status"


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_administrators_access_is_to_be_had_in_some_namespaces(kind: str) -> None:
    asking = an_api()
    way = "spec|devices|requests|0|exactly|adminAccess"
    document = put(good(kind), way if kind == "ResourceClaim" else f"spec|{way}", True)
    _, _, message = asking.refused("POST", path_of(kind), document)
    assert (
        "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the "
        "`resource.kubernetes.io/admin-access: true` label on the containing namespace"
    ) in message
    namespace = asking.ok("GET", "/api/v1/namespaces/default")
    namespace["metadata"]["labels"]["resource.kubernetes.io/admin-access"] = "true"
    asking.ok("PUT", "/api/v1/namespaces/default", namespace)
    asking.ok("POST", path_of(kind), document)


def test_what_is_said_of_devices_goes_with_them() -> None:
    asking = an_api()
    path = path_of("ResourceClaim", "a/status")
    made = asking.ok("POST", path_of("ResourceClaim"), good("ResourceClaim"))
    devices = [{"driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}]
    made = asking.ok("PUT", path, {**made, "status": {"allocation": ALLOCATION, "devices": devices}})
    assert asking.ok("PUT", path, {**made, "status": {"devices": devices}})["status"] == {}


STRICT = "/apis/events.k8s.io/v1/namespaces/default/events"
STRICT_EVENT: Document = {
    "metadata": {"name": "e"},
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "reportingController": "default-scheduler",
    "reportingInstance": "default-scheduler-1",
    "action": "Binding",
    "reason": "Scheduled",
    "type": "Normal",
    "note": "all is well",
    "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
}


def test_an_event_is_the_same_in_both_versions() -> None:
    asking = an_api()
    made = asking.ok("POST", STRICT, STRICT_EVENT)
    assert (made["apiVersion"], made["note"]) == ("events.k8s.io/v1", "all is well")
    other = asking.ok("GET", path_of("Event", "e"))
    assert (other["apiVersion"], other["message"]) == ("v1", "all is well")
    assert other["involvedObject"]["name"] == "p"
    assert other["reportingComponent"] == "default-scheduler"
    for path, selector in (
        (STRICT, "regarding.name=p,reportingController=default-scheduler"),
        (path_of("Event"), "involvedObject.name=p,reportingComponent=default-scheduler,source=default-scheduler"),
    ):
        assert len(asking.ok("GET", path, fieldSelector=selector)["items"]) == 1
    assert asking.refused("GET", STRICT, fieldSelector="involvedObject.name=p")[0] == 400


STRICT_REFUSALS = [
    ("no time", "eventTime", ..., "eventTime: Required value"),
    ("no type", "type", "", 'type: Invalid value: "": has invalid value: '),
    ("no reporter", "reportingController", "", "reportingController: Required value"),
    ("no action", "action", "", "action: Required value"),
    ("a long note", "note", "x" * 1025, 'message: Invalid value: "": can have at most 1024 characters'),
    ("an old count", "deprecatedCount", 1, 'count: Invalid value: "": needs to be unset'),
    (
        "a series of one",
        "series",
        {"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000000Z"},
        "series.count: Invalid value",
    ),
    (
        "nothing regarded",
        "regarding",
        {},
        'involvedObject.namespace: Invalid value: "": does not match event.namespace',
    ),
]


@pytest.mark.parametrize(("name", "path", "value", "message"), STRICT_REFUSALS, ids=[row[0] for row in STRICT_REFUSALS])
def test_the_newer_version_of_events_is_strict(name: str, path: str, value: Any, message: str) -> None:
    asking = an_api()
    asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "b"}})
    place = STRICT.replace("default", "b") if path == "regarding" else STRICT
    code, _, text = asking.refused("POST", place, put(STRICT_EVENT, path, value))
    assert code == 422
    assert message in text


def test_of_an_event_only_its_series_changes() -> None:
    asking = an_api()
    made = asking.ok("POST", STRICT, STRICT_EVENT)
    series = {"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"}
    made = asking.ok("PUT", f"{STRICT}/e", {**made, "series": series})
    _, _, message = asking.refused("PUT", f"{STRICT}/e", {**made, "reason": "Other"})
    assert 'reason: Invalid value: "Other": field is immutable' in message


SCALES: list[tuple[str, str, Any, int, Any]] = [
    ("what it is", "GET", None, 200, 2),
    ("more", "PUT", {"spec": {"replicas": 5}}, 200, 5),
    ("fewer than none", "PUT", {"spec": {"replicas": -1}}, 422, 2),
    ("for another object", "PUT", {"metadata": {"uid": "other"}, "spec": {"replicas": 5}}, 409, 2),
    ("based on something old", "PUT", {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 5}}, 409, 2),
    ("nonsense", "PUT", {"spec": {"replicas": "many"}}, 400, 2),
    ("not an object", "PUT", [], 400, 2),
]


@pytest.mark.parametrize("kind", ["ReplicationController", "ReplicaSet"])
@pytest.mark.parametrize(("name", "method", "body", "code", "replicas"), SCALES, ids=[row[0] for row in SCALES])
def test_scales(kind: str, name: str, method: str, body: Any, code: int, replicas: int) -> None:
    asking = an_api()
    asking.ok("POST", path_of(kind), good(kind))
    found, answer = asking.ask(method, path_of(kind, "a/scale"), body)
    assert found == code, answer
    scale = asking.ok("GET", path_of(kind, "a/scale"))
    assert (scale["kind"], scale["spec"]["replicas"], scale["status"]["selector"]) == ("Scale", replicas, "app=web")
    assert asking.ok("GET", path_of(kind, "a"))["spec"]["replicas"] == replicas


def test_a_scale_is_patched() -> None:
    asking = an_api()
    asking.ok("POST", path_of("ReplicaSet"), good("ReplicaSet"))
    form = "application/merge-patch+json"
    scale = asking.ok("PATCH", path_of("ReplicaSet", "a/scale"), {"spec": {"replicas": 9}}, form)
    assert scale["spec"]["replicas"] == 9
