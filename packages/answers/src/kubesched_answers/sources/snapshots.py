"""Snapshots: a cluster in a file.

    gzip of lines of JSON: a header, then one object a line, nodes first

From the objects of a cluster to such a file and back. The header has the version of the format; a newer one is
refused. Objects are written from structs (`reduction`), so the file has only the fields that scheduling reads.
Objects of custom kinds are those that plugins look up; they are written whole, with the name of their kind.
"""

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, Final

import msgspec

from kubesched.api.codec import decode_json, encode
from kubesched.api.custom import CustomObject, custom_document, custom_object
from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject
from kubesched.api.sharing import sharing
from kubesched.api.tolerant_json import UNREADABLE
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.model.cluster_objects import ADMISSION_KINDS, ClusterObjects, Gap
from kubesched.sources.read_documents import reduced_document
from kubesched.sources.reduction import reduced
from kubesched.sources.workloads import WORKLOAD_KINDS, Document

VERSION: Final = 1
GZIP: Final = b"\x1f\x8b"
# an unpacked snapshot
_UNPACKED: Final = b'{"kubesched":"snapshot"'
# a snapshot of 5000 nodes and 200 000 pods is smaller than a gigabyte
LARGEST: Final = 8 << 30
_KIND: Final = re.compile(rb'\{(?:"apiVersion":"[^"]*",)?"kind":"(\w+)"')
_AGAIN: Final = "write it again with `kubesched snapshot -o FILE`"


# how lines of traces and recordings begin
_TRACE: Final = re.compile(rb'\s*\{\s*("(at|recording|scenario)"\s*:|"template"\s*:\s*")')


class UnreadableSnapshotError(KubeschedError):
    """A file that is no snapshot, or is damaged or too new; the message has the fix."""


class _Header(msgspec.Struct, rename="camel"):
    """The first line of a snapshot; older ones lack the kinds by which pods are admitted."""

    kubesched: str = ""
    version: int = 0
    taken_at: datetime | None = None
    origin: str = ""
    kubernetes: str = ""
    anonymised: bool = False
    gaps: tuple[dict[str, str], ...] = ()
    counts: dict[str, int] = {}
    custom_kinds: tuple[str, ...] = ()
    unread: tuple[str, ...] = tuple(ADMISSION_KINDS)


class _CustomLine(msgspec.Struct):
    """The line of an object of a custom kind; lists of some servers leave out the kind of their items."""

    custom: str
    object: Document


def is_snapshot(content: bytes) -> bool:
    """Return whether the first bytes of a file are the start of a snapshot, or at least of gzip."""
    return content.startswith((GZIP, _UNPACKED))


# -- writing


def counts_of(cluster: ClusterObjects) -> dict[str, int]:
    """Return how many objects of each kind a snapshot of a cluster has."""
    return dict(Counter(kind for kind, _ in _lines(cluster)))


def snapshot_bytes(cluster: ClusterObjects) -> bytes:
    """Return the snapshot of a cluster."""
    lines = list(_lines(cluster))
    header = _Header(
        kubesched="snapshot",
        version=VERSION,
        taken_at=cluster.taken_at or datetime.now(UTC),
        origin=cluster.origin,
        kubernetes=cluster.kubernetes,
        anonymised=cluster.anonymised,
        gaps=tuple(gap.to_dict() for gap in cluster.gaps),
        counts=dict(Counter(kind for kind, _ in lines)),
        custom_kinds=cluster.custom_kinds,
        unread=cluster.unread,
    )
    packed = BytesIO()
    # without a name and a time: equal clusters give equal bytes
    with gzip.GzipFile("", "wb", 6, packed, mtime=0) as file:
        file.write(msgspec.json.encode(header) + b"\n")
        for _, line in lines:
            file.write(line + b"\n")
    return packed.getvalue()


def _lines(cluster: ClusterObjects) -> Iterator[tuple[str, bytes]]:
    """Yield the kind and the line of each object, nodes first."""
    for obj in sorted(cluster.objects, key=lambda obj: (type(obj).__name__ != "Node", type(obj).__name__)):
        kind = type(obj).__name__
        if isinstance(obj, CustomObject):
            yield kind, msgspec.json.encode(_CustomLine(kind, custom_document(obj)))
        elif kind in KINDS and kind not in WORKLOAD_KINDS:
            yield kind, encode(reduced(obj))
    described = {(document["kind"], _full_name(document)) for document in cluster.workloads}
    for document in (*cluster.workloads, *cluster.admission):
        yield document["kind"], msgspec.json.encode(document)
    # selectors of workloads without a known template
    for obj in cluster.objects:
        kind = type(obj).__name__
        if kind in WORKLOAD_KINDS and (kind, obj.full_name) not in described:
            yield kind, encode(reduced(obj))


def _full_name(document: Document) -> str:
    meta = document["metadata"]
    return f"{meta.get('namespace', '')}/{meta.get('name', '')}" if meta.get("namespace") else str(meta.get("name", ""))


# -- reading


