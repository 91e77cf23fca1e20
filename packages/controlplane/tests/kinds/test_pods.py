"""New pods: what the server fills in, what other objects decide about them, and how they are found again."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.api import Asking

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.server.server import ApiServer

PODS = "/api/v1/namespaces/default/pods"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR = "2030-01-01T12:00:00Z"


@pytest.fixture
def api() -> Asking:
    asking = Asking(ApiServer(access=always_allow, clock=lambda: NOW, seed=1))
    if asking.ask("GET", "/api/v1/namespaces/default")[0] == 404:
        asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    return asking


def a_pod(name: str = "p", container: dict[str, Any] | None = None, meta: Any = None, **spec: Any) -> dict[str, Any]:
    """Return a pod as somebody would write it; `container` adds to its only container."""
    containers = [{"name": "c", "image": "nginx:1.27", **(container or {})}]
    return {"metadata": {"name": name, **(meta or {})}, "spec": {"containers": containers, **spec}}


def test_a_plain_pod_is_filled_in_as_by_the_reference(api: Asking) -> None:
    pod = api.ok("POST", PODS, a_pod())
    assert pod["spec"] == {
        "containers": [
            {
                "name": "c",
                "image": "nginx:1.27",
                "imagePullPolicy": "IfNotPresent",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [
            {"effect": "NoExecute", "key": key, "operator": "Exists", "tolerationSeconds": 300}
            for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        ],
    }
    assert pod["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert pod["metadata"]["generation"] == 1


DEFAULTS = [
    ("the latest image is always pulled", {"image": "nginx"}, {"imagePullPolicy": "Always"}),
    ("so is one whose tag says so", {"image": "reg:5000/nginx:latest"}, {"imagePullPolicy": "Always"}),
    ("a port of a registry is no tag", {"image": "reg:5000/nginx"}, {"imagePullPolicy": "Always"}),
    ("an image by digest is not", {"image": "nginx@sha256:" + "a" * 64}, {"imagePullPolicy": "IfNotPresent"}),
    ("what was said is kept", {"image": "nginx", "imagePullPolicy": "Never"}, {"imagePullPolicy": "Never"}),
    (
        "what is limited is requested, and written canonically",
        {"resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}, "requests": {"cpu": 0.5}}},
        {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}}},
    ),
    (
        "amounts are rounded up to thousandths",
        {"resources": {"requests": {"cpu": "100u"}}},
        {"resources": {"requests": {"cpu": "1m"}}},
    ),
    (
        "a port is of TCP",
        {"ports": [{"containerPort": 80}]},
        {"ports": [{"containerPort": 80, "protocol": "TCP"}]},
    ),
    (
        "a probe has its times",
        {"readinessProbe": {"httpGet": {"port": 80}}},
        {
            "readinessProbe": {
                "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
                "timeoutSeconds": 1,
                "periodSeconds": 10,
                "successThreshold": 1,
                "failureThreshold": 3,
            }
        },
    ),
    (
        "a field is of v1",
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]},
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName", "apiVersion": "v1"}}}]},
    ),
]


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in DEFAULTS], ids=[row[0] for row in DEFAULTS])
def test_containers_are_filled_in(api: Asking, given: dict[str, Any], expected: dict[str, Any]) -> None:
    container = api.ok("POST", PODS, a_pod(container=given))["spec"]["containers"][0]
    assert {field: container[field] for field in expected} == expected


SPECS = [
    (
        "with the host's network, ports are the host's",
        {"hostNetwork": True, "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]},
        lambda spec: spec["containers"][0]["ports"],
        [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
    ),
    (
        "a volume without a source is an empty directory",
        {"volumes": [{"name": "v"}]},
        lambda spec: spec["volumes"],
        [{"name": "v", "emptyDir": {}}],
    ),
    (
        "files have a mode, and none at all is one",
        {
            "volumes": [
                {"name": "a", "configMap": {"name": "m"}},
                {"name": "b", "secret": {"secretName": "s", "defaultMode": 0}},
            ]
        },
        lambda spec: [spec["volumes"][0]["configMap"]["defaultMode"], spec["volumes"][1]["secret"]["defaultMode"]],
        [420, 0],
    ),
    (
        "the old name of the service account counts, too",
        {"serviceAccount": "robot"},
        lambda spec: (spec["serviceAccount"], spec["serviceAccountName"]),
        ("robot", "robot"),
    ),
    (
        "a negative grace period is a second",
        {"terminationGracePeriodSeconds": -5},
        lambda spec: spec["terminationGracePeriodSeconds"],
        1,
    ),
    (
        "who tolerates everything gets no toleration more",
        {"tolerations": [{"operator": "Exists"}]},
        lambda spec: spec["tolerations"],
        [{"operator": "Exists"}],
    ),
    (
        "who tolerates one of the two for ever gets the other",
        {"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]},
        lambda spec: [toleration["key"] for toleration in spec["tolerations"]],
        ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"],
    ),
    (
        "limits of the pod as a whole are requested",
        {"resources": {"limits": {"cpu": "2"}}},
        lambda spec: spec["resources"],
        {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}},
    ),
    (
        "unless its containers request less",
        {
            "resources": {"limits": {"cpu": "2"}},
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "300m"}}}],
        },
        lambda spec: spec["resources"]["requests"],
        {"cpu": "300m"},
    ),
    (
        "huge pages of containers are limits of the pod",
        {
            "resources": {"requests": {"cpu": "1"}},
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resources": {"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}},
                }
            ],
        },
        lambda spec: spec["resources"],
        {"requests": {"cpu": "1", "hugepages-2Mi": "4Mi"}, "limits": {"hugepages-2Mi": "4Mi"}},
    ),
]


@pytest.mark.parametrize(("spec", "look", "expected"), [row[1:] for row in SPECS], ids=[row[0] for row in SPECS])
def test_specs_are_filled_in(api: Asking, spec: dict[str, Any], look: Any, expected: Any) -> None:
    assert look(api.ok("POST", PODS, a_pod(**spec))["spec"]) == expected


QUALITIES = [
    ("nothing asked, nothing promised", {}, "BestEffort"),
    ("a request", {"requests": {"cpu": "1"}}, "Burstable"),
    (
        "nothing that counts",
        {"requests": {"cpu": "0", "example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}},
        "BestEffort",
    ),
    ("one limit of two", {"limits": {"cpu": "1"}}, "Burstable"),
    ("both limits", {"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
    ("requests below", {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    (
        "requests equal in other words",
        {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}},
        "Guaranteed",
    ),
]


@pytest.mark.parametrize(("resources", "quality"), [row[1:] for row in QUALITIES], ids=[row[0] for row in QUALITIES])
def test_requests_and_limits_make_the_class_of_service(api: Asking, resources: Any, quality: str) -> None:
    assert api.ok("POST", PODS, a_pod(container={"resources": resources}))["status"]["qosClass"] == quality


def test_the_pod_as_a_whole_outweighs_its_containers(api: Asking) -> None:
    whole = {"limits": {"cpu": "1", "memory": "1Gi"}}
    assert api.ok("POST", PODS, a_pod("a", resources=whole))["status"]["qosClass"] == "Guaranteed"
    assert api.ok("POST", PODS, a_pod("b", resources={"requests": {"cpu": "1"}}))["status"]["qosClass"] == "Burstable"


# -- priority


def test_a_class_gives_a_pod_its_priority(api: Asking) -> None:
    api.ok("POST", CLASSES, {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})
    spec = api.ok("POST", PODS, a_pod(priorityClassName="high"))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")


def test_classes_of_the_system_are_there(api: Asking) -> None:
    spec = api.ok("POST", PODS, a_pod(priorityClassName="system-node-critical"))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (2_000_001_000, "PreemptLowerPriority")


def test_the_default_class_is_for_those_who_name_none(api: Asking) -> None:
    api.ok("POST", CLASSES, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    spec = api.ok("POST", PODS, a_pod())["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("usual", 7)


PRIORITIES = [
    (
        "a class that does not exist",
        {"priorityClassName": "none"},
        'pods "p" is forbidden: no PriorityClass with name none was found',
    ),
    (
        "a priority of its own",
        {"priority": 5},
        'pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission '
        "controller computed 0 from the given PriorityClass name",
    ),
    (
        "a preemption policy of its own",
        {"preemptionPolicy": "Never"},
        'pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; '
        "priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
    ),
    (
        "a runtime class that does not exist",
        {"runtimeClassName": "gvisor"},
        'pods "p" is forbidden: pod rejected: RuntimeClass "gvisor" not found',
    ),
    (
        "overhead that no runtime class has",
        {"overhead": {"cpu": "1"}},
        'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ),
]


@pytest.mark.parametrize(("spec", "message"), [row[1:] for row in PRIORITIES], ids=[row[0] for row in PRIORITIES])
def test_what_is_not_admitted(api: Asking, spec: dict[str, Any], message: str) -> None:
    assert api.refused("POST", PODS, a_pod(**spec)) == (403, "Forbidden", message)


def test_a_priority_that_agrees_with_the_class_is_welcome(api: Asking) -> None:
    api.ok("POST", CLASSES, {"metadata": {"name": "high"}, "value": 1000})
    assert api.ok("POST", PODS, a_pod(priorityClassName="high", priority=1000))["spec"]["priority"] == 1000


def test_a_runtime_class_brings_overhead_and_demands(api: Asking) -> None:
    # runtime classes have no path of their own
    runtime = {
        "metadata": {"name": "gvisor"},
        "handler": "runsc",
        "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {"nodeSelector": {"sandbox": "yes"}, "tolerations": [{"key": "sandbox", "operator": "Exists"}]},
    }
    api.server.registry.store.put("runtimeclasses.node.k8s.io", runtime, {})
    spec = api.ok("POST", PODS, a_pod(runtimeClassName="gvisor"))["spec"]
    assert (spec["overhead"], spec["nodeSelector"]) == ({"cpu": "250m"}, {"sandbox": "yes"})
    assert {"key": "sandbox", "operator": "Exists"} in spec["tolerations"]
    clash = api.refused("POST", PODS, a_pod("q", runtimeClassName="gvisor", nodeSelector={"sandbox": "no"}))
    assert clash[0] == 403
    assert "conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes" in clash[2]


# -- label keys, gates, topology


def test_label_keys_are_written_into_the_selectors_beside_them(api: Asking) -> None:
    selector = {"matchLabels": {"app": "web"}}
    term = {
        "topologyKey": "zone",
        "labelSelector": selector,
        "matchLabelKeys": ["hash", "none"],
        "mismatchLabelKeys": ["tenant"],
    }
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        "matchLabelKeys": ["hash"],
    }
    pod = a_pod(
        meta={"labels": {"app": "web", "hash": "h1", "tenant": "t1"}},
        affinity={
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]
            },
        },
        topologySpreadConstraints=[spread],
    )
    spec = api.ok("POST", PODS, pod)["spec"]
    same = {"key": "hash", "operator": "In", "values": ["h1"]}
    other = {"key": "tenant", "operator": "NotIn", "values": ["t1"]}
    affinity = spec["affinity"]
    required = affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    preferred = affinity["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"]
    for merged in (required, preferred):
        assert merged["labelSelector"] == {**selector, "matchExpressions": [same, other]}
    assert spec["topologySpreadConstraints"][0]["labelSelector"] == {**selector, "matchExpressions": [same]}


def test_a_gated_pod_says_so(api: Asking) -> None:
    pod = api.ok("POST", PODS, a_pod(schedulingGates=[{"name": "example.com/wait"}]))
    assert pod["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastTransitionTime": HOUR,
        }
    ]


def test_a_pod_that_comes_with_a_node_gets_the_labels_of_its_place(api: Asking) -> None:
    labels = {"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r", "kubernetes.io/hostname": "n"}
    api.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n", "labels": labels}})
    pod = api.ok("POST", PODS, a_pod(nodeName="n", meta={"labels": {"topology.kubernetes.io/zone": "wrong"}}))
    assert pod["metadata"]["labels"] == {"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"}


def test_a_status_that_comes_with_a_new_pod_is_not_taken(api: Asking) -> None:
    pod = api.ok("POST", PODS, {**a_pod(), "status": {"phase": "Running", "podIP": "10.0.0.1"}})
    assert pod["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


# -- fields


SELECTORS = [
    ("spec.nodeName=", ["a"]),
    ("spec.nodeName=n", ["b"]),
    ("spec.host=n", ["b"]),
    ("spec.nodeName!=n,status.phase=Pending", ["a"]),
    ("spec.schedulerName=mine", ["b"]),
    ("spec.restartPolicy=Never", ["b"]),
    ("spec.serviceAccountName=default", ["a", "b"]),
    ("spec.hostNetwork=true", ["b"]),
    ("spec.hostNetwork=false", ["a"]),
    ("status.nominatedNodeName=n", ["a"]),
    ("status.podIP=10.0.0.1", ["b"]),
    ("status.podIPs=10.0.0.1", []),
]


@pytest.mark.parametrize(("selector", "names"), SELECTORS)
def test_pods_are_found_by_their_fields(api: Asking, selector: str, names: list[str]) -> None:
    api.ok("POST", PODS, a_pod("a"))
    api.ok("POST", PODS, a_pod("b", nodeName="n", schedulerName="mine", restartPolicy="Never", hostNetwork=True))
    merge = "application/merge-patch+json"
    api.ok("PATCH", f"{PODS}/a/status", {"status": {"nominatedNodeName": "n"}}, merge)
    api.ok("PATCH", f"{PODS}/b/status", {"status": {"podIPs": [{"ip": "10.0.0.1"}]}}, merge)
    found = api.ok("GET", PODS, fieldSelector=selector)["items"]
    assert [pod["metadata"]["name"] for pod in found] == names


def test_a_field_that_pods_do_not_have_is_refused(api: Asking) -> None:
    code, _, message = api.refused("GET", PODS, fieldSelector="spec.priority=0")
    assert (code, message) == (400, "field label not supported: spec.priority")
