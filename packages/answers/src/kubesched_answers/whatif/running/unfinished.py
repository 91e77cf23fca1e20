"""Unfinished workloads: rollouts that hang, and pods that are not created.

From the workloads of a settled cluster to the unfinished ones, each with a reason.
"""

# upstream: kubectl/pkg/polymorphichelpers/rollout_status.go (v1.36)

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.core.cluster.pod_info import PodInfo
from kubesched_answers.whatif.running.cluster import RunningCluster
from kubesched_answers.whatif.whatif_answer import UnfinishedWorkload
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.framework.views import OwnerReference, controller_of
from kubesched_controlplane.controllers.workloads import rollouts
from kubesched_controlplane.controllers.workloads.conditions import find_condition
from kubesched_controlplane.controllers.workloads.daemon_sets import DAEMON_SETS
from kubesched_controlplane.controllers.workloads.deployments import DEPLOYMENTS
from kubesched_controlplane.controllers.workloads.replica_sets import REPLICA_SETS
from kubesched_controlplane.controllers.workloads.stateful_sets import STATEFUL_SETS

FAILURE: Final = "ReplicaFailure"
CONTROLLERS: Final = "replicationcontrollers"


def unfinished(cluster: RunningCluster) -> dict[str, UnfinishedWorkload]:
    """Return the unfinished workloads, by name."""
    waiting: dict[str, list[PodInfo]] = {}
    for pod in cluster.pods.values():
        owner = None if pod.spec.node_name else cluster.owner_of(pod)
        if owner is not None:
            waiting.setdefault(owner, []).append(pod)
    found: dict[str, UnfinishedWorkload] = {}
    for workload, message in (*_deployments(cluster), *_sets(cluster), *_stateful(cluster), *_daemons(cluster)):
        pods = sorted(pod.full_name for pod in waiting.get(workload, ()))
        found.setdefault(workload, UnfinishedWorkload(workload, message, tuple(pods)))
    return found


def _documents(cluster: RunningCluster, prefix: str) -> Iterator[Document]:
    for stored in cluster.server.registry.store.set_of(prefix):
        document = stored.document()
        if "deletionTimestamp" not in document["metadata"]:
            document.setdefault("status", {})
            yield document


def _name(kind: str, document: Document) -> str:
    meta = document["metadata"]
    return f"{kind} {meta['namespace']}/{meta['name']}"


def _owner_uid(document: Document) -> str:
    owner = _controller(document)
    return owner.uid if owner is not None else ""


def _controller(document: Document) -> OwnerReference | None:
    references = document["metadata"].get("ownerReferences") or ()
    return controller_of(msgspec.convert(references, tuple[OwnerReference, ...]))


def _deployments(cluster: RunningCluster) -> Iterator[tuple[str, str]]:
    """Yield Deployments whose old pods stay."""
    sets: dict[str, list[Document]] = {}
    for document in _documents(cluster, REPLICA_SETS):
        if document["spec"].get("replicas"):
            sets.setdefault(_owner_uid(document), []).append(document)
    for deployment in _documents(cluster, DEPLOYMENTS):
        own = sets.get(deployment["metadata"]["uid"], [])
        if deployment["spec"].get("paused") or len(own) + bool(not own) < 2:
            continue
        new = rollouts.new_set(deployment, own)
        old = sum(rollouts.wanted(each) for each in own if each is not new)
        if new is not None and old:
            yield (
                _name("Deployment", deployment),
                f"the rollout hangs: {_pods(old)} of the old template and {_pods(rollouts.wanted(new))} of the new one",
            )


def _sets(cluster: RunningCluster) -> Iterator[tuple[str, str]]:
    """Yield workloads whose pods the API server rejects."""
    for kind, prefix in (("ReplicaSet", REPLICA_SETS), ("ReplicationController", CONTROLLERS)):
        for document in _documents(cluster, prefix):
            condition = find_condition(document["status"], FAILURE)
            if condition is not None and condition.get("status") == "True":
                owner = _controller(document)
                name = _name(kind, document)
                if owner is not None:
                    name = f"{owner.kind} {document['metadata']['namespace']}/{owner.name}"
                yield name, f"pods are not created: {condition.get('message', '')}"


def _stateful(cluster: RunningCluster) -> Iterator[tuple[str, str]]:
    """Yield StatefulSets that wait for a pod before they continue."""
    for document in _documents(cluster, STATEFUL_SETS):
        spec, status = document["spec"], document["status"]
        replicas, there = spec.get("replicas") or 0, status.get("replicas") or 0
        name = _name("StatefulSet", document)
        if there < replicas:
            yield (
                name,
                f"it waits for a pod to be ready before it creates the next: {_pods(replicas - there)} are missing",
            )
            continue
        rolling: dict[str, Any] = (spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
        partition = rolling.get("partition") or 0
        if (spec.get("updateStrategy") or {}).get("type") == "OnDelete" or not status.get("updateRevision"):
            continue
        updated = status.get("updatedReplicas") or 0
        if status["updateRevision"] != status.get("currentRevision") and updated < replicas - partition:
            left = replicas - partition - updated
            yield name, f"the rollout hangs: {_pods(left)} of the old template stay until the others are ready"


def _daemons(cluster: RunningCluster) -> Iterator[tuple[str, str]]:
    """Yield DaemonSets whose old pods stay."""
    for document in _documents(cluster, DAEMON_SETS):
        status = document["status"]
        desired, updated = status.get("desiredNumberScheduled") or 0, status.get("updatedNumberScheduled") or 0
        if (document["spec"].get("updateStrategy") or {}).get("type") != "OnDelete" and updated < desired:
            yield (
                _name("DaemonSet", document),
                f"the rollout hangs: {_pods(desired - updated)} of the old template stay",
            )


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"
