"""One good object of every kind that is not a pod or a role, and ways to change it.

From a kind to an object that an API server takes, to its path, and to the same object with something else in it.
"""

import copy
from collections.abc import Iterator
from typing import Any

from tests.support.api import Asking

from kubesched_controlplane.server.catalog import built_in
from kubesched_controlplane.server.server import ApiServer

Document = dict[str, Any]
DISK = "disk.example.com"
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
JOB_TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
RULES = [{"operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}]
WEBHOOK: Document = {
    "name": "check.example.com",
    "clientConfig": {"service": {"namespace": "default", "name": "hook", "path": "/check"}},
    "rules": RULES,
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "matchConditions": [{"name": "mine", "expression": "true"}],
}
# asks for a certificate for the user a
SIGNING_REQUEST = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1HQnlx"
    "R1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCQ29xa0pVMmhYZXEybUxHTXRxVjFDQWF1aE5uYzJVb3NuYXl3WTRhSWYxRjhMd2Ew"
    "dmZHcVdLUkxGdExyS0NRCjFTdGwzY0gyOTF5WFdqSUtKbEdQcmY2Z0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpRUExZk82ZFcx"
    "UW5KeEsKMktlL3BkSGZhcC9BcEdrMzkyZkkxZFFNVjJuWkw4MENJSElFTmVicXR5N0Q5R3F3L1QySnByUXhMcExsZXdncQpaT3pu"
    "UU1zTUxJWVYKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=="
)
SELECTOR = {"matchLabels": {"app": "web"}}
CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
DEVICES = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}
TERM = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
# kind -> (API version, the rest of a good object)
GOOD: dict[str, tuple[str, Document]] = {
    "Node": (
        "v1",
        {
            "spec": {"podCIDR": "10.1.0.0/24", "providerID": "x://1", "taints": [{"key": "a", "effect": "NoSchedule"}]},
            "status": {"capacity": {"cpu": "4", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]},
        },
    ),
    "Namespace": ("v1", {"spec": {"finalizers": ["example.com/mine"]}}),
    "Service": (
        "v1",
        {"spec": {"type": "NodePort", "selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}]}},
    ),
    "Endpoints": ("v1", {"subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}]}),
    "EndpointSlice": (
        "discovery.k8s.io/v1",
        {
            "addressType": "IPv4",
            "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {"ready": True}, "nodeName": "n"}],
            "ports": [{"name": "http", "port": 80}],
        },
    ),
    "ValidatingWebhookConfiguration": ("admissionregistration.k8s.io/v1", {"webhooks": [WEBHOOK]}),
    "MutatingWebhookConfiguration": ("admissionregistration.k8s.io/v1", {"webhooks": [WEBHOOK]}),
    "ValidatingAdmissionPolicy": (
        "admissionregistration.k8s.io/v1",
        {
            "spec": {
                "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
                "matchConstraints": {"resourceRules": [{**RULES[0], "resourceNames": ["web"]}]},
                "matchConditions": [{"name": "mine", "expression": "request.name != 'not-mine'"}],
                "variables": [{"name": "replicas", "expression": "object.spec.replicas"}],
                "validations": [
                    {
                        "expression": "variables.replicas <= int(params.data.most)",
                        "message": "too many",
                        "reason": "Forbidden",
                        "messageExpression": "'no more than ' + params.data.most",
                    }
                ],
                "auditAnnotations": [{"key": "replicas", "valueExpression": "string(variables.replicas)"}],
            }
        },
    ),
    "ValidatingAdmissionPolicyBinding": (
        "admissionregistration.k8s.io/v1",
        {
            "spec": {
                "policyName": "a",
                "paramRef": {"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"},
                "matchResources": {"namespaceSelector": SELECTOR},
                "validationActions": ["Warn", "Audit"],
            }
        },
    ),
    "MutatingAdmissionPolicy": (
        "admissionregistration.k8s.io/v1",
        {
            "spec": {
                "matchConstraints": {"resourceRules": RULES},
                "mutations": [
                    {"patchType": "JSONPatch", "jsonPatch": {"expression": '[JSONPatch{op: "test", path: "/a"}]'}}
                ],
                "reinvocationPolicy": "Never",
            }
        },
    ),
    "MutatingAdmissionPolicyBinding": ("admissionregistration.k8s.io/v1", {"spec": {"policyName": "a"}}),
    "FlowSchema": (
        "flowcontrol.apiserver.k8s.io/v1",
        {
            "spec": {
                "priorityLevelConfiguration": {"name": "a"},
                "distinguisherMethod": {"type": "ByUser"},
                "rules": [
                    {
                        "subjects": [
                            {"kind": "User", "user": {"name": "u"}},
                            {"kind": "ServiceAccount", "serviceAccount": {"namespace": "default", "name": "*"}},
                        ],
                        "resourceRules": [
                            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["default"]}
                        ],
                        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/healthz/*"]}],
                    }
                ],
            }
        },
    ),
    "PriorityLevelConfiguration": (
        "flowcontrol.apiserver.k8s.io/v1",
        {
            "spec": {
                "type": "Limited",
                "limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 16, "handSize": 4}}},
            }
        },
    ),
    "CertificateSigningRequest": (
        "certificates.k8s.io/v1",
        {
            "spec": {
                "request": SIGNING_REQUEST,
                "signerName": "example.com/a",
                "usages": ["client auth"],
                "expirationSeconds": 3600,
            }
        },
    ),
    "ServiceCIDR": ("networking.k8s.io/v1", {"spec": {"cidrs": ["10.1.0.0/16"]}}),
    "ConfigMap": ("v1", {"data": {"a": "b"}, "binaryData": {"c": "ZGF0YQ=="}}),
    "Secret": ("v1", {"data": {"a": "ZGF0YQ=="}, "stringData": {"b": "text"}}),
    "ServiceAccount": ("v1", {"secrets": [{"name": "s"}]}),
    "Event": ("v1", {"involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "reason": "R"}),
    "ReplicationController": ("v1", {"spec": {"replicas": 2, "template": TEMPLATE}}),
    "ReplicaSet": ("apps/v1", {"spec": {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}}),
    "StatefulSet": (
        "apps/v1",
        {
            "spec": {
                "selector": SELECTOR,
                "template": TEMPLATE,
                "serviceName": "web",
                "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": CLAIM_SPEC}],
            }
        },
    ),
    "Deployment": (
        "apps/v1",
        {"spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE, "strategy": {"type": "RollingUpdate"}}},
    ),
    "DaemonSet": (
        "apps/v1",
        {"spec": {"selector": SELECTOR, "template": TEMPLATE, "updateStrategy": {"rollingUpdate": {"maxSurge": 0}}}},
    ),
    "ControllerRevision": ("apps/v1", {"revision": 1, "data": {"spec": {"template": {}}}}),
    "PodTemplate": ("v1", {"template": TEMPLATE}),
    "Job": (
        "batch/v1",
        {
            "spec": {
                "completions": 3,
                "parallelism": 2,
                "completionMode": "Indexed",
                "backoffLimitPerIndex": 1,
                "maxFailedIndexes": 1,
                "ttlSecondsAfterFinished": 60,
                "template": JOB_TEMPLATE,
                "podFailurePolicy": {
                    "rules": [
                        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3, 42]}},
                        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
                    ]
                },
                "successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]},
            }
        },
    ),
    "CronJob": (
        "batch/v1",
        {
            "spec": {
                "schedule": "*/5 * * * *",
                "timeZone": "Europe/Berlin",
                "startingDeadlineSeconds": 100,
                "jobTemplate": {"spec": {"template": JOB_TEMPLATE}},
            }
        },
    ),
    "ResourceQuota": (
        "v1",
        {
            "spec": {
                "hard": {"pods": "10", "requests.cpu": "4", "limits.memory": "8Gi"},
                "scopes": ["NotTerminating"],
                "scopeSelector": {
                    "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
                },
            }
        },
    ),
    "LimitRange": (
        "v1",
        {
            "spec": {
                "limits": [
                    {
                        "type": "Container",
                        "max": {"cpu": "2"},
                        "min": {"cpu": "100m"},
                        "default": {"cpu": "1"},
                        "maxLimitRequestRatio": {"cpu": "10"},
                    },
                    {"type": "PersistentVolumeClaim", "max": {"storage": "10Gi"}},
                ]
            }
        },
    ),
    "HorizontalPodAutoscaler": (
        "autoscaling/v2",
        {
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "maxReplicas": 5,
                "metrics": [
                    {
                        "type": "Pods",
                        "pods": {"metric": {"name": "q"}, "target": {"type": "AverageValue", "averageValue": "1"}},
                    }
                ],
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
            }
        },
    ),
    "RuntimeClass": (
        "node.k8s.io/v1",
        {
            "handler": "runsc",
            "overhead": {"podFixed": {"cpu": "250m"}},
            "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}]},
        },
    ),
    "Ingress": (
        "networking.k8s.io/v1",
        {
            "spec": {
                "ingressClassName": "fast",
                "tls": [{"hosts": ["a.example.com"], "secretName": "s"}],
                "rules": [
                    {
                        "host": "*.example.com",
                        "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]},
                    }
                ],
            }
        },
    ),
    "IngressClass": (
        "networking.k8s.io/v1",
        {"spec": {"controller": "example.com/in", "parameters": {"kind": "ConfigMap", "name": "c"}}},
    ),
    "NetworkPolicy": (
        "networking.k8s.io/v1",
        {
            "spec": {
                "podSelector": SELECTOR,
                "ingress": [{"ports": [{"port": 80, "endPort": 90}], "from": [{"podSelector": SELECTOR}]}],
                "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}],
            }
        },
    ),
    "PodDisruptionBudget": ("policy/v1", {"spec": {"minAvailable": "50%", "selector": SELECTOR}}),
    "PriorityClass": ("scheduling.k8s.io/v1", {"value": 1000, "description": "d"}),
    "PodGroup": ("scheduling.k8s.io/v1alpha2", {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}),
    "Workload": (
        "scheduling.k8s.io/v1alpha2",
        {"spec": {"podGroupTemplates": [{"name": "workers", "schedulingPolicy": {"basic": {}}}]}},
    ),
    "Lease": ("coordination.k8s.io/v1", {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}),
    "LeaseCandidate": (
        "coordination.k8s.io/v1beta1",
        {
            "spec": {
                "leaseName": "l",
                "binaryVersion": "1.36.0",
                "emulationVersion": "1.35.0",
                "strategy": "OldestEmulationVersion",
            }
        },
    ),
    "PersistentVolume": (
        "v1",
        {
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "csi": {"driver": DISK, "volumeHandle": "h"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [TERM]}},
            }
        },
    ),
    "PersistentVolumeClaim": ("v1", {"spec": {**CLAIM_SPEC, "storageClassName": "fast", "selector": SELECTOR}}),
    "StorageClass": (
        "storage.k8s.io/v1",
        {
            "provisioner": DISK,
            "parameters": {"a": "b"},
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
        },
    ),
    "VolumeAttributesClass": ("storage.k8s.io/v1", {"driverName": DISK, "parameters": {"a": "b"}}),
    "CSIDriver": ("storage.k8s.io/v1", {"spec": {"tokenRequests": [{"audience": "a", "expirationSeconds": 3600}]}}),
    "CSINode": (
        "storage.k8s.io/v1",
        {"spec": {"drivers": [{"name": DISK, "nodeID": "n", "topologyKeys": ["zone"], "allocatable": {"count": 3}}]}},
    ),
    "CSIStorageCapacity": (
        "storage.k8s.io/v1",
        {"storageClassName": "fast", "capacity": "1Gi", "nodeTopology": SELECTOR},
    ),
    "VolumeAttachment": (
        "storage.k8s.io/v1",
        {"spec": {"attacher": DISK, "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
    ),
    "DeviceClass": (
        "resource.k8s.io/v1",
        {
            "spec": {
                "selectors": [{"cel": {"expression": "true"}}],
                "config": [{"opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}],
                "extendedResourceName": "example.com/gpu",
            }
        },
    ),
    "ResourceClaim": (
        "resource.k8s.io/v1",
        {
            "spec": {
                "devices": {
                    **DEVICES,
                    "constraints": [{"requests": ["gpu"], "matchAttribute": "example.com/numa"}],
                    "config": [{"requests": ["gpu"], "opaque": {"driver": "gpu.example.com", "parameters": {}}}],
                }
            }
        },
    ),
    "ResourceClaimTemplate": ("resource.k8s.io/v1", {"spec": {"spec": {"devices": DEVICES}}}),
    "ResourceSlice": (
        "resource.k8s.io/v1",
        {
            "spec": {
                "driver": "gpu.example.com",
                "nodeName": "n",
                "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
                "devices": [
                    {
                        "name": "gpu-0",
                        "attributes": {"model": {"string": "x"}, "example.com/v": {"version": "1.2.3"}},
                        "capacity": {"memory": {"value": "8Gi"}},
                        "taints": [{"key": "a", "effect": "NoSchedule"}],
                    }
                ],
            }
        },
    ),
    "DeviceTaintRule": (
        "resource.k8s.io/v1beta2",
        {"spec": {"deviceSelector": {"driver": "gpu.example.com"}, "taint": {"key": "a", "effect": "NoExecute"}}},
    ),
}
CATALOG = built_in()


def an_api(server: ApiServer | None = None) -> Asking:
    """Return an API server with the namespace `default`."""
    asking = Asking(server)
    asking.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    return asking


def good(kind: str, name: str = "a") -> Document:
    """Return a good object."""
    version, rest = GOOD[kind]
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **copy.deepcopy(rest)}


def path_of(kind: str, name: str = "") -> str:
    """Return the path of a kind, or of an object."""
    resource = CATALOG.of_kind(GOOD[kind][0], kind)
    assert resource is not None
    start = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    place = f"{start}/namespaces/default" if resource.namespaced else start
    return f"{place}/{resource.plural}/{name}" if name else f"{place}/{resource.plural}"


def put(document: Document, path: str, value: Any) -> Document:
    """Return a document with a value at a dotted path, numbers being places in lists; `...` takes it away."""
    document = copy.deepcopy(document)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("|")]
    holder: Any = document
    for part in way:
        holder = holder.setdefault(part, {}) if isinstance(holder, dict) else holder[part]
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    return document


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the ways to everything in a document."""
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*way, key)
        yield from places(entry, (*way, key))


DAMAGE: list[Any] = [..., None, "", "x" * 300, "\x00", 0, -1, 2**70, 1.5, True, [], [None], {}, {"": None}, [[]]]


def damaged(document: Document) -> Iterator[Document]:
    """Yield a document with one thing in it lost or replaced, in every way."""
    for way in places({key: value for key, value in document.items() if key not in ("kind", "apiVersion")}):
        for damage in DAMAGE:
            copied = copy.deepcopy(document)
            holder: Any = copied
            for part in way[:-1]:
                holder = holder[part]
            if damage is ...:
                del holder[way[-1]]
            else:
                holder[way[-1]] = copy.deepcopy(damage)
            yield copied


def found_at(document: Any, path: str) -> Any:
    """Return what stands at a path of a document, numbers being places in lists."""
    for part in path.split("|"):
        document = document[int(part) if part.isdigit() else part]
    return document
