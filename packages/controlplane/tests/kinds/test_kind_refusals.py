"""Refusals of kinds besides pods and roles that the recorded corpus (test_refusals.py) does not have."""

from typing import Any

import pytest
from tests.support.good_objects import an_api, good, path_of, put

Document = dict[str, Any]


REQUEST = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}

REFUSALS: list[tuple[str, str, Any, str]] = [
    (
        "Node",
        "status|capacity|cpu",
        "-1",
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
    ),
    ("Node", "status|capacity|pods", "1500m", 'status.capacity.pods: Invalid value: "1500m": must be an integer'),
    ("Namespace", "metadata|name", "a.b", 'metadata.name: Invalid value: "a.b": must not contain dots'),
    ("Service", "metadata|name", "a.b", 'metadata.name: Invalid value: "a.b": must not contain dots'),
    (
        "PodGroup",
        "spec|resourceClaims",
        [{"name": "a"}],
        'spec.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, ',
    ),
    (
        "PodGroup",
        "spec|resourceClaims",
        [{"name": "a", "resourceClaimName": "b"}] * 2,
        'spec.resourceClaims[1]: Duplicate value: "a"',
    ),
    ("ConfigMap", "data", {"c": ""}, 'data[c]: Invalid value: "c": duplicate of key present in binaryData'),
    (
        "ReplicaSet",
        "spec|template|spec|restartPolicy",
        "Never",
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ),
    ("StatefulSet", "metadata|name", "a.b", 'metadata.name: Invalid value: "a.b": must not contain dots'),
    (
        "PodDisruptionBudget",
        "spec|minAvailable",
        "half",
        (
            'spec.minAvailable: Invalid value: "half": a valid percent string must be a numeric string '
            "followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
        ),
    ),
    (
        "PriorityClass",
        "metadata|name",
        "system-mine",
        (
            "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system "
            "use only. error: system-mine is not a known system priority class"
        ),
    ),
    (
        "Lease",
        "spec|preferredHolder",
        "you",
        "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
    ),
    (
        "PersistentVolume",
        "spec|hostPath",
        {"path": "/x"},
        "spec.csi: Forbidden: may not specify more than 1 volume type",
    ),
    ("CSIStorageCapacity", "capacity", "-1", 'capacity: Invalid value: "-1": must be greater than or equal to 0'),
    (
        "ResourceClaim",
        "spec|devices|requests",
        [REQUEST] * 33,
        "spec.devices.requests: Too many: 33: must have at most 32 items",
    ),
    ("ResourceClaimTemplate", "spec|metadata", {"name": "n"}, "spec.metadata.name: Forbidden: cannot be set"),
    (
        "ResourceSlice",
        "spec|devices",
        [{"name": f"d{number}"} for number in range(129)],
        "spec.devices: Too many: 129: must have at most 128 items",
    ),
    (
        "ResourceSlice",
        "spec|devices",
        [{"name": f"d{number}", "taints": [{"key": "a", "effect": "None"}]} for number in range(65)],
        "spec.devices: Too many: 65: must have at most 64 items",
    ),
]


@pytest.mark.parametrize(("kind", "path", "value", "message"), REFUSALS)
def test_what_is_refused(kind: str, path: str, value: Any, message: str) -> None:
    code, reason, text = an_api().refused("POST", path_of(kind), put(good(kind), path, value))
    assert (code, reason) == (422, "Invalid"), text
    assert message in text
