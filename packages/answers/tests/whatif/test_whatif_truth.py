"""What a what-if foretells is what happens: each operation is also done, on an embedded cluster of its own.

The cluster is that of `kubesched up`: all controllers, simulated kubelets, the scheduler as a client over the API.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from kubesched.core.assembly import load_config
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.sources.files import read_objects
from kubesched_answers.sources.operation_files import FILE_READERS
from kubesched_answers.whatif.requests import operation_of
from kubesched_answers.whatif.whatif import whatif
from kubesched_answers.whatif.whatif_answer import DELETED, LOST, WhatIfAnswer
from kubesched_answers.whatif.workload_operations import ApplyManifests
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.testing.embedded_cluster import EmbeddedCluster
from kubesched_controlplane.transport.local_client import LocalClient

Document = dict[str, Any]
# what is done to the cluster: a function of its client
Deed = Callable[[LocalClient], None]
APPS = "apps/v1"
VERSIONS = {
    "Job": "batch/v1",
    "Node": "v1",
    "Pod": "v1",
    "ReplicationController": "v1",
    "PodDisruptionBudget": "policy/v1",
}


def a_node(name: str, cpu: str = "2", **spec: Any) -> Document:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
    status = {"capacity": amounts, "allocatable": amounts}
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}


def a_workload(
    kind: str = "Deployment", replicas: int = 2, cpu: str = "900m", name: str = "web", **spec: Any
) -> Document:
    pod = spec.pop("pod", {})
    requests = {"resources": {"requests": {"cpu": cpu}}} if cpu else {}
    template = {
        # pods of jobs do not end meanwhile
        "metadata": {"labels": {"app": name}, "annotations": {"kubesched.io/run-seconds": "100000"}},
        "spec": {"containers": [{"name": "c", "image": "i", **requests}], **pod},
    }
    selector: Document = {"matchLabels": {"app": name}} if kind != "ReplicationController" else {"app": name}
    counted = {} if kind == "DaemonSet" else {"parallelism" if kind == "Job" else "replicas": replicas}
    selected = {} if kind == "Job" else {"selector": selector}
    body = {**counted, **selected, "template": template, **spec}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": VERSIONS.get(kind, APPS), "kind": kind, "metadata": meta, "spec": body}


def a_budget(**spec: Any) -> Document:
    body = {"selector": {"matchLabels": {"app": "web"}}, **spec}
    meta = {"name": "web", "namespace": "default"}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": body}


THREE = [a_node(name) for name in "abc"]
ROLLING = "RollingUpdate"
SLOW: Document = {"strategy": {"type": ROLLING, "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
IN_PLACE: Document = {"strategy": {"type": ROLLING, "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}
RECREATE: Document = {"strategy": {"type": "Recreate"}}
STATEFUL: Document = {"serviceName": "web"}


def updated(partition: int) -> Document:
    return {**STATEFUL, "updateStrategy": {"type": ROLLING, "rollingUpdate": {"partition": partition}}}


# -- deeds


def scaled(kind: str, replicas: int) -> Deed:
    field = "parallelism" if kind == "Job" else "replicas"
    return lambda client: _patch(client, kind, "web", {"spec": {field: replicas}})


def applied(*documents: Document) -> Deed:
    def deed(client: LocalClient) -> None:
        for document in documents:
            resource = client.resource(document["apiVersion"], document["kind"])
            namespace = "default" if resource.namespaced else ""
            there = client.get(resource, namespace, document["metadata"]["name"])
            if there is None:
                client.create(resource, document)
            else:
                client.patch(resource, namespace, document["metadata"]["name"], {"spec": document["spec"]})

    return deed


def deleted(kind: str, prefix: str) -> Deed:
    def deed(client: LocalClient) -> None:
        resource = client.resource(VERSIONS.get(kind, APPS), kind)
        first = next(each for each in client.stored(resource) if each.name.startswith(prefix))
        client.delete(resource, first.namespace, first.name)

    return deed


def drained(*nodes: str) -> Deed:
    """Cordon nodes and evict what runs there, again and again for a while."""

    def deed(client: LocalClient) -> None:
        pods = client.resource("v1", "Pod")
        for node in nodes:
            _patch(client, "Node", node, {"spec": {"unschedulable": True}})
        for stored in client.stored(pods):
            pod = stored.document()
            owners = [each["kind"] for each in pod["metadata"].get("ownerReferences", ())]
            if pod["spec"].get("nodeName") not in nodes or "DaemonSet" in owners:
                continue
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": stored.name}}
            eviction["metadata"]["namespace"] = stored.namespace  # type: ignore[index]
            try:
                client.create_at(pods, (stored.namespace, stored.name), "eviction", eviction)
            except ApiError as error:
                if error.code != 429:
                    raise

    return deed


def cordoned(node: str) -> Deed:
    return lambda client: _patch(client, "Node", node, {"spec": {"unschedulable": True}})


def tainted(node: str, effect: str) -> Deed:
    return lambda client: _patch(
        client, "Node", node, {"spec": {"taints": [{"key": "k", "value": "v", "effect": effect}]}}
    )


def several(*deeds: Deed) -> Deed:
    def deed(client: LocalClient) -> None:
        for each in deeds:
            each(client)

    return deed


def _patch(client: LocalClient, kind: str, name: str, change: Document) -> None:
    resource = client.resource(VERSIONS.get(kind, APPS), kind)
    client.patch(resource, "default" if resource.namespaced else "", name, change)


# (what there is, operations as on the command line, the deed), by a sentence
CASES: dict[str, tuple[list[Document], list[tuple[str, Any]], Deed]] = {
    "drained pods go elsewhere": ([*THREE, a_workload()], [("drain", "a")], drained("a")),
    "a drained pod without another place stays pending": (
        [*THREE, a_workload(replicas=6)],
        [("drain", "a")],
        drained("a"),
    ),
    "a budget lets one pod go after the other": (
        [*THREE, a_workload(replicas=4), a_budget(maxUnavailable=1)],
        [("drain", "a")],
        drained("a"),
    ),
    "a budget that allows nothing holds the pods": (
        [*THREE, a_workload(replicas=4), a_budget(minAvailable=4)],
        [("drain", "a")],
        drained("a"),
    ),
    "pods of a StatefulSet come back under their names": (
        [*THREE, a_workload("StatefulSet", 3, **STATEFUL)],
        [("drain", "a")],
        drained("a"),
    ),
    "daemons stay on a drained node": (
        [*THREE, a_workload(), a_workload("DaemonSet", cpu="100m", name="agent")],
        [("drain", "a")],
        drained("a"),
    ),
    "two nodes are drained": ([*THREE, a_workload(replicas=3)], [("drain", "a,b")], drained("a", "b")),
    "a Deployment grows": ([*THREE, a_workload()], [("scale", "deploy/web=5")], scaled("Deployment", 5)),
    "a Deployment grows beyond the cluster": (
        [*THREE, a_workload()],
        [("scale", "deploy/web=9")],
        scaled("Deployment", 9),
    ),
    "a Deployment shrinks, and another one's pod gets the place": (
        [*THREE, a_workload(replicas=6), a_workload(replicas=2, name="other")],
        [("scale", "deploy/web=1")],
        scaled("Deployment", 1),
    ),
    "a ReplicationController grows": (
        [*THREE, a_workload("ReplicationController")],
        [("scale", "rc/web=8")],
        scaled("ReplicationController", 8),
    ),
    "an ordered StatefulSet waits for the first pod that does not fit": (
        [*THREE, a_workload("StatefulSet", 2, **STATEFUL)],
        [("scale", "sts/web=12")],
        scaled("StatefulSet", 12),
    ),
    "a parallel StatefulSet does not wait": (
        [*THREE, a_workload("StatefulSet", 2, podManagementPolicy="Parallel", **STATEFUL)],
        [("scale", "sts/web=12")],
        scaled("StatefulSet", 12),
    ),
    "a rollout with surge hangs when there is no room for one more": (
        [*THREE, a_workload(replicas=3, cpu="1100m", **SLOW)],
        [("apply", a_workload(replicas=3, cpu="1200m", **SLOW))],
        applied(a_workload(replicas=3, cpu="1200m", **SLOW)),
    ),
    "a rollout with surge gets through with room": (
        [*THREE, a_workload(replicas=2, cpu="1100m", **SLOW)],
        [("apply", a_workload(replicas=2, cpu="1200m", **SLOW))],
        applied(a_workload(replicas=2, cpu="1200m", **SLOW)),
    ),
    "a rollout in place gets through without room": (
        [*THREE, a_workload(replicas=3, cpu="1100m", **IN_PLACE)],
        [("apply", a_workload(replicas=3, cpu="1200m", **IN_PLACE))],
        applied(a_workload(replicas=3, cpu="1200m", **IN_PLACE)),
    ),
    "a rollout to pods that fit nowhere keeps most old ones": (
        [*THREE, a_workload(replicas=4)],
        [("apply", a_workload(replicas=4, cpu="3"))],
        applied(a_workload(replicas=4, cpu="3")),
    ),
    "Recreate deletes all old pods first": (
        [*THREE, a_workload(replicas=3, **RECREATE)],
        [("apply", a_workload(replicas=3, cpu="3", **RECREATE))],
        applied(a_workload(replicas=3, cpu="3", **RECREATE)),
    ),
    "a StatefulSet stops at the pod that does not fit": (
        [*THREE, a_workload("StatefulSet", 3, **STATEFUL)],
        [("apply", a_workload("StatefulSet", 3, cpu="3", **STATEFUL))],
        applied(a_workload("StatefulSet", 3, cpu="3", **STATEFUL)),
    ),
    "a StatefulSet rolls out from its partition on": (
        [*THREE, a_workload("StatefulSet", 3, **updated(2))],
        [("apply", a_workload("StatefulSet", 3, cpu="3", **updated(2)))],
        applied(a_workload("StatefulSet", 3, cpu="3", **updated(2))),
    ),
    "OnDelete rolls nothing out": (
        [*THREE, a_workload("StatefulSet", 3, updateStrategy={"type": "OnDelete"}, **STATEFUL)],
        [("apply", a_workload("StatefulSet", 3, cpu="3", updateStrategy={"type": "OnDelete"}, **STATEFUL))],
        applied(a_workload("StatefulSet", 3, cpu="3", updateStrategy={"type": "OnDelete"}, **STATEFUL)),
    ),
    "a paused Deployment rolls nothing out": (
        [*THREE, a_workload(replicas=3)],
        [("apply", a_workload(replicas=3, cpu="1", paused=True))],
        applied(a_workload(replicas=3, cpu="1", paused=True)),
    ),
    "a DaemonSet that no longer fits loses one pod": (
        [*THREE, a_workload("DaemonSet", cpu="500m")],
        [("apply", a_workload("DaemonSet", cpu="3"))],
        applied(a_workload("DaemonSet", cpu="3")),
    ),
    "a new DaemonSet runs where there is room": (
        [*THREE, a_workload(replicas=5)],
        [("apply", a_workload("DaemonSet", cpu="500m", name="agent"))],
        applied(a_workload("DaemonSet", cpu="500m", name="agent")),
    ),
    "a deleted pod of a Deployment comes back": (
        [*THREE, a_workload()],
        [("delete", "pod/web-")],
        deleted("Pod", "web-"),
    ),
    "a ReplicaSet of a Deployment comes back": (
        [*THREE, a_workload()],
        [("delete", "rs/web-")],
        deleted("ReplicaSet", "web-"),
    ),
    "a deleted Deployment makes room": (
        [*THREE, a_workload(replicas=6), a_workload(replicas=3, name="other")],
        [("delete", "deploy/web")],
        deleted("Deployment", "web"),
    ),
    "pods of a deleted node go elsewhere": (
        [*THREE, a_workload(replicas=3)],
        [("delete", "node/a")],
        deleted("Node", "a"),
    ),
    "a cordoned node takes no new pods": (
        [*THREE, a_workload()],
        [("cordon", "a"), ("scale", "deploy/web=6")],
        several(cordoned("a"), scaled("Deployment", 6)),
    ),
    "NoExecute drives pods away": (
        [*THREE, a_workload(replicas=5)],
        [("taint", ("a", "k=v:NoExecute"))],
        tainted("a", "NoExecute"),
    ),
    "NoSchedule keeps new pods away": (
        [*THREE, a_workload()],
        [("taint", ("a", "k=v:NoSchedule")), ("scale", "deploy/web=6")],
        several(tainted("a", "NoSchedule"), scaled("Deployment", 6)),
    ),
    "a new node takes pending pods": (
        [*THREE, a_workload(replicas=9)],
        [("add_nodes", "1=a")],
        applied(a_node("a-new-1")),
    ),
    "a Job runs more pods at once": (
        [*THREE, a_workload("Job", 1, completions=20, pod={"restartPolicy": "Never"})],
        [("scale", "job/web=4")],
        scaled("Job", 4),
    ),
}


def bound_and_pending(cluster: EmbeddedCluster) -> dict[str, tuple[int, int]]:
    """Return how many pods of each workload are bound and pending, by its name."""
    bound: Counter[str] = Counter()
    pending: Counter[str] = Counter()
    for pod in cluster.pods():
        if not pod.terminal:
            (bound if pod.spec.node_name else pending)[pod.metadata.labels["app"]] += 1
    return {name: (bound[name], pending[name]) for name in sorted({*bound, *pending})}


def foretold(answer: WhatIfAnswer, before: dict[str, tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Return the same of an answer, from (workload, node) of the pods before."""
    now = dict(before)
    for change in (*answer.anyway, *answer.changes):
        name = change.pod.partition("/")[2]
        workload = now.pop(name)[0] if name in now else (change.owner or "").rpartition("/")[2]
        if change.change not in (DELETED, LOST):
            now[name] = workload, change.to_node or ""
    found: dict[str, tuple[int, int]] = {}
    for name in sorted({workload for workload, _ in now.values()}):
        nodes = [node for workload, node in now.values() if workload == name]
        found[name] = sum(map(bool, nodes)), nodes.count("")
    return found


