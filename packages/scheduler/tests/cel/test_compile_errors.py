"""Expressions that are none: the reference's words, with the place in the text."""

import pytest

from kubesched.api.devices import Device
from kubesched.cel import CelRuntimeError, compile_selector

START = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


def error_of(expression: str, *, list_attributes: bool = False) -> str:
    return compile_selector(expression, list_attributes=list_attributes).error


def problems_of(expression: str) -> list[str]:
    """Return position and words of each problem."""
    lines = error_of(expression).removeprefix("compilation failed: ").split("\n")
    return [line.removeprefix("ERROR: <input>:") for line in lines if line.startswith("ERROR: ")]


@pytest.mark.parametrize(
    ("expression", "problems"),
    [
        pytest.param("", [f"1:0: Syntax error: mismatched input '<EOF>' expecting {START}"], id="nothing"),
        pytest.param("1 +", [f"1:4: Syntax error: mismatched input '<EOF>' expecting {START}"], id="no operand"),
        pytest.param("1 + * 2 == 1", [f"1:5: Syntax error: extraneous input '*' expecting {START}"], id="one too many"),
        pytest.param("true true", ["1:6: Syntax error: extraneous input 'true' expecting <EOF>"], id="no operator"),
        pytest.param("1 2 3", ["1:3: Syntax error: mismatched input '2' expecting <EOF>"], id="no operators"),
        pytest.param("(true", ["1:6: Syntax error: missing ')' at '<EOF>'"], id="a bracket not closed"),
        pytest.param("((true", ["1:7: Syntax error: mismatched input '<EOF>' expecting ')'"], id="two of them"),
        pytest.param("size('a' 1)", ["1:10: Syntax error: extraneous input '1' expecting ')'"], id="no comma"),
        pytest.param("[1, 2", ["1:6: Syntax error: mismatched input '<EOF>' expecting {']', ','}"], id="half a list"),
        pytest.param("true ? 1", ["1:9: Syntax error: mismatched input '<EOF>' expecting ':'"], id="no other side"),
        pytest.param("device.", ["1:8: Syntax error: no viable alternative at input '.'"], id="no field"),
        pytest.param("!-x", ["1:3: Syntax error: no viable alternative at input '-x'"], id="two kinds of signs"),
        pytest.param("device.true", ["1:8: Syntax error: mismatched input 'true' expecting IDENTIFIER"], id="keyword"),
        pytest.param("a = 1", ["1:3: Syntax error: token recognition error at: '= '",
                               "1:5: Syntax error: extraneous input '1' expecting <EOF>"], id="one equals sign"),
        pytest.param("'a", ["1:1: Syntax error: token recognition error at: ''a'",
                            f"1:3: Syntax error: mismatched input '<EOF>' expecting {START}"], id="half a text"),
        pytest.param("'\\q'", ["1:1: Syntax error: token recognition error at: ''\\q'",
                               "1:4: Syntax error: token recognition error at: '''",
                               f"1:5: Syntax error: mismatched input '<EOF>' expecting {START}"], id="no escape"),
        pytest.param("9223372036854775808 > 0", ["1:1: invalid int literal"], id="an integer too large"),
        pytest.param("99999999999999999999u > 0u", ["1:1: invalid uint literal"], id="an unsigned one too large"),
        pytest.param("1e999 > 0.0", ["1:1: invalid double literal"], id="a double too large"),
        pytest.param("'\\uD800' == ''", ["1:1: invalid unicode code point"], id="half a character"),
        pytest.param("b'\\u0041' == b''", ["1:1: unable to unescape string"], id="no character among bytes"),
        pytest.param("for == 1", ["1:1: reserved identifier: for"], id="a reserved word"),
        pytest.param("a.`b` == 1", ["1:3: unsupported syntax: '`'"], id="a quoted name"),
        pytest.param("\n  foo", ["2:3: undeclared reference to 'foo' (in container '')"], id="on another line"),
    ],
)  # fmt: skip
def test_syntax(expression: str, problems: list[str]) -> None:
    assert problems_of(expression) == problems


