"""The parts of all tables: columns, cells, ages, labels.

From parts of documents to the texts in cells.
"""

# upstream: pkg/printers/internalversion/printers.go, apimachinery/pkg/util/duration/duration.go,
# apiserver/pkg/registry/rest/table.go (v1.36)

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from kubesched.api.labels import InvalidSelectorError, from_label_selector
from kubesched.api.meta import LabelSelector
from kubesched_controlplane.api.times import moment
from kubesched_controlplane.representation.tables.descriptions import DESCRIPTIONS

Document = dict[str, Any]
Cells = list[Any]

NONE, UNSET, UNKNOWN = "<none>", "<unset>", "<unknown>"


class Column(NamedTuple):
    """A column; priority 1 is shown with `-o wide` only."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


class Printer(NamedTuple):
    """The columns of a kind's table, and the cells of an object."""

    columns: tuple[Column, ...]
    cells: Callable[[Document, datetime], Cells]
    # the conditions of a row
    conditions: Callable[[Document], list[Any]] = lambda document: []


def columns(text: str) -> tuple[Column, ...]:
    """Parse columns: `Name, Ready:integer | Node`; a column is a string by default, those after the bar are wide."""
    found = []
    for priority, part in enumerate(text.split(" | ")):
        for entry in part.split(", "):
            name, _, kind = entry.partition(":")
            form = "name" if name == "Name" else ""
            found.append(Column(name, kind or "string", form, DESCRIPTIONS.get(name, ""), priority))
    return tuple(found)


# -- parts of documents


def name(document: Document) -> str:
    """Return the name of an object."""
    return str(document["metadata"].get("name", ""))


def spec(document: Document) -> Document:
    """Return the spec of an object, an empty one if it has none."""
    return document.get("spec") or {}


def status(document: Document) -> Document:
    """Return the status of an object, an empty one if it has none."""
    return document.get("status") or {}


def is_terminating(document: Document) -> bool:
    """Return whether an object is being deleted."""
    return bool(document["metadata"].get("deletionTimestamp"))


def condition(document: Document, kind: str) -> Document | None:
    """Return a condition of an object, None if it is not set."""
    return next((each for each in status(document).get("conditions") or () if each.get("type") == kind), None)


# -- texts


def age(document: Document, now: datetime) -> str:
    """Return how long ago an object was created."""
    return since(document["metadata"].get("creationTimestamp"), now)


def since(time: str | None, now: datetime) -> str:
    """Return the duration since a timestamp."""
    return human_duration((now - moment(time)).total_seconds()) if time else UNKNOWN


def human_duration(seconds: float) -> str:
    """Format a duration in seconds for people, with one or two units."""
    integer = int(seconds)
    if integer < -1:
        return "<invalid>"
    if integer < 120:
        return f"{max(integer, 0)}s"
    minutes, hours = integer // 60, integer // 3600
    days = hours // 24
    if minutes < 10:
        return _two(minutes, "m", integer % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 2 * 365:
        return f"{days}d"
    if days < 8 * 365:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(large: int, unit: str, small: int, smaller: str) -> str:
    return f"{large}{unit}{small}{smaller}" if small else f"{large}{unit}"


def labels(found: Mapping[str, str] | None) -> str:
    """Return labels in one line."""
    return ",".join(f"{key}={value}" for key, value in sorted((found or {}).items())) or NONE


def selector(found: Any) -> str:
    """Return a selector in one line."""
    text = selector_text(found)
    return text or NONE


def selector_text(found: Any, invalid: str = "<error>") -> str:
    """Return a selector in query syntax; an empty text if it selects everything or is missing."""
    if found is None:
        return ""
    try:
        return str(from_label_selector(msgspec.convert(found, LabelSelector)))
    except (InvalidSelectorError, msgspec.ValidationError):
        return invalid


def containers(template: Document | None) -> Cells:
    """Return the names and the images of the containers of a template."""
    found = spec(template or {}).get("containers") or ()
    return [",".join(each.get(field) or "" for each in found) for field in ("name", "image")]


def some(texts: Iterable[str], most: int = 3, separator: str = ",") -> str:
    """Return the first few of many texts in one line."""
    found = list(texts)
    line = separator.join(found[:most])
    return f"{line} + {len(found) - most} more..." if len(found) > most else line


def yes_or_no(value: bool | None) -> str:
    """Return True, False or <unset>."""
    return UNSET if value is None else str(bool(value))


aged = Printer(columns("Name, Age"), lambda document, now: [name(document), age(document, now)])
dated = Printer(
    columns("Name, Created At:date"),
    lambda document, now: [name(document), document["metadata"].get("creationTimestamp")],
)
