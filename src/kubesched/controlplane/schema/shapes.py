"""Shapes: the fields of a kind and their types, as Go's structs have them.

From `notation` to everything that depends on fields: reading, pruning, merging, and what is published about them.
Immutable; a shape's fields are in the order in which Go writes them.
"""

from __future__ import annotations

from enum import Enum

import msgspec


class Scalar(Enum):
    """What a value without fields can be, by Go's names."""

    STRING = "string"
    BOOL = "bool"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT64 = "float64"
    BYTES = "[]uint8"
    QUANTITY = "resource.Quantity"
    # of resource lists, where it is rounded to thousandths
    MILLI_QUANTITY = "resource.Quantity in thousandths"
    TIME = "v1.Time"
    MICRO_TIME = "v1.MicroTime"
    INT_OR_STRING = "intstr.IntOrString"
    # any JSON, taken as it is
    RAW = "runtime.RawExtension"
    # any JSON, read as maps and lists (patches)
    ANY = "interface {}"


class ScalarType(msgspec.Struct, frozen=True):
    """A scalar, under the name Go has for the type (`v1.PodPhase`)."""

    scalar: Scalar
    go: str


class ListType(msgspec.Struct, frozen=True):
    """A list of one type."""

    element: Type
    go: str


class MapType(msgspec.Struct, frozen=True):
    """A map from texts to one type."""

    value: Type
    go: str


class Field(msgspec.Struct, frozen=True):
    """One field; `number` is its number in Protocol Buffers.

    `pointer`: that it is absent differs from its zero. `always`: it is written even when it is zero. `omit_zero`: it is
    left out when absent, though Go writes other values of such a type always. `list_type` (atomic, set, map, or
    granular for maps) and `map_keys` are for server-side apply; `merge_key` and `strategies` (merge, replace,
    retainKeys) for strategic merge patches. `embedded` names the Go structs through which the field is promoted.
    """

    name: str
    type: Type
    number: int = 0
    pointer: bool = False
    always: bool = False
    required: bool = False
    omit_zero: bool = False
    list_type: str = ""
    map_keys: tuple[str, ...] = ()
    merge_key: str = ""
    strategies: frozenset[str] = frozenset()
    embedded: tuple[str, ...] = ()


class Shape(msgspec.Struct, frozen=True, eq=False):
    """A type with fields; `atomic`: it has one owner as a whole.

    `embedded` has the numbers in Protocol Buffers of the types whose fields are promoted.
    """

    api_version: str
    name: str
    fields: dict[str, Field]
    atomic: bool = False
    is_kind: bool = False
    embedded: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def go(self) -> str:
        """Return the name that Go prints."""
        return f"{self.api_version.rpartition('/')[2]}.{self.name}"


Type = ScalarType | ListType | MapType | Shape
