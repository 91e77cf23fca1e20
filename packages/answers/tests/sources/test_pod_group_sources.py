"""Pod groups and workloads come with every source, and pods stay in their groups."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.served_cluster import a_served_cluster

from kubesched.api.scheduling import PodGroup, Workload
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources.cluster_source import ClusterSource
from kubesched_answers.explain.explain_pod import explain_pod
from kubesched_answers.sources.anonymising import anonymised
from kubesched_answers.sources.files import DocumentReader
from kubesched_answers.sources.reading import read_cluster
from kubesched_answers.sources.snapshots import read_snapshot, snapshot_bytes

GATES = ("GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling")
V1ALPHA2 = "scheduling.k8s.io/v1alpha2"
Document = dict[str, Any]


def a_document(kind: str, name: str, spec: Document, version: str = "v1", **fields: Any) -> Document:
    namespace = {} if kind == "Node" else {"namespace": "team"}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **namespace}, "spec": spec, **fields}


def a_node_document(name: str, rack: str) -> Document:
    amounts = {"cpu": "2", "memory": "4Gi", "pods": "10"}
    document = a_document("Node", name, {}, status={"allocatable": amounts, "capacity": amounts})
    document["metadata"]["labels"] = {"rack": rack}
    return document


def a_member(name: str) -> Document:
    container = {"name": "main", "image": "main", "resources": {"requests": {"cpu": "1"}}}
    # a new node is tainted until it is ready
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}]}
    return a_document("Pod", name, {**spec, "schedulingGroup": {"podGroupName": "ring"}})


POLICY = {"gang": {"minCount": 3}}
CONSTRAINTS = {"topology": [{"key": "rack"}]}
TEMPLATE = {"name": "workers", "schedulingPolicy": POLICY, "schedulingConstraints": CONSTRAINTS}
# a gang of three, which no rack has room for
CLUSTER = (
    a_node_document("node-1", "left"),
    a_node_document("node-2", "right"),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
    a_document("Workload", "training", {"podGroupTemplates": [TEMPLATE]}, V1ALPHA2),
    a_document(
        "PodGroup",
        "ring",
        {
            "podGroupTemplateRef": {"workload": {"workloadName": "training", "podGroupTemplateName": "workers"}},
            "schedulingPolicy": POLICY,
            "schedulingConstraints": CONSTRAINTS,
        },
        V1ALPHA2,
    ),
    *(a_member(f"worker-{number}") for number in range(3)),
)


def live(folder: Path) -> ClusterObjects:
    with a_served_cluster(folder, *CLUSTER) as served:
        return read_cluster(ClusterSource(kubeconfig=served.kubeconfig()))


def manifests(folder: Path) -> ClusterObjects:
    return DocumentReader().cluster([Manifest("cluster.yaml", document) for document in CLUSTER])


def snapshot(folder: Path) -> ClusterObjects:
    return read_snapshot("snapshot", snapshot_bytes(manifests(folder)))


def anonymised_snapshot(folder: Path) -> ClusterObjects:
    return read_snapshot("snapshot", snapshot_bytes(anonymised(manifests(folder), b"key")))


@pytest.mark.parametrize("source", [live, manifests, snapshot, anonymised_snapshot])
def test_a_gang_is_explained_alike_whatever_its_source(source: Any, tmp_path: Path) -> None:
    cluster: ClusterObjects = source(tmp_path)
    (group,) = [obj for obj in cluster.objects if isinstance(obj, PodGroup)]
    (workload,) = [obj for obj in cluster.objects if isinstance(obj, Workload)]
    reference = group.spec.pod_group_template_ref
    assert reference is not None
    assert reference.workload is not None
    assert reference.workload.workload_name == workload.name
    assert reference.workload.pod_group_template_name == workload.spec.pod_group_templates[0].name
    model = ClusterModel(cluster, load_config(None, FeatureGates(dict.fromkeys(GATES, True))))
    answers = [explain_pod(model, pod) for pod in list(model.pods.values())]
    assert {answer.verdict for answer in answers} == {"unschedulable"}
    for answer in answers:
        assert answer.group is not None
        assert answer.group.name == group.full_name
        assert (answer.group.min_count, answer.group.pods, answer.group.fitting) == (3, 3, 2)
        assert answer.group.topology_key == "rack"


def test_no_name_of_a_gang_is_left_in_an_anonymised_cluster(tmp_path: Path) -> None:
    text = repr(anonymised(manifests(tmp_path), b"key"))
    assert not [name for name in ("ring", "training", "workers", "worker-", "team", "left") if f"'{name}" in text]
