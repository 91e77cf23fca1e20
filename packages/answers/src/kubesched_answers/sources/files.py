"""Clusters from files: snapshots, and manifests.

From paths (files, folders, `-`) to the objects of a cluster. Objects from `kubectl get -o yaml` have UIDs and stay
unchanged; an unreadable one is a gap. Manifests without UIDs are no cluster yet: an API server and controllers in
this process make one of them (`manifest_cluster`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kubesched.api.codec import decode
from kubesched.api.custom import custom_kind_of, custom_object
from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject
from kubesched.api.paths import CLUSTER_SCOPED
from kubesched.api.pods import Pod
from kubesched.api.sharing import sharing
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.manifests import STANDARD_INPUT, Manifest, content_of, opened_path, parsed, read
from kubesched.model.cluster_objects import UNADMITTED, ClusterObjects
from kubesched.sources.read_documents import is_admission, is_read, reduced_document
from kubesched.sources.unread import UNREAD_KINDS, gaps_of_unread
from kubesched.sources.workloads import Document
from kubesched_answers.sources.snapshots import GZIP, check_no_trace, is_snapshot, read_snapshot

DEFAULT_NAMESPACE = "default"
_EXPECTED = "give a snapshot, or the output of kubectl get -o yaml"
# limit on the reported problems of files
MOST_PROBLEMS = 5


class UnreadableFilesError(KubeschedError):
    """Files that cannot be read: `errors` has the first problems, and the number of further ones."""

    def __init__(self, problems: Sequence[str], expected: str) -> None:
        more = len(problems) - MOST_PROBLEMS
        self.errors = [*problems[:MOST_PROBLEMS], *([f"and {more:,} more"] if more > 0 else [])]
        if expected:
            self.errors[-1] += f"; {expected}"
        super().__init__("\n".join(self.errors))


def read_files(
    paths: Sequence[str], custom_kinds: Collection[str] = (), namespace: str = DEFAULT_NAMESPACE
) -> ClusterObjects:
    """Return the cluster in files, folders and standard input; raises KubeschedError.

    `custom_kinds` are the kinds that plugins look up, such as `foos.v1.example.com`; `namespace` is the default for
    objects without a namespace.
    """
    snapshots: list[ClusterObjects] = []
    manifests: list[Manifest] = []
    for path in paths:
        found = _read_path(path, custom_kinds)
        if isinstance(found, ClusterObjects):
            snapshots.append(found)
        else:
            manifests += found
    parts = [*snapshots, *_parts(manifests, snapshots, custom_kinds, namespace)]
    if not parts:
        raise KubeschedError(f"{', '.join(paths)}: no objects found")
    origin = snapshots[0].origin if len(parts) == 1 and snapshots else ", ".join(paths)
    return merged(parts, origin)


def read_objects(
    objects: Iterable[ApiObject | Mapping[str, Any]], custom_kinds: Collection[str] = ()
) -> ClusterObjects:
    """Return the cluster of structs, which stay unchanged, and of documents, treated like those in files."""
    structs: list[ApiObject] = []
    manifests: list[Manifest] = []
    for number, obj in enumerate(objects, 1):
        if isinstance(obj, ApiObject):
            structs.append(obj)
        elif isinstance(obj, Mapping):
            manifests.append(Manifest(f"object {number}", dict(obj)))
        else:
            raise KubeschedError(f"object {number}: expected a struct or a document, not a {type(obj).__name__}")
    given = [ClusterObjects(tuple(structs))] if structs or not manifests else []
    return merged([*given, *_parts(manifests, given, custom_kinds)], "objects")


def _parts(
    manifests: Sequence[Manifest],
    known: Sequence[ClusterObjects],
    custom_kinds: Collection[str],
    namespace: str = DEFAULT_NAMESPACE,
) -> list[ClusterObjects]:
    """Return the clusters of manifests: exported objects, and objects created from other manifests."""
    exported = [each for each in manifests if each.exported]
    drafts = [each for each in manifests if not each.exported]
    readers = DocumentReader(custom_kinds, namespace)
    parts = [readers.cluster(exported)] if exported else []
    if drafts:
        # imported here: an API server with all controllers, which an export does not need
        from kubesched_answers.sources.manifest_cluster import settled

        around = [*known, *parts]
        made = settled(drafts, around, namespace)
        part = readers.cluster(made.manifests)
        # manifests alone are the whole cluster; with another source, their quotas count its objects
        unread = part.unread if around else ()
        admission = tuple(map(_uncounted, part.admission)) if around else part.admission
        parts.append(replace(part, unread=unread, admission=admission, drafted=True, gaps=(*part.gaps, *made.gaps)))
    return parts


def _uncounted(document: Document) -> Document:
    return {field: value for field, value in document.items() if field != "status"}


def _read_path(path: str, custom_kinds: Collection[str]) -> ClusterObjects | list[Manifest]:
    source = "<stdin>" if path == STANDARD_INPUT else path
    problems: Sequence[str]
    try:
        if path != STANDARD_INPUT and Path(path).is_dir():
            manifests, problems = read([path])
        else:
            with opened_path(path) as stream:
                content = content_of(path, stream, GZIP)
            if is_snapshot(content):
                return read_snapshot(source, content, custom_kinds)
            if not content.strip():
                raise KubeschedError(f"{source}: file is empty; {_EXPECTED}")
            check_no_trace(source, content)
            manifests, problems = parsed(path, content)
    except OSError as error:
        raise KubeschedError(f"{error.filename or source}: {error.strerror or error}") from None
    if problems:
        raise UnreadableFilesError(problems, "" if manifests else _EXPECTED)
    return manifests


class DocumentReader:
    """Builds a cluster of documents: objects, workloads, and gaps for unreadable ones."""

    def __init__(self, custom_kinds: Collection[str] = (), namespace: str = DEFAULT_NAMESPACE) -> None:
        self._custom_kinds = custom_kinds
        self._namespace = namespace
        self._share = sharing(Pod)

    def cluster(self, manifests: Iterable[Manifest]) -> ClusterObjects:
        """Return the cluster of some documents."""
        objects: list[ApiObject] = []
        documents: list[Document] = []
        unread: list[str] = []
        for manifest in manifests:
            try:
                self._read(manifest.document, objects, documents)
            except InvalidObjectError as error:
                unread.append(f"{manifest.place}: {error}")
        there = {type(obj).__name__ for obj in objects} | {each["kind"] for each in documents}
        return ClusterObjects(
            tuple(objects),
            tuple(each for each in documents if not is_admission(each)),
            gaps=tuple(gaps_of_unread(unread)),
            custom_kinds=tuple(self._custom_kinds),
            admission=tuple(filter(is_admission, documents)),
            unread=tuple(kind for kind in UNADMITTED if kind not in there),
        )

    def _read(self, document: Document, objects: list[ApiObject], documents: list[Document]) -> None:
        """Add an object to the lists that it belongs to; objects of other kinds are left out."""
        custom = custom_kind_of(document, self._custom_kinds)
        if custom is not None:
            objects.append(custom_object(custom, document))
            return
        kind = document.get("kind")
        if (is_read(document) or kind in KINDS) and kind not in CLUSTER_SCOPED:
            document = self._in_namespace(document)
        if is_read(document):
            documents.append(reduced_document(document))
        if kind in KINDS and kind not in UNREAD_KINDS:
            obj = decode(document)
            objects.append(self._share(obj) if isinstance(obj, Pod) else obj)
        elif not kind or not document.get("apiVersion"):
            raise InvalidObjectError("an object without kind or apiVersion")

    def _in_namespace(self, document: Document) -> Document:
        """Return a document with a namespace, as kubectl would send it."""
        meta = document.get("metadata")
        if not isinstance(meta, dict) or meta.get("namespace"):
            return document
        return {**document, "metadata": {**meta, "namespace": self._namespace}}


def merged(parts: Sequence[ClusterObjects], origin: str) -> ClusterObjects:
    """Return the cluster of several parts; an object of a later part replaces one of the same name."""
    objects: dict[tuple[type[ApiObject], str], ApiObject] = {}
    documents: dict[tuple[str, str, str], Document] = {}
    for part in parts:
        objects.update(((type(obj), obj.full_name), obj) for obj in part.objects)
        for document in (*part.workloads, *part.admission):
            meta = document["metadata"]
            documents[document["kind"], meta.get("namespace", ""), meta.get("name", "")] = document
    times = [part.taken_at for part in parts if part.taken_at is not None]
    return ClusterObjects(
        tuple(objects.values()),
        tuple(each for each in documents.values() if not is_admission(each)),
        origin=origin,
        taken_at=min(times) if times else datetime.now(UTC),
        gaps=tuple(gap for part in parts for gap in part.gaps),
        kubernetes=next((part.kubernetes for part in parts if part.kubernetes), ""),
        anonymised=any(part.anonymised for part in parts),
        custom_kinds=tuple(sorted({kind for part in parts for kind in part.custom_kinds})),
        admission=tuple(filter(is_admission, documents.values())),
        # another part may have the kinds that one part lacks
        unread=tuple(kind for kind in UNADMITTED if all(kind in part.unread for part in parts)),
        drafted=not times and any(part.drafted for part in parts),
    )
