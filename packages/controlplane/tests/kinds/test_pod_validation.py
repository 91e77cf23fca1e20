"""Pods that are refused: what is wrong with them, in the reference's words."""

from typing import Any

import pytest
from tests.support.api import Asking

PODS = "/api/v1/namespaces/default/pods"
LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
KEY_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


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
    ("no containers", {}, ["spec.containers: Required value"]),
    (
        "a container with nothing",
        {"containers": [{}]},
        ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
    ),
    (
        "a name with capitals",
        {"containers": [{"name": "C", "image": "i"}]},
        [f'spec.containers[0].name: Invalid value: "C": {LABEL_RULE}'],
    ),
    (
        "a name with a dot",
        {"containers": [{"name": "a.b", "image": "i"}]},
        ['spec.containers[0].name: Invalid value: "a.b": must not contain dots'],
    ),
    (
        "two of one name",
        {"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]},
        ['spec.containers[1].name: Duplicate value: "c"'],
    ),
    (
        "an init container of the same name",
        and_spec(initContainers=[{"name": "c", "image": "i"}]),
        ['spec.initContainers[0].name: Duplicate value: "c"'],
    ),
    (
        "spaces around an image",
        {"containers": [{"name": "c", "image": " i"}]},
        ['spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace'],
    ),
    (
        "a way to pull that nobody knows",
        of_container(imagePullPolicy="Sometimes"),
        [
            'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", '
            '"IfNotPresent", "Never"'
        ],
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
        "two ports of one name",
        of_container(ports=[{"name": "web", "containerPort": 80}, {"name": "web", "containerPort": 81}]),
        ['spec.containers[0].ports[1].name: Duplicate value: "web"'],
    ),
    (
        "a port of the node taken twice",
        of_container(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]),
        ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
    ),
    (
        "another port than the container's on the host's network",
        {"hostNetwork": True, **of_container(ports=[{"containerPort": 80, "hostPort": 81}])},
        [
            "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is "
            "true"
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
        "a probe of an init container",
        and_spec(initContainers=[{"name": "i", "image": "i", "readinessProbe": {"exec": {"command": ["true"]}}}]),
        [
            "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without "
            "restartPolicy=Always"
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
    (
        "ephemeral containers at once",
        and_spec(ephemeralContainers=[{"name": "e", "image": "i"}]),
        ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
    ),
]

RESOURCES = [
    (
        "a request above its limit",
        resources({"cpu": "1"}, {"cpu": "2"}),
        ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ),
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
        "huge pages alone",
        resources({"hugepages-2Mi": "4Mi"}),
        ["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"],
    ),
    (
        "a page and a half",
        resources({"hugepages-2Mi": "3Mi", "cpu": "1"}),
        [
            f'spec.containers[0].resources.{kind}[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer '
            "multiple of hugepages-2Mi"
            for kind in ("limits", "requests")
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
        "a node selector with a bad value",
        and_spec(nodeSelector={"a": "b c"}),
        [f'spec.nodeSelector: Invalid value: "b c": {VALUE_RULE}'],
    ),
    (
        "node affinity without terms",
        and_spec(
            affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}
        ),
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required "
            "value: must have at least one node selector term"
        ],
    ),
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
        "pod affinity without a topology",
        and_spec(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}}),
        [
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: "
            "can not be empty",
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "
            '"": name part must be non-empty',
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "
            f'"": {KEY_RULE}',
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
        "a number that is none",
        and_spec(tolerations=[{"key": "a", "operator": "Gt", "value": "010"}]),
        ['spec.tolerations[0].value: Invalid value: "010": must be a valid decimal integer in canonical form'],
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
        "spreading the same way twice",
        and_spec(
            topologySpreadConstraints=[
                {"maxSkew": skew, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"} for skew in (1, 2)
            ]
        ),
        [
            "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "
            '"{zone, DoNotSchedule}"'
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
        "two volumes of one name",
        and_spec(volumes=[{"name": "v"}, {"name": "v"}]),
        ['spec.volumes[1].name: Duplicate value: "v"'],
    ),
    (
        "a volume from two places",
        and_spec(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]),
        ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
    ),
    (
        "claims without a name",
        and_spec(volumes=[{"name": "v", "persistentVolumeClaim": {}}]),
        ["spec.volumes[0].persistentVolumeClaim.claimName: Required value"],
    ),
    (
        "a path that leads upwards",
        and_spec(volumes=[{"name": "v", "hostPath": {"path": "/a/../b", "type": "Hole"}}]),
        [
            "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
            'spec.volumes[0].hostPath.type: Unsupported value: "Hole": supported values: "", "BlockDevice", '
            '"CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
        ],
    ),
    (
        "a mount of what is not there",
        of_container(volumeMounts=[{"name": "v", "mountPath": "/x"}]),
        ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
    ),
    (
        "two mounts in one place",
        {
            "volumes": [{"name": "v"}],
            **of_container(volumeMounts=[{"name": "v", "mountPath": "/x"}, {"name": "v", "mountPath": "/x"}]),
        },
        ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique'],
    ),
    (
        "a device that is no claim",
        {"volumes": [{"name": "v"}], **of_container(volumeDevices=[{"name": "v", "devicePath": "/dev/x"}])},
        [
            'spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of '
            "PersistentVolumeClaim or Ephemeral for block mode"
        ],
    ),
    (
        "a claim to be made without a size",
        and_spec(
            volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}]
        ),
        ["spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value"],
    ),
]

REST = [
    (
        "a restart policy that is none",
        and_spec(restartPolicy="Often"),
        ['spec.restartPolicy: Unsupported value: "Often": supported values: "Always", "OnFailure", "Never"'],
    ),
    (
        "DNS by nobody",
        and_spec(dnsPolicy="None"),
        ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    ),
    (
        "a deadline in the past",
        and_spec(activeDeadlineSeconds=0),
        ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
    ),
    (
        "a user that is none",
        and_spec(securityContext={"runAsUser": -1}),
        ["spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
    ),
    (
        "a host name with a dot",
        and_spec(hostname="a.b"),
        ['spec.hostname: Invalid value: "a.b": must not contain dots'],
    ),
    (
        "a system that is none",
        and_spec(os={"name": "plan9"}),
        ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
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
