"""Quantities: the parse with its oddities, canonical texts, rounding, arithmetic."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.quantity import (
    BINARY_SI,
    DECIMAL_EXPONENT,
    DECIMAL_SI,
    ZERO,
    InvalidQuantityError,
    Quantity,
    from_milli_value,
    from_value,
    milli_value_of,
    parse_quantity,
    quantity_of,
    value_of,
)
from kubesched.errors import InvalidObjectError

MULTIPLIERS = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "e3": Fraction(1000),
    "E-2": Fraction(1, 100),
}


def fraction(quantity: Quantity) -> Fraction:
    return quantity.unscaled * Fraction(10) ** quantity.exponent


@st.composite
def quantity_texts(draw: st.DrawFn) -> tuple[str, Fraction]:
    """A text with at most nine digits after the point all told, and the number it stands for."""
    number = draw(st.integers(0, 10**9))
    fraction_digits = draw(st.text("0123456789", max_size=3))
    sign = draw(st.sampled_from(["", "+", "-"]))
    suffix = draw(st.sampled_from(sorted(MULTIPLIERS)))
    plain = Fraction(number) + (Fraction(int(fraction_digits), 10 ** len(fraction_digits)) if fraction_digits else 0)
    exact = plain * MULTIPLIERS[suffix] * (-1 if sign == "-" else 1)
    point = f".{fraction_digits}" if fraction_digits else ""
    return f"{sign}{number}{point}{suffix}", exact


@pytest.mark.parametrize(
    ("text", "canonical", "value", "milli_value", "format_"),
    [
        pytest.param("500m", "500m", 1, 500, DECIMAL_SI, id="half a cpu rounds up to one unit"),
        pytest.param("0.5", "500m", 1, 500, DECIMAL_SI, id="fractions are written in thousandths"),
        pytest.param(
            "1.5Gi", "1536Mi", 1610612736, 1610612736000, BINARY_SI, id="binary fractions take a smaller unit"
        ),
        pytest.param("1024Ki", "1Mi", 1048576, 1048576000, BINARY_SI, id="the largest suffix that keeps every digit"),
        pytest.param("0.5Ki", "512", 512, 512000, BINARY_SI, id="below 1024 there is no binary suffix"),
        pytest.param("0.1Mi", "104857600m", 104858, 104857600, BINARY_SI, id="a binary number with a fraction"),
        pytest.param(
            "1000E",
            "1",
            0,
            0,
            DECIMAL_SI,
            id="a multiple of 1e21 has no suffix, and the reference writes it without its magnitude",
        ),
        pytest.param("12e6", "12e6", 12000000, 12000000000, DECIMAL_EXPONENT, id="exponents stay exponents"),
        pytest.param("1e3", "1e3", 1000, 1000000, DECIMAL_EXPONENT, id="1e3"),
        pytest.param("1500", "1500", 1500, 1500000, DECIMAL_SI, id="1500 is not 1.5k"),
        pytest.param("1000", "1k", 1000, 1000000, DECIMAL_SI, id="1000 is 1k"),
        pytest.param("0.1n", "1n", 1, 1, DECIMAL_SI, id="the smallest amount is one nano, rounded up"),
        pytest.param("-1.5", "-1500m", -2, -1500, DECIMAL_SI, id="small negatives round away from zero"),
        pytest.param("-1.5Ki", "-1536", -1536, -1536000, BINARY_SI, id="negative binary"),
        pytest.param("5.", "5.", 5, 5000, DECIMAL_SI, id="a trailing point counts as canonical"),
        pytest.param("+5", "+5", 5, 5000, DECIMAL_SI, id="so does a plus"),
        pytest.param(".", "0", 0, 0, DECIMAL_SI, id="a lone point is zero"),
        pytest.param("-", "0", 0, 0, DECIMAL_SI, id="a lone sign is zero"),
        pytest.param("m", "0", 0, 0, DECIMAL_SI, id="a lone suffix is zero"),
        pytest.param("Mi", "0", 0, 0, BINARY_SI, id="a lone binary suffix is zero"),
        pytest.param("e3", "0", 0, 0, DECIMAL_EXPONENT, id="a lone exponent is zero"),
        pytest.param("10E", "10E", 0, 0, DECIMAL_SI, id="beyond int64 the value is zero"),
        pytest.param("1000E", "1", 0, 0, DECIMAL_SI, id="beyond the suffixes the text has none"),
        pytest.param("100Ei", "9223372036854775807", 2**63 - 1, -1000, BINARY_SI, id="binary ones are capped at int64"),
        pytest.param("0e-999999999", "0", 0, 0, DECIMAL_EXPONENT, id="zero whatever the exponent"),
        pytest.param("1e-999999999", "1e-9", 1, 1, DECIMAL_EXPONENT, id="too small still is one nano"),
    ],
)
def test_parse(text: str, canonical: str, value: int, milli_value: int, format_: str) -> None:
    quantity = parse_quantity(text)
    assert (str(quantity), quantity.value(), quantity.milli_value(), quantity.format) == (
        canonical,
        value,
        milli_value,
        format_,
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "quantities must match"),
        (" 1", "quantities must match"),
        ("1 Gi", "quantities must match"),
        ("1..2", "quantities must match"),
        ("0x10", "quantities must match"),
        ("1GB", "quantities must match"),
        ("١", "quantities must match"),
        ("1i", "unable to parse quantity's suffix"),
        ("1e", "unable to parse quantity's suffix"),
        ("1e99999999999999999999", "unable to parse quantity's suffix"),
        (".Ei", "unable to parse numeric part of quantity"),
        ("1e1001", "decimal exponent above 1000"),
        # a number of more than 1000 digits; its canonical text would be -100e1002
        ("-10000e1000", "decimal exponent above 1000"),
        ("1" * 1001, "more than 1000 characters"),
    ],
)
def test_what_is_no_quantity_is_named(text: str, reason: str) -> None:
    with pytest.raises(InvalidObjectError) as caught:
        parse_quantity(text)
    assert isinstance(caught.value, InvalidQuantityError)
    assert reason in caught.value.reason
    assert repr(text[:70])[:-1] in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("raw", [None, True, 3 + 4j, b"1", math.nan, math.inf, pytest.param(10**5000, id="huge")])
def test_values_of_another_type_are_refused_with_an_error_of_ours(raw: Any) -> None:
    with pytest.raises(InvalidQuantityError, match="quantity"):
        quantity_of(raw)


def test_parse_takes_only_text() -> None:
    with pytest.raises(InvalidQuantityError, match="12"):
        parse_quantity(12)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raw", "value", "milli_value"),
    [
        ("2", 2, 2000),
        (" 2 ", 2, 2000),
        ("\u00a02\n", 2, 2000),
        (2, 2, 2000),
        (0.5, 1, 500),
        (1e22, 0, 0),
        (1e-7, 1, 1),
        ("128Mi", 134217728, 134217728000),
    ],
)
def test_raw_values_as_they_stand_in_objects(raw: str | float, value: int, milli_value: int) -> None:
    assert value_of(raw) == value
    assert milli_value_of(raw) == milli_value


@given(quantity_texts())
def test_parse_is_exact_down_to_nanos(sample: tuple[str, Fraction]) -> None:
    text, exact = sample
    rounded = Fraction(math.ceil(abs(exact) * 10**9), 10**9) * (-1 if exact < 0 else 1)
    assert fraction(parse_quantity(text)) == rounded


@given(quantity_texts())
def test_the_canonical_text_means_the_same_and_is_its_own_canonical_text(sample: tuple[str, Fraction]) -> None:
    quantity = parse_quantity(sample[0])
    once = parse_quantity(str(quantity))
    assert once == quantity
    # A text kept as it was ("+5") is a fixed point as well.
    assert str(parse_quantity(str(once))) == str(once)


@given(quantity_texts())
def test_integers_are_rounded_up(sample: tuple[str, Fraction]) -> None:
    quantity = parse_quantity(sample[0])
    exact = fraction(quantity)
    if exact >= 0:
        assert quantity.value() == math.ceil(exact)
        assert quantity.milli_value() == (math.ceil(exact * 1000) if exact * 1000 < 2**63 else quantity.milli_value())
    assert quantity.sign() == (exact > 0) - (exact < 0)
    assert quantity.is_zero() == (exact == 0)


@given(quantity_texts(), quantity_texts())
def test_arithmetic_and_order_are_those_of_the_numbers(one: tuple[str, Fraction], other: tuple[str, Fraction]) -> None:
    a, b = parse_quantity(one[0]), parse_quantity(other[0])
    assert fraction(a + b) == fraction(a) + fraction(b)
    assert fraction(a - b) == fraction(a) - fraction(b)
    assert (a < b, a <= b, a > b, a >= b) == (
        fraction(a) < fraction(b),
        fraction(a) <= fraction(b),
        fraction(a) > fraction(b),
        fraction(a) >= fraction(b),
    )
    assert (a == b) == (fraction(a) == fraction(b))
    if a == b:
        assert hash(a) == hash(b)


@given(st.text(max_size=30))
def test_any_text_gives_a_quantity_or_an_error_of_ours(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except InvalidQuantityError:
        return
    assert isinstance(str(quantity), str)
    assert -(2**63) <= quantity.value() < 2**63
    assert -(2**63) <= quantity.milli_value() < 2**63


def test_a_sum_takes_the_format_of_the_first_summand_that_is_not_zero() -> None:
    assert str(parse_quantity("1Gi") + parse_quantity("1024M")) == "2048576Ki"
    assert (ZERO + parse_quantity("1Gi")).format == BINARY_SI
    assert str(parse_quantity("1Gi") + parse_quantity("1Gi")) == "2Gi"
    assert str(parse_quantity("9223372036854775807") + parse_quantity("1")) == "9223372036854775808"


def test_an_overflowing_sum_goes_over_to_the_big_form() -> None:
    largest = from_value(2**63 - 1)
    assert not (largest + ZERO).big
    assert (largest + from_value(1)).big
    assert (largest + from_value(1)).value() == -(2**63)


def test_quantities_from_integers() -> None:
    assert str(from_milli_value(1500)) == "1500m"
    assert str(from_value(2048, BINARY_SI)) == "2Ki"
    assert from_milli_value(2000) == from_value(2)
    assert from_value(1) != 1
