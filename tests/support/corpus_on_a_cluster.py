"""Scenarios of the conformance corpus on a real API server, for the scheduler of its cluster.

From a line of the corpus to its cluster, made acceptable for an API server, and its pods, one after the other: each is
decided before the next comes. Nothing but namespaces stays. The nodes of a scenario are those of its cluster, so there
must be no others.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from tests.support.api_client import MERGE_PATCH, ApiClient, Document
from tests.support.clusters import why_waiting
from tests.support.corpus_models import lines_with_clusters
from tests.support.processes import eventually

from kubesched.api.kinds import flattened
from kubesched.api.paths import path_of

# those whose scenarios are clusters with pods for a scheduler with default gates
FILES = (
    "dynamic-resources",
    "framework",
    "image-locality",
    "inter-pod-affinity",
    "mixed",
    "node-affinity",
    "ports",
    "preemption",
    "preemption-sequence",
    "resources",
    "taints",
    "topology-spread",
    "volumes",
)
NAMESPACES = ("other", "dev", "web", "bare", "third")
# controllers would delete their pods, or add some
OF_CONTROLLERS = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController"})
# what is named by the UID of the server comes before what names it; so do pods on nodes before all else but claims
FIRST = ("Node", "PersistentVolumeClaim", "PersistentVolume", "Pod")
SYSTEM_CLASSES = {2_000_000_000: "system-cluster-critical", 2_000_001_000: "system-node-critical"}
# for a decision; one that does not come is left behind: a pod that waits for a volume, or a claim that nobody makes
PATIENCE_SECONDS = 3.0


class RefusedError(Exception):
    """An object that the API server does not take."""


def scenarios_of_defaults(file: str) -> list[tuple[str, Document]]:
    """Return the scenarios of a file, by name, for a scheduler with the default configuration and gates."""
    found = []
    for number, line in enumerate(lines_with_clusters(file)):
        kinds = {document["kind"] for document in flattened(line["objects"])}
        if not (line.get("config") or line.get("featureGates") or kinds & OF_CONTROLLERS):
            found.append((f"{file}-{number}", line))
    return found


class CorpusScenario:
    """A scenario on a cluster; names of its pods end in its name."""

    def __init__(self, api: ApiClient, name: str, line: Mapping[str, Any]) -> None:
        self._api = api
        self._name = name
        # how many objects were tried, and why some are not there
        self.tried = 0
        self.refused: list[str] = []
        documents: list[Document] = [copy.deepcopy(dict(document)) for document in flattened(line["objects"])]
        # UID in the corpus -> name and UID on the server
        self._made: dict[str, dict[str, str]] = {}
        self._paths: list[str] = []
        self._labels: dict[str, dict[str, str]] = {
            document["metadata"]["name"]: document["metadata"].get("labels", {})
            for document in documents
            if document["kind"] == "Namespace"
        }
        self._pending = [each for each in documents if each["kind"] == "Pod" and not each["spec"].get("nodeName")]
        waiting = {pod["metadata"]["uid"] for pod in self._pending}
        rest = [each for each in documents if each not in self._pending and each["kind"] != "Namespace"]
        self._of_pending = [each for each in rest if waiting & set(_uids_in(each))]
        self._cluster = [each for each in rest if each not in self._of_pending]

    def build(self) -> None:
        """Create the cluster, without pods that are to be scheduled, and without what the API server does not take."""
        for namespace, labels in self._labels.items():
            self._api.change("Namespace", namespace, {"metadata": {"labels": labels}})
        order = {kind: number for number, kind in enumerate(FIRST)}
        for document in sorted(self._cluster, key=lambda each: order.get(each["kind"], len(order))):
            self._try(document)

    def decisions(self) -> Iterator[bool]:
        """Create the pods, each when the last one is decided; yield whether it was: bound, or told why not."""
        for pod in self._pending:
            uid = pod["metadata"]["uid"]
            name, namespace = self._pod_name(pod), pod["metadata"]["namespace"]
            self._try(pod)
            for document in self._of_pending:
                if uid in _uids_in(document):
                    self._try(document)
            yield self._decided(name, namespace)

    def _decided(self, name: str, namespace: str) -> bool:
        with suppress(AssertionError):
            eventually(lambda: self._goes_on(name, namespace), "the pod is decided", PATIENCE_SECONDS)
        pod = self._api.get("Pod", name, namespace) or {"spec": {}}
        return bool(pod["spec"].get("nodeName") or why_waiting(pod))

    def _goes_on(self, name: str, namespace: str) -> bool:
        pod = self._api.get("Pod", name, namespace)
        if pod is None or pod["spec"].get("nodeName"):
            return True
        # one that preempts waits to be bound; one that is nominated and was not refused is being bound
        return bool(why_waiting(pod)) != bool(pod.get("status", {}).get("nominatedNodeName"))

    def clear(self) -> None:
        """Delete everything, pods that wait first, lest they be scheduled."""
        for namespace, labels in self._labels.items():
            self._api.change("Namespace", namespace, {"metadata": {"labels": dict.fromkeys(labels)}})
        left = self._paths[::-1]

        def check() -> bool:
            left[:] = [path for path in left if not self._gone(path)]
            return not left

        eventually(check, f"the objects of {self._name} are gone")

    def _gone(self, path: str) -> bool:
        code, found = self._api.ask("DELETE", path, {"gracePeriodSeconds": 0})
        if code == 404:
            return True
        if code == 200 and found.get("metadata", {}).get("finalizers"):
            self._api.ask("PATCH", path, {"metadata": {"finalizers": None}}, form=MERGE_PATCH)
        return False

    def _pod_name(self, pod: Document) -> str:
        return f"{pod['metadata']['name']}-{self._name}"

    def _try(self, document: Document) -> None:
        """Create an object, or keep what the API server says against it."""
        self.tried += 1
        try:
            self._create(document)
        except RefusedError as error:
            self.refused.append(str(error))

    def _create(self, document: Document) -> None:
        kind, meta = document["kind"], document["metadata"]
        uid, doomed = meta.pop("uid", ""), meta.pop("deletionTimestamp", None)
        if kind == "Pod":
            meta["name"] = self._pod_name(document)
            # only a scheduler nominates: the nomination would be taken for a decision of it
            document.get("status", {}).pop("nominatedNodeName", None)
            self._adapt_pod(document["spec"])
        wanted = _referring(_adapted(document), self._made)
        made = self._post(wanted)
        if uid:
            self._made[uid] = {"name": made["metadata"]["name"], "uid": made["metadata"]["uid"]}
        path = self._paths[-1]
        if wanted.get("status"):
            self._patch(f"{path}/status", {"status": wanted["status"]})
        if kind == "Node":
            # an admission plugin may have added that it is not ready
            self._patch(path, {"spec": {"taints": wanted.get("spec", {}).get("taints")}})
        if doomed:
            self._api.ask("DELETE", path, {"gracePeriodSeconds": 0})

    def _post(self, document: Document) -> Document:
        name, namespace = document["metadata"]["name"], document["metadata"].get("namespace", "")
        path = path_of(document["kind"], namespace, api_version=document["apiVersion"])
        code, found = self._api.ask("POST", path, document)
        if code >= 300 and found.get("reason") != "AlreadyExists":
            raise RefusedError(f"{self._name}: {document['kind']} {name}: {found.get('message')}")
        self._paths.append(f"{path}/{name}")
        return found

    def _patch(self, path: str, patch: Document) -> None:
        code, found = self._api.ask("PATCH", path, patch, form=MERGE_PATCH)
        if code >= 300:
            raise RefusedError(f"{self._name}: {path}: {found.get('message')}")

    def _adapt_pod(self, spec: Document) -> None:
        """Have a pod vanish at once when it is deleted, and have what an API server asks for."""
        spec["terminationGracePeriodSeconds"] = 0
        spec["automountServiceAccountToken"] = False
        if "priority" in spec or "preemptionPolicy" in spec:
            spec["priorityClassName"] = self._priority_class(spec.pop("priority", 0), spec.pop("preemptionPolicy", ""))
        if "overhead" in spec:
            spec["runtimeClassName"] = self._runtime_class(spec["overhead"])
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            container.setdefault("image", "example/image")
            resources = container.get("resources", {})
            # amounts that cannot be overcommitted
            exact = {
                name: amount
                for name, amount in resources.get("requests", {}).items()
                if "/" in name or name.startswith("hugepages-")
            }
            if exact:
                resources["limits"] = {**resources.get("limits", {}), **exact}

    def _priority_class(self, value: int, policy: str) -> str:
        if value in SYSTEM_CLASSES and not policy:
            return SYSTEM_CLASSES[value]
        name = f"corpus{value}{policy.lower()}".replace("-", "minus")
        document = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        self._post({**document, "value": value, **({"preemptionPolicy": policy} if policy else {})})
        return name

    def _runtime_class(self, overhead: Document) -> str:
        name = f"corpus{sha256(json.dumps(overhead, sort_keys=True).encode()).hexdigest()[:8]}"
        document = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}}
        self._post({**document, "handler": "corpus", "overhead": {"podFixed": overhead}})
        return name


def _adapted(document: Document) -> Document:
    """Return an object with what an API server asks for."""
    if document["kind"] == "Node":
        document.setdefault("status", {})["conditions"] = [{"type": "Ready", "status": "True", "reason": "Test"}]
    elif document["kind"] == "Service":
        document["spec"]["clusterIP"] = "None"
    return document


def _uids_in(value: Any) -> Iterator[str]:
    """Yield the UIDs that an object names."""
    if isinstance(value, dict):
        if isinstance(value.get("uid"), str):
            yield value["uid"]
        for item in value.values():
            yield from _uids_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _uids_in(item)


def _referring(value: Any, made: Mapping[str, Mapping[str, str]]) -> Any:
    """Return a document that names what it names by name and UID on the server."""
    if isinstance(value, dict):
        return {name: _referring(item, made) for name, item in value.items()} | dict(made.get(value.get("uid", ""), {}))
    if isinstance(value, list):
        return [_referring(item, made) for item in value]
    return value
