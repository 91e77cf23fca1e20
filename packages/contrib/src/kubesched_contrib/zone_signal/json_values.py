"""Values of zones in a JSON document.

In: a decoded document and paths. Out: numbers by the name of a zone. A missing path raises ValueError with its first
missing part; a single zone without a number is left out.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any


def values_by_zone(document: Any, path: str, name_path: str, value_path: str) -> dict[str, float]:
    """Return the values of all zones: of an object by its keys, of a list by the name within each."""
    found = found_at(document, path)
    if not isinstance(found, Mapping | list):
        raise ValueError(f"path {path!r}: expected an object or a list of zones")
    values = {}
    for name, zone in _named(found, name_path):
        value = number_at(zone, value_path)
        if value is not None:
            values[name] = value
    return values


def number_at(document: Any, path: str) -> float | None:
    """Return the number at a path, which may be a text in the JSON; None if there is none."""
    try:
        found = found_at(document, path)
        value = float(found) if isinstance(found, int | float | str) and not isinstance(found, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def found_at(document: Any, path: str) -> Any:
    """Return the value at a path; raises ValueError if there is none."""
    found = document
    for part in path.split(".") if path else ():
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        else:
            raise ValueError(f"path {path!r}: {part!r} is missing")
    return found


def _named(zones: Mapping[str, Any] | list[Any], name_path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(zones, Mapping) and not name_path:
        yield from zones.items()
        return
    for zone in zones.values() if isinstance(zones, Mapping) else zones:
        try:
            name = found_at(zone, name_path)
        except ValueError:
            continue
        if isinstance(name, str):
            yield name, zone
