"""Selectors on devices: attributes by type and domain, capacities, and what goes wrong with a device."""

from typing import Any

import msgspec
import pytest

from kubesched.api.devices import Device
from kubesched.cel import CelRuntimeError, compile_selector

DRIVER = "gpu.example.com"
ATTRIBUTES = {
    "model": {"string": "a100"},
    "index": {"int": 3},
    "healthy": {"bool": True},
    "ver": {"version": "1.2.3"},
    "example.com/rack": {"string": "r1"},
    "a/b/c": {"string": "deep"},
}
CAPACITY = {"memory": {"value": "40Gi"}, "example.com/bw": {"value": "1500m"}, "raw": {"value": 7}}


def a_device(attributes: Any = ATTRIBUTES, capacity: Any = CAPACITY, **fields: Any) -> Device:
    return msgspec.convert({"name": "gpu-0", "attributes": attributes, "capacity": capacity, **fields}, Device)


def matches(expression: str, device: Device | None = None, *, list_attributes: bool = False) -> bool:
    selector = compile_selector(expression, list_attributes=list_attributes)
    assert selector.error == ""
    return selector.matches(DRIVER, device or a_device())


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("device.driver == 'gpu.example.com'", id="the driver"),
        pytest.param("!device.allowMultipleAllocations", id="allocated once unless it says otherwise"),
        pytest.param("device.attributes['gpu.example.com'].model == 'a100'", id="a name without a domain"),
        pytest.param("device.attributes['example.com']['rack'] == 'r1'", id="a name with a domain"),
        pytest.param("device.attributes.a['b/c'] == 'deep'", id="the first slash ends the domain"),
        pytest.param("device.attributes['gpu.example.com'].index % 2 == 1", id="an integer"),
        pytest.param("device.attributes['gpu.example.com'].healthy", id="a truth value"),
        pytest.param("device.attributes['gpu.example.com'].ver.isGreaterThan(semver('1.2.0'))", id="a version"),
        pytest.param("device.capacity['gpu.example.com'].memory == quantity('40960Mi')", id="a capacity"),
        pytest.param("device.capacity['gpu.example.com'].raw.asInteger() == 7", id="a capacity given as a number"),
        pytest.param("device.capacity['example.com'].bw.compareTo(quantity('1')) > 0", id="a capacity with a domain"),
        pytest.param("!('x' in device.attributes['nobody.example.com'])", id="an unknown domain is empty"),
        pytest.param("!('nobody.example.com' in device.attributes)", id="and not there"),
        pytest.param("has(device.attributes.nobody)", id="although asking for it as a field says so"),
        pytest.param("device.attributes[?'nobody'].hasValue()", id="and asking for it optionally"),
        pytest.param("!has(device.attributes['gpu.example.com'].nope)", id="an unknown attribute is not there"),
        pytest.param("device.attributes['gpu.example.com'].?nope.orValue('x') == 'x'", id="and has a default"),
        pytest.param("device.attributes.exists(d, d == 'example.com')", id="domains can be iterated over"),
        pytest.param("device.attributes['gpu.example.com'].exists(n, n == 'model')", id="names, too"),
        pytest.param("device.attributes['gpu.example.com'].model in ['h100', 'a100']", id="one of several"),
        pytest.param("device.attributes[device.driver].index in [1, 3]", id="the driver as a domain"),
        pytest.param("cel.bind(a, device.attributes['gpu.example.com'], has(a.model) && a.index == 3)", id="bound"),
        pytest.param("'1.2.3' != device.attributes['gpu.example.com'].ver", id="a text is no version"),
        pytest.param("device == device && type(dyn(device)) == map", id="a device is a map when it comes to it"),
    ],
)
def test_devices_that_match(expression: str) -> None:
    assert matches(expression)


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        pytest.param("device.attributes['gpu.example.com'].nope == 1", "no such key: nope", id="unknown attribute"),
        pytest.param("device.attributes['nobody'].nope == 1", "no such key: nope", id="of an unknown domain"),
        pytest.param("device.capacity['nobody'].nope == quantity('1')", "no such key: nope", id="unknown capacity"),
        pytest.param(
            "device.attributes['gpu.example.com'].model",
            "CEL result of type string could not be converted to bool: unsupported native conversion from string to "
            "'bool'",
            id="a text is no verdict",
        ),
        pytest.param(
            "device.attributes['gpu.example.com'].ver",
            "CEL result of type kubernetes.Semver could not be converted to bool: type conversion error from 'Semver' "
            "to 'bool'",
            id="nor is a version",
        ),
        pytest.param("device.attributes['gpu.example.com'].ver == '1.2.3'", "no such overload", id="nor is it a text"),
        pytest.param(
            "device.attributes['gpu.example.com'].ver in ['1.2.3']",
            "internal error: runtime error: hash of unhashable type cel.Semver",
            id="and cannot be looked for among constants",
        ),
        pytest.param(
            "device.attributes['gpu.example.com'].model.isGreaterThan(quantity('1'))",
            "no such overload: isGreaterThan(string, kubernetes.Quantity)",
            id="a text is no quantity",
        ),
    ],
)  # fmt: skip
def test_errors(expression: str, error: str) -> None:
    with pytest.raises(CelRuntimeError) as caught:
        matches(expression)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("attribute", "error"),
    [
        pytest.param({}, "attribute x: unsupported attribute value", id="no value"),
        pytest.param({"strings": ["a"]}, "attribute x: unsupported attribute value", id="a list without the gate"),
        pytest.param({"version": ""}, "attribute x: parse semantic version: Version string empty", id="no version"),
    ],
)  # fmt: skip
def test_a_bad_attribute_spoils_every_selector(attribute: dict[str, Any], error: str) -> None:
    with pytest.raises(CelRuntimeError) as caught:
        matches("true", a_device({"x": attribute}))
    assert str(caught.value) == error


