"""How a remedy is carried out: requests that the API server accepts and no controller takes back, and commands."""

import json
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from kubesched.api.codec import decode, to_builtins
from kubesched.api.meta import ApiObject
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_node, a_pod, a_spread
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.remedies.search import find_remedies

LOADED = load_config()
DOCUMENT = dict[str, Any]


def remedies_of(objects: Sequence[ApiObject], workloads: Sequence[DOCUMENT] = ()) -> dict[str, Remedy]:
    """Return the remedies of the pod `default/pod` by their sentences."""
    model = ClusterModel(ClusterObjects(tuple(objects), tuple(workloads)), LOADED)
    return {remedy.summary: remedy for remedy in find_remedies(model, model.pod("default/pod"))}


# -- the kinds of controllers

SSD = {"disk": "ssd"}
TO_HDD = "change disk in the node selector from ssd to hdd"
LABELS = {"app": "web"}


def controller(kind: str, *, version: str = "apps/v1", owner: str = "", **spec: Any) -> DOCUMENT:
    template = {
        "metadata": {"labels": LABELS},
        "spec": {
            "containers": [{"name": "main", "image": "web"}],
            "nodeSelector": SSD,
            "restartPolicy": "OnFailure" if version == "batch/v1" else "Always",
        },
    }
    above, _, name = owner.partition("/")
    references = [{"apiVersion": "batch/v1", "kind": above, "name": name, "uid": name, "controller": True}]
    meta = {"name": "web", "namespace": "default", **({"ownerReferences": references} if owner else {})}
    selector = {} if version == "batch/v1" else {"selector": {"matchLabels": LABELS}}
    if kind == "CronJob":
        spec = {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": template}}, **spec}
    else:
        spec = {**selector, "template": template, **spec}
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


class Controlled(NamedTuple):
    """A controller of a pod with the node selector of its template, and what is sent to have another one."""

    controllers: list[DOCUMENT]
    requests: list[str]
    owner: str = ""


GENERATED = {"controller-uid": "17", "batch.kubernetes.io/controller-uid": "17"}
CONTROLLED: dict[str, Controlled] = {
    "a Deployment rolls out its template": Controlled([controller("Deployment")], ["patch Deployment web"]),
    "a ReplicaSet replaces the pod that is deleted": Controlled(
        [controller("ReplicaSet")], ["patch ReplicaSet web", "delete Pod pod"]
    ),
    "a StatefulSet does not replace a pod that never got ready": Controlled(
        [controller("StatefulSet", serviceName="web")], ["patch StatefulSet web", "delete Pod pod"]
    ),
    "a DaemonSet rolls out its template": Controlled([controller("DaemonSet")], ["patch DaemonSet web"]),
    "a DaemonSet that waits for deletions gets one": Controlled(
        [controller("DaemonSet", updateStrategy={"type": "OnDelete"})], ["patch DaemonSet web", "delete Pod pod"]
    ),
    "a Job is created again, since its template is immutable": Controlled(
        [controller("Job", version="batch/v1", selector={"matchLabels": GENERATED})], ["recreate Job web"]
    ),
    "a CronJob is patched, and its Job created again": Controlled(
        [
            controller("Job", version="batch/v1", owner="CronJob/web"),
            controller("CronJob", version="batch/v1"),
        ],
        ["patch CronJob web", "recreate Job web"],
        "CronJob default/web",
    ),
}


def as_words(remedy: Remedy) -> list[str]:
    verbs = {(False, False): "patch", (True, False): "recreate", (False, True): "delete"}
    return [
        f"{verbs[bool(each.recreate), bool(each.delete)]} {each.object.kind} {each.object.name}"
        for each in remedy.requests
    ]


@pytest.mark.parametrize("case", CONTROLLED.values(), ids=CONTROLLED)
def test_the_template_of_a_controller_is_changed(case: Controlled) -> None:
    kind = case.controllers[0]["kind"]
    pod = a_pod("pod", owner=f"{kind}/web", labels=LABELS, node_selector=SSD)
    remedy = remedies_of([a_node("n1", labels={"disk": "hdd"}), pod], case.controllers)[TO_HDD]
    assert (as_words(remedy), remedy.recreate) == (case.requests, True)
    assert remedy.owner == (case.owner or f"{kind} default/web")
    assert len(remedy.commands) == len(case.requests)


def test_what_a_job_got_when_it_was_created_is_removed_before_it_is_created_again() -> None:
    job = controller("Job", version="batch/v1", selector={"matchLabels": GENERATED})
    job["spec"]["template"]["metadata"] = {"labels": {**LABELS, **GENERATED}}
    pod = a_pod("pod", owner="Job/web", labels=LABELS, node_selector=SSD)
    remedy = remedies_of([a_node("n1", labels={"disk": "hdd"}), pod], [job])[TO_HDD]
    [request] = remedy.requests
    assert [each["path"] for each in request.patch or () if each["op"] == "remove"] == [
        "/spec/selector",
        "/spec/template/metadata/labels/controller-uid",
        "/spec/template/metadata/labels/batch.kubernetes.io~1controller-uid",
    ]


def test_a_controller_takes_back_what_is_not_from_its_template() -> None:
    # as the DaemonSet controller binds its pods to their nodes
    pod = a_pod("pod", owner="DaemonSet/web", labels=LABELS, node_selector={"disk": "ssd", "gpu": "yes"})
    node = a_node("n1", labels={"disk": "ssd", "gpu": "no"})
    assert "change gpu in the node selector from yes to no" not in remedies_of([node, pod], [controller("DaemonSet")])


def test_a_request_that_a_limit_range_gave_the_pod_is_written_into_the_template() -> None:
    pod = a_pod("pod", cpu="2", owner="Deployment/web", labels=LABELS)
    workload = controller("Deployment")
    del workload["spec"]["template"]["spec"]["nodeSelector"]
    remedy = remedies_of([a_node("n1", cpu="1"), pod], [workload])[
        "lower the cpu request of container main from 2 to 1"
    ]
    [request] = remedy.requests
    assert list(request.patch or ())[-1]["value"] == {"requests": {"cpu": "1"}}


def test_a_controller_that_is_not_known_is_named_and_nothing_is_sent() -> None:
    pod = a_pod("pod", owner="SparkApplication/sum", node_selector=SSD)
    remedy = remedies_of([a_node("n1", labels={"disk": "hdd"}), pod])[TO_HDD]
    assert (remedy.requests, remedy.owner, remedy.recreate) == ((), "SparkApplication default/sum", True)


def test_the_gate_of_a_pod_is_removed_in_place_whoever_owns_it() -> None:
    pod = a_pod("pod", owner="Deployment/web", labels=LABELS, gates=["wait"])
    remedy = remedies_of([a_node("n1"), pod], [controller("Deployment")])["remove scheduling gate wait"]
    assert (as_words(remedy), remedy.recreate) == (["patch Pod pod"], False)


# -- claims for devices


def a_claim(name: str = "gpus", *, owner: str = "") -> ApiObject:
    references = [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": f"default-{owner}", "controller": True}]
    meta = {"name": name, "namespace": "default", **({"ownerReferences": references} if owner else {})}
    request = {"name": "gpu", "exactly": {"deviceClassName": "any", "count": 2, "allocationMode": "ExactCount"}}
    spec = {"devices": {"requests": [request]}}
    return decode({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": spec})


def a_device() -> list[ApiObject]:
    spec = {"driver": "gpu", "nodeName": "n1", "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1}}
    version = {"apiVersion": "resource.k8s.io/v1"}
    return [
        decode({**version, "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}),
        decode(
            {
                **version,
                "kind": "ResourceSlice",
                "metadata": {"name": "n1"},
                "spec": {**spec, "devices": [{"name": "gpu-0"}]},
            }
        ),
    ]


def with_claim(source: DOCUMENT, **status: Any) -> ApiObject:
    document = to_builtins(a_pod("pod"))
    document["spec"]["resourceClaims"] = [{"name": "gpu", **source}]
    return decode({**document, "status": status})


ONE_DEVICE = "lower the devices of request gpu of resource claim default/gpus from 2 to 1"


def test_a_claim_for_devices_is_created_again_since_its_spec_is_immutable() -> None:
    pod = with_claim({"resourceClaimName": "gpus"})
    remedy = remedies_of([a_node("n1"), *a_device(), a_claim(), pod])[ONE_DEVICE]
    assert as_words(remedy) == ["recreate ResourceClaim gpus"]
    assert [change.recreate for change in remedy.changes] == [True]


def test_a_claim_that_is_made_from_a_template_is_made_from_another_one() -> None:
    made = [{"name": "gpu", "resourceClaimName": "gpus"}]
    pod = with_claim({"resourceClaimTemplateName": "two-gpus"}, resourceClaimStatuses=made)
    remedy = remedies_of([a_node("n1"), *a_device(), a_claim(owner="pod"), pod])[ONE_DEVICE]
    assert as_words(remedy) == ["recreate ResourceClaimTemplate two-gpus", "delete ResourceClaim gpus"]
    assert list(remedy.requests[0].patch or ())[-1] == {
        "op": "replace",
        "path": "/spec/spec/devices/requests/0/exactly/count",
        "value": 1,
    }


# -- commands


class Commanded(NamedTuple):
    """A cluster, a remedy of the pod `pod` there, and its commands."""

    objects: list[ApiObject]
    summary: str
    commands: list[str]


SPREAD = a_spread("zone", "app=web")
COMMANDED: dict[str, Commanded] = {
    "a cordon has a command of its own, which leaves taints alone": Commanded(
        [a_node("n1", taints=["node.kubernetes.io/unschedulable:NoSchedule"], unschedulable=True), a_pod("pod")],
        "uncordon node n1",
        ["kubectl uncordon n1"],
    ),
    "so has a taint": Commanded(
        [a_node("n1", taints=["old:NoSchedule", "gpu=yes:NoExecute"]), a_pod("pod", tolerations=["old:NoSchedule"])],
        "remove taint gpu=yes:NoExecute from node n1",
        ["kubectl taint nodes n1 gpu:NoExecute-"],
    ),
    "so has a label": Commanded(
        [a_node("n1"), a_pod("pod", node_selector=SSD)],
        "add label disk=ssd to node n1",
        ["kubectl label nodes n1 disk=ssd"],
    ),
    "a label that is there is overwritten": Commanded(
        [a_node("n1", labels={"disk": "hdd"}), a_pod("pod", node_selector=SSD)],
        "change label disk of node n1 from hdd to ssd",
        ["kubectl label nodes n1 disk=ssd --overwrite"],
    ),
    "a gate is removed by its name, wherever it is by then": Commanded(
        [a_node("n1"), a_pod("pod", gates=["wait"])],
        "remove scheduling gate wait",
        [
            'kubectl patch -n default pod pod --type=json -p \'[{"op":"remove","path":"/spec/schedulingGates"}]\'',
        ],
    ),
    "a bare pod is created again with all its fields": Commanded(
        [a_node("n1", labels={"disk": "hdd"}), a_pod("pod", node_selector=SSD)],
        TO_HDD,
        [
            "kubectl get -n default pod pod -o json"
            " | kubectl patch --local -f - --type=json -p"
            ' \'[{"op":"replace","path":"/spec/nodeSelector/disk","value":"hdd"}]\' -o json'
            " | kubectl replace --force -f -",
        ],
    ),
    "a node joins by itself": Commanded(
        [a_node("n1", cpu="1"), a_pod("pod", cpu="2")], "add a node like n1 with 2 cpu", []
    ),
    "a kubelet has its own configuration": Commanded(
        [a_node("n1", pods=1), a_pod("x", node="n1"), a_pod("pod")],
        "allow 2 pods on node n1 in place of 1, with maxPods of its kubelet",
        [],
    ),
}


@pytest.mark.parametrize("case", COMMANDED.values(), ids=COMMANDED)
def test_commands(case: Commanded) -> None:
    assert list(remedies_of(case.objects)[case.summary].commands) == case.commands


def test_an_object_to_create_is_written_into_the_command() -> None:
    pod = with_claim({"resourceClaimName": "gpus"})
    remedy = remedies_of([a_node("n1"), a_device()[1], a_claim("gpus"), pod])["create device class any; " + ONE_DEVICE]
    created = next(command for command in remedy.commands if "create" in command)
    words = shlex.split(created)
    assert (words[:2], words[3:]) == (["printf", "%s"], ["|", "kubectl", "create", "-f", "-"])
    assert json.loads(words[2])["kind"] == "DeviceClass"


# -- what the API server demands of a pod


def test_a_requirement_that_is_written_twice_is_one() -> None:
    written = {"key": "gone", "operator": "Exists"}
    other = {"key": "kubernetes.io/hostname", "operator": "Exists"}
    document = to_builtins(a_pod("pod"))
    terms = {"nodeSelectorTerms": [{"matchExpressions": [written, written, other]}]}
    document["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    remedy = remedies_of([a_node("n1"), decode(document)])["remove gone Exists from the required node affinity"]
    assert remedy.node == "n1"


class Softened(NamedTuple):
    """Constraints of a pod that find no zone, and what becomes of the first."""

    constraints: list[DOCUMENT]
    summary: str


def constraint(when: str = "DoNotSchedule", **more: Any) -> DOCUMENT:
    selector = {"labelSelector": {"matchLabels": LABELS}}
    return {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": when, **selector, **more}


SOFTENED: dict[str, Softened] = {
    "a wish has no minDomains": Softened(
        [constraint(minDomains=3)],
        "set whenUnsatisfiable of the spread over rack to ScheduleAnyway, without its minDomains",
    ),
    "a wish that is there already is not doubled": Softened(
        [constraint(), constraint("ScheduleAnyway")], "remove the spread over rack"
    ),
}


@pytest.mark.parametrize("case", SOFTENED.values(), ids=SOFTENED)
def test_a_constraint_becomes_a_wish(case: Softened) -> None:
    document = to_builtins(a_pod("pod", labels=LABELS))
    document["spec"]["topologySpreadConstraints"] = case.constraints
    nodes = [a_node("n1", labels={"rack": "1"}), a_node("n2", labels={"rack": "2"}, unschedulable=True)]
    placed = [a_pod(f"x{number}", node="n1", labels=LABELS) for number in range(2)]
    assert case.summary in remedies_of([*nodes, *placed, decode(document)])


def test_names_that_a_shell_would_run_are_quoted() -> None:
    pod = a_pod("$(rm -r x)", node_selector=SSD)
    model = ClusterModel(ClusterObjects((a_node("n1", labels={"disk": "hdd"}), pod)), LOADED)
    commands = [each for remedy in find_remedies(model, model.pod("default/$(rm -r x)")) for each in remedy.commands]
    assert not [each for each in commands if "$(" in each and "'$(rm -r x)'" not in each]
