"""Where an object has texts that are no quantities.

From a document to paths such as `spec.containers[0].resources.requests.cpu`, and the texts there.
"""

from collections.abc import Iterator
from typing import Any, Final

from kubesched.api.quantity import InvalidQuantityError, quantity_of

# the fields that have quantities by the name of a resource
_RESOURCE_LISTS: Final = frozenset(
    {"allocatable", "allocatedResources", "capacity", "hard", "limits", "overhead", "podFixed", "requests", "used"}
)


def invalid_quantities(document: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths in a document with another value than the expected quantity, and that value."""
    if isinstance(document, dict):
        for key, value in document.items():
            place = f"{path}.{key}".lstrip(".")
            if key in _RESOURCE_LISTS and isinstance(value, dict):
                yield from _invalid(value, place)
            else:
                yield from invalid_quantities(value, place)
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from invalid_quantities(value, f"{path}[{number}]")


def _invalid(amounts: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for resource, raw in amounts.items():
        if not isinstance(raw, str | int | float):
            yield from invalid_quantities(raw, f"{path}.{resource}")
            continue
        try:
            quantity_of(raw)
        except InvalidQuantityError:
            yield f"{path}.{resource}", raw
