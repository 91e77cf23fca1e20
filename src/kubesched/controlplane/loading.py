"""Manifests: from files, folders and standard input into a server.

    paths ──read──▶ Manifest (a document and its place) ──order──▶ create, then status ──▶ Report

Objects come in an order in which each finds what it needs, otherwise in that of the files. What is wrong names file,
document, kind and name; the others are still loaded. What the server warns of, such as fields that do not exist, is
told once for each kind. A dump of a cluster can be loaded: objects keep their status, their age and, since others refer
to them by those, their UIDs. A server that was kept keeps what it has: only what is
missing is loaded, so that it can be started again as it was started first.
"""

import errno
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from kubesched.config.document import DocumentError, parse
from kubesched.controlplane.conversion import to_storage
from kubesched.controlplane.local import LocalClient
from kubesched.controlplane.resources import Resource
from kubesched.controlplane.server import ApiServer
from kubesched.controlplane.statuses import ApiError
from kubesched.controlplane.store import Document

STANDARD_INPUT = "-"
PIECE_BYTES = 1 << 20
SUFFIXES = (".yaml", ".yml", ".json")
# what others need comes first; kinds that are not named come last: quotas are among them, which take for used what
# their status says, and would count it again as it comes
ORDER = (
    ("CustomResourceDefinition",),
    ("Namespace",),
    ("PriorityClass", "RuntimeClass", "StorageClass", "CSIDriver", "VolumeAttributesClass", "DeviceClass"),
    ("ClusterRole", "Role", "ServiceAccount", "ConfigMap", "Secret", "LimitRange"),
    ("ClusterRoleBinding", "RoleBinding"),
    ("Node",),
    ("CSINode", "CSIStorageCapacity", "ResourceSlice", "DeviceTaintRule"),
    ("PersistentVolume", "ResourceClaimTemplate"),
    ("PersistentVolumeClaim", "ResourceClaim"),
    ("Service", "PodDisruptionBudget", "Workload", "PodGroup"),
    ("CronJob", "Deployment", "ControllerRevision"),
    ("ReplicationController", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"),
    ("Pod",),
)
_RANKS = {kind: rank for rank, kinds in enumerate(ORDER) for kind in kinds}
# what a dump says that the server must not be asked for
_NOT_FOR_CREATION = ("uid", "resourceVersion", "managedFields", "generation", "selfLink", "deletionTimestamp")

# what values are called
_SHOWN = {type(None): "nothing", str: "text", list: "a list", dict: "an object", bool: "true or false"}

Progress = Callable[[Sequence["Manifest"]], Iterable["Manifest"]]


class Manifest(NamedTuple):
    """A document, and where it comes from."""

    place: str
    document: Document

    @property
    def kind(self) -> str:
        """Return the kind of object that it says it is."""
        return str(self.document.get("kind", ""))

    @property
    def name(self) -> str:
        """Return its name, or the beginning of one that is to be made up."""
        meta = self.document.get("metadata")
        return str(meta.get("name") or meta.get("generateName", "")) if isinstance(meta, dict) else ""

    @property
    def named(self) -> str:
        """Return what it is called where something is said of it."""
        return f'{self.place}: {self.kind or "an object without a kind"} "{self.name}"'


class Report(NamedTuple):
    """How many objects were loaded, how many were there from an earlier time, and what was wrong with the others.

    Warnings are about objects that were loaded.
    """

    loaded: int
    problems: list[str]
    kept: int = 0
    warnings: Sequence[str] = ()


def load(server: ApiServer, paths: Sequence[str], progress: Progress = iter, others: Sequence[Manifest] = ()) -> Report:
    """Load others and all manifests under some paths into a server; `progress` is shown each as its turn comes."""
    manifests, problems = read(paths)
    found = create(server, [*others, *manifests], progress)
    return found._replace(problems=problems + found.problems)


# -- reading


def read(paths: Sequence[str]) -> tuple[list[Manifest], list[str]]:
    """Return the objects in files, folders and standard input, and what could not be read."""
    manifests: list[Manifest] = []
    problems: list[str] = []
    for path in paths:
        try:
            for file in _files(path):
                _read_file(file, manifests, problems)
        except OSError as error:
            problems.append(f"{error.filename or path}: {error.strerror or error}")
    return manifests, problems


def _files(path: str) -> Iterator[str]:
    """Yield a file, or those in a folder and its folders, in order."""
    if path == STANDARD_INPUT or not Path(path).is_dir():
        yield path
        return
    found = 0
    for folder, folders, names in os.walk(path, onerror=_raise):
        folders.sort()
        files = [str(Path(folder, name)) for name in sorted(names) if name.endswith(SUFFIXES)]
        found += len(files)
        yield from files
    if not found:
        raise OSError(errno.ENOENT, f"no files that end in {', '.join(SUFFIXES)}", path)


def _raise(error: OSError) -> None:
    raise error


def _read_file(path: str, manifests: list[Manifest], problems: list[str]) -> None:
    source = "<stdin>" if path == STANDARD_INPUT else path
    content = _content(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.append(f"{source}: not UTF-8: {error.reason} at byte {error.start}")
        return
    for number, part in enumerate(_documents(text), 1):
        place = f"{source}: document {number}"
        try:
            manifests += _objects(place, part.value())
        except DocumentError as error:
            problems.append(f"{place}: {error}")


def _content(path: str) -> bytes:
    """Return what is in a file, up to the piece with a zero byte: that is no text, and a device may have no end."""
    pieces = []
    with nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else Path(path).open("rb") as stream:
        while piece := stream.read(PIECE_BYTES):
            pieces.append(piece)
            if b"\0" in piece:
                break
    return b"".join(pieces)


class _Part(NamedTuple):
    """The text of one document, and how many lines come before it."""

    lines_before: int
    text: str

    def value(self) -> Any:
        """Return what the text says; DocumentError with the line in the file otherwise."""
        try:
            return parse(self.text)
        except DocumentError:
            # once more with the lines before it, so that the error names the right one
            parse("\n" * self.lines_before + self.text)
            raise


def _documents(text: str) -> Iterator[_Part]:
    """Yield the documents of a file that are not empty, each with the `---` it begins with."""
    lines = text.split("\n")
    starts = [0, *(number for number, line in enumerate(lines) if number and _begins_document(line))]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if any(_says_something(line) for line in lines[start:end]):
            yield _Part(start, "\n".join(lines[start:end]))


def _begins_document(line: str) -> bool:
    return line.startswith("---") and not line[3:4].strip()


def _says_something(line: str) -> bool:
    said = line[3:].strip() if _begins_document(line) else line.strip()
    return bool(said) and not said.startswith("#")


def _objects(place: str, value: Any) -> Iterator[Manifest]:
    """Yield the object in a document, or those in a list."""
    if value is None:
        return
    if not isinstance(value, dict):
        raise DocumentError(f"an object was expected, found {_shown(value)}")
    kind, items = value.get("kind"), value.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and "items" in value):
        yield Manifest(place, value)
        return
    if not isinstance(items, list | None):
        raise DocumentError(f"{kind}: items: a list was expected, found {_shown(items)}")
    # the items of a PodList need not say that they are pods
    own = {} if kind == "List" else {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")}
    for number, item in enumerate(items or ()):
        if not isinstance(item, dict):
            raise DocumentError(f"{kind}: items[{number}]: an object was expected, found {_shown(item)}")
        yield from _objects(f"{place}: items[{number}]", {**own, **item})


def _shown(value: Any) -> str:
    return _SHOWN.get(type(value), "a number")


# -- creating


def create(server: ApiServer, manifests: Sequence[Manifest], progress: Progress = iter) -> Report:
    """Create objects in a server, each after what it needs."""
    warned: list[str] = []
    client = LocalClient(server, warn=warned.append)
    warnings = _Warnings()
    ordered = sorted(manifests, key=lambda manifest: _RANKS.get(manifest.kind, len(ORDER)))
    created: set[tuple[str, str, str]] = set()
    refused: dict[str, str] = {}
    kept = 0
    for manifest in progress(ordered):
        try:
            if not _create(client, manifest.document, created):
                kept += 1
        except ApiError as error:
            refused[manifest.place] = f"{manifest.named}: {error.message}"
        else:
            warnings.add(manifest, warned)
        warned.clear()
    problems = [refused[manifest.place] for manifest in manifests if manifest.place in refused]
    return Report(len(manifests) - len(problems) - kept, problems, kept, tuple(warnings.lines()))


class _Warnings:
    """What a server warns of: many objects have the same trouble, which is told once."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], str] = {}
        self._count: Counter[tuple[str, str]] = Counter()

    def add(self, manifest: Manifest, texts: Iterable[str]) -> None:
        """Note what was said of an object."""
        for text in dict.fromkeys(texts):
            self._first.setdefault((manifest.kind, text), manifest.named)
            self._count[manifest.kind, text] += 1

    def lines(self) -> list[str]:
        """Return a line for each warning, with the first object that it is about."""
        return [
            f"{named}: {text}" + (f" (and {self._count[kind, text] - 1} more)" if self._count[kind, text] > 1 else "")
            for (kind, text), named in self._first.items()
        ]


def _create(client: LocalClient, document: Document, created: set[tuple[str, str, str]]) -> bool:
    """Create one object, with its status; one that the server came with is replaced, one of an earlier time stays."""
    resource = _resource(client.server, document)
    wanted = _wanted(resource, document)
    if _is_recalled(client.server, resource, wanted["metadata"]):
        return False
    try:
        found = client.create(resource, wanted)
    except ApiError as error:
        meta = wanted["metadata"]
        key = (resource.qualified, meta.get("namespace", ""), str(meta.get("name")))
        if error.reason != "AlreadyExists" or key in created:
            raise
        found = client.update(resource, wanted)
    except (ValueError, OverflowError) as error:
        raise ApiError(400, "BadRequest", f"cannot be written as JSON: {error}") from None
    meta = found["metadata"]
    created.add((resource.qualified, meta.get("namespace", ""), meta["name"]))
    status = document.get("status")
    if status and "status" in resource.subresources:
        found = client.update(resource, {**found, "status": status}, "status")
    if _has_generated_selector(resource, document):
        found["spec"].pop("manualSelector", None)
    _keep_identity(client.server, resource, found, document["metadata"])
    return True


def _is_recalled(server: ApiServer, resource: Resource, meta: Document) -> bool:
    """Return whether an object is there from before the server was started: its life has gone on since."""
    store = server.services.store
    found = store.get(resource.store, meta.get("namespace", ""), str(meta.get("name")))
    return found is not None and found.version <= store.recalled


def _resource(server: ApiServer, document: Document) -> Resource:
    version, kind = document.get("apiVersion"), document.get("kind")
    for field, value in (("apiVersion", version), ("kind", kind)):
        if not isinstance(value, str) or not value:
            raise ApiError(400, "BadRequest", f"{field} is not set")
    catalog = server.services.catalog
    resource = catalog.of_kind(str(version), str(kind))
    if resource is None or "list" not in resource.verbs:
        others = [each.api_version for each in catalog.resources if each.kind == kind and "list" in each.verbs]
        hint = f"; it is served in {', '.join(others)}" if others else ""
        raise ApiError(404, "NotFound", f'no matches for kind "{kind}" in version "{version}"{hint}')
    return resource


def _wanted(resource: Resource, document: Document) -> Document:
    """Return a document as a server can be asked to create it."""
    meta = document.get("metadata")
    if not isinstance(meta, dict):
        raise ApiError(400, "BadRequest", f"metadata: an object was expected, found {_shown(meta)}")
    meta = {field: value for field, value in meta.items() if field not in _NOT_FOR_CREATION}
    if resource.namespaced:
        meta["namespace"] = meta.get("namespace") or "default"
        if not isinstance(meta["namespace"], str):
            raise ApiError(
                400, "BadRequest", f"metadata.namespace: text was expected, found {_shown(meta['namespace'])}"
            )
    else:
        meta.pop("namespace", None)
    if _has_generated_selector(resource, document):
        return {**document, "metadata": meta, "spec": {**document["spec"], "manualSelector": True}}
    return {**document, "metadata": meta}


def _has_generated_selector(resource: Resource, document: Document) -> bool:
    """Return whether an object selects by the UID that it had where it comes from: one that is not given another."""
    spec = document.get("spec")
    return (
        resource.qualified == "jobs.batch"
        and isinstance(spec, dict)
        and bool(spec.get("selector"))
        and not spec.get("manualSelector")
    )


def _keep_identity(server: ApiServer, resource: Resource, stored: Document, given: Document) -> None:
    """Give an object the UID and the age that it had where it comes from; the API has no words for that."""
    kept = {field: given[field] for field in ("uid", "creationTimestamp") if isinstance(given.get(field), str)}
    if not kept or stored["metadata"] == {**stored["metadata"], **kept}:
        return
    document = to_storage(resource, {**stored, "metadata": {**stored["metadata"], **kept}})
    server.services.store.put(resource.store, document, server.services.strategy(resource).fields(document))
