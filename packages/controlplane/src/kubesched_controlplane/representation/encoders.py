"""The encoders of objects: as stored, in another version of their kind, as rows of a table, or as metadata.

From stored objects to the bytes that are sent, one by one or as a list. For watches each change is encoded once; rows
of tables are encoded anew every second, since they show ages.
"""

# upstream: apiserver/pkg/endpoints/handlers/response.go, apimachinery/pkg/apis/meta/v1/types.go (Table) (v1.36)

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kubesched.api.field_errors import invalid
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import Request
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request
from kubesched_controlplane.conversion import from_storage, needs_conversion
from kubesched_controlplane.representation.negotiation import (
    METADATA,
    METADATA_LIST,
    PLAIN,
    TABLE,
    WITHOUT_MANAGED_FIELDS,
    Representation,
    requested_representation,
)
from kubesched_controlplane.representation.tables import printer_of
from kubesched_controlplane.storage.store import Change, Stored

_INCLUDED = ("None", "Metadata", "Object", "")
_encode = msgspec.json.encode


class LatestBody:
    """Caches the encoded object of the latest change: watches get the same change one after the other."""

    def __init__(self) -> None:
        self._change: Change | None = None
        self._body = b""

    def of(self, change: Change, encode: Callable[[Stored], bytes]) -> bytes:
        """Return the encoded object of a change; encode it unless this is the latest change."""
        if self._change is not change:
            self._change, self._body = change, encode(change.new)
        return self._body


class Encoder:
    """Encodes objects as stored, with managedFields."""

    def __init__(self, resource: Resource, latest: LatestBody | None = None) -> None:
        self.resource = resource
        self._latest = latest or LatestBody()

    def encode(self, stored: Stored) -> bytes:
        """Return an encoded object."""
        return stored.with_managed_fields()

    def encode_document(self, document: Document) -> bytes:
        """Return an encoded document that already has its managedFields."""
        return _encode(document)

    def listed(self, meta: Mapping[str, Any], objects: Sequence[Stored]) -> list[bytes]:
        """Return a list of objects, in chunks."""
        head = {"kind": self.resource.list_kind, "apiVersion": self.resource.api_version, "metadata": meta}
        return _joined(_encode(head), "items", [self.encode(stored) for stored in objects])

    def encode_change(self, change: Change) -> bytes:
        """Return the object of a change, the same bytes for all watches."""
        return self._latest.of(change, self.encode)

    def bookmark(self, meta: Mapping[str, Any]) -> bytes:
        """Return the object of a bookmark."""
        return _encode({"kind": self.resource.kind, "apiVersion": self.resource.api_version, "metadata": meta})


class StoredEncoder(Encoder):
    """Encodes objects as stored, without managedFields."""

    def encode(self, stored: Stored) -> bytes:
        """Return an encoded object."""
        return stored.body

    def encode_change(self, change: Change) -> bytes:
        """Return the stored bytes of the changed object."""
        return change.new.body


class CachedEncoder(Encoder):
    """Encodes objects in another representation than the stored one; caches it with each change."""

    @property
    def name(self) -> str:
        """Return the cache key of this representation."""
        raise NotImplementedError

    def encode_change(self, change: Change) -> bytes:
        """Return the object of a change, encoded once for all watches of this representation."""
        name = self.name
        body = change.bodies.get(name)
        if body is None:
            body = change.bodies[name] = self.encode(change.new)
        return body


class ConvertingEncoder(CachedEncoder):
    """Encodes objects in another version than the stored one."""

    @property
    def name(self) -> str:
        """Return the cache key: the version."""
        return self.resource.api_version

    def encode(self, stored: Stored) -> bytes:
        """Return an object in this version."""
        return self.encode_document(stored.document_with_managed_fields())

    def encode_document(self, document: Document) -> bytes:
        """Return a stored document in this version."""
        return _encode(from_storage(self.resource, document))


class MetadataEncoder(CachedEncoder):
    """Encodes objects as PartialObjectMetadata: their metadata alone."""

    def __init__(self, resource: Resource, version: str) -> None:
        super().__init__(resource)
        self._kind = {"kind": METADATA, "apiVersion": f"meta.k8s.io/{version}"}

    @property
    def name(self) -> str:
        """Return the cache key: kind and version of the metadata."""
        return f"{METADATA} {self._kind['apiVersion']}"

    def encode(self, stored: Stored) -> bytes:
        """Return the metadata of an object."""
        return self.encode_document(stored.document_with_managed_fields())

    def encode_document(self, document: Document) -> bytes:
        """Return the metadata of a document."""
        return _encode({**self._kind, "metadata": document["metadata"]})

    def listed(self, meta: Mapping[str, Any], objects: Sequence[Stored]) -> list[bytes]:
        """Return a list of metadata, in chunks."""
        head = {**self._kind, "kind": METADATA_LIST, "metadata": meta}
        return _joined(_encode(head), "items", [self.encode(stored) for stored in objects])

    def bookmark(self, meta: Mapping[str, Any]) -> bytes:
        """Return the object of a bookmark."""
        return _encode({**self._kind, "metadata": meta})


