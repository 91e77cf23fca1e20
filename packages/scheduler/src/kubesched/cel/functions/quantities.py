"""Functions of resource quantities."""

# upstream: apiserver/pkg/cel/library/quantity.go, apimachinery/pkg/api/resource/quantity.go (v1.36)

from functools import lru_cache

from kubesched.api.quantity import DECIMAL_EXPONENT, InvalidQuantityError, Quantity, from_value, parse_quantity
from kubesched.cel.errors import CelValueError
from kubesched.cel.values import MAX_INT, MIN_INT, ComputedQuantity

AnyQuantity = Quantity | ComputedQuantity


def _plain(quantity: AnyQuantity) -> Quantity:
    return quantity.quantity if isinstance(quantity, ComputedQuantity) else quantity


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Quantity:
    return parse_quantity(text)


def to_quantity(text: str) -> Quantity:
    """Return the quantity of a text."""
    try:
        return _parsed(text)
    except InvalidQuantityError as error:
        raise CelValueError(error.reason) from None


def is_quantity(text: str) -> bool:
    """Return whether a text is a quantity."""
    try:
        _parsed(text)
    except InvalidQuantityError:
        return False
    return True


def compare_quantities(left: AnyQuantity, right: AnyQuantity) -> int:
    """Return -1, 0 or 1."""
    return _plain(left).compare(_plain(right))


def sign(quantity: AnyQuantity) -> int:
    """Return -1, 0 or 1."""
    return _plain(quantity).sign()


def _integer(quantity: Quantity) -> int | None:
    """Return the integer that the reference stores for the quantity, or None; `1000m` is not stored as one."""
    if quantity.big or quantity.exponent < 0 or quantity.exponent > 18:
        return None
    value = quantity.unscaled * 10**quantity.exponent
    return value if MIN_INT <= value <= MAX_INT else None


def is_integer(quantity: AnyQuantity) -> bool:
    """Return whether the quantity can be converted to an integer."""
    return _integer(_plain(quantity)) is not None


def as_integer(quantity: AnyQuantity) -> int:
    """Return the quantity as an integer."""
    value = _integer(_plain(quantity))
    if value is None:
        raise CelValueError("cannot convert value to integer")
    return value


def as_double(quantity: AnyQuantity) -> float:
    """Return the quantity as a double, approximately."""
    plain = _plain(quantity)
    try:
        base = float(plain.unscaled)
    except OverflowError:
        base = float("inf") * plain.sign()
    return base if plain.exponent == 0 else base * float(f"1e{plain.exponent}")


def _quantity(value: AnyQuantity | int) -> Quantity:
    return from_value(value, DECIMAL_EXPONENT) if isinstance(value, int) else _plain(value)


def plus(left: AnyQuantity, right: AnyQuantity | int) -> ComputedQuantity:
    """Return a sum."""
    return ComputedQuantity(_plain(left) + _quantity(right))


def minus(left: AnyQuantity, right: AnyQuantity | int) -> ComputedQuantity:
    """Return a difference."""
    return ComputedQuantity(_plain(left) - _quantity(right))
