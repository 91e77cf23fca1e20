"""Amounts of resources as texts.

From integers in the table's units (milli-CPU, bytes, numbers) to quantities (`1500m`, `4Gi`), exact or rounded for
people.
"""

from typing import Final

from kubesched.api.quantity import BINARY_SI, from_milli_value, from_value

_BYTES: Final = ("memory", "ephemeral-storage")
_UNITS: Final = ((1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))


def counts_bytes(resource: str) -> bool:
    """Return whether a resource is counted in bytes."""
    return resource in _BYTES or resource.startswith("hugepages-")


def quantity(resource: str, amount: int) -> str:
    """Return an amount of a resource as an exact quantity."""
    if resource == "cpu":
        return str(from_milli_value(amount))
    return str(from_value(amount, BINARY_SI)) if counts_bytes(resource) else str(amount)


def rounded(resource: str, amount: int) -> str:
    """Return an amount as a short text: bytes with at most one decimal place, in the largest unit that fits."""
    if not counts_bytes(resource):
        return quantity(resource, amount)
    for size, suffix in _UNITS:
        if abs(amount) >= size:
            return f"{amount / size:.1f}".removesuffix(".0") + suffix
    return str(amount)
