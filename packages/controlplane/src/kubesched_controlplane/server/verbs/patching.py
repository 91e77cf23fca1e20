"""Patches: JSON patch, merge patch, strategic merge patch.

From a document and a request's body to the patched document, checked by the schema, and warnings. A patch that cannot
be parsed is a 400; a patched document that does not match the schema is a 422 that shows it.
"""

# upstream: apiserver/pkg/endpoints/handlers/patch.go (v1.36); RFC 6902, RFC 7386

from collections.abc import Callable
from typing import Any

import msgspec

from kubesched.api.field_errors import invalid as invalid_value
from kubesched.api.go_text import to_json
from kubesched.json_patch import OperationError, json_patched
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.media_types import JSON_PATCH, PATCHES, STRATEGIC_MERGE_PATCH
from kubesched_controlplane.api.requests import Request
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request, invalid
from kubesched_controlplane.schema import IGNORE, STRICT, WARN, Schemas, decoder_of, strict_words
from kubesched_controlplane.schema.decoder import Decoded, UnrecognizedError
from kubesched_controlplane.schema.go_words import json_name, printed
from kubesched_controlplane.schema.json_text import JsonError, check_depth, may_have_doubles, parse
from kubesched_controlplane.schema.merging import ListOfListsError, MergeError, strategic_merge
from kubesched_controlplane.schema.shapes import Field, ListType, Scalar, ScalarType, Shape, Type
from kubesched_controlplane.schema.strict_decoder import ShapeError, StrictDecoder

MOST_OPERATIONS = 10_000

_NO_MERGE_PATCH = "Invalid JSON Patch"
_CANNOT, _ANY_MAP = "json: cannot unmarshal", "map[string]interface {}"
_NO_KIND = Resource("", "", "", "")
_TEXT, _ANY = ScalarType(Scalar.STRING, "string"), ScalarType(Scalar.ANY, "interface {}")
_FIELDS = {"op": _TEXT, "path": _TEXT, "from": _TEXT, "value": _ANY}
_OPERATION = Shape("handlers", "jsonPatchOp", {name: Field(name, type_) for name, type_ in _FIELDS.items()})
_OPERATIONS = ListType(_OPERATION, f"[]{_OPERATION.go}")


def patched(schemas: Schemas, resource: Resource, document: Document, request: Request) -> Document:
    """Return a document with the patch of a request applied."""
    return patched_with_warnings(schemas, resource, document, request)[0]


def patched_with_warnings(
    schemas: Schemas, resource: Resource, document: Document, request: Request, validation: str = WARN
) -> Decoded:
    """Return a document with the patch of a request applied, and warnings.

    The document is of the resource's kind, or of the kind in its apiVersion and kind (a Scale).
    """
    encoder = request.headers.get("content-type", "").partition(";")[0].strip()
    if encoder not in PATCHES:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type")
    shape = schemas.for_kind(document.get("apiVersion", ""), document.get("kind", ""))
    decoder = schemas.decoder(resource) if shape is None else decoder_of(shape)
    try:
        if encoder == STRATEGIC_MERGE_PATCH:
            return _by_strategy(shape or schemas.shape(resource), document, request.body, validation)
        by_form = _by_operations if encoder == JSON_PATCH else _by_merge
        made, problems = by_form(document, request.body, strict=validation != IGNORE)
        return _checked(lambda: decoder.decode_patched(made), problems, validation, lambda: to_json(made))
    except RecursionError:
        raise bad_request("error decoding patch: exceeded max depth") from None


# -- the three patch types


def _by_operations(document: Document, body: bytes, *, strict: bool) -> tuple[Any, list[str]]:
    """Return a document with a JSON patch applied, and the patch's strict decoding errors."""
    try:
        operations, problems = _parsed(body, _OPERATIONS if strict else _ANY, strict=strict)
    except (JsonError, ShapeError) as error:
        raise _unreadable(error, strict=strict) from None
    operations = _of_type(operations, list, "jsonpatch.Patch")
    if len(operations) > MOST_OPERATIONS:
        words = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(operations)}"
        raise ApiError(413, "RequestEntityTooLarge", f"Request entity too large: {words}")
    try:
        made = json_patched(document, [_of_type(each, dict, "jsonpatch.Operation") for each in operations])
    except OperationError:
        raise _rejected() from None
    return made, [f"json patch {problem}" for problem in problems]


