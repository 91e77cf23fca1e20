"""Remedies for pods of manifests: an API server fills in defaults, and the patches apply to what was written."""

from typing import Any

import pytest
from tests.support.remedy_proofs import applied

from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.remedies.search import find_remedies
from kubesched_answers.sources.files import read_objects

LOADED = load_config()
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
}


def written(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, **fields}


def pod_of(*, name: str = "asked", resources: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "app", "image": "app", "resources": resources or {}}]
    return written("Pod", name, spec={"containers": containers, **spec})


CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a toleration, beside those that admission adds": (
        [{**NODE, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, pod_of()],
        "add a toleration for taint a:NoSchedule",
    ),
    "a limit without a request, which is its default": (
        [NODE, pod_of(resources={"limits": {"cpu": "8"}})],
        "lower the cpu request of container app from 8 to 4",
    ),
    "the allocatable resources of a node with capacity alone": (
        [{**NODE, "status": {"capacity": {"cpu": "4", "pods": "1"}}}, pod_of(name="x", nodeName="n1"), pod_of()],
        "allow 2 pods on node n1 in place of 1, with maxPods of its kubelet",
    ),
    "a label of a node without labels": (
        [NODE, pod_of(nodeSelector={"disk": "ssd"})],
        "add label disk=ssd to node n1",
    ),
}


def schedulable(model: ClusterModel) -> str:
    evaluation = model.engine.evaluation_of(model.pod("default/asked"))
    feasible = evaluation.feasible().mask.nonzero()[0].tolist()
    return ",".join(model.cluster.table.names[row] for row in feasible)


@pytest.mark.parametrize(("documents", "summary"), CASES.values(), ids=CASES)
def test_the_patch_applies_to_the_manifest(documents: list[dict[str, Any]], summary: str) -> None:
    model = ClusterModel(read_objects(documents), LOADED)
    remedies = find_remedies(model, model.pod("default/asked"))
    (remedy,) = [each for each in remedies if each.summary == summary]
    patched = ClusterModel(read_objects(applied(documents, remedy.changes)), LOADED)
    assert remedy.node in schedulable(patched)
