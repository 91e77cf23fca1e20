"""The documents that kubelets and controllers write: statuses of pods and nodes, Leases, ReplicaSets, Services."""

import time
from typing import Any

from benchmarks.living.model import CRASHED, ENDED, READY, STARTED, WAITING, LiveNode, LivePod, Owner
from benchmarks.living.templates import HOST, ZONE, ZONES, Template

Document = dict[str, Any]
# CPUs and GiB of the three sizes of nodes
SIZES = ((8, 32), (16, 64), (32, 128))
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_stamps: dict[int, str] = {}


def stamp(seconds: float) -> str:
    """Return a date as Kubernetes writes it."""
    whole = int(seconds)
    found = _stamps.get(whole)
    if found is None:
        if len(_stamps) > 1000:
            _stamps.clear()
        found = _stamps[whole] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(whole))
    return found


def micro_stamp(seconds: float) -> str:
    """Return a date with microseconds."""
    return f"{stamp(seconds)[:-1]}.{int(seconds % 1 * 1e6):06}Z"


# -- pods


def pod_body(pod: LivePod) -> bytes:
    """Return an encoded pod of a ReplicaSet or a Job."""
    owner = pod.owner
    return owner.template.body(pod.name, owner.name, owner.uid, owner.hash, job=owner.kind == "Job")


def pod_status(pod: LivePod) -> Document:
    """Return the status that a kubelet reports, without the conditions of others."""
    started, changed = stamp(pod.started_at), stamp(pod.changed_at)
    is_ready, runs = pod.state == READY, pod.state != WAITING
    reason = {"reason": "PodCompleted"} if pod.state == ENDED else {}
    unready = reason or ({} if is_ready else {"reason": "ContainersNotReady", "message": "unready: [main]"})
    conditions = [
        _condition("PodReadyToStartContainers", runs and pod.state != ENDED, changed, {}),
        _condition("Initialized", True, started, reason),
        _condition("Ready", is_ready, changed, unready),
        _condition("ContainersReady", is_ready, changed, unready),
    ]
    if pod.resizing:
        conditions.append(_condition("PodResizeInProgress", True, changed, {}))
    status: Document = {
        "phase": "Succeeded" if pod.state == ENDED else "Running" if runs else "Pending",
        "observedGeneration": pod.generation,
        "hostIP": pod.host,
        "hostIPs": [{"ip": pod.host}],
        "startTime": started,
        "qosClass": "Burstable",
        "conditions": conditions,
        "containerStatuses": [_container_status(pod)],
    }
    if runs:
        status |= {"podIP": pod.ip, "podIPs": [{"ip": pod.ip}]}
    return status


def _condition(kind: str, is_true: bool, since: str, more: Document) -> Document:
    return {"type": kind, "status": str(is_true), "lastProbeTime": None, "lastTransitionTime": since, **more}


def _container_status(pod: LivePod) -> Document:
    template = pod.owner.template
    status: Document = {
        "name": "main",
        "image": template.image,
        "imageID": "",
        "ready": pod.state == READY,
        "started": pod.state in (STARTED, READY),
        "restartCount": pod.restarts,
        "state": _container_state(pod),
        "lastState": {},
    }
    if pod.state == WAITING:
        return status
    if pod.restarts:
        status["lastState"] = {"terminated": _terminated(pod, 1, "Error")}
    requests = {"cpu": f"{pod.reported_milli_cpu}m", "memory": template.memory}
    return status | {
        "imageID": f"{template.image}@sha256:{template.number:064x}",
        "containerID": f"containerd://{pod.number:064x}",
        "allocatedResources": requests,
        "resources": {"requests": requests, "limits": {"cpu": "4", "memory": template.memory}},
    }


def _container_state(pod: LivePod) -> Document:
    if pod.state == WAITING:
        return {"waiting": {"reason": "ContainerCreating"}}
    if pod.state == CRASHED:
        message = "back-off 10s restarting failed container"
        return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
    if pod.state == ENDED:
        return {"terminated": _terminated(pod, 0, "Completed")}
    return {"running": {"startedAt": stamp(pod.changed_at)}}


