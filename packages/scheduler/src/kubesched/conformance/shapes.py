"""The shapes of corpus lines: a line of another shape is refused with the name of the wrong field.

From parsed JSON to an error that names the field, if any. `expected` may have any shape.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubesched.errors import InvalidObjectError


class LineShape(msgspec.Struct, rename="camel", kw_only=True):
    """The fields that every line may have."""

    name: str = ""
    expected: Any = None


class GatedShape(LineShape, kw_only=True):
    """A line about a scheduler with a configuration."""

    # a YAML text, or an object
    config: str | dict[str, Any] | None = None
    feature_gates: dict[str, bool] | None = None


class ScenarioShape(GatedShape, kw_only=True):
    """A cluster with pods to judge."""

    objects: list[dict[str, Any]] | None = None
    pods: list[str] | None = None
    sequence: bool = False
    preempt: bool = False
    detail: str = ""


class HintShape(GatedShape, kw_only=True):
    """An event and a pod that a plugin rejected."""

    plugin: str
    pod: dict[str, Any]
    resource: str
    action: str
    old_obj: dict[str, Any] | None = None
    new_obj: dict[str, Any] | None = None
    objects: list[dict[str, Any]] | None = None


class EventShape(GatedShape, kw_only=True):
    """Two versions of an object, or a configuration whose plugins register for events."""

    old_obj: dict[str, Any] | None = None
    new_obj: dict[str, Any] | None = None


class QuantityShape(LineShape, kw_only=True):
    """A quantity text."""

    input: str


class TableShape(LineShape, kw_only=True):
    """A row of one of the tables."""

    table: str
    input: dict[str, Any]


class SelectorShape(LineShape, kw_only=True):
    """A selector or toleration with the objects to match."""

    string: str = ""
    selector: dict[str, Any] | None = None
    labels: list[dict[str, str]] | None = None
    node_selector: dict[str, Any] | None = None
    nodes: list[dict[str, Any]] | None = None
    toleration: dict[str, Any] | None = None
    taints: list[dict[str, Any]] | None = None
    device_toleration: dict[str, Any] | None = None
    device_taints: list[dict[str, Any]] | None = None


class CelShape(LineShape, kw_only=True):
    """A device selector with the devices to match."""

    expression: str
    devices: list[dict[str, Any]] | None = None
    feature_gates: dict[str, bool] | None = None


SHAPES: dict[str, type[LineShape]] = {
    "scenarios": ScenarioShape,
    "hints": HintShape,
    "events": EventShape,
    "configurations": GatedShape,
    "quantities": QuantityShape,
    "tables": TableShape,
    "selectors": SelectorShape,
    "cel": CelShape,
}


def check_shape(line: Mapping[str, Any], kind: str) -> None:
    """Raise InvalidObjectError if the line does not have the shape of its format."""
    shape = SHAPES.get(kind)
    if shape is None:
        return
    try:
        msgspec.convert(line, shape)
    except msgspec.ValidationError as error:
        raise InvalidObjectError(_sentence(str(error))) from None


def _sentence(problem: str) -> str:
    """Return msgspec's message with the field in front of it."""
    what, _, where = problem.partition(" - at ")
    return f"{where.strip('`').removeprefix('$.')}: {what}" if where else what