def _by_merge(document: Document, body: bytes, *, strict: bool) -> tuple[Any, list[str]]:
    """Return a document with a merge patch applied, and the patch's strict decoding errors."""
    try:
        patch, problems = _parsed(body, strict=strict)
    except JsonError as error:
        raise _unreadable(error, strict=True) if strict else bad_request(_NO_MERGE_PATCH) from None
    if strict and not isinstance(patch, dict | None):
        raise _unreadable(f"{_CANNOT} {json_name(patch)} into Go value of type {_ANY_MAP}", strict=True)
    if not isinstance(patch, dict | list):
        raise bad_request(_NO_MERGE_PATCH)
    return merged(document, patch) if isinstance(patch, dict) else _pruned(patch), problems


def merged(document: Any, patch: Any) -> Any:
    """Return a document with a merge patch applied."""
    if not isinstance(document, dict):
        return _pruned(patch)
    if not isinstance(patch, dict):
        return patch
    result = dict(document)
    for field, change in patch.items():
        if change is None:
            result.pop(field, None)
        else:
            result[field] = merged(result.get(field), change)
    return result


def _pruned(value: Any) -> Any:
    """Return a value without its nulls."""
    if isinstance(value, dict):
        return {field: _pruned(each) for field, each in value.items() if each is not None}
    return [_pruned(each) for each in value] if isinstance(value, list) else value


def _by_strategy(shape: Shape, document: Document, body: bytes, validation: str) -> Decoded:
    """Return a document with a strategic merge patch applied, checked by the schema, and warnings."""
    try:
        patch, problems = _parsed(body, strict=validation != IGNORE)
    except JsonError as error:
        raise bad_request(str(error)) from None
    patch = _of_type(patch, dict, _ANY_MAP)
    try:
        made = strategic_merge(shape, document, patch)
    except ListOfListsError:
        raise _rejected() from None
    except MergeError as error:
        # differs (D-119): the reference answers 500 to most patches that cannot be applied, although it is a client
        # error
        raise bad_request(str(error)) from None
    return _checked(lambda: decoder_of(shape).decode_merged(made), problems, validation, lambda: printed(patch))


# -- shared


def _parsed(body: bytes, type_: Type = _ANY, *, strict: bool) -> tuple[Any, list[str]]:
    """Parse a body; return its value and the strict decoding errors. Raises JsonError, ShapeError."""
    check_depth(body)
    if type_ is _ANY:
        try:
            value = msgspec.json.decode(body)
            if not strict or not may_have_doubles(body, msgspec.json.encode(value)):
                return value, []
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
    decoding = StrictDecoder()
    return decoding.decode(type_, parse(body)), decoding.strict_problems()


def _of_type(value: Any, expected: type[Any], go: str) -> Any:
    """Return a value of the expected type, an empty one for null; raises ApiError for other types."""
    if value is None:
        return expected()
    if not isinstance(value, expected):
        raise bad_request(f"{_CANNOT} {json_name(value)} into Go value of type {go}")
    return value


def _checked(read: Callable[[], Decoded], problems: list[str], validation: str, shown: Callable[[], str]) -> Decoded:
    """Return the patched document, decoded, and warnings; raises ApiError if it does not match the schema."""
    try:
        document, further = read()
    except (UnrecognizedError, ShapeError) as error:
        raise _invalid_patch(shown(), str(error)) from None
    problems = problems + further
    if problems and validation == STRICT:
        raise _invalid_patch(shown(), strict_words(problems))
    return document, problems if validation == WARN else []


def _invalid_patch(shown: str, words: str) -> ApiError:
    return invalid(_NO_KIND, "", [invalid_value("patch", shown, words)])


def _unreadable(error: object, *, strict: bool) -> ApiError:
    return bad_request(f"error decoding patch: {error}" if strict else str(error))


def _rejected() -> ApiError:
    """Return the error 422 for a patch that cannot be applied; the reference gives no other reason."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})
