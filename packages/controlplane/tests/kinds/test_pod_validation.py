"""Refusals of pods that the recorded corpus (test_refusals.py) does not have, and pods that are accepted."""

from typing import Any

import pytest
from tests.support.api import Asking

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module")
def api() -> Asking:
    asking = Asking()
    if asking.ask("GET", "/api/v1/namespaces/default")[0] == 404:
        asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    return asking


def problems(api: Asking, spec: dict[str, Any], **meta: Any) -> list[str]:
    """Return what is wrong with a pod, as the causes of its refusal have it; nothing is stored."""
    code, answer = api.ask("POST", PODS, {"metadata": {"name": "p", **meta}, "spec": spec}, dryRun="All")
    if code == 201:
        return []
    assert (code, answer["reason"], answer["details"]["kind"]) == (422, "Invalid", "Pod"), answer
    return [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]


def of_container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", **fields}]}


def and_spec(**fields: Any) -> dict[str, Any]:
    return {**of_container(), **fields}


def resources(limits: Any = None, requests: Any = None, **more: Any) -> dict[str, Any]:
    return of_container(resources={"limits": limits or {}, "requests": requests or {}, **more})


CONTAINERS = [
    (
        "a name with a dot",
        {"containers": [{"name": "a.b", "image": "i"}]},
        ['spec.containers[0].name: Invalid value: "a.b": must not contain dots'],
    ),
    (
        "ports that are none",
        of_container(ports=[{"containerPort": 70000, "hostPort": -1, "protocol": "ICMP"}, {}]),
        [
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            "spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
            'spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
            "spec.containers[0].ports[1].containerPort: Required value",
        ],
    ),
    (
        "a probe that does nothing",
        of_container(livenessProbe={"periodSeconds": -1}),
        [
            "spec.containers[0].livenessProbe: Required value: must specify a handler type",
            "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
    (
        "a variable without a name and one with two sources",
        of_container(
            env=[
                {"value": "x"},
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.color"}, "secretKeyRef": {"name": "s"}}},
            ]
        ),
        [
            "spec.containers[0].env[0].name: Required value",
            'spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Invalid value: "spec.color": error converting '
            "fieldPath: field label not supported: spec.color",
            "spec.containers[0].env[1].valueFrom.secretKeyRef.key: Required value",
            'spec.containers[0].env[1].valueFrom: Invalid value: "": may not have more than one field specified at a '
            "time",
        ],
    ),
]

RESOURCES = [
    (
        "a negative amount",
        resources({"cpu": "-1"}, {"cpu": "-1"}),
        [
            'spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        ],
    ),
    (
        "half a device",
        resources({"example.com/gpu": "500m"}, {"example.com/gpu": "500m"}),
        [
            'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
            'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
        ],
    ),
    (
        "fewer devices than the limit",
        resources({"example.com/gpu": "2"}, {"example.com/gpu": "1"}),
        ['spec.containers[0].resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2'],
    ),
    (
        "devices without a limit",
        resources(None, {"example.com/gpu": "1"}),
        ["spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"],
    ),
    (
        "a resource that is none",
        resources({"gpu": "1"}),
        [
            f'spec.containers[0].resources.{kind}[gpu]: Invalid value: "gpu": {why}'
            for kind in ("limits", "requests")
            for why in (
                "must be a standard resource type or fully qualified",
                "must be a standard resource for containers",
            )
        ],
    ),
    (
        "a claim that the pod does not have",
        resources(claims=[{"name": "a"}]),
        [
            'spec.containers[0].resources.claims[0]: Not found: "a": must be one of the names in '
            "pod.spec.resourceClaims which is empty"
        ],
    ),
    (
        "less for the pod than its containers request",
        {"resources": {"requests": {"cpu": "1"}}, **resources(None, {"cpu": "2"})},
        [
            'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container '
            "requests of 2"
        ],
    ),
    (
        "what a pod as a whole cannot ask for",
        and_spec(resources={"requests": {"ephemeral-storage": "1Gi"}}),
        [
            'spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: '
            '"cpu", "hugepages-", "memory"'
        ],
    ),
]

SCHEDULING = [
    (
        "preferences without weight, and operators that are none",
        and_spec(
            affinity={
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"preference": {"matchExpressions": [{"key": "a", "operator": "Is", "values": ["?"]}]}}
                    ]
                }
            }
        ),
        [
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: "
            "must be in the range 1-100",
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
            'matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
        ],
    ),
    (
        "label keys without a selector",
        and_spec(
            affinity={
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "matchLabelKeys": ["a"]}]
                }
            }
        ),
        [
            "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: "
            "Forbidden: must not be specified when labelSelector is not set"
        ],
    ),
    (
        "tolerations of nothing, of no effect and for no time",
        and_spec(
            tolerations=[
                {"operator": "Equal", "value": "x"},
                {"key": "a", "operator": "Exists", "value": "x"},
                {"key": "a", "operator": "Like"},
                {"key": "a", "effect": "Never"},
                {"key": "a", "tolerationSeconds": 5},
            ]
        ),
        [
            'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which '
            'means "match all values and all keys"',
            "spec.tolerations[1].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'",
            'spec.tolerations[2].operator: Unsupported value: "Like": supported values: "Equal", "Exists"',
            'spec.tolerations[3].effect: Unsupported value: "Never": supported values: "NoSchedule", '
            '"PreferNoSchedule", "NoExecute"',
            "spec.tolerations[4].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is "
            "set",
        ],
    ),
    (
        "spreading that skews nothing, nowhere",
        and_spec(topologySpreadConstraints=[{"minDomains": 0, "nodeTaintsPolicy": "Maybe"}]),
        [
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: '
            '"DoNotSchedule", "ScheduleAnyway"',
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains if "
            "whenUnsatisfiable=DoNotSchedule, not ",
            'spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Maybe": supported values: '
            '"Honor", "Ignore"',
        ],
    ),
    (
        "gates twice, and with a node",
        and_spec(nodeName="n", schedulingGates=[{"name": "g"}, {"name": "g"}]),
        [
            'spec.schedulingGates[1]: Duplicate value: "g"',
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ],
    ),
    (
        "claims from nowhere and from two places",
        and_spec(
            resourceClaims=[
                {"name": "a"},
                {"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"},
            ]
        ),
        [
            "spec.resourceClaims[0]: Invalid value: "
            '{"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: '
            "`resourceClaimName`, `resourceClaimTemplateName`",
            'spec.resourceClaims[1].name: Duplicate value: "a"',
            "spec.resourceClaims[1]: Invalid value: "
            '{"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` '
            "or `resourceClaimTemplateName` may be specified",
        ],
    ),
    (
        "a group without a name",
        and_spec(schedulingGroup={}),
        ["spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`"],
    ),
]

