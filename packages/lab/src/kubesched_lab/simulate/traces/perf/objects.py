"""The objects that operations create: nodes, pods, volumes, slices, any kind, from the templates of a workload.

From a workload to documents as they are sent to an API server, with generated names: an object with `generateName` gets
the next number. Static templates give documents that differ only in their names (`alike`), so that readers need to
parse only one of them.
"""

# upstream: test/integration/scheduler_perf/executor.go, node_util.go, util.go, test/utils/runners.go (v1.36)

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from kubesched.common.files import UnusableFileError, read_regular
from kubesched.config.document import DocumentError, parse
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.perf.devices import WorkloadDevices, with_claim_defaults
from kubesched_lab.simulate.traces.perf.field_names import with_field_names
from kubesched_lab.simulate.traces.perf.go_template import GoTemplate
from kubesched_lab.simulate.traces.perf.made_object import Document, MadeObject
from kubesched_lab.simulate.traces.perf.operations import (
    AllocResourceClaims,
    Churn,
    CreateAny,
    CreateNamespaces,
    CreateNodes,
    CreatePods,
    CreateResourceClaims,
    CreateResourceDriver,
    UpdateAny,
)
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun

LARGEST_TEMPLATE = 1 << 20
HOSTNAME = "kubernetes.io/hostname"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"

_ROOM = {"pods": "110", "cpu": "4", "memory": "32Gi"}
_BASE_NODE: Document = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {},
    "status": {
        "capacity": _ROOM,
        "allocatable": _ROOM,
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
_AMOUNTS = {"cpu": "100m", "memory": "500Mi"}
_BASE_CONTAINER = {
    "name": "pause",
    "image": "registry.k8s.io/pause:3.10.1",
    "ports": [{"containerPort": 80}],
    "resources": {"limits": _AMOUNTS, "requests": _AMOUNTS},
}
_BASE_POD: Document = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "pod-"},
    "spec": {"containers": [_BASE_CONTAINER]},
}


class _Template:
    """A file with an object, read once."""

    def __init__(self, run: PerfRun, path: str) -> None:
        self.name = path
        file = run.path(path)
        try:
            text = read_regular(file, LARGEST_TEMPLATE).decode()
        except (UnusableFileError, UnicodeDecodeError) as error:
            raise TraceError(f"{run.file.name}: {run.name}: template {path}: {error}") from None
        self._template = GoTemplate(text, path)
        self.constant = self._template.constant
        self._document = self._parsed(text) if self.constant else {}

    def document(self, index: int, count: int) -> Document:
        """Return the object with a number."""
        if self.constant:
            return self._document
        return self._parsed(self._template.filled(Index=index, Count=count))

    def _parsed(self, text: str) -> Document:
        try:
            document = parse(text)
        except DocumentError as error:
            raise TraceError(f"{self.name}: {error}") from None
        if not isinstance(document, dict):
            raise TraceError(f"{self.name}: expected an object with apiVersion and kind")
        document = _in_served_version(with_field_names(document))
        if not isinstance(document.get("metadata", {}) or {}, dict):
            raise TraceError(f"{self.name}: metadata: expected a mapping")
        return {**document, "metadata": document.get("metadata") or {}}