def test_a_bad_capacity_spoils_every_selector() -> None:
    with pytest.raises(CelRuntimeError, match="capacity x: quantities must match"):
        matches("true", a_device({}, {"x": {"value": "much"}}))


LISTS = {
    "s": {"strings": ["a", "b"]},
    "i": {"ints": [1, 2]},
    "b": {"bools": [True]},
    "v": {"versions": ["1.0.0", "2.0.0"]},
    "none": {"strings": []},
    "one": {"string": "a"},
}


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("d.s.includes('a') && !d.s.includes('c')", id="a list includes its elements"),
        pytest.param("d.one.includes('a')", id="a single value includes itself"),
        pytest.param("'a' in d.s && d.s[1] == 'b' && d.s == ['a', 'b']", id="lists are lists"),
        pytest.param("d.i.exists(x, x > 1) && d.i.sum() == 3 && d.i.all(i, x, x == i + 1)", id="folded over"),
        pytest.param("d.v.includes(semver('2.0.0')) && d.v.all(x, x.major() > 0)", id="versions"),
        pytest.param("d.b.includes(true) && d.none.size() == 0 && !d.none.includes('')", id="an empty list is a value"),
        pytest.param("dyn(d.b[0])", id="the verdict may be of any type before it is known"),
    ],
)
def test_list_attributes(expression: str) -> None:
    bound = f"cel.bind(d, device.attributes['{DRIVER}'], {expression})"
    assert matches(bound, a_device(LISTS), list_attributes=True)


def test_too_long_a_list_is_not_searched() -> None:
    with pytest.raises(CelRuntimeError, match="'includes' function cannot be applied to lists longer than 48 values"):
        matches("lists.range(49).includes(48)")
    assert matches("lists.range(49).includes(47)")


def test_a_device_that_can_be_shared() -> None:
    assert matches("device.allowMultipleAllocations", a_device(allowMultipleAllocations=True))


def test_one_expression_is_compiled_once() -> None:
    assert compile_selector("1 == 1", list_attributes=False) is compile_selector("1 == 1", list_attributes=False)


def test_the_cost_of_a_long_text_counts() -> None:
    long = a_device({"text": {"string": "x" * 100_000}})
    expression = f"device.attributes['{DRIVER}'].text.matches('(x+x+)+{'y' * 400}')"
    with pytest.raises(CelRuntimeError, match="operation cancelled: actual cost limit exceeded"):
        matches(expression, long)
