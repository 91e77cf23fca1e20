"""Shapes: the fields of a kind and their types, after Go's structs.

From `notation` to everything that depends on fields: decoding, pruning, merging and OpenAPI.
Immutable; a shape's fields are in the order in which Go writes them.
"""

from __future__ import annotations

from enum import Enum

import msgspec


class Scalar(Enum):
    """The scalar types, by Go's names."""

    STRING = "string"
    BOOL = "bool"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT64 = "float64"
    BYTES = "[]uint8"
    QUANTITY = "resource.Quantity"
    # in resource lists, where quantities are rounded to thousandths
    MILLI_QUANTITY = "resource.Quantity in thousandths"
    TIME = "v1.Time"
    MICRO_TIME = "v1.MicroTime"
    INT_OR_STRING = "intstr.IntOrString"
    # any JSON, kept as it is
    RAW = "runtime.RawExtension"
    # any JSON, decoded as maps and lists (patches)
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


class Mark(msgspec.Struct, frozen=True):
    """A rule about the value of one field: `kinds.marks` applies it."""

    name: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.name}({self.argument})" if self.argument else self.name


class Field(msgspec.Struct, frozen=True):
    """One field; `number` is its number in Protocol Buffers.

    `pointer`: absent differs from zero. `always`: written even when zero. `omit_zero`: left out when absent, though Go
    writes other fields of such a type always. `list_type` (atomic, set, map, or granular for maps) and `map_keys` are
    for server-side apply; `merge_key` and `strategies` (merge, replace, retainKeys) for strategic merge patches.
    `embedded` names the Go structs through which the field is promoted. `marks` are the rules about its value.
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
    marks: tuple[Mark, ...] = ()


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
        """Return the name of the type in Go's messages."""
        return f"{self.api_version.rpartition('/')[2]}.{self.name}"


Type = ScalarType | ListType | MapType | Shape
