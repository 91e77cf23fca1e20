"""Answers to corpus questions about quantities: a text in, its canonical form and integers out."""

from collections.abc import Mapping
from typing import Any

from kubesched.api.quantity import BINARY_SI, InvalidQuantityError, Quantity, from_value, parse_quantity

_MAX_INT64 = from_value(2**63 - 1)
_THOUSAND_TIMES = 3


def answer(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parsed quantity of the question's text."""
    try:
        quantity = parse_quantity(line["input"])
    except InvalidQuantityError as error:
        return {"error": error.reason}
    answered: dict[str, Any] = {
        "string": str(quantity),
        "value": quantity.value(),
        "milliValue": quantity.milli_value(),
        "format": quantity.format,
        "sign": quantity.sign(),
    }
    if overflow := _overflow(quantity):
        answered["overflow"] = overflow
    return answered


def _overflow(quantity: Quantity) -> str:
    """Return the first of the integers that does not fit into 64 bits, or an empty text."""
    magnitude = -quantity if quantity.sign() < 0 else quantity
    # Parsing reduces a binary quantity beyond the largest integer to that integer.
    cut = magnitude.big and magnitude.format == BINARY_SI and magnitude.exponent == 0
    if cut or magnitude > _MAX_INT64:
        return "value"
    milli = Quantity(magnitude.unscaled, magnitude.exponent + _THOUSAND_TIMES)
    return "milliValue" if milli > _MAX_INT64 else ""
