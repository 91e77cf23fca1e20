"""Custom objects: objects of CustomResourceDefinitions, which plugins look up.

From documents to structs with the usual metadata. Every other top-level field (`spec`, `status`, or `usage` of a
NodeMetrics) is an attribute of that name, and in `fields` as plain values. A kind is named as plugins name it:
`foos.v1.example.com`.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

import msgspec

from kubesched.api.meta import ApiObject, ObjectMeta, Timestamp
from kubesched.errors import InvalidObjectError

_OF_EVERY_OBJECT = ("apiVersion", "kind", "metadata")


class CustomObject(ApiObject, frozen=True):
    """An object of a kind that this package does not know."""

    # the top-level fields, without kind, apiVersion and metadata
    fields: dict[str, Any] = msgspec.field(default_factory=dict)
    # when somebody last wrote to the object, as its managed fields tell; None if they do not
    last_written: datetime | None = None

    def __getattr__(self, name: str) -> Any:
        """Return a top-level field; None if spec or status is unset, since every kind may have these."""
        if name in self.fields:
            return self.fields[name]
        if name in ("spec", "status"):
            return None
        there = ", ".join(self.fields) or "none"
        raise AttributeError(f"{type(self).__name__} {self.full_name} has no field {name!r}; it has {there}")


class StrangeObject(ApiObject, frozen=True):
    """The fields that are read of a custom object that the decoder refuses."""

    spec: object = None
    status: object = None


@cache
def custom_kind(name: str) -> type[CustomObject]:
    """Return the type of the objects of a kind, such as `foos.v1.example.com`."""
    kind = msgspec.defstruct(name, (), bases=(CustomObject,), frozen=True, kw_only=True, gc=False)
    assert issubclass(kind, CustomObject)
    return kind


def custom_object(kind: str | type[CustomObject], document: Mapping[str, Any]) -> CustomObject:
    """Return the object of a kind from a document; raises InvalidObjectError if its metadata is invalid."""
    kind_type = custom_kind(kind) if isinstance(kind, str) else kind
    try:
        meta = msgspec.convert(document.get("metadata") or {}, ObjectMeta)
    except msgspec.ValidationError as error:
        raise InvalidObjectError(f"{kind_type.__name__}: metadata: {error}") from None
    return kind_type(
        kind=str(document.get("kind") or ""),
        api_version=str(document.get("apiVersion") or ""),
        metadata=meta,
        fields={field: value for field, value in document.items() if field not in _OF_EVERY_OBJECT},
        last_written=max(_times(document), default=None),
    )


def _times(document: Mapping[str, Any]) -> Iterator[datetime]:
    """Yield the times in the managed fields of a document; other values are left out."""
    entries = (document.get("metadata") or {}).get("managedFields")
    for entry in entries if isinstance(entries, list) else ():
        try:
            yield msgspec.convert(entry["time"], Timestamp)
        except (msgspec.ValidationError, KeyError, TypeError):
            continue


def custom_document(obj: CustomObject) -> dict[str, Any]:
    """Return the document of an object, without managed fields."""
    meta = msgspec.to_builtins(obj.metadata)
    return {"apiVersion": obj.api_version, "kind": obj.kind, "metadata": meta, **obj.fields}


def custom_kind_of(document: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return the name among `names` (`foos.v1.example.com`) that is the kind of a document, None if none is."""
    kind, api_version = document.get("kind"), document.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(api_version, str):
        return None
    group, _, version = api_version.partition("/")
    for name in names:
        plural, _, rest = name.partition(".")
        # the kind Policy has the plural policies
        if group and rest == f"{version}.{group}" and plural.startswith(kind.lower().removesuffix("y")):
            return name
    return None