@pytest.mark.parametrize(
    ("expression", "problems"),
    [
        pytest.param("foo == bar", ["1:1: undeclared reference to 'foo' (in container '')",
                                    "1:8: undeclared reference to 'bar' (in container '')"], id="unknown names"),
        pytest.param("device.driver.nope()", ["1:19: undeclared reference to 'nope' (in container '')"], id="function"),
        pytest.param("device.nope", ["1:7: undefined field 'nope'"], id="no such field"),
        pytest.param("device.driver.x", ["1:14: type 'string' does not support field selection"], id="no fields"),
        pytest.param("device.capacity['a'].b.c", ["1:23: unexpected failed resolution of 'kubernetes.Quantity'"],
                     id="a quantity has none"),
        pytest.param("device.driver == 1", ["1:15: found no matching overload for '_==_' applied to '(string, int)'"],
                     id="different types"),
        pytest.param("device.driver.startsWith(1)",
                     ["1:25: found no matching overload for 'startsWith' applied to 'string.(int)'"], id="an argument"),
        pytest.param("1 && true", ["1:1: expected type 'bool' but found 'int'"], id="no truth value"),
        pytest.param("device.driver.all(x, true)",
                     ["1:7: expression of type 'string' cannot be range of a comprehension (must be list, map, or "
                      "dynamic)"], id="nothing to iterate over"),
        pytest.param("device.attributes['a'].b.all(x, true)",
                     ["1:23: expression of type 'any' cannot be range of a comprehension (must be list, map, or "
                      "dynamic)"], id="an attribute is no list without the gate"),
        pytest.param("[1].all(x, x)", ["1:12: expected type 'bool' but found 'int'"], id="no predicate"),
        pytest.param("[1].all(1, true)", ["1:9: argument must be a simple name"], id="no variable"),
        pytest.param("[1].map(x.y, true) == []", ["1:10: argument is not an identifier"], id="no name"),
        pytest.param("[1].all(__result__, true)", ["1:9: iteration variable overwrites accumulator variable"],
                     id="a name that is taken"),
        pytest.param("[1].all(i, i, true)", ["1:12: duplicate variable name: i"], id="one name twice"),
        pytest.param("cel.bind(1, 2, true)", ["1:10: cel.bind() variable names must be simple identifiers"],
                     id="nothing to bind to"),
        pytest.param("has(device)", ["1:5: invalid argument to has() macro"], id="no field to ask for"),
        pytest.param("[1, 'a'] == []", ["1:5: expected type 'int' but found 'string'"], id="a mixed list"),
        pytest.param("{'a': 1, 'b': ''} == {}", ["1:15: expected type 'int' but found 'string'"], id="a mixed map"),
        pytest.param("'x'.matches('[')", ["1:13: invalid matches argument"], id="no pattern"),
        pytest.param("duration('x') == duration('1s')", ["1:10: invalid duration argument"], id="no duration"),
        pytest.param("timestamp('x') == timestamp(0)", ["1:11: invalid timestamp argument"], id="no time"),
        pytest.param("'%d'.format(['a']) == ''",
                     ["1:14: error during formatting: decimal clause can only be used on integers, was given string"],
                     id="a clause for another type"),
        pytest.param("'%s'.format([1, 2]) == ''",
                     ["1:12: too many arguments supplied to string.format (expected 1, got 2)"], id="too many values"),
        pytest.param("'%s%s'.format([1]) == ''", ["1:14: index 1 out of range"], id="too few"),
        pytest.param("'%z'.format([1]) == ''",
                     ['1:12: could not parse formatting clause: unrecognized formatting clause "z"'], id="no clause"),
        pytest.param("Foo{a: 1} == 1", ["1:4: undeclared reference to 'Foo' (in container '')"], id="no message"),
        pytest.param("google.protobuf.Duration{seconds: 1} == duration('1s')",
                     ["1:25: kubesched does not construct messages: 'google.protobuf.Duration'"],
                     id="what is not done here says so"),
    ],
)  # fmt: skip
def test_types(expression: str, problems: list[str]) -> None:
    assert problems_of(expression) == problems


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        pytest.param("1", "must evaluate to bool or the unknown type, not int", id="a number"),
        pytest.param("device", "must evaluate to bool or the unknown type, not kubernetes.DRADevice", id="a device"),
        pytest.param("dyn(true)", "must evaluate to bool or the unknown type, not dyn", id="who knows"),
        pytest.param("duration('1s')", "must evaluate to bool or the unknown type, not google.protobuf.Duration",
                     id="a duration"),
        pytest.param("optional.of(true)", "must evaluate to bool or the unknown type, not optional_type(bool)",
                     id="perhaps"),
        pytest.param("int('x') == 1", "program instantiation failed: type conversion error from 'string' to 'int'",
                     id="a constant that cannot be converted"),
        pytest.param("'x'.find('(') != ''", "program instantiation failed: "
                     "error parsing regexp: missing closing ): `(`",
                     id="a constant that is no pattern"),
        pytest.param("[1][[2]] == 1", "compilation failed: ERROR: <input>:1:4: found no matching overload for '_[_]' "
                     "applied to '(list(int), list(int))'\n | [1][[2]] == 1\n | ...^", id="a list is no index"),
        pytest.param("dyn({})[[]] == 1", "program instantiation failed: invalid qualifier type: *types.baseList",
                     id="nor a key"),
    ],
)  # fmt: skip
def test_programs(expression: str, error: str) -> None:
    assert error_of(expression) == error


def test_wide_characters_have_wide_dots() -> None:
    assert error_of("'\u00e9' == foo").endswith("\n | '\u00e9' == foo\n | .\uff0e.....^")


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        pytest.param("(" * 300 + "true" + ")" * 300, "expression recursion limit exceeded", id="brackets"),
        pytest.param("true" + " == true" * 300, "expression recursion limit exceeded", id="relations"),
        pytest.param("!" * 1001 + "true", "", id="negations are no depth"),
        pytest.param("[" * 300, "expression recursion limit exceeded", id="lists"),
        pytest.param("a" + ".a" * 300, "expression recursion limit exceeded", id="fields"),
        pytest.param("f(" * 300, "expression recursion limit exceeded", id="calls"),
        pytest.param("true" + " && true" * 5000, "", id="a long chain of ands is no depth"),
        pytest.param("'" + "x" * 100_000 + "' == ''", "expression code point size exceeds limit: size: 100008, limit "
                     "100000", id="size"),
        pytest.param("optional.of(1)" + ".optMap(x, x)" * 40 + ".hasValue()", "expression size exceeds limit",
                     id="copies"),
        pytest.param("; " * 500, "^\n1 more errors were truncated", id="errors"),
    ],
)  # fmt: skip
def test_what_is_too_much_is_refused(expression: str, words: str) -> None:
    error = error_of(expression)
    assert words in error
    assert bool(words) == bool(error)


def test_what_did_not_compile_cannot_be_asked() -> None:
    selector = compile_selector("nope", list_attributes=False)
    with pytest.raises(CelRuntimeError, match="undeclared reference to 'nope'"):
        selector.matches("gpu.example.com", Device())
