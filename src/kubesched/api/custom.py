"""Objects of kinds that this package does not know: those of CustomResourceDefinitions, which plugins look up.

From documents to structs with metadata like any other. Whatever else an object has at its top (`spec`, `status`, or
`usage` of a NodeMetrics) is an attribute of that name, and in `fields` as JSON has it. A kind is named as plugins name
it: `foos.v1.example.com`.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.errors import InvalidObjectError

_OF_EVERY_OBJECT = ("apiVersion", "kind", "metadata")


class CustomObject(ApiObject, frozen=True):
    """An object of a kind that this package does not know."""

    # what is at its top, besides what every object has
    fields: dict[str, Any] = msgspec.field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        """Return a field; None for spec and status if it has none, as every kind may have these."""
        if name in self.fields:
            return self.fields[name]
        if name in ("spec", "status"):
            return None
        there = ", ".join(self.fields) or "none"
        raise AttributeError(f"{type(self).__name__} {self.full_name} has no field {name!r}; it has {there}")


class StrangeObject(ApiObject, frozen=True):
    """What is read of an object that is too strange for the decoder."""

    spec: object = None
    status: object = None


@cache
def custom_kind(name: str) -> type[CustomObject]:
    """Return the type of the objects of a kind, such as `foos.v1.example.com`."""
    kind = msgspec.defstruct(name, (), bases=(CustomObject,), frozen=True, kw_only=True, gc=False)
    assert issubclass(kind, CustomObject)
    return kind


def custom_object(kind: str | type[CustomObject], document: Mapping[str, Any]) -> CustomObject:
    """Return the object of a kind that a document describes; InvalidObjectError if its metadata cannot be read."""
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
    )


def custom_kind_of(document: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return which of some kinds (`foos.v1.example.com`; others do not count) a document is of, None if of none."""
    kind, api_version = document.get("kind"), document.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(api_version, str):
        return None
    group, _, version = api_version.partition("/")
    for name in names:
        plural, _, rest = name.partition(".")
        # policies are of kind Policy
        if group and rest == f"{version}.{group}" and plural.startswith(kind.lower().removesuffix("y")):
            return name
    return None