VOLUMES = [
    (
        "a device that is no claim",
        {"volumes": [{"name": "v"}], **of_container(volumeDevices=[{"name": "v", "devicePath": "/dev/x"}])},
        [
            'spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of '
            "PersistentVolumeClaim or Ephemeral for block mode"
        ],
    ),
]

REST = [
    (
        "a user that is none",
        and_spec(securityContext={"runAsUser": -1}),
        ["spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
    ),
]

ROWS = [*CONTAINERS, *RESOURCES, *SCHEDULING, *VOLUMES, *REST]


@pytest.mark.parametrize(("spec", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_is_wrong_with_a_pod(api: Asking, spec: dict[str, Any], expected: list[str]) -> None:
    assert problems(api, spec) == expected


def test_several_problems_are_told_at_once(api: Asking) -> None:
    code, reason, message = api.refused("POST", PODS, {"metadata": {"name": "p"}, "spec": {"restartPolicy": "X"}})
    assert (code, reason) == (422, "Invalid")
    assert message == (
        'Pod "p" is invalid: [spec.containers: Required value, spec.restartPolicy: Unsupported value: "X": supported '
        'values: "Always", "OnFailure", "Never"]'
    )


def test_the_cost_of_deletion_is_a_number(api: Asking) -> None:
    key = "controller.kubernetes.io/pod-deletion-cost"
    assert problems(api, of_container(), annotations={key: "-10"}) == []
    for text in ("", "+5", "1e3", "2147483648", "01"):
        expected = [f'metadata.annotations[{key}]: Invalid value: "{text}": must be a 32bit integer']
        assert problems(api, of_container(), annotations={key: text}) == expected


GOOD = [
    (
        "a sidecar with a probe",
        and_spec(
            initContainers=[
                {
                    "name": "s",
                    "image": "i",
                    "restartPolicy": "Always",
                    "startupProbe": {"tcpSocket": {"port": "web"}, "successThreshold": 1},
                }
            ]
        ),
    ),
    ("huge pages with memory", resources({"hugepages-2Mi": "4Mi", "memory": "1Gi"})),
    ("devices", resources({"example.com/gpu": "2"})),
    (
        "a claim of devices",
        {
            "resourceClaims": [{"name": "a", "resourceClaimTemplateName": "t"}],
            **resources(claims=[{"name": "a", "request": "gpu"}]),
        },
    ),
    (
        "a claim that is made for the pod",
        and_spec(
            volumes=[
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "metadata": {"labels": {"a": "b"}},
                            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                        }
                    },
                }
            ]
        ),
    ),
    (
        "any value in a preference",
        and_spec(
            affinity={
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 1,
                            "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]},
                        }
                    ]
                }
            }
        ),
    ),
    ("a member of a group", and_spec(schedulingGroup={"podGroupName": "g"})),
    ("a toleration by number", and_spec(tolerations=[{"key": "a", "operator": "Lt", "value": "-5"}])),
]