@pytest.mark.parametrize("case", CASES)
def test_what_is_foretold_happens(case: str) -> None:
    documents, operations, deed = CASES[case]
    with EmbeddedCluster() as cluster:
        client = LocalClient(cluster.server, ADMINISTRATOR)
        cluster.put(*documents)
        cluster.run(30)
        exported = [
            stored.document()
            for resource in cluster.server.registry.catalog.resources
            if "list" in resource.verbs and resource.kind not in ("Event", "Lease")
            for stored in client.stored(resource)
        ]
        before = {pod.name: (pod.metadata.labels["app"], pod.spec.node_name) for pod in cluster.pods()}
        model = ClusterModel(read_objects(exported), load_config())
        tried = [_operation(model, name, value) for name, value in operations]
        answer = whatif(model, tried)
        # evictions that a budget refuses are tried again, as kubectl does
        for _ in range(8 if "drain" in dict(operations) else 1):
            cluster.call(deed, client)
            cluster.run(10)
        cluster.run(120)
        assert foretold(answer, before) == bound_and_pending(cluster), answer.summary


def _operation(model: ClusterModel, name: str, value: Any) -> Any:
    if name == "apply":
        return ApplyManifests((Manifest("it.yaml", value),), "it.yaml")
    if name == "delete" and value.endswith("-"):
        names = [each["metadata"]["name"] for each in model.source.workloads if each["kind"] == "ReplicaSet"]
        names = names if value.startswith("rs/") else [pod.name for pod in model.pods.values()]
        value = f"{value.partition('/')[0]}/{min(names)}"
    return operation_of(model, name, value, FILE_READERS)
