"""The decoder of documents of one shape: fast, and strict when that fails.

From a body or a patched document to the document as Go would store it, and the strict decoding errors (unknown and
duplicate fields).
"""

# upstream: apimachinery/pkg/runtime/serializer/json/{json,meta}.go (v1.36)

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from kubesched.api.go_text import quote
from kubesched_controlplane.schema.go_words import json_name
from kubesched_controlplane.schema.json_text import JsonError, check_depth, may_have_doubles, parse
from kubesched_controlplane.schema.notation import META, Library
from kubesched_controlplane.schema.shapes import Shape
from kubesched_controlplane.schema.strict_decoder import ConverterDecoder, ShapeError, StrictDecoder
from kubesched_controlplane.schema.structs import read_scalar, struct_of

Document = dict[str, Any]
Decoded = tuple[Document, list[str]]

_SCHEME = "pkg/api/legacyscheme/scheme.go:30"
# Go's name of the struct into which it first decodes a body
KIND_ALONE = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'


class UnrecognizedError(ValueError):
    """A body without apiVersion and kind, or without JSON."""


class WrongKindError(ShapeError):
    """A document of another kind."""

    def __init__(self, words: str, kind: str, api_version: str) -> None:
        super().__init__(words)
        self.kind = kind
        self.api_version = api_version


class WrongVersionError(ShapeError):
    """A document of another version of the kind."""


class ObjectDecoder(Protocol):
    """Decodes documents of one kind."""

    @property
    def name(self) -> str:
        """Return the kind."""

    @property
    def api_version(self) -> str:
        """Return the apiVersion of the kind."""

    def decode(self, body: bytes, *, strict: bool = True) -> Decoded:
        """Decode a body; return the document and the strict decoding errors. Raises UnrecognizedError, ShapeError."""

    def decode_patched(self, document: Any) -> Decoded:
        """Decode a patched document like a body; raises UnrecognizedError, ShapeError."""


class Decoder:
    """Decodes documents of one shape; sets apiVersion and kind in documents of a kind."""

    def __init__(self, shape: Shape, library: Library) -> None:
        self.shape = shape
        self._library = library
        self._struct: Any = struct_of(shape)
        self._decode = msgspec.json.Decoder(self._struct, dec_hook=read_scalar).decode

    @property
    def name(self) -> str:
        """Return the kind."""
        return self.shape.name

    @property
    def api_version(self) -> str:
        """Return the apiVersion of the kind."""
        return self.shape.api_version

    def decode(self, body: bytes, *, strict: bool = True) -> Decoded:
        """Decode a body; return the document and the strict decoding errors. Raises UnrecognizedError, ShapeError."""
        try:
            check_depth(body)
            found = self._decode(body)
            if not strict or not may_have_doubles(body, msgspec.json.encode(msgspec.json.decode(body))):
                return self._written(found), []
        except (msgspec.MsgspecError, UnicodeDecodeError, JsonError):
            pass
        try:
            check_depth(body)
            document = parse(body)
        except JsonError as error:
            raise UnrecognizedError(f"couldn't get version/kind; json parse error: {error}") from None
        # Go reads null as an object without fields
        return self._decode_strictly({} if document is None else document, StrictDecoder())

    def decode_patched(self, document: Any) -> Decoded:
        """Decode a patched document like a body; raises UnrecognizedError, ShapeError."""
        return self._converted(document, StrictDecoder())

    def decode_merged(self, document: Document) -> Decoded:
        """Decode the result of a strategic merge patch with any apiVersion and kind; raises ShapeError."""
        return self._converted(document, ConverterDecoder())

    def _converted(self, document: Any, decoding: StrictDecoder) -> Decoded:
        try:
            found = msgspec.convert(document, self._struct, dec_hook=read_scalar)
        except msgspec.ValidationError:
            return self._decode_strictly(document, decoding)
        return self._written(found, checked=isinstance(decoding, ConverterDecoder)), []

    def _decode_strictly(self, document: Any, decoding: StrictDecoder) -> Decoded:
        converting = isinstance(decoding, ConverterDecoder)
        if not converting:
            self._check_kind(*_interpreted(document))
        try:
            found = msgspec.convert(decoding.decode(self.shape, document), self._struct, dec_hook=read_scalar)
        except msgspec.ValidationError as error:
            raise ShapeError(str(error)) from None
        return self._written(found, checked=converting), decoding.strict_problems()

    def _check_kind(self, kind: str, api_version: str) -> None:
        shape = self.shape
        kind, api_version = kind or shape.name, api_version or shape.api_version
        if kind == shape.name and api_version in (shape.api_version, f"/{shape.api_version}"):
            return
        # types of meta.k8s.io are registered in every group
        if kind == shape.name and shape.api_version == META:
            return
        if api_version.count("/") > 1:
            raise UnrecognizedError(f"unexpected GroupVersion string: {api_version}")
        found = self._library.kind(api_version, kind.removesuffix("List")) or self._library.kind(META, kind)
        if found is None:
            words = f"no kind {quote(kind)} is registered for version {quote(api_version)} in scheme {quote(_SCHEME)}"
            raise WrongKindError(words, kind, api_version)
        package, inside = api_version.rpartition("/")[2], _internal_package(shape)
        if kind == shape.name and _internal_package(found) == inside:
            words = f"does not match the expected API version ({shape.api_version})"
            raise WrongVersionError(f"the API version in the data ({api_version}) {words}")
        words = f"converting ({package}.{kind}) to ({inside}.{shape.name}): unknown conversion"
        raise WrongKindError(words, kind, api_version)

    def _written(self, found: Any, *, checked: bool = False) -> Document:
        """Return the decoded struct as a document, as Go would encode it."""
        if self.shape.is_kind:
            if not checked:
                self._check_kind(found.kind, found.apiVersion)
            found.kind, found.apiVersion = self.shape.name, self.shape.api_version
        document: Document = msgspec.to_builtins(found)
        return document


def _internal_package(shape: Shape) -> str:
    """Return the Go package of the internal version of a type."""
    group = shape.api_version.rpartition("/")[0].partition(".")[0]
    return group if group not in ("", "events") else "core"


def _interpreted(document: Any) -> tuple[str, str]:
    """Return kind and apiVersion of a document; raises UnrecognizedError."""
    start = "couldn't get version/kind; json parse error: json: cannot unmarshal"
    if not isinstance(document, Mapping):
        raise UnrecognizedError(f"{start} {json_name(document)} into Go value of type {KIND_ALONE}")
    found = []
    for field in ("kind", "apiVersion"):
        # only this first decoding of Go ignores the case of field names
        alike = [name for name in document if name.lower() == field.lower()]
        value = document.get(field if field in document or not alike else alike[0])
        if not isinstance(value, str | None):
            raise UnrecognizedError(f"{start} {json_name(value)} into Go struct field .{field} of type string")
        found.append(value or "")
    kind, api_version = found
    return kind, api_version
