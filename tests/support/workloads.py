"""Words for stories about workloads: nodes to run them on, objects that make pods, and what became of them.

From a few numbers to documents, and from a simulated cluster to short descriptions of its pods.
"""

import copy
from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.controllers.framework.options import Options

Document = dict[str, Any]
IMAGE = "app:1"


def with_nodes(
    story: Callable[[SimulatedCluster], Awaitable[None]], count: int = 3, options: Options | None = None
) -> SimulatedCluster:
    """Run a story in a cluster with nodes `n0`, `n1` ... and something that binds pods."""

    async def run(cluster: SimulatedCluster) -> None:
        for number in range(count):
            cluster.create(a_node(f"n{number}"))
        await story(cluster)

    return in_simulated_cluster(run, options, binds=True)


def a_node(name: str, **labels: str) -> Document:
    """Return a node that says nothing of itself."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def a_template(app: str = "web", image: str = IMAGE, **annotations: str) -> Document:
    """Return a template of pods."""
    meta: Document = {"labels": {"app": app}}
    if annotations:
        meta["annotations"] = {f"kubesched.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"metadata": meta, "spec": {"containers": [{"name": "main", "image": image}]}}


def a_workload(kind: str, name: str = "web", **spec: Any) -> Document:
    """Return a Deployment, ReplicaSet, StatefulSet or DaemonSet, named as the label of its pods."""
    described = {"selector": {"matchLabels": {"app": name}}, "template": a_template(name), **copy.deepcopy(spec)}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": described}


def a_job(name: str = "work", *, restarts: str = "Never", run: str = "", fail: str = "", **spec: Any) -> Document:
    """Return a job whose pods run for some seconds, and end with an exit code."""
    annotations = {key: value for key, value in (("run_seconds", run), ("exit_code", fail)) if value}
    template = a_template(name, **annotations)
    template["spec"]["restartPolicy"] = restarts
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template, **copy.deepcopy(spec)},
    }


def set_image(image: str) -> Callable[[Document], None]:
    """Return a change of a workload's template."""

    def change(document: Document) -> None:
        document["spec"]["template"]["spec"]["containers"][0]["image"] = image

    return change


def images(cluster: SimulatedCluster, **labels: str) -> list[str]:
    """Return the images of the pods with some labels that are not going."""
    return sorted(pod["spec"]["containers"][0]["image"] for pod in staying(cluster, **labels))


def staying(cluster: SimulatedCluster, **labels: str) -> list[Document]:
    """Return the pods with some labels that are not going."""
    return [pod for pod in cluster.all("Pod", **labels) if "deletionTimestamp" not in pod["metadata"]]


def phases(cluster: SimulatedCluster) -> dict[str, str]:
    """Return the phases of all pods by name; those that are going are marked."""
    return {
        pod["metadata"]["name"]: pod["status"]["phase"] + (", going" if "deletionTimestamp" in pod["metadata"] else "")
        for pod in cluster.all("Pod")
    }


def status_of(cluster: SimulatedCluster, kind: str, name: str = "web") -> Document:
    """Return the status of an object that is there."""
    found = cluster.get(kind, name)
    assert found is not None, f"{kind} {name} is not there"
    status: Document = found.get("status") or {}
    return status


def conditions(cluster: SimulatedCluster, kind: str, name: str = "web") -> dict[str, tuple[str, str]]:
    """Return status and reason of the conditions of an object."""
    found = status_of(cluster, kind, name).get("conditions") or ()
    return {each["type"]: (each["status"], each.get("reason", "")) for each in found}
