"""Resource quantities: the texts `500m`, `1.5Gi`, `2e3` as exact fixed-point numbers.

From the raw text (or JSON number) of a request, a capacity or a limit to a `Quantity`, or to the
integers that the scheduler counts with (`value_of` in units, `milli_value_of` in thousandths, both rounded up).

Invariants: never a float; immutable; the parse, the canonical text and the rounding equal
apimachinery's resource.Quantity exactly, oddities included, because scheduling decisions depend on them. The
reference keeps small numbers in an int64 and large ones in a big decimal, and the two round and overflow
differently, so a quantity remembers its form (`big`).
"""

# upstream: apimachinery/pkg/api/resource/{quantity,amount,suffix,math,scale_int}.go (v1.36)

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from kubesched.api.go_numbers import int64
from kubesched.api.meta import RawQuantity
from kubesched.errors import InvalidObjectError

DECIMAL_SI: Final = "DecimalSI"
DECIMAL_EXPONENT: Final = "DecimalExponent"
BINARY_SI: Final = "BinarySI"

_MAX_INT64 = 2**63 - 1
_MIN_INT64 = -(2**63)
_NANO = -9
_MILLI = -3
_MAX_INT64_DIGITS = 18

# differs (D-002): the reference expands any exponent in memory, and 1e999999999 can end the process. Texts beyond these
# bounds are refused; real quantities are far below them
MAX_TEXT = 1000
_MAX_EXPONENT = 1000
# so many texts are remembered, each of which may have MAX_TEXT characters
REMEMBERED = 4096

_FORMAT_PROBLEM = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NUMERIC_PROBLEM = "unable to parse numeric part of quantity"
_SUFFIX_PROBLEM = "unable to parse quantity's suffix"
_SIZE_PROBLEM = f"more than {MAX_TEXT} characters or a decimal exponent above {_MAX_EXPONENT}"

# Looser than the expression in the error text: a number without any digit is accepted, as upstream's scanner does.
_SHAPE = re.compile(
    r"(?P<sign>[+-]?)0*+(?P<num>[0-9]*+)(?:\.(?P<frac>[0-9]*+))?+(?P<suffix>[eEinumkKMGTP]*+[-+]?[0-9]*)"
)
_EXPONENT = re.compile(r"[eE]([-+]?[0-9]+)")
# What Go's strings.TrimSpace takes off, which is less than str.strip does.
_GO_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))

_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX_OF = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIX_OF = {exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}


class InvalidQuantityError(InvalidObjectError):
    """A text that is no quantity; `text` is the text and `reason` the reference's words for it."""

    def __init__(self, text: str, reason: str) -> None:
        shown = text if len(text) <= 80 else text[:77] + "..."
        super().__init__(f"quantity {shown!r}: {reason}")
        self.text = text
        self.reason = reason