def read_snapshot(source: str, content: bytes, custom_kinds: Collection[str] = ()) -> ClusterObjects:
    """Return the cluster of a snapshot; raises UnreadableSnapshotError.

    `custom_kinds` are the kinds that plugins look up; one that is missing in the file is a gap.
    """
    text = _unpacked(source, content)
    header_line, _, body = text.partition(b"\n")
    header = _header(source, header_line)
    lines = body.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    total = sum(header.counts.values())
    if len(lines) != total:
        raise UnreadableSnapshotError(
            f"{source}: has {len(lines)} objects, but its header announces {total}: the file is incomplete; {_AGAIN}"
        )
    objects, workloads, admission = _objects(source, lines)
    return ClusterObjects(
        tuple(objects),
        tuple(workloads),
        origin=header.origin or source,
        taken_at=header.taken_at,
        gaps=(
            *(Gap(**{field: str(gap.get(field, "")) for field in ("what", "why", "uncertain")}) for gap in header.gaps),
            *_unwritten(header, custom_kinds),
        ),
        kubernetes=header.kubernetes,
        anonymised=header.anonymised,
        custom_kinds=header.custom_kinds,
        admission=tuple(admission),
        unread=header.unread,
    )


def _unwritten(header: _Header, custom_kinds: Collection[str]) -> Iterator[Gap]:
    """Yield a gap for each kind that a plugin looks up and a snapshot lacks; anonymised ones have such gaps
    already.
    """
    told = {gap.get("what") for gap in header.gaps}
    for kind in custom_kinds if not header.anonymised else ():
        if kind not in header.custom_kinds and kind not in told:
            why = "the snapshot was written without this plugin: write it again with --config and --plugin"
            yield Gap(kind, why, f"answers that depend on {kind}")


def _objects(source: str, lines: list[bytes]) -> tuple[list[ApiObject], list[Document], list[Document]]:
    """Return objects, documents of workloads, and documents for admission; raises UnreadableSnapshotError."""
    objects: list[ApiObject] = []
    workloads: list[Document] = []
    admission: list[Document] = []
    readers: dict[str, Callable[[bytes], ApiObject]] = {}
    number = 1
    try:
        for line in lines:
            number += 1
            kind = _kind_of(line)
            if not kind:
                custom = msgspec.json.decode(line, type=_CustomLine)
                objects.append(custom_object(custom.custom, custom.object))
            if kind in WORKLOAD_KINDS:
                workloads.append(_workload(line))
            if kind in ADMISSION_KINDS:
                admission.append(reduced_document(msgspec.json.decode(line)))
            if kind in KINDS:
                reader = readers.get(kind) or readers.setdefault(kind, _reader(KINDS[kind]))
                objects.append(reader(line))
    except (InvalidObjectError, *UNREADABLE) as error:
        raise UnreadableSnapshotError(f"{source}: line {number}: {error}; {_AGAIN}") from None
    return objects, workloads, admission


def _workload(line: bytes) -> Document:
    # its fields are decoded when a question needs them
    msgspec.json.decode(line, type=_WorkloadShape)
    document: Document = msgspec.json.decode(line)
    return document


def check_no_trace(source: str, content: bytes) -> None:
    """Raise UnreadableSnapshotError, which names the commands for traces, if a file is a trace."""
    if _TRACE.match(content):
        raise UnreadableSnapshotError(
            f"{source}: is a trace or a recording, not a cluster: kubesched simulate {source} runs it, and "
            f"kubesched page --simulate {source} shows it"
        )


def _unpacked(source: str, content: bytes) -> bytes:
    if not content.startswith(GZIP):
        return content
    pieces: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as file:
            while piece := file.read(1 << 24):
                if not pieces and not piece.startswith(_UNPACKED):
                    check_no_trace(source, piece)
                    raise UnreadableSnapshotError(
                        f"{source}: is compressed, but not a kubesched snapshot; unpack it first if it has manifests"
                    )
                pieces.append(piece)
                size += len(piece)
                if size > LARGEST:
                    raise UnreadableSnapshotError(f"{source}: has more than {LARGEST >> 30} GiB; is it the right file?")
    except EOFError:
        raise UnreadableSnapshotError(f"{source}: is truncated; copy it again") from None
    except (OSError, zlib.error) as error:
        raise UnreadableSnapshotError(f"{source}: is damaged ({error}); copy it again, or {_AGAIN}") from None
    return b"".join(pieces)


def _header(source: str, line: bytes) -> _Header:
    try:
        # the version first: a newer header may have other fields
        version = msgspec.json.decode(line, type=_Version).version
    except UNREADABLE:
        version = None
    if version is None or version < 1:
        raise UnreadableSnapshotError(f"{source}: its header cannot be read; {_AGAIN}")
    if version > VERSION:
        raise UnreadableSnapshotError(
            f"{source}: is a snapshot of version {version}, and this kubesched reads up to version {VERSION}; "
            "install a newer one: pip install --upgrade kubesched"
        )
    try:
        return msgspec.json.decode(line, type=_Header)
    except UNREADABLE as error:
        raise UnreadableSnapshotError(f"{source}: its header cannot be read ({error}); {_AGAIN}") from None


class _Version(msgspec.Struct):
    version: int = 0


class _WorkloadName(msgspec.Struct):
    name: str
    namespace: str = ""


class _WorkloadShape(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    metadata: _WorkloadName
    spec: dict[str, Any]


class _Kind(msgspec.Struct):
    kind: str = ""


def _kind_of(line: bytes) -> str:
    match = _KIND.match(line)
    return match[1].decode() if match is not None else msgspec.json.decode(line, type=_Kind).kind


def _reader(kind: type[ApiObject]) -> Callable[[bytes], ApiObject]:
    share: Callable[[Any], Any] = sharing(kind)

    def read(line: bytes) -> ApiObject:
        obj: ApiObject = share(decode_json(kind, line))
        return obj

    return read
