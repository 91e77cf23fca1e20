"""The kinds besides pods and roles: what is filled in, and what selectors may ask about.

The last part damages good objects field by field: whatever a client sends, it gets a right answer.
"""

from typing import Any

import pytest
from tests.support.good_objects import GOOD, an_api, damaged, found_at, good, path_of

Document = dict[str, Any]


# -- good objects


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_object_is_taken_and_changed_by_nothing(kind: str) -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(kind), good(kind))
    assert asking.ok("GET", path_of(kind, "a")) == made
    assert asking.ok("PUT", path_of(kind, "a"), made) == made, "what is filled in once stays"
    made["metadata"]["labels"] = {**made["metadata"].get("labels", {}), "new": "label"}
    changed = asking.ok("PUT", path_of(kind, "a"), made)
    assert changed["metadata"]["labels"]["new"] == "label"
    assert changed.get("spec") == made.get("spec")


DEFAULTS: list[tuple[str, str, Any]] = [
    ("Node", "status|allocatable", {"cpu": "4", "pods": "110"}),
    ("Node", "spec|podCIDRs", ["10.1.0.0/24"]),
    ("Node", "spec|taints|1", {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}),
    ("Service", "spec|ports|0|protocol", "TCP"),
    ("Service", "spec|ports|0|targetPort", 80),
    ("Service", "spec|sessionAffinity", "None"),
    ("Service", "spec|externalTrafficPolicy", "Cluster"),
    ("Service", "spec|ipFamilies", ["IPv4"]),
    ("Endpoints", "subsets|0|ports|0|protocol", "TCP"),
    ("Secret", "type", "Opaque"),
    ("Secret", "data", {"a": "ZGF0YQ==", "b": "dGV4dA=="}),
    ("ReplicationController", "spec|selector", {"app": "web"}),
    ("ReplicaSet", "metadata|generation", 1),
    ("ReplicaSet", "spec|template|spec|restartPolicy", "Always"),
    ("StatefulSet", "spec|podManagementPolicy", "OrderedReady"),
    ("StatefulSet", "spec|updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}),
    ("StatefulSet", "spec|replicas", 1),
    ("PodDisruptionBudget", "metadata|generation", 1),
    ("PodDisruptionBudget", "status|disruptionsAllowed", 0),
    ("PriorityClass", "preemptionPolicy", "PreemptLowerPriority"),
    ("PersistentVolume", "spec|persistentVolumeReclaimPolicy", "Retain"),
    ("PersistentVolume", "spec|volumeMode", "Filesystem"),
    ("PersistentVolume", "status|phase", "Pending"),
    ("PersistentVolume", "metadata|finalizers", ["kubernetes.io/pv-protection"]),
    ("PersistentVolumeClaim", "status|phase", "Pending"),
    ("PersistentVolumeClaim", "metadata|finalizers", ["kubernetes.io/pvc-protection"]),
    ("StorageClass", "reclaimPolicy", "Delete"),
    ("StorageClass", "volumeBindingMode", "Immediate"),
    ("CSIDriver", "spec|attachRequired", True),
    ("CSIDriver", "spec|fsGroupPolicy", "ReadWriteOnceWithFSType"),
    ("CSIDriver", "spec|volumeLifecycleModes", ["Persistent"]),
    ("ResourceClaim", "spec|devices|requests|0|exactly|allocationMode", "ExactCount"),
    ("ResourceClaim", "spec|devices|requests|0|exactly|count", 1),
    ("PodGroup", "spec|disruptionMode", "Pod"),
]


@pytest.mark.parametrize(("kind", "path", "expected"), DEFAULTS)
def test_what_is_filled_in(kind: str, path: str, expected: Any) -> None:
    assert found_at(an_api().ok("POST", path_of(kind), good(kind)), path) == expected


NO_GENERATION = (
    "Node",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ConfigMap",
    "Lease",
    "ResourceClaim",
)


@pytest.mark.parametrize("kind", NO_GENERATION)
def test_some_kinds_count_no_generations(kind: str) -> None:
    assert "generation" not in an_api().ok("POST", path_of(kind), good(kind))["metadata"]


def test_a_taint_notes_when_it_was_added() -> None:
    asking = an_api()
    piece = asking.ok("POST", path_of("ResourceSlice"), good("ResourceSlice"))
    assert piece["spec"]["devices"][0]["taints"][0]["timeAdded"]
    rule = asking.ok("POST", path_of("DeviceTaintRule"), good("DeviceTaintRule"))
    rule["spec"]["taint"]["timeAdded"] = "2020-01-01T00:00:00Z"
    rule = asking.ok("PUT", path_of("DeviceTaintRule", "a"), rule)
    assert rule["spec"]["taint"]["timeAdded"] == "2020-01-01T00:00:00Z"
    rule["spec"]["taint"]["effect"] = "NoSchedule"
    rule = asking.ok("PUT", path_of("DeviceTaintRule", "a"), rule)
    assert rule["spec"]["taint"]["timeAdded"] != "2020-01-01T00:00:00Z", "a new effect is a new taint"
    assert rule["metadata"]["generation"] == 3


# -- what selectors may ask about

FIELDS: list[tuple[str, str, bool]] = [
    ("Node", "spec.unschedulable=false", True),
    ("Node", "spec.unschedulable=true", False),
    ("Namespace", "status.phase=Active", True),
    ("Service", "spec.type=NodePort", True),
    ("Service", "spec.type=ClusterIP", False),
    ("Secret", "type=Opaque", True),
    ("Secret", "type!=Opaque", False),
    ("Event", "involvedObject.kind=Pod,involvedObject.name=p", True),
    ("Event", "involvedObject.name=q", False),
    ("Event", "reason=R", True),
    ("Event", "source=", True),
    ("ReplicaSet", "status.replicas=0", True),
    ("ReplicationController", "status.replicas=0", True),
    ("LeaseCandidate", "spec.leaseName=l", True),
    ("ResourceSlice", "spec.nodeName=n", True),
    ("ResourceSlice", "spec.nodeName=m", False),
    ("ResourceSlice", "spec.driver=gpu.example.com", True),
    *((kind, "metadata.name=a", True) for kind in GOOD),
    *((kind, "metadata.name!=a", False) for kind in GOOD),
]


@pytest.mark.parametrize(("kind", "selector", "expected"), FIELDS)
def test_what_selectors_may_ask_about(kind: str, selector: str, expected: bool) -> None:
    asking = an_api()
    asking.ok("POST", path_of(kind), good(kind))
    found = asking.ok("GET", path_of(kind), fieldSelector=selector)
    assert ("a" in [each["metadata"]["name"] for each in found["items"]]) is expected


@pytest.mark.parametrize("kind", GOOD)
def test_other_fields_are_not_selectable(kind: str) -> None:
    code, reason, message = an_api().refused("GET", path_of(kind), fieldSelector="spec.mine=1")
    assert (code, reason) == (400, "BadRequest")
    assert "field label not supported: spec.mine" in message


# -- objects that are damaged


@pytest.mark.parametrize("kind", GOOD)
def test_a_damaged_object_gets_a_right_answer(kind: str) -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(kind), good(kind))
    for document in damaged(good(kind)):
        code, answer = asking.ask("POST", path_of(kind), document, dryRun="All")
        assert code in (201, 400, 403, 404, 409, 422), (document, answer)
    for document in damaged(made):
        for path in (path_of(kind, "a"), path_of(kind, "a/status")):
            code, answer = asking.ask("PUT", path, document, dryRun="All")
            assert code in (200, 201, 400, 403, 404, 405, 409, 422), (document, answer)
