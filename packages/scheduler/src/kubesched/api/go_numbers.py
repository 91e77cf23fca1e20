"""Go's numbers: sums in 64 bits; floating-point numbers as metrics and CEL show them."""

from decimal import Decimal


def int64(number: int) -> int:
    """Return a number as an int64; numbers that do not fit wrap around."""
    return (number + 2**63) % 2**64 - 2**63


def shortest(value: float) -> str:
    """Return a double as `%g` writes it, with as few digits as identify it."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if str(value).startswith("-") else "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    power = len(text) + exponent - 1
    minus = "-" if sign else ""
    if power < -4 or power >= 6:
        mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
        return f"{minus}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return minus + plain(abs(value))


def plain(value: float) -> str:
    """Return a double without an exponent, with as few digits as identify it."""
    text = format(Decimal(repr(value)), "f")
    return text.removesuffix(".0")
