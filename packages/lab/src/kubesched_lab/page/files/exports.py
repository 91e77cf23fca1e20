"""The cluster on display as a file for other tools: a snapshot, manifests, an import of kube-scheduler-simulator.

From the objects of a model to bytes and a name. Every format has the same fields of an object as a snapshot.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.kinds import API_VERSIONS
from kubesched.api.meta import ApiObject
from kubesched.config.document import dump
from kubesched.config.encoding import to_wire
from kubesched.config.load import Loaded
from kubesched.config.redacting import without_secrets
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources.reduction import reduced
from kubesched_answers.sources.snapshots import snapshot_bytes
from kubesched_lab.simulate.traces.scheduler_simulator import LISTS


class ExportedFile(NamedTuple):
    """A file: its name, its type, its content."""

    name: str
    media_type: str
    content: bytes


def exported(kind: str, cluster: ClusterObjects, loaded: Loaded) -> ExportedFile:
    """Return a cluster as a file of a kind in `EXPORTS`."""
    return EXPORTS[kind](cluster, loaded)


def _snapshot(cluster: ClusterObjects, loaded: Loaded) -> ExportedFile:
    return ExportedFile("cluster.snapshot.gz", "application/gzip", snapshot_bytes(cluster))


def _manifests(cluster: ClusterObjects, loaded: Loaded) -> ExportedFile:
    """Return all objects as YAML documents, including workloads and the objects that admission needs."""
    documents = [*map(_document, cluster.objects), *cluster.workloads, *cluster.admission]
    text = "---\n".join(dump(each, sort_keys=False) for each in documents)
    return ExportedFile("cluster.yaml", "application/yaml", text.encode())


def _simulator(cluster: ClusterObjects, loaded: Loaded) -> ExportedFile:
    """Return an import for kube-scheduler-simulator; kinds that it does not know are left out."""
    lists: dict[str, Any] = {name: _items(cluster.objects, kind) for name, (_, kind) in LISTS.items()}
    lists["schedulerConfig"] = without_secrets(to_wire(loaded.config), hidden="")
    return ExportedFile("simulator.json", "application/json", msgspec.json.encode(lists))


def _items(objects: Iterable[ApiObject], kind: str) -> list[dict[str, Any]]:
    return [_document(obj) for obj in objects if type(obj).__name__ == kind]


def _document(obj: ApiObject) -> dict[str, Any]:
    """Return an object as kubectl prints it, with its version and kind; its UID makes other tools load it unchanged."""
    document = to_builtins(reduced(obj))
    metadata = {key: value for key, value in document["metadata"].items() if key != "resourceVersion"}
    document["metadata"] = {**metadata, "uid": obj.uid or obj.full_name}
    kind = type(obj).__name__
    head = {"apiVersion": document.pop("apiVersion", "") or API_VERSIONS.get(kind, "v1")}
    return {**head, "kind": document.pop("kind", "") or kind, **document}


EXPORTS: Final[Mapping[str, Callable[[ClusterObjects, Loaded], ExportedFile]]] = {
    "snapshot": _snapshot,
    "manifests": _manifests,
    "simulator": _simulator,
}