class TableEncoder(CachedEncoder):
    """Encodes objects as rows of a table; in a watch only the first table has the columns."""

    def __init__(self, resource: Resource, version: str, included: str, clock: Callable[[], datetime]) -> None:
        super().__init__(resource)
        self._version = f"meta.k8s.io/{version}"
        self._included = included or "Metadata"
        self._clock = clock
        self._printer = printer_of(resource)
        self._has_columns = False

    @property
    def name(self) -> str:
        """Return the cache key: the row's object, and the time, since rows show ages."""
        return f"{TABLE} {self._version} {self._included} {self._clock():%H:%M:%S}"

    def encode(self, stored: Stored) -> bytes:
        """Return a table with the row of an object; the encoder's first table has the columns."""
        return self.encode_document(stored.document())

    def encode_document(self, document: Document) -> bytes:
        """Return a table with one row; the encoder's first table has the columns."""
        self._has_columns, columns = True, not self._has_columns
        meta = {"resourceVersion": document["metadata"].get("resourceVersion", "")}
        return self._table(meta, [document], columns=columns)

    def encode_change(self, change: Change) -> bytes:
        """Return a table with one row; the first one sent has the columns, and is not shared with other watches."""
        return super().encode_change(change) if self._has_columns else self.encode(change.new)

    def listed(self, meta: Mapping[str, Any], objects: Sequence[Stored]) -> list[bytes]:
        """Return a table with a row for each object, in chunks."""
        head = {**self._head(meta), "columnDefinitions": self._columns()}
        now = self._clock()
        return _joined(_encode(head), "rows", [_encode(self._row(stored.document(), now)) for stored in objects])

    def bookmark(self, meta: Mapping[str, Any]) -> bytes:
        """Return the table of a bookmark, with one row of metadata."""
        self._has_columns, columns = True, not self._has_columns
        return self._table({"resourceVersion": meta["resourceVersion"]}, [{"metadata": meta}], columns=columns)

    def _table(self, meta: Mapping[str, Any], documents: Sequence[Document], *, columns: bool = True) -> bytes:
        now = self._clock()
        rows = [self._row(document, now) for document in documents]
        found = {**self._head(meta), "columnDefinitions": self._columns() if columns else None, "rows": rows}
        return _encode(found)

    def _head(self, meta: Mapping[str, Any]) -> Document:
        return {"kind": TABLE, "apiVersion": self._version, "metadata": meta}

    def _columns(self) -> list[Document]:
        return [column._asdict() for column in self._printer.columns]

    def _row(self, document: Document, now: datetime) -> Document:
        row: Document = {"cells": self._printer.cells(document, now)}
        conditions = self._printer.conditions(document)
        if conditions:
            row["conditions"] = conditions
        # differs (D-134): the reference includes managedFields, which no client reads in a table
        if self._included == "Object":
            row["object"] = from_storage(self.resource, document)
        elif self._included == "Metadata":
            row["object"] = {"kind": METADATA, "apiVersion": self._version, "metadata": document["metadata"]}
        else:
            row["object"] = None
        return row


def encoder_of(resource: Resource, latest: LatestBody | None = None) -> Encoder:
    """Return the encoder of a resource's objects in its version."""
    return ConvertingEncoder(resource) if needs_conversion(resource) else Encoder(resource, latest)


def encoder_for(
    resource: Resource,
    request: Request,
    clock: Callable[[], datetime],
    *,
    listing: bool = False,
    latest: LatestBody | None = None,
) -> Encoder:
    """Return the encoder for a request's Accept header; raises ApiError 406 for a list of a single object.

    The watches of a server share `latest`.
    """
    wanted = requested_representation(request)
    if wanted is PLAIN or (wanted == WITHOUT_MANAGED_FIELDS and needs_conversion(resource)):
        return encoder_of(resource, latest)
    if wanted == WITHOUT_MANAGED_FIELDS:
        return StoredEncoder(resource)
    if wanted.kind == TABLE:
        included = request.option("includeObject")
        if included not in _INCLUDED:
            why = invalid("includeObject", included, "must be 'Metadata', 'Object', 'None', or empty")
            raise bad_request(f"Unable to convert to Table as requested: {why}")
        return TableEncoder(resource, wanted.version, included, clock)
    if listing != (wanted.kind == METADATA_LIST):
        raise _not_a_list(wanted, resource)
    return MetadataEncoder(resource, wanted.version)


def _not_a_list(wanted: Representation, resource: Resource) -> ApiError:
    kind = resource.kind if wanted.kind == METADATA_LIST else resource.list_kind
    what = "not a list" if wanted.kind == METADATA_LIST else "a list"
    message = f"you requested {wanted.kind}, but the requested object is {what} (*{resource.version}.{kind})"
    return ApiError(406, "NotAcceptable", message)


def _joined(head: bytes, field: str, items: Sequence[bytes]) -> list[bytes]:
    """Return the JSON of a list in chunks; `items` are JSON already."""
    chunks = [head[:-1], f',"{field}":['.encode()]
    for number in range(0, len(items), 500):
        if number:
            chunks.append(b",")
        chunks.append(b",".join(items[number : number + 500]))
    chunks.append(b"]}")
    return chunks