def _terminated(pod: LivePod, code: int, reason: str) -> Document:
    changed = stamp(pod.changed_at)
    container = f"containerd://{pod.number:064x}"
    times = {"startedAt": stamp(pod.started_at), "finishedAt": changed}
    return {"exitCode": code, "reason": reason, "containerID": container, **times}


def resize_document(pod: LivePod) -> Document:
    """Return the change of a pod that resizes it in place."""
    resources = {"requests": {"cpu": f"{pod.milli_cpu}m"}}
    return {"spec": {"containers": [{"name": "main", "resources": resources}]}}


# -- nodes


def node_document(node: LiveNode, now: float) -> Document:
    """Return a node with its status."""
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        HOST: node.name,
        ZONE: f"zone-{node.number % ZONES}",
        "topology.kubernetes.io/region": "region",
        "node.kubernetes.io/instance-type": f"size-{node.number % len(SIZES)}",
    }
    annotations = {"node.alpha.kubernetes.io/ttl": "0"}
    meta = {"name": node.name, "labels": labels, "annotations": annotations}
    spec = {"providerID": f"example://{node.name}", **node_marks(node)}
    status = node_status(node, now)
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}


def node_marks(node: LiveNode) -> Document:
    """Return the taints of a node, and whether it is cordoned."""
    taints = ([] if node.ready else [NOT_READY]) + ([CORDONED] if node.cordoned else [])
    return {"taints": taints, "unschedulable": node.cordoned}


def node_status(node: LiveNode, now: float) -> Document:
    """Return the status that a kubelet reports of its node."""
    cpus, memory = SIZES[node.number % len(SIZES)]
    capacity = {"cpu": str(cpus), "memory": f"{memory}Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    times = {"lastHeartbeatTime": stamp(now), "lastTransitionTime": stamp(node.joined_at)}
    conditions: list[Document] = [
        {"type": kind, "status": "False", "reason": f"KubeletHasNo{kind}", "message": "kubelet has enough", **times}
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")
    ]
    reason = "KubeletReady" if node.ready else "KubeletNotReady"
    status = str(node.ready)
    conditions.append({"type": "Ready", "status": status, "reason": reason, "message": "kubelet reports", **times})
    images = [
        {"names": [f"registry.example.com/image-{number}:1"], "sizeBytes": 1_000_000 * (20 + number % 400)}
        for number in node.images
    ]
    return {
        "capacity": capacity,
        "allocatable": capacity,
        "conditions": conditions,
        "addresses": [{"type": "InternalIP", "address": node.address}, {"type": "Hostname", "address": node.name}],
        "nodeInfo": _NODE_INFO,
        "images": images,
    }


_NODE_INFO = {
    "machineID": "00000000000000000000000000000000",
    "systemUUID": "00000000-0000-0000-0000-000000000000",
    "bootID": "00000000-0000-0000-0000-000000000000",
    "kernelVersion": "6.12.0",
    "osImage": "Linux",
    "containerRuntimeVersion": "containerd://2.1.0",
    "kubeletVersion": "v1.36.4",
    "kubeProxyVersion": "",
    "operatingSystem": "linux",
    "architecture": "amd64",
}


def lease_document(node: LiveNode, now: float) -> Document:
    """Return the Lease of a node."""
    spec = {"holderIdentity": node.name, "leaseDurationSeconds": 40, "renewTime": micro_stamp(now)}
    meta = {"name": node.name}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}


# -- objects of controllers


def replica_set(owner: Owner) -> Document:
    """Return a ReplicaSet."""
    template = owner.template
    labels = {**template.selector, "pod-template-hash": owner.hash}
    meta = {"name": owner.name, "namespace": template.namespace, "labels": labels}
    container = {"name": "main", "image": template.image}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": spec}


def service(template: Template) -> Document:
    """Return a Service."""
    meta = {"name": template.app, "namespace": template.namespace, "labels": template.selector}
    ports = [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta,
        "spec": {"selector": template.selector, "ports": ports, "clusterIP": "None"},
    }
