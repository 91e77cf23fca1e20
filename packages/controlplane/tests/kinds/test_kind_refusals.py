"""What is refused of the kinds besides pods and roles, to the letter where people read it."""

from typing import Any

import pytest
from tests.support.good_objects import an_api, good, path_of, put

Document = dict[str, Any]


REQUEST = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}

REFUSALS: list[tuple[str, str, Any, str]] = [
    (
        "Node",
        "spec|taints|0|effect",
        "Never",
        (
            'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", '
            '"PreferNoSchedule", "NoExecute"'
        ),
    ),
    ("Node", "spec|taints|0|effect", "", "metadata.taints[0].effect: Required value"),
    (
        "Node",
        "spec|taints",
        [{"key": "a", "effect": "NoExecute"}] * 2,
        (
            'metadata.taints[1]: Duplicate value: {"effect":"NoExecute","key":"a"}: taints must be unique '
            "by key and effect pair"
        ),
    ),
    (
        "Node",
        "status|capacity|cpu",
        "-1",
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
    ),
    ("Node", "status|capacity|pods", "1500m", 'status.capacity.pods: Invalid value: "1500m": must be an integer'),
    (
        "Node",
        "spec|podCIDR",
        "here",
        'spec.podCIDRs[0]: Invalid value: "here": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ),
    ("Namespace", "metadata|name", "a.b", 'metadata.name: Invalid value: "a.b": must not contain dots'),
    (
        "Namespace",
        "spec|finalizers",
        ["mine"],
        'spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ),
    ("Service", "metadata|name", "a.b", 'metadata.name: Invalid value: "a.b": must not contain dots'),
    ("Service", "spec|ports", [], "spec.ports: Required value"),
    (
        "Service",
        "spec|ports|0|port",
        70000,
        "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
    ),
    (
        "Service",
        "spec|type",
        "Other",
        (
            'spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName", '
            '"LoadBalancer", "NodePort"'
        ),
    ),
    (
        "Service",
        "spec|clusterIP",
        "None",
        "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
    ),
    ("Service", "spec|ports", [{"port": 80}, {"port": 81}], "spec.ports[0].name: Required value"),
    (
        "Endpoints",
        "subsets|0|addresses|0|ip",
        "here",
        (
            'subsets[0].addresses[0].ip: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 '
            "or 2001:db8::ffff)"
        ),
    ),
    (
        "ConfigMap",
        "data",
        {"a b": ""},
        (
            'data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '
            "'-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
            "'[-._a-zA-Z0-9]+')"
        ),
    ),
    ("ConfigMap", "data", {"c": ""}, 'data[c]: Invalid value: "c": duplicate of key present in binaryData'),
    ("Secret", "type", "kubernetes.io/tls", "data[tls.crt]: Required value"),
    ("ReplicaSet", "spec|selector", ..., "spec.selector: Required value"),
    ("ReplicaSet", "spec|selector", {}, "spec.selector: Invalid value: {}: empty selector is invalid for deployment"),
    (
        "ReplicaSet",
        "spec|selector|matchLabels|app",
        "db",
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ),
    ("ReplicaSet", "spec|replicas", -1, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
    (
        "ReplicaSet",
        "spec|template|spec|restartPolicy",
        "Never",
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ),
    ("ReplicaSet", "spec|template|spec|containers", [], "spec.template.spec.containers: Required value"),
    ("ReplicationController", "spec|template", ..., "spec.template: Required value"),
    ("StatefulSet", "metadata|name", "a.b", 'metadata.name: Invalid value: "a.b": must not contain dots'),
    (
        "StatefulSet",
        "spec|podManagementPolicy",
        "Other",
        "spec.podManagementPolicy: Invalid value: \"Other\": must be 'OrderedReady' or 'Parallel'",
    ),
    (
        "StatefulSet",
        "spec|volumeClaimTemplates|0|spec|accessModes",
        [],
        "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
    ),
    ("PodDisruptionBudget", "spec|maxUnavailable", 1, "minAvailable and maxUnavailable cannot be both set"),
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
        "PodDisruptionBudget",
        "spec|minAvailable",
        "101%",
        'spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
    ),
    (
        "PodDisruptionBudget",
        "spec|minAvailable",
        -1,
        "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0",
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
        "PriorityClass",
        "value",
        1_000_000_001,
        "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
    ),
    (
        "PriorityClass",
        "preemptionPolicy",
        "Other",
        'preemptionPolicy: Unsupported value: "Other": supported values: "PreemptLowerPriority", "Never"',
    ),
    (
        "PodGroup",
        "spec|schedulingPolicy",
        {},
        'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
    ),
    ("PodGroup", "spec|schedulingPolicy|gang|minCount", 0, "spec.schedulingPolicy.gang.minCount: Required value"),
    ("Workload", "spec|podGroupTemplates", [], "spec.podGroupTemplates: Required value"),
    ("Lease", "spec|leaseDurationSeconds", 0, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"),
    (
        "Lease",
        "spec|leaseTransitions",
        -1,
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ),
    (
        "Lease",
        "spec|preferredHolder",
        "you",
        "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
    ),
    (
        "LeaseCandidate",
        "spec|binaryVersion",
        "1.34.0",
        'spec.binaryVersion: Invalid value: "1.34.0": must be greater than or equal to `emulationVersion`',
    ),
    ("LeaseCandidate", "spec|leaseName", "", "spec.leaseName: Required value"),
    (
        "Event",
        "involvedObject|namespace",
        "other",
        'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    ),
    ("PersistentVolume", "spec|capacity", {}, "spec.capacity: Required value"),
    (
        "PersistentVolume",
        "spec|accessModes",
        ["Mine"],
        (
            'spec.accessModes: Unsupported value: "Mine": supported values: "ReadOnlyMany", '
            '"ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'
        ),
    ),
    ("PersistentVolume", "spec|csi", ..., "spec: Required value: must specify a volume type"),
    (
        "PersistentVolume",
        "spec|hostPath",
        {"path": "/x"},
        "spec.csi: Forbidden: may not specify more than 1 volume type",
    ),
    ("PersistentVolume", "spec|csi|volumeHandle", "", "spec.csi.volumeHandle: Required value"),
    (
        "PersistentVolume",
        "spec|nodeAffinity|required|nodeSelectorTerms",
        [],
        "spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term",
    ),
    ("PersistentVolumeClaim", "spec|resources", {}, "spec.resources[storage]: Required value"),
    (
        "PersistentVolumeClaim",
        "spec|resources|requests|storage",
        "0",
        'spec.resources[storage]: Invalid value: "0": must be greater than zero',
    ),
    (
        "PersistentVolumeClaim",
        "spec|accessModes",
        ["ReadWriteOnce", "ReadWriteOncePod"],
        "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
    ),
    ("StorageClass", "provisioner", "", "provisioner: Required value"),
    (
        "StorageClass",
        "volumeBindingMode",
        "Later",
        'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
    ),
    (
        "StorageClass",
        "allowedTopologies|0|matchLabelExpressions|0|values",
        [],
        "allowedTopologies[0].matchLabelExpressions[0].values: Required value",
    ),
    ("VolumeAttributesClass", "parameters", {}, "parameters: Required value: must contain at least one key/value pair"),
    (
        "CSIDriver",
        "spec|tokenRequests|0|expirationSeconds",
        5,
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes",
    ),
    ("CSINode", "spec|drivers|0|nodeID", "", "spec.drivers[0].nodeID: Required value"),
    (
        "CSINode",
        "spec|drivers|0|allocatable|count",
        -1,
        "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
    ),
    ("CSIStorageCapacity", "capacity", "-1", 'capacity: Invalid value: "-1": must be greater than or equal to 0'),
    (
        "VolumeAttachment",
        "spec|source",
        {},
        "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
    ),
    (
        "DeviceClass",
        "spec|extendedResourceName",
        "gpu",
        'spec.extendedResourceName: Invalid value: "gpu": must be a valid extended resource name',
    ),
    ("DeviceClass", "spec|selectors|0", {}, "spec.selectors[0].cel: Required value"),
    (
        "ResourceClaim",
        "spec|devices|requests|0|exactly",
        ...,
        "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
    ),
    (
        "ResourceClaim",
        "spec|devices|requests|0|exactly|allocationMode",
        "Some",
        (
            'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: '
            '"All", "ExactCount"'
        ),
    ),
    (
        "ResourceClaim",
        "spec|devices|requests|0|exactly|deviceClassName",
        "",
        "spec.devices.requests[0].exactly.deviceClassName: Required value",
    ),
    (
        "ResourceClaim",
        "spec|devices|requests",
        [REQUEST] * 33,
        "spec.devices.requests: Too many: 33: must have at most 32 items",
    ),
    (
        "ResourceClaim",
        "spec|devices|requests",
        [REQUEST] * 2,
        'spec.devices.requests[1]: Duplicate value: "gpu"',
    ),
    (
        "ResourceClaim",
        "spec|devices|constraints|0|requests",
        ["cpu"],
        (
            'spec.devices.constraints[0].requests[0]: Invalid value: "cpu": must be the name of a request '
            "in the claim or the name of a request and a subrequest separated by '/'"
        ),
    ),
    ("ResourceClaimTemplate", "spec|metadata", {"name": "n"}, "spec.metadata.name: Forbidden: cannot be set"),
    (
        "ResourceSlice",
        "spec|nodeName",
        ...,
        (
            "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
            "`perDeviceNodeSelection` is required"
        ),
    ),
    (
        "ResourceSlice",
        "spec|allNodes",
        True,
        (
            'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, '
            "`allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set"
        ),
    ),
    (
        "ResourceSlice",
        "spec|pool|resourceSliceCount",
        0,
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
    ),
    (
        "ResourceSlice",
        "spec|devices|0|attributes|model",
        {},
        'spec.devices[0].attributes[model]: Invalid value: "": exactly one value must be specified',
    ),
    (
        "ResourceSlice",
        "spec|devices|0|attributes|example.com/v|version",
        "1.2",
        (
            'spec.devices[0].attributes[example.com/v].version: Invalid value: "1.2": must be a string '
            "compatible with semver.org spec 2.0.0"
        ),
    ),
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
    (
        "DeviceTaintRule",
        "spec|taint|effect",
        "Never",
        'spec.taint.effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"',
    ),
]


@pytest.mark.parametrize(("kind", "path", "value", "message"), REFUSALS)
def test_what_is_refused(kind: str, path: str, value: Any, message: str) -> None:
    code, reason, text = an_api().refused("POST", path_of(kind), put(good(kind), path, value))
    assert (code, reason) == (422, "Invalid"), text
    assert message in text
