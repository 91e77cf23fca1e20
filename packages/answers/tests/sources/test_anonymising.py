"""Anonymised clusters: every verdict is as before, and no name is left."""

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.api.devices import ResourceSlice
from kubesched.api.kinds import flattened, is_foreign
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.scheduling.decision import decide
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects, Gap
from kubesched.model.placements import placement_of
from kubesched_answers.explain.reasons import reasons_of
from kubesched_answers.sources.anonymising import anonymised
from kubesched_answers.sources.anonymous_selectors import PlainExpressions
from kubesched_answers.sources.files import DocumentReader
from kubesched_answers.sources.snapshots import snapshot_bytes

DATA = Path(__file__).parents[4] / "packages/scheduler/tests" / "conformance" / "data"
# the scenarios that are tried: one of so many of each file
ONE_OF = 40
FILES = (
    "dynamic-resources",
    "image-locality",
    "inter-pod-affinity",
    "mixed",
    "node-affinity",
    "pod-groups",
    "ports",
    "preemption",
    "resources",
    "taints",
    "topology-spread",
    "volumes",
)


def scenarios(file: str, step: int) -> Iterator[dict[str, Any]]:
    """Yield some scenarios of a file, one after the other."""
    with gzip.open(DATA / f"{file}.jsonl.gz") as stream:
        # a configuration may name values of labels, which is no part of a cluster
        asked = (line for line in stream if b'"pods":' in line and b"addedAffinity" not in line)
        yield from (line for line in map(msgspec.json.decode, islice(asked, 0, None, step)) if "pods" in line)


def a_cluster_of(line: Mapping[str, Any]) -> ClusterObjects:
    documents = [document for document in flattened(line["objects"]) if not is_foreign(document)]
    return DocumentReader().cluster([Manifest("here", dict(document)) for document in documents])