class WorkloadObjects:
    """Creates the objects of one workload; numbers continue from operation to operation."""

    def __init__(self, run: PerfRun) -> None:
        self._run = run
        self._templates: dict[str, _Template] = {}
        self._numbers: dict[tuple[str, str], int] = defaultdict(int)
        self._devices = WorkloadDevices()
        self.node_names: list[str] = []

    def nodes(self, operation: CreateNodes, place: int) -> Iterator[MadeObject]:
        """Yield the nodes of an operation, and the CSINodes that belong to them."""
        labels, unique = operation.label_node_prepare_strategy, operation.unique_node_label_strategy
        room = operation.node_allocatable_strategy
        for index in range(operation.count):
            if operation.node_template_path is None:
                made = self._with_name(_BASE_NODE, "the base node", f"node-{place}-", "base node")
            else:
                made = self._made(operation.node_template_path, index, operation.count, kind="Node")
            node = dict(made.document)
            # the label always has the name of the node, as in the reference
            own = {HOSTNAME: made.name}
            alike = made.alike
            if labels is not None:
                value = labels.label_values[index % len(labels.label_values)]
                own[labels.label_key], alike = value, alike and f"{alike} {value}"
            if unique is not None:
                own[unique.label_key], alike = f"unique-{made.name}", ""
            metadata = node["metadata"]
            node["metadata"] = {**metadata, "labels": {**(metadata.get("labels") or {}), **own}}
            status = node.get("status") or {}
            allocatable = status.get("allocatable") or status.get("capacity") or {}
            if room is not None:
                allocatable = {**allocatable, **room.node_allocatable}
            node["status"] = {**status, "allocatable": allocatable}
            self.node_names.append(made.name)
            made = MadeObject(node, made.where, alike)
            self._devices.take_in(made)
            yield made
            if room is not None:
                yield _csi_node(made.name, room.csi_node_allocatable, room.migrated_plugins)

    def namespaces(self, operation: CreateNamespaces) -> Iterator[MadeObject]:
        """Yield the namespaces of an operation."""
        for index in range(operation.count):
            document: Document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {}}
            if operation.namespace_template_path is not None:
                document = self._template(operation.namespace_template_path).document(index, operation.count)
            metadata = {**document["metadata"], "name": f"{operation.prefix}-{index}"}
            yield MadeObject({**document, "metadata": metadata}, operation.namespace_template_path or "namespaces")

    def pods(self, operation: CreatePods, namespace: str) -> Iterator[list[MadeObject]]:
        """Yield each pod of an operation, after its claim and its volume."""
        path = operation.pod_template_path or self._run.default_pod_template
        claim_path, volume_path = (
            operation.persistent_volume_claim_template_path,
            operation.persistent_volume_template_path,
        )
        for index in range(operation.count):
            if path is None:
                pod = self._with_name(_BASE_POD, "the base pod", "pod-", "base pod", namespace)
            else:
                pod = self._made(path, index, operation.count, namespace, kind="Pod")
            if claim_path is None or volume_path is None:
                yield [pod]
                continue
            claim = f"pvc-{index}"
            spec = {
                **(pod.document.get("spec") or {}),
                "volumes": [{"name": "vol", "persistentVolumeClaim": {"claimName": claim}}],
            }
            volumes = self._volumes(claim_path, volume_path, claim, namespace, index)
            yield [
                *volumes,
                MadeObject({**pod.document, "spec": spec}, pod.where, pod.alike and f"{pod.alike} with a claim", claim),
            ]

    def _volumes(
        self, claim_path: str, volume_path: str, claim: str, namespace: str, index: int
    ) -> tuple[MadeObject, MadeObject]:
        """Return a claim and a volume, bound to each other."""
        name = f"{namespace}-vol-{index}"
        model = self._template(claim_path).document(index, 0)
        document = {
            **model,
            "metadata": {**model["metadata"], "name": claim, "namespace": namespace},
            "spec": {**(model.get("spec") or {}), "volumeName": name},
            "status": {"phase": "Bound"},
        }
        model = self._template(volume_path).document(index, 0)
        reference = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim, "apiVersion": "v1"}
        spec = {**(model.get("spec") or {}), "claimRef": reference}
        if "csi" in spec:
            spec["csi"] = {**spec["csi"], "volumeHandle": name}
        elif "awsElasticBlockStore" in spec:
            spec["awsElasticBlockStore"] = {**spec["awsElasticBlockStore"], "volumeID": f"vol-{index}"}
        volume = {**model, "metadata": {**model["metadata"], "name": name}, "spec": spec, "status": {"phase": "Bound"}}
        return MadeObject(document, claim_path), MadeObject(volume, volume_path)

    def any(self, operation: CreateAny | UpdateAny | CreateResourceClaims) -> Iterator[MadeObject]:
        """Yield the objects of an operation that creates or updates objects of any kind."""
        count = 1 if operation.count is None else operation.count
        for index in range(count):
            made = with_claim_defaults(self._made(operation.template_path, index, count, operation.namespace))
            self._devices.take_in(made)
            yield made

    def churned(self, operation: Churn, namespace: str) -> Iterator[MadeObject]:
        """Yield the next object of each template of a churn; namespaced ones are in a namespace."""
        for path in operation.template_paths:
            yield self._made(path, 0, 1, namespace)

    def slices(self, operation: CreateResourceDriver) -> Iterator[MadeObject]:
        """Yield the ResourceSlices of a driver, one for each node whose name matches."""
        return self._devices.slices(operation, self.node_names)

    def allocated(self, operation: AllocResourceClaims) -> Iterator[MadeObject]:
        """Yield the claims of a namespace with devices."""
        return self._devices.allocated(operation, self._run.name)

    def _template(self, path: str) -> _Template:
        if path not in self._templates:
            self._templates[path] = _Template(self._run, path)
        return self._templates[path]

    def _made(self, path: str, index: int, count: int, namespace: str = "", kind: str = "") -> MadeObject:
        template = self._template(path)
        document = template.document(index, count)
        if kind and document.get("kind", kind) != kind:
            raise TraceError(f"{path}: kind is {document['kind']!r}; expected {kind}")
        if kind:
            document = {"apiVersion": "v1", "kind": kind, **document}
        alike = path if template.constant else ""
        prefix = document["metadata"].get("generateName") or f"{str(document.get('kind', 'object')).lower()}-"
        return self._with_name(document, path, prefix, alike, namespace)

    def _with_name(self, model: Document, where: str, prefix: str, alike: str, namespace: str = "") -> MadeObject:
        """Return a document with a name, and in a namespace if its kind has one."""
        metadata = {key: value for key, value in model["metadata"].items() if key != "generateName"}
        if "name" not in metadata:
            kind = str(model.get("kind", ""))
            number = self._numbers[kind, prefix]
            self._numbers[kind, prefix] = number + 1
            metadata["name"] = f"{prefix}{number}"
        if namespace and model.get("kind") not in CLUSTER_KINDS:
            metadata["namespace"] = namespace
        return MadeObject({**model, "metadata": metadata}, where, alike)


# cluster-scoped kinds that churns may have
CLUSTER_KINDS = frozenset(
    {
        "CSIDriver",
        "CSINode",
        "DeviceClass",
        "DeviceTaintRule",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "ResourceSlice",
        "StorageClass",
        "VolumeAttachment",
    }
)


def _in_served_version(document: Document) -> Document:
    """Return a document in the version that servers have, if an older version has the same shape."""
    version = str(document.get("apiVersion", ""))
    served = "v1beta2" if document.get("kind") == "DeviceTaintRule" else "v1"
    if version in ("resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta2"):
        return {**document, "apiVersion": f"resource.k8s.io/{served}"}
    return document


def _csi_node(name: str, drivers: dict[str, dict[str, Any] | None], migrated: list[str]) -> MadeObject:
    entries = [
        {"name": driver, "nodeID": name, **({"allocatable": room} if room else {})} for driver, room in drivers.items()
    ]
    document = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name, "annotations": {MIGRATED: ",".join(migrated)}},
        "spec": {"drivers": entries},
    }
    return MadeObject(document, "nodeAllocatableStrategy")
