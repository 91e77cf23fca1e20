"""Expressions of all kinds: what is none is a compile error, never another exception; what is one has a verdict."""

import re
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.devices import Device, DeviceAttribute
from kubesched.cel import CelRuntimeError, compile_selector
from kubesched.cel.functions.regex import RegexError, compile_regex
from kubesched.cel.selectors import CompiledSelector

DEVICE = Device(name="gpu-0", attributes={"a": DeviceAttribute(int_value=1), "b": DeviceAttribute(string_value="x")})

NAMES = ["device", "driver", "attributes", "has", "all", "exists", "map", "filter", "x", "size", "cel.bind", "optional"]
SYMBOLS = [*".[](){}!-+*/%<?:,\\`;=&|\n", "&&", "||", "==", "!=", ">=", "in", "matches", "quantity", "of", "or"]
LITERALS = ["'d'", '"x"', "1", "2u", "1.5", "true", "false", "null", "r''", "b''", "é"]
WORDS = st.lists(st.sampled_from(NAMES + SYMBOLS + LITERALS), max_size=14)


def error_of(run: Callable[[], object]) -> str:
    """Return the words of the error with which something ends, or nothing."""
    try:
        run()
    except (CelRuntimeError, RegexError) as error:
        return str(error)
    return ""


@given(st.one_of(st.text(max_size=40), WORDS.map(" ".join), WORDS.map("".join)))
def test_junk_is_a_compile_error(expression: str) -> None:
    selector = CompiledSelector(expression, list_attributes=True)
    if selector.error:
        assert selector.error.startswith(("compilation failed: ERROR: ", "must evaluate", "program instantiation"))
    else:
        error_of(lambda: selector.matches("d", DEVICE))


# An expression and what it is worth, or nothing if it overflows or divides by zero.
Valued = tuple[str, int | None]


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _quotient,
    # the least integer over -1 overflows, and so does its remainder
    "%": lambda left, right: left - right * _quotient(left, right) if (left, right) != (-(2**63), -1) else 2**63,
}


def _applied(parts: tuple[Valued, str, Valued]) -> Valued:
    (left_text, left), operator, (right_text, right) = parts
    text = f"({left_text} {operator} {right_text})"
    if left is None or right is None or (right == 0 and operator in "/%"):
        return text, None
    value = OPERATIONS[operator](left, right)
    return text, value if -(2**63) <= value < 2**63 else None


INTEGERS = st.recursive(
    st.integers(-(2**63), 2**63 - 1).map(lambda value: (str(value), value)) | st.just(("0", 0)) | st.just(("-1", -1)),
    lambda inner: st.tuples(inner, st.sampled_from(list(OPERATIONS)), inner).map(_applied),
    max_leaves=6,
)


@given(INTEGERS)
def test_integers_are_exact_or_an_error(valued: Valued) -> None:
    expression, value = valued
    selector = compile_selector(f"{expression} == {value or 0}", list_attributes=False)
    assert selector.error == ""
    if value is None:
        problems = ("integer overflow", "division by zero", "modulus by zero")
        assert error_of(lambda: selector.matches("d", DEVICE)) in problems
    else:
        assert selector.matches("d", DEVICE)


@given(st.text(max_size=20))
def test_a_text_is_equal_to_its_literal(text: str) -> None:
    escaped = "".join(f"\\U{ord(character):08x}" for character in text)
    device = Device(name="gpu-0", attributes={"t": DeviceAttribute(string_value=text)})
    expression = f"cel.bind(t, device.attributes.d.t, t == '{escaped}' && t.size() == {len(text)})"
    assert compile_selector(expression, list_attributes=False).matches("d", device)


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "^", "$", r"\b"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda parts: f"(?:{parts[0]}|{parts[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,2}", "*?", "+?"])).map(
            lambda parts: f"(?:{parts[0]}){parts[1]}"
        ),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text("ab \n", max_size=8))
def test_patterns_match_as_in_python(pattern: str, text: str) -> None:
    expected = re.search(pattern.replace("$", r"\Z"), text, re.ASCII)
    assert compile_regex(pattern).matches(text) == (expected is not None)


# the first look at a category of Unicode takes a while
@settings(deadline=None)
@given(st.text(max_size=20))
def test_junk_is_no_pattern(pattern: str) -> None:
    error = error_of(lambda: compile_regex(pattern).matches("text"))
    assert error == "" or error.startswith("error parsing regexp: ")
