"""Tables of custom resources: the additionalPrinterColumns of their definitions.

From a version of a definition to a printer.
"""

# upstream: apiextensions-apiserver/pkg/registry/customresource/tableconvertor/tableconvertor.go (v1.36)

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from kubesched.api.go_numbers import shortest
from kubesched.api.go_text import to_json
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.custom.json_paths import JsonPathError, compile_path
from kubesched_controlplane.custom.validating import is_number
from kubesched_controlplane.representation.tables.descriptions import DESCRIPTIONS
from kubesched_controlplane.representation.tables.printing import Cells, Column, Printer, name, since
from kubesched_controlplane.schema.go_words import printed
from kubesched_controlplane.schema.scalars import ScalarError, canonical_time

AGE: Document = {
    "name": "Age",
    "type": "date",
    "description": DESCRIPTIONS["Age"],
    "jsonPath": ".metadata.creationTimestamp",
}
INVALID = "<invalid>"


def printer_of(columns: Sequence[Document] | None, current: Callable[[Document], Document]) -> Printer:
    """Return a printer of the name and these columns, or of name and age; `current` converts a stored object."""
    wanted = [(each, _finder(each["jsonPath"])) for each in columns or (AGE,)]
    heads = [Column("Name", "string", "name", DESCRIPTIONS["Name"])]
    for each, _ in wanted:
        text = each.get("description") or f"Custom resource definition column (in JSONPath format): {each['jsonPath']}"
        heads.append(Column(each["name"], each["type"], each.get("format", ""), text, each.get("priority", 0)))

    def cells(document: Document, now: datetime) -> Cells:
        found = current(document)
        return [name(found), *(_cell(each["type"], find(found), now) for each, find in wanted)]

    return Printer(tuple(heads), cells)


def _finder(path: str) -> Callable[[Any], list[Any]]:
    """Return the finder of a column's values; a column whose path cannot be parsed is empty."""
    try:
        return compile_path(path)
    except JsonPathError:
        return lambda document: []


def _cell(kind: str, found: list[Any], now: datetime) -> Any:
    if not found:
        return None
    value = found[0]
    match kind:
        case "string":
            return _shown(value)
        case "integer" if is_number(value):
            return int(value)
        case "number" if is_number(value):
            return float(value)
        case "boolean" if isinstance(value, bool):
            return value
        case "date" if isinstance(value, str):
            try:
                time = canonical_time(value)
            except ScalarError:
                return INVALID
            return since(time, now)
    return None


def _shown(value: Any) -> str:
    """Return a value as text: objects and lists as JSON, the rest as Go prints it."""
    if isinstance(value, dict | list):
        return to_json(value)
    return shortest(value) if isinstance(value, float) else printed(value)
