"""The language: what expressions without a device evaluate to, and what is wrong with those that do not.

Every expression of the first tables is true; the others fail with the words that follow.
"""

import pytest

from kubesched.api.devices import Device
from kubesched.cel import CelRuntimeError, compile_selector

DEVICE = Device(name="gpu-0")


def verdict(expression: str) -> bool:
    selector = compile_selector(expression, list_attributes=True)
    assert selector.error == ""
    return selector.matches("gpu.example.com", DEVICE)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("1 + 2 * 3 == 7", id="a product binds tighter than a sum"),
        pytest.param("(1 + 2) * 3 == 9", id="brackets bind tightest"),
        pytest.param("10 - 4 - 3 == 3", id="a difference binds to the left"),
        pytest.param("1 < 2 == true", id="relations bind to the left, all alike"),
        pytest.param("true || false && false", id="and binds tighter than or"),
        pytest.param("!false && !!true", id="two negations are none"),
        pytest.param("--1 == 1 && -(-1) == 1", id="two minus signs are none"),
        pytest.param("-2 - -3 == 1", id="a minus sign belongs to a number"),
        pytest.param("true ? true : false ? false : false", id="a conditional binds to the right"),
        pytest.param("1 == 1 ? 2 > 1 : false", id="a condition may be a relation"),
        pytest.param("[1, 2,] == [1, 2] && {'a': 1,} == {'a': 1}", id="a last comma is fine"),
        pytest.param(".device.driver == device.driver", id="a dot leads a name"),
        pytest.param("true // nothing\n", id="a comment ends with its line"),
        pytest.param("2 in [1, 2] && 'a' in {'a': 1}", id="in asks for elements and keys"),
        pytest.param("7 / 2 == 3 && -7 / 2 == -3", id="quotients are cut towards zero"),
        pytest.param("7 % 3 == 1 && -7 % 3 == -1", id="remainders have the sign of the dividend"),
        pytest.param("7u / 2u == 3u && 7u % 4u == 3u", id="unsigned integers divide"),
        pytest.param("1.0 / 0.0 > 1e308", id="a double divided by zero is infinite"),
        pytest.param("1 < 1.5 && 2u > 1 && 1.0 <= 1u", id="numbers of different types have an order"),
        pytest.param("dyn(1) == 1.0 && dyn(1u) == 1", id="and are equal where their types are not known"),
        pytest.param("'a' < 'b' && b'a' < b'b' && false < true", id="texts, bytes and truth values have an order"),
        pytest.param("[1] + [2] == [1, 2] && 'a' + 'b' == 'ab' && b'a' + b'b' == b'ab'", id="plus joins"),
        pytest.param("null == null && dyn(1) != null", id="null is equal to itself alone"),
        pytest.param("{1: 'a'}[1] == 'a' && dyn({1u: 'a'})[1] == 'a'", id="a key is found by an equal integer"),
        pytest.param("[1, 2][dyn(1.0)] == 2", id="an index may be a double without a fraction"),
        pytest.param("{'a': {'b': 1}}.a.b == 1", id="a field of a map is a key"),
        pytest.param("type(1) == int && type([1]) == list && type(type(1)) == type", id="types are values"),
    ],
)
def test_operators(expression: str) -> None:
    assert verdict(expression)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("0x1F == 31 && 0xau == 10u", id="hexadecimal integers"),
        pytest.param("1e3 == 1000.0 && .5 == 0.5 && 1.5e-1 == 0.15", id="doubles"),
        pytest.param("-9223372036854775808 < 0", id="the least integer"),
        pytest.param("18446744073709551615u > 0u", id="the greatest unsigned integer"),
        pytest.param("'\\u0041\\x42\\103' == 'ABC'", id="escapes of characters"),
        pytest.param("'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\\`'.size() == 12", id="escapes of control characters"),
        pytest.param("'\\U0001F600'.size() == 1", id="characters are counted, not bytes"),
        pytest.param("r'\\d' == '\\\\d' && R\"\\n\".size() == 2", id="raw texts keep their backslashes"),
        pytest.param("'''a'b''' == \"a'b\" && \"\"\"x\ny\"\"\" == 'x\\ny'", id="three quotes span quotes and lines"),
        pytest.param("b'abc' == b'\\x61\\142c'", id="bytes by number"),
        pytest.param("b'\\xff' != b'\u00ff' && b'\u00ff'.size() == 2", id="an escaped byte is one byte"),
        pytest.param("br'\\x' == b'\\\\x'", id="raw bytes"),
    ],
)
def test_literals(expression: str) -> None:
    assert verdict(expression)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("[1, 2, 3].all(x, x > 0) && ![1, 2].all(x, x > 1)", id="all"),
        pytest.param("[1, 2].exists(x, x == 2) && ![].exists(x, true)", id="exists"),
        pytest.param("[1, 2, 2].exists_one(x, x == 1) && ![2, 2].existsOne(x, x == 2)", id="exactly one"),
        pytest.param("[1, 2, 3].filter(x, x > 1) == [2, 3]", id="filter"),
        pytest.param("[1, 2].map(x, x * 2) == [2, 4] && [1, 2].map(x, x > 1, x * 2) == [4]", id="map"),
        pytest.param("{'a': 1, 'b': 2}.all(k, k < 'c')", id="maps are iterated over by key"),
        pytest.param("[5, 6].all(i, v, v == i + 5)", id="lists have indices"),
        pytest.param("{'a': 1}.exists(k, v, k == 'a' && v == 1)", id="maps have values"),
        pytest.param("[1, 2].transformList(i, v, i + v) == [1, 3]", id="lists are transformed with indices"),
        pytest.param("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 2) == {'b': 4}", id="maps are transformed"),
        pytest.param("{'a': 'x'}.transformMapEntry(k, v, {v: k}) == {'x': 'a'}", id="keys too"),
        pytest.param("cel.bind(x, 5, cel.bind(y, x + 1, x * y == 30))", id="bindings nest"),
        pytest.param("cel.bind(x, 1 / 0, true)", id="what is bound is not computed before it is read"),
        pytest.param("[[1, 2], [3]].map(x, x.map(y, y + x.size())) == [[3, 4], [4]]", id="comprehensions nest"),
        pytest.param("[3, 1, 2].sortBy(x, -x) == [3, 2, 1]", id="sorted by a key"),
        pytest.param("has({'a': 1}.a) && !has({'a': 1}.b) && !has(dyn('x').y)", id="has asks for fields"),
        pytest.param("[1, 'x'.size()].exists(device, device == 1)", id="a variable hides the device"),
        pytest.param("optional.of(2).optMap(x, x + 1).value() == 3", id="an optional value is mapped"),
        pytest.param("!optional.none().optFlatMap(x, optional.of(x)).hasValue()", id="an absent one stays absent"),
    ],
)
def test_macros(expression: str) -> None:
    assert verdict(expression)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("true || 1 / 0 == 1", id="or with the truth first"),
        pytest.param("1 / 0 == 1 || true", id="or with the error first"),
        pytest.param("!(1 / 0 == 1 && false)", id="and with the error first"),
        pytest.param("[0, 1].exists(x, 1 / x == 1)", id="exists"),
        pytest.param("![0, 1].all(x, 1 / x == 2)", id="all"),
        pytest.param("true ? true : 1 / 0 == 1", id="the other side of a conditional"),
        pytest.param("{'a': 1}[?'b'].orValue(2) == 2", id="an absent key has a default"),
        pytest.param("{'a': {'b': 1}}.?a.?b.value() == 1", id="optional fields chain"),
        pytest.param("![1][?5].hasValue() && [1][?0].value() == 1", id="optional indices"),
        pytest.param("[?optional.none(), 1] == [1] && {?'a': optional.of(1)} == {'a': 1}", id="optional elements"),
        pytest.param("optional.none().or(optional.of(1)).value() == 1", id="the first that is there"),
        pytest.param("!optional.ofNonZeroValue('').hasValue()", id="nothing is absent"),
        pytest.param("quantity('2') != quantity('1').add(1)", id="what cannot be compared is not equal"),
    ],
)
def test_errors_that_do_not_matter(expression: str) -> None:
    assert verdict(expression)


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        pytest.param("9223372036854775807 + 1 > 0", "integer overflow", id="sums overflow"),
        pytest.param("-(-9223372036854775807 - 1) > 0", "integer overflow", id="the least integer has no opposite"),
        pytest.param("9223372036854775807 * 2 > 0", "integer overflow", id="products overflow"),
        pytest.param("(-9223372036854775807 - 1) / -1 > 0", "integer overflow", id="one quotient overflows"),
        pytest.param("1u - 2u > 0u", "unsigned integer overflow", id="unsigned differences overflow"),
        pytest.param("1 / 0 == 1", "division by zero", id="division by zero"),
        pytest.param("1 % 0 == 1", "modulus by zero", id="remainder by zero"),
        pytest.param("[1e19].all(x, int(x) == 1)", "integer overflow", id="a double too large for an integer"),
        pytest.param("{'a': 1}.b == 1", "no such key: b", id="a key that is not there"),
        pytest.param("[1][1] == 1", "index out of bounds: 1", id="an index that is not there"),
        pytest.param("dyn([1])['a'] == 1", "unsupported index type 'string' in list", id="no index"),
        pytest.param("dyn(1).a == 1", "no such key: a", id="a number has no fields"),
        pytest.param("dyn(1) && true", "no such overload", id="no truth value"),
        pytest.param("dyn(true) + 1 == 1", "no such overload: _+_", id="nothing to add"),
        pytest.param("dyn('a') - dyn('b') == 'c'", "no such overload", id="texts say less about it"),
        pytest.param("dyn(1).startsWith('a')", "no such overload", id="no text"),
        pytest.param("dyn(1).lowerAscii() == 'a'", "no such overload: lowerAscii(int)", id="a function says more"),
        pytest.param("dyn([1]).join() == ''", "no such overload: join(list)", id="a list of other things"),
        pytest.param("dyn(1).all(x, true)", "got 'types.Int', expected iterable type", id="nothing to iterate over"),
        pytest.param("dyn(1).all(i, x, true)", "unsupported comprehension range type: types.Int", id="nor in pairs"),
        pytest.param("[1, 1].exists_one(x, 1 / 0 == x)", "division by zero", id="exactly one absorbs nothing"),
        pytest.param("optional.none().value()", "optional.none() dereference", id="an absent value"),
        pytest.param("dyn(1)", "CEL result of type int could not be converted to bool: unsupported type conversion "
                     "from 'int' to bool", id="the verdict is a number"),
        pytest.param("dyn([])", "CEL result of type list could not be converted to bool: type conversion error from "
                     "list to 'bool'", id="the verdict is a list"),
        pytest.param("'abc'.substring(2, 1) == ''", "invalid substring range. start: 2, end: 1", id="a bad range"),
        pytest.param("'abc'.charAt(4) == ''", "index out of range: 4", id="a bad position"),
        pytest.param("[].max() == 1", "max called on empty list", id="no greatest element"),
        pytest.param("'a'.matches('(' + 'x')", "error parsing regexp: missing closing ): `(x`", id="a bad pattern"),
        pytest.param("quantity('1').add(quantity('1')) == quantity('2') && quantity('2') == quantity('1').add(1)",
                     "no such overload", id="a sum is not recognised on the right"),
        pytest.param("quantity('1500m').asInteger() == 1", "cannot convert value to integer", id="no integer"),
        pytest.param("semver('1.0').major() == 1", "No Major.Minor.Patch elements found", id="no version"),
        pytest.param("ip('1.2.3').family() == 4", 'IP Address "1.2.3" parse error during conversion from string: '
                     'ParseAddr("1.2.3"): unable to parse IP', id="no address"),
        pytest.param("dyn(b'x') in ['x']", "internal error: runtime error: hash of unhashable type types.Bytes",
                     id="the reference breaks on bytes among constants"),
        pytest.param("true || dyn(b'x') in ['x'] || lists.range(100).all(x, lists.range(x * 1000).size() >= 0)", "",
                     id="but not where it does not come to that"),
        pytest.param("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))",
                     "operation cancelled: actual cost limit exceeded", id="too much work"),
        pytest.param("lists.range(1000000000).size() > 0 || true", "operation cancelled: actual cost limit exceeded",
                     id="which nothing absorbs"),
    ],
)  # fmt: skip
def test_errors(expression: str, error: str) -> None:
    if not error:
        assert verdict(expression)
        return
    with pytest.raises(CelRuntimeError) as caught:
        verdict(expression)
    assert str(caught.value) == error
