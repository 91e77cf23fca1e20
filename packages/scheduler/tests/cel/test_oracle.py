"""Our CEL against Google's own in C++ (cel-expr-python), on random expressions; skipped where that is not installed.

`make test-oracle` installs it. Both must agree whether an expression compiles, and what it evaluates to; the words of
errors are the reference's, which is another implementation still. One type of numbers only: Kubernetes lets numbers of
different types be compared, the library does not.
"""

import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from kubesched.api.devices import Device
from kubesched.cel import CelRuntimeError, compile_selector

cel = pytest.importorskip("cel_expr_python.cel")
bindings = pytest.importorskip("cel_expr_python.ext.ext_bindings")
optional = pytest.importorskip("cel_expr_python.ext.ext_optional")
strings = pytest.importorskip("cel_expr_python.ext.ext_strings")
ENVIRONMENT = cel.NewEnv(extensions=[bindings.ExtBindings(), optional.ExtOptional(), strings.ExtStrings()])
DEVICE = Device(name="gpu-0")
MIXED = re.compile(r"expected type '.*' but found")
NOT_COMPILED, FAILED = "does not compile", "fails"

AGREE = [(True, True), (False, False), (NOT_COMPILED, NOT_COMPILED), (FAILED, FAILED), (NOT_COMPILED, FAILED)]

NUMBERS = st.sampled_from(["0", "1", "2", "-3", "7", "9223372036854775807", "-9223372036854775808"])
TEXTS = st.sampled_from(["''", "'a'", "'b'", "'ab'", "'héllo'", "'a,b,c'", "'12'", "'\\n'"])


def joined(*parts: str | st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return texts put together from fixed and drawn parts."""
    return st.tuples(*(st.just(part) if isinstance(part, str) else part for part in parts)).map("".join)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return larger expressions of smaller ones; some make sense, some do not."""
    infix = st.sampled_from([" + ", " - ", " * ", " / ", " % ", " < ", " >= ", " == ", " != ", " && ", " || ", " in "])
    method = st.sampled_from([".size()", ".startsWith('a')", ".charAt(0)", ".upperAscii()", ".split(',')", "[0]", ".x"])
    macro = st.sampled_from(["exists", "all", "exists_one", "map", "filter"])
    function = st.sampled_from(["int", "string", "size", "type", "dyn", "bool"])
    return st.one_of(
        joined("(", inner, infix, inner, ")"),
        joined("(", inner, " ? ", inner, " : ", inner, ")"),
        joined("[", inner, ", ", inner, "]"),
        # in C++ other keys are an error
        joined("{", NUMBERS | TEXTS, ": ", inner, "}"),
        joined(inner, method),
        joined(function, "(", inner, ")"),
        joined("!", inner),
        joined("-", inner),
        joined("[", inner, ", ", inner, "].", macro, "(x, x", infix, inner, ")"),
        joined("cel.bind(y, ", inner, ", y", infix, inner, ")"),
    )


EXPRESSIONS = st.recursive(NUMBERS | TEXTS | st.sampled_from(["true", "false", "null"]), grown, max_leaves=6)
CONDITIONS = joined(EXPRESSIONS, st.sampled_from([" == ", " != ", " < "]), EXPRESSIONS)


def ours(expression: str) -> bool | str:
    """Return what our implementation makes of a condition."""
    selector = compile_selector(expression, list_attributes=True)
    # Kubernetes refuses lists and maps of several types, which the language allows
    assume(not MIXED.search(selector.error))
    if selector.error:
        return NOT_COMPILED
    try:
        return selector.matches("gpu.example.com", DEVICE)
    except CelRuntimeError:
        return FAILED


def theirs(expression: str) -> bool | str:
    """Return what Google's implementation makes of a condition."""
    try:
        found = ENVIRONMENT.compile(expression).eval()
    except RuntimeError:
        return NOT_COMPILED
    return bool(found.value()) if found.type() == cel.Type.BOOL else FAILED


@settings(max_examples=500, deadline=None)
@example("1 == 1.0")
@example("[1, 2].exists(x, x > 1)")
@example("1 / 0 == 1")
@example("9223372036854775807 + 1 > 0")
@example("'héllo'.size() == 5")
@example("cel.bind(y, 2, y * y) == 4")
@given(CONDITIONS)
def test_both_agree(expression: str) -> None:
    # what fails for constants alone is found out by the reference, and by us, when it is compiled
    assert (ours(expression), theirs(expression)) in AGREE, expression