def verdicts(cluster: ClusterObjects, line: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what becomes of each pending pod: how many nodes take it, and which plugins reject how many."""
    gates = FeatureGates(line.get("featureGates") or {})
    model = ClusterModel(cluster, load_config(line.get("config"), gates, validate=False))
    for obj in cluster.objects:
        pod = model.pods.get(obj.full_name) if isinstance(obj, Pod) else None
        if pod is None or pod.spec.node_name or model.profile_of(pod) is None:
            continue
        evaluation = model.engine.evaluation_of(pod)
        decision = decide(evaluation, pick=lambda count: 0)
        if decision.failure is not None:
            yield "failure", decision.failure.plugin
            continue
        found = evaluation.verdicts()
        reasons = sorted((reason.plugin, reason.count) for reason in reasons_of(evaluation, found, named=False))
        if decision.node_name:
            # how good the nodes are, too
            placement = placement_of(evaluation, decision.node_name, again=False)
            yield placement.feasible, placement.ties, placement.chosen and placement.chosen.total, reasons
        else:
            yield 0, 0, None, reasons


@pytest.mark.parametrize("file", FILES)
def test_verdicts_are_as_before(file: str) -> None:
    for line in scenarios(file, ONE_OF):
        cluster = a_cluster_of(line)
        hidden = anonymised(cluster, b"key")
        assert list(verdicts(hidden, line)) == list(verdicts(cluster, line)), line["name"]


# -- what is left

NAME = "acme"


def an_object(kind: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    meta = {
        "name": f"{NAME}-{kind.lower()}",
        "namespace": f"{NAME}-namespace",
        "uid": f"{NAME}-uid-{kind}",
        "generateName": f"{NAME}-",
        "labels": {"app": NAME, "topology.kubernetes.io/zone": f"{NAME}-zone__{NAME}-other"},
        "annotations": {"volume.kubernetes.io/selected-node": f"{NAME}-node", "note": NAME},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": NAME, "uid": NAME}],
        "finalizers": [f"{NAME}.com/finalizer"],
    }
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


SELECTOR = {"matchLabels": {"app": NAME}, "matchExpressions": [{"key": "a", "operator": "In", "values": [NAME]}]}
NODE_TERM = {
    "matchExpressions": SELECTOR["matchExpressions"],
    "matchFields": [{"key": "metadata.name", "values": [NAME]}],
}
SPEC: dict[str, Any] = {
    "nodeName": f"{NAME}-node",
    "priorityClassName": f"{NAME}-high",
    "containers": [
        {
            "name": NAME,
            "image": f"registry.{NAME}.com/app",
            "ports": [{"name": NAME, "hostPort": 1, "hostIP": "192.0.2.77"}],
            "resources": {
                "requests": {"cpu": "1", f"deviceclass.resource.kubernetes.io/{NAME}-gpus": "1"},
                "claims": [{"name": NAME, "request": f"{NAME}/sub"}],
            },
        }
    ],
    "nodeSelector": {"pool": NAME},
    "tolerations": [{"key": "team", "operator": "Equal", "value": NAME}],
    "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [NODE_TERM]}},
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "zone", "labelSelector": SELECTOR, "namespaces": [NAME], "namespaceSelector": SELECTOR}
            ]
        },
    },
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "labelSelector": SELECTOR}],
    "volumes": [
        {"name": NAME, "persistentVolumeClaim": {"claimName": f"{NAME}-claim"}},
        {"name": f"{NAME}-scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": NAME}}}},
        {"name": "disk", "awsElasticBlockStore": {"volumeID": f"aws://{NAME}/vol-{NAME}"}},
        {"name": "image", "image": {"reference": f"{NAME}/model:1"}},
    ],
    "resourceClaims": [{"name": NAME, "resourceClaimName": f"{NAME}-devices"}],
}
DEVICE_REQUESTS = [
    {
        "name": NAME,
        "exactly": {
            "deviceClassName": f"{NAME}-gpus",
            "selectors": [{"cel": {"expression": f'device.attributes["gpu.example.com"].model == "{NAME}"'}}],
            "tolerations": [{"key": "k", "value": NAME}],
        },
    }
]
CLUSTER = [
    an_object(
        "Node",
        spec={"taints": [{"key": "team", "value": NAME, "effect": "NoSchedule"}], "providerID": NAME, "podCIDR": NAME},
        status={
            "images": [{"names": [f"registry.{NAME}.com/app:latest"], "sizeBytes": 1}],
            "addresses": [{"type": "Hostname", "address": NAME}],
            "nodeInfo": {"machineID": NAME, "osImage": NAME},
            "conditions": [{"type": "Ready", "status": "True", "message": NAME}],
        },
    ),
    an_object(
        "Pod",
        spec=SPEC,
        status={
            "nominatedNodeName": f"{NAME}-node",
            "conditions": [{"type": "PodScheduled", "status": "False", "message": NAME}],
            "resourceClaimStatuses": [{"name": NAME, "resourceClaimName": f"{NAME}-devices"}],
            "containerStatuses": [{"name": NAME}],
        },
    ),
    an_object("Namespace"),
    an_object("Service", spec={"selector": {"app": NAME}}),
    an_object("PriorityClass", "scheduling.k8s.io/v1", value=1, description=NAME),
    an_object("PodDisruptionBudget", "policy/v1", spec={"selector": SELECTOR}, status={"disruptedPods": {NAME: None}}),
    an_object("StorageClass", "storage.k8s.io/v1", provisioner="ebs.csi.aws.com", mountOptions=[NAME]),
    an_object("PersistentVolumeClaim", spec={"storageClassName": NAME, "volumeName": NAME, "selector": SELECTOR}),
    an_object(
        "PersistentVolume",
        spec={
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": NAME},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": NAME, "name": NAME, "uid": NAME},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [NODE_TERM]}},
            "storageClassName": NAME,
        },
    ),
    an_object("CSINode", "storage.k8s.io/v1", spec={"drivers": [{"name": "ebs.csi.aws.com", "nodeID": NAME}]}),
    an_object(
        "ResourceSlice",
        "resource.k8s.io/v1",
        spec={
            "driver": "gpu.example.com",
            "nodeName": f"{NAME}-node",
            "pool": {"name": NAME},
            "devices": [{"name": NAME, "attributes": {"model": {"string": NAME}, "tags": {"strings": [NAME]}}}],
        },
    ),
    an_object("DeviceClass", "resource.k8s.io/v1"),
    an_object(
        "ResourceClaim",
        "resource.k8s.io/v1",
        spec={"devices": {"requests": DEVICE_REQUESTS, "constraints": [{"requests": [NAME], "matchAttribute": "a/b"}]}},
        status={
            "allocation": {
                "devices": {"results": [{"request": NAME, "driver": "gpu.example.com", "pool": NAME, "device": NAME}]},
                "nodeSelector": {"nodeSelectorTerms": [NODE_TERM]},
            },
            "reservedFor": [{"resource": "pods", "name": NAME, "uid": NAME}],
        },
    ),
    an_object(
        "ResourceQuota",
        spec={
            "hard": {"pods": "9", f"{NAME}-fast.storageclass.storage.k8s.io/requests.storage": "1Gi"},
            "scopeSelector": {
                "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": [f"{NAME}-high"]}]
            },
        },
        status={
            "hard": {"pods": "9", f"{NAME}-gpus.deviceclass.resource.k8s.io/devices": "5"},
            "used": {"pods": "2", f"requests.deviceclass.resource.kubernetes.io/{NAME}-gpus": "4"},
        },
    ),
    an_object("LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "1"}}]}),
    an_object(
        "RuntimeClass",
        "node.k8s.io/v1",
        handler=NAME,
        overhead={"podFixed": {"cpu": "250m"}},
        scheduling={"nodeSelector": {"pool": NAME}, "tolerations": [{"key": "team", "value": NAME}]},
    ),
    an_object(
        "Deployment",
        "apps/v1",
        spec={"selector": SELECTOR, "template": {"metadata": {"labels": {"app": NAME}}, "spec": SPEC}},
    ),
]


def a_whole_cluster() -> ClusterObjects:
    found = DocumentReader().cluster([Manifest("here", document) for document in CLUSTER])
    assert not found.gaps
    return replace(found, origin=f"{NAME}.com", gaps=(Gap("Pod outside namespace acme", NAME, "fuller"),))


@pytest.mark.parametrize("document", CLUSTER, ids=[document["kind"] for document in CLUSTER])
def test_no_name_is_left(document: dict[str, Any]) -> None:
    cluster = DocumentReader().cluster([Manifest("here", document)])
    plain, hidden = (gzip.decompress(snapshot_bytes(each)) for each in (cluster, anonymised(cluster, b"key")))
    assert NAME.encode() in plain
    assert NAME.encode() not in hidden
    assert b"192.0.2.77" not in hidden


def test_no_name_is_left_in_a_whole_cluster() -> None:
    hidden = anonymised(a_whole_cluster(), b"key")
    assert NAME.encode() not in gzip.decompress(snapshot_bytes(hidden))
    assert hidden.anonymised
    assert hidden.gaps == (Gap("Pod", "it was not read", "fuller"),)


def test_the_same_text_has_the_same_code_everywhere() -> None:
    hidden = anonymised(a_whole_cluster(), b"key")
    by_kind = {type(obj).__name__: obj for obj in hidden.objects}
    pod, node, claim = by_kind["Pod"], by_kind["Node"], by_kind["PersistentVolumeClaim"]
    assert isinstance(pod, Pod)
    assert isinstance(node, Node)
    assert pod.spec.node_name == node.name
    assert pod.spec.tolerations[0].value == node.spec.taints[0].value
    # the scheduler completes the name of an image by its tag
    assert f"{pod.spec.containers[0].image}" in node.status.images[0].names
    assert claim.metadata.labels["app"] == pod.metadata.labels["app"]
    assert hidden.workloads[0]["spec"]["selector"]["matchLabels"] == {"app": pod.metadata.labels["app"]}


def test_the_amounts_of_quotas_and_limit_ranges_stay() -> None:
    hidden = anonymised(a_whole_cluster(), b"key")
    by_kind = {type(obj).__name__: obj for obj in hidden.objects}
    quota, limits, runtime = hidden.admission
    pod = by_kind["Pod"]
    assert isinstance(pod, Pod)
    assert quota["metadata"]["namespace"] == pod.namespace
    (gpus,) = (name for name in pod.spec.containers[0].resources.requests if "deviceclass" in name)
    assert quota["spec"]["hard"]["pods"] == "9"
    assert quota["status"]["used"] == {"pods": "2", f"requests.{gpus}": "4"}
    assert f"{gpus.rpartition('/')[2]}.deviceclass.resource.k8s.io/devices" in quota["status"]["hard"]
    (scope,) = quota["spec"]["scopeSelector"]["matchExpressions"]
    assert scope == {"scopeName": "PriorityClass", "operator": "In", "values": [pod.spec.priority_class_name]}
    assert limits["spec"]["limits"] == [{"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "1"}}]
    assert runtime["overhead"] == {"podFixed": {"cpu": "250m"}}
    assert runtime["scheduling"]["nodeSelector"] == pod.spec.node_selector


def test_codes_go_by_the_key() -> None:
    cluster = a_whole_cluster()
    assert anonymised(cluster, b"one") == anonymised(cluster, b"one")
    assert anonymised(cluster, b"one") != anonymised(cluster, b"two")


def test_names_that_are_made_of_others_are_made_of_their_codes() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "1"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "db-0", "namespace": "default", "uid": "2", "ownerReferences": [owner]},
        "spec": {
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}},
                {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            ]
        },
    }
    claims = [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"}}
        for name in ("data-db-0", "db-0-scratch")
    ]
    cluster = DocumentReader().cluster([Manifest("here", document) for document in (pod, *claims)])
    found, data, scratch = anonymised(cluster, b"key").objects
    assert isinstance(found, Pod)
    set_name = found.metadata.owner_references[0].name
    assert found.name == f"{set_name}-0"
    assert data.name == f"{found.spec.volumes[0].name}-{found.name}"
    assert scratch.name == f"{found.name}-{found.spec.volumes[1].name}"


@pytest.mark.parametrize(
    ("sentence", "expression", "expected"),
    [
        ("a text that is compared", 'device.attributes["d"].model == "A"', 'device.attributes["d"].model == "<A>"'),
        (
            "one of several",
            'device.attributes["d"].model in ["A", "B"]',
            'device.attributes["d"].model in ["<A>", "<B>"]',
        ),
        ("a driver", 'device.driver == "gpu.example.com"', 'device.driver == "gpu.example.com"'),
        ("a domain that is looked for", '"d" in device.attributes', '"d" in device.attributes'),
        ("an element of a list", '"A" in device.attributes["d"].tags', '"<A>" in device.attributes["d"].tags'),
        (
            "a quantity",
            'device.capacity["d"].memory > quantity("1Gi")',
            'device.capacity["d"].memory > quantity("1Gi")',
        ),
        (
            "a text that is looked into",
            'device.attributes["d"].model.startsWith("A")',
            'device.attributes["d"].model.startsWith("A")',
        ),
        ("texts in an order", 'device.attributes["d"].model > "A"', 'device.attributes["d"].model > "A"'),
    ],
)
def test_expressions_compare_with_codes(sentence: str, expression: str, expected: str) -> None:
    assert PlainExpressions([expression]).coded(expression, lambda text: f"<{text}>") == expected, sentence


def test_attributes_stay_if_an_expression_looks_into_one() -> None:
    looks_into = an_object(
        "DeviceClass", "resource.k8s.io/v1", spec={"selectors": [{"cel": {"expression": '"ac" + "me" == "acme"'}}]}
    )
    (slices,) = (document for document in CLUSTER if document["kind"] == "ResourceSlice")
    cluster = DocumentReader().cluster([Manifest("here", document) for document in (looks_into, slices)])
    _, found = anonymised(cluster, b"key").objects
    assert isinstance(found, ResourceSlice)
    assert found.spec.devices[0].attributes["model"].string_value == NAME