@pytest.mark.parametrize("spec", [row[1] for row in GOOD], ids=[row[0] for row in GOOD])
def test_what_is_right(api: Asking, spec: dict[str, Any]) -> None:
    assert problems(api, spec) == []


MALFORMED = [
    ("a spec that is a list", {"spec": []}),
    ("containers that are one", {"spec": {"containers": {}}}),
    ("a container that is a text", {"spec": {"containers": ["c"]}}),
    ("a port that is a text", {"spec": of_container(ports=[{"containerPort": "http"}])}),
    ("an amount that is a list", {"spec": resources({"cpu": ["1"]})}),
    ("an amount that is no number", {"spec": resources({"cpu": "lots"})}),
    ("an amount beyond all bounds", {"spec": resources({"cpu": "1e999999999"})}),
    ("a selector that is a text", {"spec": and_spec(nodeSelector="a=b")}),
    ("a selector of numbers", {"spec": and_spec(nodeSelector={"a": 1})}),
    ("a weight that is a text", {"spec": and_spec(topologySpreadConstraints=[{"maxSkew": "1"}])}),
    ("tolerations that are a map", {"spec": and_spec(tolerations={"key": "a"})}),
    ("a grace period without end", {"spec": and_spec(terminationGracePeriodSeconds=2**70)}),
    ("labels that are a list", {"metadata": {"name": "p", "labels": ["a"]}, "spec": of_container()}),
]


@pytest.mark.parametrize("pod", [row[1] for row in MALFORMED], ids=[row[0] for row in MALFORMED])
def test_what_is_no_pod_is_refused_as_such(api: Asking, pod: dict[str, Any]) -> None:
    code, status = api.ask("POST", PODS, {"metadata": {"name": "p"}, **pod}, dryRun="All")
    assert code in (400, 422), status
    assert status["reason"] in ("BadRequest", "Invalid")


def test_nulls_count_as_left_out(api: Asking) -> None:
    spec = {
        "containers": [{"name": "c", "image": "i", "resources": None, "ports": None, "env": None}],
        "affinity": None,
        "tolerations": None,
        "volumes": None,
        "nodeSelector": None,
        "restartPolicy": None,
        "terminationGracePeriodSeconds": None,
        "securityContext": None,
    }
    pod = api.ok("POST", PODS, {"metadata": {"name": "p", "labels": None}, "spec": spec}, dryRun="All")
    assert (pod["spec"]["restartPolicy"], pod["spec"]["terminationGracePeriodSeconds"]) == ("Always", 30)