class Quantity(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The exact number `unscaled * 10**exponent`, with the format it is written back in."""

    unscaled: int = 0
    exponent: int = 0
    format: str = DECIMAL_SI
    big: bool = False
    text: str = ""
    """The text to write back, if the parsed text is already canonical by the reference's measure."""

    def value(self) -> int:
        """Return the number in units, rounded up, as the int64 of the reference."""
        return _scaled(self, 0)

    def milli_value(self) -> int:
        """Return the number in thousandths, rounded up, as the int64 of the reference."""
        return _scaled(self, _MILLI)

    def sign(self) -> int:
        """Return -1, 0 or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    def is_zero(self) -> bool:
        """Return whether the number is zero."""
        return self.unscaled == 0

    def compare(self, other: Quantity) -> int:
        """Return -1, 0 or 1 as this number is less than, equal to or greater than the other."""
        mine, theirs = self.unscaled, other.unscaled
        if self.exponent != other.exponent:
            low = min(self.exponent, other.exponent)
            mine, theirs = _at_exponent(self, low), _at_exponent(other, low)
        return (mine > theirs) - (mine < theirs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __hash__(self) -> int:
        return hash(_without_factors(self.unscaled, 10, self.exponent))

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self.compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        if self.exponent == other.exponent:
            return self.unscaled > other.unscaled
        return self.compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self.compare(other) >= 0

    def __add__(self, other: Quantity) -> Quantity:
        """Return the sum, in the format of the first summand that is not zero."""
        if self.exponent == other.exponent and self.unscaled and other.unscaled and not (self.big or other.big):
            # what nearly all additions are
            total = self.unscaled + other.unscaled
            if _MIN_INT64 <= total <= _MAX_INT64:
                return Quantity(total, self.exponent, self.format)
        shown_as = other.format if self.is_zero() else self.format
        if not (self.big or other.big):
            # A zero summand leaves the scale of the other alone, as in the reference.
            if other.is_zero():
                return Quantity(self.unscaled, self.exponent, shown_as)
            if self.is_zero():
                return Quantity(other.unscaled, other.exponent, shown_as)
        low = min(self.exponent, other.exponent)
        mine, theirs = _at_exponent(self, low), _at_exponent(other, low)
        total = mine + theirs
        fits = all(_MIN_INT64 <= number <= _MAX_INT64 for number in (mine, theirs, total))
        return Quantity(total, low, shown_as, self.big or other.big or not fits)

    def __sub__(self, other: Quantity) -> Quantity:
        """Return the difference, in the format of this number unless it is zero."""
        return self + (-other)

    def times(self, count: int) -> Quantity:
        """Return the sum of so many of this number."""
        return Quantity(self.unscaled * count, self.exponent, self.format, self.big)

    def how_often(self, other: Quantity) -> int:
        """Return how often another number, which is positive, is contained in this one, rounded down."""
        low = min(self.exponent, other.exponent)
        return _at_exponent(self, low) // _at_exponent(other, low)

    def __neg__(self) -> Quantity:
        """Return the number with the opposite sign."""
        return Quantity(-self.unscaled, self.exponent, self.format, self.big)

    def __str__(self) -> str:
        """Return the canonical text."""
        return self.text or _canonical(self)


ZERO: Final = Quantity(text="0")


def from_value(value: int, format: str = DECIMAL_SI) -> Quantity:  # noqa: A002 - the reference's word
    """Return the quantity of that many units."""
    return Quantity(value, 0, format)


def from_milli_value(value: int, format: str = DECIMAL_SI) -> Quantity:  # noqa: A002
    """Return the quantity of that many thousandths."""
    return Quantity(value, _MILLI, format)


def parse_quantity(text: str) -> Quantity:
    """Return the quantity that the text stands for, or raise InvalidQuantityError naming the text."""
    if not isinstance(text, str):
        raise InvalidQuantityError(repr(text), "a quantity is a text or a number")
    if text == "0":
        return ZERO
    parts = _split(text)
    fast = _small(parts, text)
    return fast if fast is not None else _big(parts, text)


@lru_cache(maxsize=REMEMBERED)
def quantity_of(raw: RawQuantity) -> Quantity:
    """Return the quantity of a raw field of an object, where numbers and surrounding spaces are allowed."""
    if isinstance(raw, str):
        return parse_quantity(raw.strip(_GO_SPACE))
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise InvalidQuantityError(repr(raw), "a quantity is a text or a number")
    try:
        return parse_quantity(repr(raw))
    except ValueError:  # an integer too long for Python to print
        raise InvalidQuantityError("<huge integer>", _SIZE_PROBLEM) from None


@lru_cache(maxsize=REMEMBERED)
def value_of(raw: RawQuantity) -> int:
    """Return the raw quantity in units, rounded up."""
    return quantity_of(raw).value()


@lru_cache(maxsize=REMEMBERED)
def milli_value_of(raw: RawQuantity) -> int:
    """Return the raw quantity in thousandths, rounded up."""
    return quantity_of(raw).milli_value()


class _Parts(NamedTuple):
    """A quantity's text in pieces: digits before and after the point, and the meaning of the suffix."""

    negative: bool
    number: str
    fraction: str
    has_digits: bool
    base: int
    exponent: int
    format: str


def _split(text: str) -> _Parts:
    """Return the pieces of the text."""
    if not text:
        raise InvalidQuantityError(text, _FORMAT_PROBLEM)
    if len(text) > MAX_TEXT:
        raise InvalidQuantityError(text, _SIZE_PROBLEM)
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise InvalidQuantityError(text, _FORMAT_PROBLEM)
    base, exponent, shown_as = _suffix_meaning(found["suffix"], text)
    # the exponent with one digit before the point, which no canonical text exceeds
    if shown_as == DECIMAL_EXPONENT and exponent + max(len(found["num"]) - 1, 0) > _MAX_EXPONENT:
        raise InvalidQuantityError(text, _SIZE_PROBLEM)
    fraction = found["frac"] or ""
    has_digits = found.end("num") > found.end("sign") or bool(fraction)
    return _Parts(found["sign"] == "-", found["num"] or "0", fraction, has_digits, base, exponent, shown_as)


def _suffix_meaning(suffix: str, text: str) -> tuple[int, int, str]:
    """Return base, exponent and format that the suffix stands for."""
    if (decimal := _DECIMAL_SUFFIXES.get(suffix)) is not None:
        return 10, decimal, DECIMAL_SI
    if (binary := _BINARY_SUFFIXES.get(suffix)) is not None:
        return 2, binary, BINARY_SI
    found = _EXPONENT.fullmatch(suffix)
    if found is None or not _MIN_INT64 <= (exponent := int(found[1])) <= _MAX_INT64:
        raise InvalidQuantityError(text, _SUFFIX_PROBLEM)
    return 10, exponent, DECIMAL_EXPONENT


def _small(parts: _Parts, text: str) -> Quantity | None:
    """Return the quantity in the int64 form, or None where the reference goes over to big decimals."""
    digits = len(parts.number) + len(parts.fraction)
    if parts.base == 10:
        room, multiplier, exponent = _MAX_INT64_DIGITS - digits, 1, parts.exponent
    elif parts.fraction:
        return None
    else:
        room, multiplier, exponent = 15 - digits - parts.exponent * 3 // 10 - 1, 1 << parts.exponent, 0
    exponent -= len(parts.fraction)
    if room < 0 or exponent < _NANO:
        return None
    shifted = parts.number + parts.fraction
    number = int(shifted)
    if parts.base == 10:
        canonical = exponent % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
    else:
        canonical = number & 0x07 != 0
    number *= multiplier
    return Quantity(-number if parts.negative else number, exponent, parts.format, False, text if canonical else "")


def _big(parts: _Parts, text: str) -> Quantity:
    """Return the quantity in the big decimal form: rounded up to nanos, binary ones capped at int64."""
    if not parts.has_digits:
        raise InvalidQuantityError(text, _NUMERIC_PROBLEM)
    shown_as = parts.format
    number, exponent = int(parts.number + parts.fraction), -len(parts.fraction)
    if parts.base == 10:
        exponent += parts.exponent
    else:
        number <<= parts.exponent
    number, exponent = _rounded_up(number, exponent, _NANO), _NANO
    if shown_as == BINARY_SI and number > _MAX_INT64 * 10**9:
        number, exponent = _MAX_INT64, 0
    elif shown_as == BINARY_SI and 0 < number < 10**9:
        shown_as = DECIMAL_SI
    return Quantity(-number if parts.negative else number, exponent, shown_as, True)


def _rounded_up(number: int, exponent: int, target: int) -> int:
    """Return a number that is not negative at the target exponent, rounded up."""
    if exponent >= target:
        return int(number * 10 ** (exponent - target))
    # More places to drop than there are digits leaves the smallest number, without building the power of ten.
    drop = min(target - exponent, len(str(number)) + 1)
    return int(-(-number // 10**drop))


def _at_exponent(quantity: Quantity, exponent: int) -> int:
    """Return the quantity's unscaled number at an exponent that is not above its own."""
    return int(quantity.unscaled * 10 ** (quantity.exponent - exponent))


def _scaled(quantity: Quantity, exponent: int) -> int:
    """Return the quantity at an exponent, rounded up, with the reference's overflow in each form."""
    shift = quantity.exponent - exponent
    number = quantity.unscaled
    if quantity.big:
        return _scaled_big(number, shift)
    if shift < 0:
        # The int64 form rounds away from zero.
        magnitude = _rounded_up(abs(number), shift, 0)
        return -magnitude if number < 0 else magnitude
    product: int = number * 10**shift
    if _MIN_INT64 <= product <= _MAX_INT64 or shift in (1, 2, 3, 6, 9):
        return int64(product)
    return 0


def _scaled_big(number: int, shift: int) -> int:
    """Return the unscaled number of a big decimal shifted by powers of ten."""
    if shift >= 0:
        # Beyond 18 the reference's power of ten leaves int64 and is the smallest one.
        return int64(int64(number) * (10**shift if shift <= 18 else _MIN_INT64))
    divisor: int = 10**-shift
    if number < _MAX_INT64 and shift > -19:
        # Division here cuts towards zero and still adds one, so a negative fraction goes up by up to two.
        number = int64(number)
        quotient = abs(number) // divisor
        return (quotient if number >= 0 else -quotient) + (abs(number) % divisor != 0)
    return int64(-(-number // divisor))


def _without_factors(number: int, base: int, exponent: int) -> tuple[int, int]:
    """Return the number with all factors of the base moved into the exponent."""
    while number and number % base == 0:
        number //= base
        exponent += 1
    return number, exponent if number else 0


def _canonical(quantity: Quantity) -> str:
    """Return the text with no fraction and the largest suffix that keeps every digit."""
    if quantity.is_zero():
        return "0"
    shown_as = quantity.format
    low = min(quantity.exponent, 0)
    units, remainder = divmod(_at_exponent(quantity, low), 10**-low)
    # Between -1024 and 1024, and with a fraction, a binary suffix would lose digits.
    if shown_as == BINARY_SI and not remainder and abs(units) >= 1024:
        number, exponent = _without_factors(units, 1024, 0)
        return f"{number}{_BINARY_SUFFIX_OF.get(exponent * 10, '')}"
    number, exponent = _without_factors(quantity.unscaled, 10, quantity.exponent)
    padding = exponent % 3
    number, exponent = number * 10**padding, exponent - padding
    if shown_as != DECIMAL_EXPONENT:
        return f"{number}{_DECIMAL_SUFFIX_OF.get(exponent, '')}"
    return f"{number}e{exponent}" if exponent else str(number)
