"""What may change of the kinds besides pods and roles, what may not, and how it must be asked for."""

from typing import Any

import pytest
from tests.support.good_objects import GOOD, an_api, good, path_of, put

from kubesched_controlplane.server.catalog import built_in

Document = dict[str, Any]


# -- what may not change

SETTLED: list[tuple[str, str, Any, str]] = [
    (
        "Service",
        "spec|clusterIPs",
        ["10.96.9.9"],
        'spec.clusterIPs[0]: Invalid value: ["10.96.9.9"]: may not change once set',
    ),
]


@pytest.mark.parametrize(("kind", "path", "value", "message"), SETTLED)
def test_what_may_not_change(kind: str, path: str, value: Any, message: str) -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(kind), good(kind))
    code, reason, text = asking.refused("PUT", path_of(kind, "a"), put(made, path, value))
    assert (code, reason) == (422, "Invalid"), text
    assert message in text


MAY_CHANGE: list[tuple[str, str, Any]] = [
    ("Node", "spec|unschedulable", True),
    ("Service", "spec|selector", {"app": "db"}),
    ("ReplicaSet", "spec|replicas", 7),
    ("StatefulSet", "spec|replicas", 7),
    ("PodDisruptionBudget", "spec|selector", {}),
    ("PriorityClass", "globalDefault", True),
    ("Lease", "spec|holderIdentity", "you"),
    ("PersistentVolume", "spec|claimRef", {"namespace": "default", "name": "c"}),
    ("PersistentVolumeClaim", "spec|volumeName", "v"),
    ("StorageClass", "allowVolumeExpansion", True),
    ("CSINode", "spec|drivers|0|allocatable|count", 9),
    ("CSIStorageCapacity", "capacity", "5Gi"),
    ("DeviceClass", "spec|selectors", []),
    ("ResourceSlice", "spec|devices", []),
    ("DeviceTaintRule", "spec|deviceSelector", {}),
]


@pytest.mark.parametrize(("kind", "path", "value"), MAY_CHANGE)
def test_what_may_change(kind: str, path: str, value: Any) -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(kind), good(kind))
    changed = asking.ok("PUT", path_of(kind, "a"), put(made, path, value))
    if "generation" in made["metadata"] and path.startswith("spec"):
        assert changed["metadata"]["generation"] == 2


CONDITIONAL = ("PodDisruptionBudget", "Lease", "LeaseCandidate", "CSIDriver", "CSINode", "VolumeAttachment")
WEBHOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
POLICIES = [kind for kind in GOOD if "AdmissionPolicy" in kind]


@pytest.mark.parametrize("version", [None, "", "0"])
@pytest.mark.parametrize("kind", GOOD)
def test_which_kinds_want_to_know_what_a_change_is_based_on(kind: str, version: str | None) -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(kind), good(kind))
    del made["metadata"]["resourceVersion"]
    if version is not None:
        made["metadata"]["resourceVersion"] = version
    patch = {"metadata": {"resourceVersion": version, "labels": {"a": "b"}}}
    answers = [
        asking.ask("PUT", path_of(kind, "a"), made),
        asking.ask("PATCH", path_of(kind, "a"), patch, "application/merge-patch+json"),
    ]
    if kind not in (*CONDITIONAL, *WEBHOOKS, *POLICIES, "CSIStorageCapacity", "RuntimeClass"):
        assert [code for code, _ in answers] == [200, 200], answers
        return
    resource = built_in().of_kind(made["apiVersion"], kind)
    assert resource is not None
    why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    for code, answer in answers:
        assert (code, answer["message"]) == (422, f'{resource.qualified} "a" is invalid: {why}')
        assert answer["details"]["kind"] == resource.plural


CREATED_BY_PUT = ("Service", "Endpoints", "Event", "Lease", "LeaseCandidate")


@pytest.mark.parametrize("kind", GOOD)
def test_which_kinds_are_created_by_an_update(kind: str) -> None:
    code, _ = an_api().ask("PUT", path_of(kind, "a"), good(kind))
    assert code == (201 if kind in CREATED_BY_PUT else 404)
