"""Amounts of resources as texts.

From integers in the table's units (milli-CPU, bytes, numbers) to quantities for programs (`1500m`, `4Gi`), and to texts
for people: cores with at most three decimal places (`1.5`), bytes in the largest unit that fits (`41.4Gi`).
"""

from collections.abc import Callable, Mapping
from typing import Final

from kubesched.api.meta import RawQuantity
from kubesched.api.quantity import BINARY_SI, from_milli_value, from_value, milli_value_of, value_of

CPU: Final = "cpu"
_BYTES: Final = ("memory", "ephemeral-storage")
# a unit is used from this number of bytes on: people compare 847.5Gi with 1,288Gi
_UNITS: Final = (
    (10 << 40, 1 << 40, "Ti"),
    (1 << 30, 1 << 30, "Gi"),
    (1 << 20, 1 << 20, "Mi"),
    (1 << 10, 1 << 10, "Ki"),
)
_PLACES: Final = 3


def counts_bytes(resource: str) -> bool:
    """Return whether a resource is counted in bytes."""
    return resource in _BYTES or resource.startswith("hugepages-")


def quantity(resource: str, amount: int) -> str:
    """Return an amount of a resource as an exact quantity, for programs."""
    if resource == CPU:
        return str(from_milli_value(amount))
    return str(from_value(amount, BINARY_SI)) if counts_bytes(resource) else str(amount)


def amount_text(resource: str, amount: int) -> str:
    """Return an amount of a resource for people: `3.24` cores, `41.4Gi`, `4`."""
    return amount_texts(resource, amount)[0]


def amount_texts(resource: str, *amounts: int) -> tuple[str, ...]:
    """Return comparable amounts of a resource: all in one unit, and with different texts if the amounts differ."""
    if resource == CPU:
        return tuple(_number(amount / 1000, _PLACES) for amount in amounts)
    if not counts_bytes(resource):
        return tuple(f"{amount:,}" for amount in amounts)
    size, suffix = _unit(max(map(abs, amounts), default=0))
    for places in range(1, _PLACES + 1):
        texts = tuple(_number(amount / size, places) + (suffix if amount else "") for amount in amounts)
        if len({*texts, "0"}) == len({*amounts, 0}) and f"0{suffix}" not in texts:
            return texts
    return tuple(quantity(resource, amount) for amount in amounts)


def rounded_down(resource: str, amount: int) -> str:
    """Return an amount for people, rounded down: a valid value for a request."""
    return _rounded(resource, amount, up=False)


def rounded_up(resource: str, amount: int) -> str:
    """Return an amount for people, rounded up: a valid value for a node's capacity."""
    return _rounded(resource, amount, up=True)


def quantity_text(resource: str, raw: RawQuantity) -> str:
    """Return a quantity of a resource (`3240m`) for people."""
    return amount_text(resource, amount_of(resource, raw))


def amount_of(resource: str, raw: RawQuantity) -> int:
    """Return a quantity of a resource in the table's unit."""
    return milli_value_of(raw) if resource == CPU else value_of(raw)


def use_text(resource: str, used: int, whole: int) -> str:
    """Return how much of a resource is used: `3.24 of 15.89`, `41.4Gi of 61Gi`."""
    return " of ".join(amount_texts(resource, used, whole))


def requests_text(requests: Mapping[str, RawQuantity], text: Callable[[str, int], str] = amount_text) -> str:
    """Return quantities by resource for people: `3.24 cpu, 64Gi memory`."""
    return ", ".join(f"{text(name, amount_of(name, raw))} {name}" for name, raw in requests.items()) or "nothing"


def _rounded(resource: str, amount: int, *, up: bool) -> str:
    if not counts_bytes(resource):
        return amount_text(resource, amount)
    size, suffix = _unit(amount)
    parts = 10**_PLACES
    whole = -(-amount * parts // size) if up else amount * parts // size
    return _number(whole / parts, _PLACES) + suffix


def _unit(amount: int) -> tuple[int, str]:
    return next(((size, suffix) for least, size, suffix in _UNITS if amount >= least), (1, ""))


def _number(amount: float, places: int) -> str:
    whole, _, fraction = f"{amount:,.{places}f}".partition(".")
    fraction = fraction.rstrip("0")
    text = f"{whole}.{fraction}" if fraction else whole
    return "0" if text == "-0" else text
