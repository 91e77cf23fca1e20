"""Whatever is sent: documents of a shape are kept, the two ways of reading agree, nothing but a refusal is raised."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched_controlplane.api.media_types import PATCHES
from kubesched_controlplane.api.requests import Request
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.schema import IGNORE, STRICT, WARN, Schemas, decoder_of
from kubesched_controlplane.schema.json_syntax import syntax_error
from kubesched_controlplane.schema.json_text import JsonError, may_have_doubles, parse
from kubesched_controlplane.schema.shapes import ListType, MapType, Scalar, ScalarType, Shape, Type
from kubesched_controlplane.schema.strict_decoder import StrictDecoder
from kubesched_controlplane.server.catalog import RESOURCES, built_in
from kubesched_controlplane.server.verbs.patching import patched_with_warnings

SCHEMAS = Schemas()
FOUND = built_in().find("", "v1", "pods")
assert FOUND is not None
PODS = FOUND
assert PODS is not None

TEXTS = st.text(max_size=5)
KEYS = st.sampled_from(["a", "b", "kubernetes.io/c"])
SCALARS: dict[Scalar, st.SearchStrategy[Any]] = {
    Scalar.STRING: TEXTS,
    Scalar.BOOL: st.booleans(),
    Scalar.INT32: st.integers(-(2**31), 2**31 - 1),
    Scalar.INT64: st.integers(-(2**63), 2**63 - 1),
    Scalar.BYTES: st.sampled_from(["", "aGk=", "aGVsbG8="]),
    Scalar.QUANTITY: st.sampled_from(["0", "1", "500m", "2Gi", 3, "1024Mi", "0.1", 1.5, "1e3", "7n"]),
    Scalar.MILLI_QUANTITY: st.sampled_from(["0", "1", "500m", "2Gi", 3, "1024Mi", "0.1", 1.5, "1e3", "7n"]),
    Scalar.TIME: st.sampled_from(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5+02:00", "0001-01-01T00:00:00Z"]),
    Scalar.MICRO_TIME: st.sampled_from(["2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.123456-01:00"]),
    Scalar.INT_OR_STRING: st.integers(-5, 5) | TEXTS,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def values(draw: st.DrawFn, type_: Type, depth: int = 0, wild: bool = False) -> Any:
    """Draw a value of a type; a wild one has nulls, unknown fields and wrong types here and there."""
    if wild and draw(st.integers(0, 15)) == 0:
        return draw(JSON)
    match type_:
        case Shape():
            most = 0 if depth > 5 or not type_.fields else 12 if depth < 2 else 3
            names = draw(st.lists(st.sampled_from(sorted(type_.fields)), max_size=most, unique=True)) if most else []
            found = {name: draw(values(type_.fields[name].type, depth + 1, wild)) for name in names}
            if depth == 0:
                found = {name: value for name, value in found.items() if name not in ("kind", "apiVersion")}
            return found | ({draw(TEXTS): draw(JSON)} if wild and draw(st.integers(0, 9)) == 0 else {})
        case ListType():
            return draw(st.lists(values(type_.element, depth + 1, wild), max_size=2))
        case MapType():
            return draw(st.dictionaries(KEYS, values(type_.value, depth + 1, wild), max_size=2))
        case ScalarType():
            return draw(SCALARS.get(type_.scalar, JSON.filter(lambda value: value is not None)))


@st.composite
def documents(draw: st.DrawFn, wild: bool = False) -> tuple[Resource, Any]:
    """Draw a resource and a document of it."""
    resource = draw(st.sampled_from(RESOURCES))
    return resource, draw(values(SCHEMAS.shape(resource), wild=wild))


def outcome(read: Callable[[], Any]) -> Any:
    """Return what is read, or the error that says why it is not."""
    try:
        return read()
    except ApiError as error:
        return error
    except ValueError as error:
        return type(error), str(error)


@given(documents())
@settings(max_examples=150, deadline=None)
def test_what_is_stored_is_stored_again_as_it_is(drawn: tuple[Resource, Any]) -> None:
    resource, document = drawn
    once, warnings = SCHEMAS.decode(resource, json.dumps(document).encode(), STRICT)
    again, _ = SCHEMAS.decode(resource, json.dumps(once).encode(), STRICT)
    assert warnings == []
    assert again == once
    assert list(again) == list(once)
    assert SCHEMAS.check(resource, once, STRICT) == (once, [])


@given(documents(wild=True), st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_careful_way_keeps_what_the_fast_way_keeps(drawn: tuple[Resource, Any], strict: bool) -> None:
    resource, document = drawn
    decoder, body = decoder_of(SCHEMAS.shape(resource)), json.dumps(document).encode()
    careful = outcome(lambda: decoder._decode_strictly(parse(body), StrictDecoder()))
    assert document is None or outcome(lambda: decoder.decode(body, strict=strict)) == careful
    assert outcome(lambda: decoder.decode_patched(parse(body))) == careful


@given(st.sampled_from(RESOURCES), JSON, st.sampled_from([STRICT, WARN, IGNORE]))
@settings(max_examples=200, deadline=None)
def test_any_json_is_read_or_refused(resource: Resource, document: Any, validation: str) -> None:
    found = outcome(lambda: SCHEMAS.decode(resource, json.dumps(document).encode(), validation))
    if isinstance(found, ApiError):
        assert (found.code, found.reason) == (400, "BadRequest")
    else:
        assert found[0]["kind"] == resource.kind


@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,tfn0-1.eE\\u \x01d8', max_size=30).map(str.encode))
@settings(max_examples=400, deadline=None)
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        json.loads(body.decode(errors="replace"), parse_constant=lambda text: 1 / 0)
        valid = True
    except (ValueError, ZeroDivisionError):
        valid = False
    found = outcome(lambda: parse(body))
    if not valid:
        assert found == (JsonError, syntax_error(body))
    decoded = outcome(lambda: SCHEMAS.decode(PODS, body, WARN))
    assert decoded.code == 400 if isinstance(decoded, ApiError) else valid


@given(st.recursive(st.lists(st.tuples(st.sampled_from(["a", '":', "é", "b\n"]), st.just(1))), lambda inner: st.lists(
    st.tuples(st.sampled_from(["a", '":', "é"]), inner), max_size=3), max_leaves=6), st.booleans())  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_fields_that_are_given_twice_are_seen(pairs: Any, ascii_only: bool) -> None:
    def text(value: Any) -> str:
        if not isinstance(value, list):
            return json.dumps(value)
        return "{" + ",".join(f"{json.dumps(key, ensure_ascii=ascii_only)}:{text(each)}" for key, each in value) + "}"

    def doubled(value: Any) -> bool:
        if not isinstance(value, list):
            return False
        keys = [key for key, _ in value]
        return len(set(keys)) < len(keys) or any(doubled(each) for _, each in value)

    body = text(pairs).encode()
    again = json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode()
    assert may_have_doubles(body, again) == doubled(pairs)


def a_request(patch: bytes, form: str) -> Request:
    return Request("PATCH", "/", {}, {"content-type": form}, patch)


@given(documents(), st.sampled_from(PATCHES))
@settings(max_examples=100, deadline=None)
def test_a_patch_without_changes_changes_nothing(drawn: tuple[Resource, Any], form: str) -> None:
    resource, document = drawn
    document, _ = SCHEMAS.decode(resource, json.dumps(document).encode(), STRICT)
    patch = b"[]" if "json-patch" in form else b"{}"
    assert patched_with_warnings(SCHEMAS, resource, document, a_request(patch, form), STRICT) == (document, [])


@given(documents(), st.data(), st.sampled_from(PATCHES), st.sampled_from([STRICT, WARN, IGNORE]))
@settings(max_examples=300, deadline=None)
def test_any_patch_is_applied_or_refused(
    drawn: tuple[Resource, Any], data: st.DataObject, form: str, validation: str
) -> None:
    resource, document = drawn
    document, _ = SCHEMAS.decode(resource, json.dumps(document).encode(), STRICT)
    before = json.dumps(document)
    patch = data.draw(patches(resource, form))
    request = a_request(json.dumps(patch).encode(), form)
    found = outcome(lambda: patched_with_warnings(SCHEMAS, resource, document, request, validation))
    assert json.dumps(document) == before
    if isinstance(found, ApiError):
        assert found.code in (400, 422)
    else:
        # what a patch has made can be stored
        assert SCHEMAS.check(resource, found[0], STRICT) == (found[0], [])


POINTERS = st.sampled_from(
    ["", "/", "/metadata", "/metadata/labels/a", "/spec", "/spec/-", "/metadata/finalizers/0", "x"]
)
OPERATIONS = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "no"]),
        "path": POINTERS,
        "from": POINTERS,
        "value": JSON,
        "other": JSON,
    },
)
DIRECTIVES = st.fixed_dictionaries(
    {},
    optional={
        "$patch": st.sampled_from(["delete", "replace", "merge", "no", 1]),
        "$retainKeys": st.just(["metadata", "name"]) | JSON,
        "$setElementOrder/finalizers": st.just(["a"]) | JSON,
        "$setElementOrder/containers": st.just([{"name": "a"}]) | JSON,
        "$deleteFromPrimitiveList/finalizers": st.just(["a"]) | JSON,
        "metadata": st.fixed_dictionaries({}, optional={"$setElementOrder/finalizers": JSON, "finalizers": JSON}),
    },
)


def patches(resource: Resource, form: str) -> st.SearchStrategy[Any]:
    """Return a strategy for patches of a form, good and bad."""
    if "json-patch" in form:
        return st.lists(OPERATIONS | JSON, max_size=4) | JSON
    good = values(SCHEMAS.shape(resource), wild=True)
    if "strategic" in form:
        good = st.tuples(good, DIRECTIVES).map(lambda pair: {**pair[0], **pair[1]} if isinstance(pair[0], dict) else {})
    return good | JSON


@pytest.mark.parametrize("form", PATCHES)
def test_patches_nested_too_deeply(form: str) -> None:
    pod = SCHEMAS.decode(PODS, b'{"metadata":{"name":"p"}}', STRICT)[0]
    for deep in (b'{"spec":' * 150 + b"{}" + b"}" * 150, b'{"spec":' * 5000, b"[" * 100_000 + b"]" * 100_000):
        with pytest.raises(ApiError) as caught:
            patched_with_warnings(SCHEMAS, PODS, pod, a_request(deep, form), STRICT)
        assert caught.value.code in (400, 422)
