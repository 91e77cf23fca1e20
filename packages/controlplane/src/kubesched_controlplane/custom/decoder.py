"""Decoding of custom resources: JSON in, a document with its metadata and the fields of its schema out.

From a body or a patched document to a document and the strict decoding errors. Metadata is decoded as that of built-in
kinds; other fields are pruned and defaulted by the schema, and validated later.
"""

# upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go (unstructuredSchemaCoercer),
# pkg/apiserver/schema/objectmeta/{algorithm,coerce}.go, apimachinery/pkg/apis/meta/v1/unstructured (v1.36)

from functools import cache
from typing import Any

import msgspec

from kubesched.api.field_errors import as_json, child, index, invalid
from kubesched.api.go_text import quote, to_json
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import invalid as refused
from kubesched_controlplane.custom.structure import Schema, below, drop_nulls, fill_in, items_of, prune
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.decoder import KIND_ALONE, Decoded, UnrecognizedError, WrongVersionError
from kubesched_controlplane.schema.go_words import json_name
from kubesched_controlplane.schema.json_text import JsonError, Twice, check_depth, may_have_doubles, parse
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED
from kubesched_controlplane.schema.shapes import Shape
from kubesched_controlplane.schema.strict_decoder import ShapeError, StrictDecoder
from kubesched_controlplane.schema.structs import read_scalar, struct_of

_LARGEST = 2**63


class CustomDecoder:
    """Decodes documents of one version of a custom kind."""

    def __init__(self, api_version: str, kind: str, schema: Schema) -> None:
        self.api_version = api_version
        self.name = kind
        self._schema = schema

    def decode(self, body: bytes, *, strict: bool = True) -> Decoded:
        """Decode a body; return the document and the strict decoding errors. Raises UnrecognizedError, ShapeError."""
        try:
            check_depth(body)
            value = _quickly(body, strict=strict)
        except JsonError as error:
            raise UnrecognizedError(f"couldn't get version/kind; json parse error: {error}") from None
        doubles: list[str] = []
        return self._decoded(_plain(value, "", doubles), body.decode(errors="replace"), doubles)

    def decode_patched(self, document: Any) -> Decoded:
        """Decode a patched document like a body; raises UnrecognizedError, ShapeError."""
        return self._decoded(document, to_json(document), [])

    def _decoded(self, value: Any, text: str, problems: list[str]) -> Decoded:
        document = self._checked(value, text)
        unknown: list[str] = []
        document["metadata"] = _metadata(document.get("metadata"), "", unknown)
        _coerce(document, self._schema, "", unknown)
        unknown += prune(document, self._schema, resource=True)
        problems = problems + [f'unknown field "{path}"' for path in unknown]
        complete(document, self._schema)
        return document, problems

    def _checked(self, value: Any, text: str) -> Document:
        """Return the document with its kind and apiVersion first; raises if they belong to another kind."""
        start = "couldn't get version/kind; json parse error: json: cannot unmarshal"
        if not isinstance(value, dict | None):
            raise UnrecognizedError(f"{start} {json_name(value)} into Go value of type {KIND_ALONE}")
        document: Document = value or {}
        for field in ("kind", "apiVersion"):
            if not isinstance(document.get(field), str | None):
                found = json_name(document[field])
                raise UnrecognizedError(f"{start} {found} into Go struct field .{field} of type string")
        kind, version = document.get("kind") or "", document.get("apiVersion") or ""
        if not kind:
            raise UnrecognizedError(f"Object 'Kind' is missing in '{text}'")
        if version != self.api_version:
            words = f"does not match the expected API version ({self.api_version})"
            raise WrongVersionError(f"the API version in the data ({version}) {words}")
        if kind != self.name:
            group = self.api_version.rpartition("/")[0]
            meta = document.get("metadata")
            name = meta.get("name") if isinstance(meta, dict) else ""
            other = Resource(group, "", "", kind)
            raise refused(other, str(name or ""), [invalid("kind", kind, f"must be {self.name}")])
        return {"kind": kind, "apiVersion": version, **document}


def complete(document: Document, schema: Schema) -> None:
    """Set the defaults of the schema in a document, and drop nulls of fields that are not nullable."""
    meta = document["metadata"]
    drop_nulls(document, schema)
    fill_in(document, schema)
    # defaults of a resource's own metadata are not allowed
    document["metadata"] = meta


def _quickly(body: bytes, *, strict: bool) -> Any:
    """Parse a body; with `strict`, objects with duplicate fields keep their duplicates."""
    try:
        value = msgspec.json.decode(body)
        if not strict or not may_have_doubles(body, msgspec.json.encode(value)):
            return value
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    return parse(body)


def _plain(value: Any, path: str, doubles: list[str]) -> Any:
    """Return a value as plain dicts and lists, with numbers as Go decodes them; add duplicate fields to `doubles`."""
    if isinstance(value, dict):
        if isinstance(value, Twice):
            seen: set[str] = set()
            for name, _ in value.pairs:
                if name in seen:
                    doubles.append(f"duplicate field {quote(f'{path}.{name}' if path else name)}")
                seen.add(name)
        return {name: _plain(each, f"{path}.{name}" if path else name, doubles) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, f"{path}[{number}]", doubles) for number, each in enumerate(value)]
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -_LARGEST <= value < _LARGEST:
        return float(value)
    return value


# -- metadata


@cache
def _object_meta() -> Shape:
    found = library().named("meta.k8s.io/v1", "ObjectMeta")
    assert isinstance(found, Shape)
    return found


def _metadata(value: Any, path: str, unknown: list[str]) -> Document:
    """Decode ObjectMeta; add the paths of unknown fields to `unknown`. Raises ShapeError."""
    if value is None:
        return {}
    decoding = StrictDecoder()
    if not isinstance(value, dict):
        raise ShapeError(f"json: cannot unmarshal {json_name(value)} into Go value of type v1.ObjectMeta")
    found = msgspec.convert(decoding.decode(_object_meta(), value), struct_of(_object_meta()), dec_hook=read_scalar)
    known = _object_meta().fields
    unknown += [f"{path}metadata.{name}" for name in value if name not in known]
    document: Document = msgspec.to_builtins(found)
    return document


def _coerce(value: Any, schema: Schema | None, path: str, unknown: list[str]) -> None:
    """Decode the metadata of embedded resources in a value; raises ShapeError."""
    if schema is None:
        return
    if isinstance(value, list):
        for number, each in enumerate(value):
            _coerce(each, items_of(schema), index(path, number), unknown)
    elif isinstance(value, dict):
        for name in list(value):
            if schema.get(EMBEDDED) and path:
                _coerce_meta_field(value, name, path, unknown)
            _coerce(value[name], below(schema, name)[1], child(path, name), unknown)


def _coerce_meta_field(value: Document, name: str, path: str, unknown: list[str]) -> None:
    if name in ("apiVersion", "kind") and not isinstance(value[name], str):
        raise ShapeError(invalid(child(path, name), as_json(value[name]), "must be a string"))
    if name == "metadata":
        try:
            value[name] = _metadata(value[name], f"{path}.", unknown)
        except ShapeError as error:
            raise ShapeError(invalid(child(path, name), as_json(value[name]), str(error))) from None
