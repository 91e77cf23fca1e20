"""The part of an object that leaves the process in a snapshot: no more than questions read.

    an object ──▶ fields that `kept_texts` names, numbers, truth values, times ──▶ an equal one without other fields

From a struct to one without unread annotations, parameters of drivers, options, messages and addresses. Environment,
commands, Secrets and ConfigMaps are no fields of structs in the first place.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec.structs import fields, replace

from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.sources.kept_texts import kept_fields

T = TypeVar("T", bound=ApiObject)

# the annotations that plugins, drains and scaling read
KEPT_ANNOTATIONS: Final = frozenset(
    {
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
        "resource.kubernetes.io/extended-resource-claim",
        "kubernetes.io/config.mirror",
        "controller.kubernetes.io/pod-deletion-cost",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "deployment.kubernetes.io/revision",
    }
)
KEPT: Final = kept_fields()
ANNOTATIONS: Final = "annotations"
_WITHOUT_TEXT: Final = (int, float, bool, NoneType, datetime)


def reduced(obj: T) -> T:
    """Return an object reduced to the fields that questions read; an object of a custom kind keeps all of its
    fields.
    """
    if type(obj).__name__ not in KINDS:
        return replace(obj, metadata=reduced_meta(obj.metadata))
    return cast(T, _reduced(obj))


def reduced_meta(meta: ObjectMeta) -> ObjectMeta:
    """Return metadata with only the annotations that questions read."""
    return cast(ObjectMeta, _reduced(meta))


class _Plan(NamedTuple):
    """The changes in structs of a type: fields that get their defaults, and fields whose values change."""

    left_out: tuple[tuple[str, Any], ...]
    nested: tuple[str, ...]


@cache
def _plan(struct: type[msgspec.Struct]) -> _Plan:
    kept = KEPT.get(struct.__name__, frozenset())
    left_out, nested = [], []
    for field in fields(struct):
        if field.name in kept:
            if field.name == ANNOTATIONS or any(any(_plan(each)) for each in structs_in(field.type)):
                nested.append(field.name)
        elif has_text(field.type):
            default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
            left_out.append((field.name, default))
    return _Plan(tuple(left_out), tuple(nested))


def _reduced(value: Any) -> Any:
    """Return a value without the omitted fields; the same object if nothing is omitted."""
    if isinstance(value, msgspec.Struct):
        plan = _plan(type(value))
        changes = {name: default for name, default in plan.left_out if getattr(value, name) != default}
        for name in plan.nested:
            before = getattr(value, name)
            after = _annotations(before) if name == ANNOTATIONS else _reduced(before)
            if after is not before:
                changes[name] = after
        return replace(value, **changes) if changes else value
    if isinstance(value, tuple):
        items = tuple(map(_reduced, value))
        return value if all(map(lambda old, new: old is new, value, items)) else items
    if isinstance(value, dict):
        return {key: _reduced(each) for key, each in value.items()}
    return value


def _annotations(annotations: dict[str, str]) -> dict[str, str]:
    if not annotations:
        return annotations
    return {key: value for key, value in annotations.items() if key in KEPT_ANNOTATIONS}


# -- types


def has_text(kind: Any) -> bool:
    """Return whether values of a type can contain texts or structs."""
    if kind in _WITHOUT_TEXT or kind is ... or get_origin(kind) is Literal:
        return False
    parts = get_args(kind)
    if get_origin(kind) is Annotated:
        return has_text(parts[0])
    return any(map(has_text, parts)) if parts else True


def structs_in(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs in a type."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for part in get_args(kind):
        yield from structs_in(part)
