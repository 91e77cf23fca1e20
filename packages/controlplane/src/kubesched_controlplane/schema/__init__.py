"""Shapes of kinds: their fields with types, and how lists merge.

    data (text) ──notation──▶ shapes ──┬──▶ structs: the fast decoder
                                       ├──▶ strict_decoder: the slow one, with Go's messages
                                       └──▶ merging: strategic merge patches

From bodies and patches to documents (dicts and lists) with the fields of their kind only, as Go would store
them: quantities and times in their canonical form, nulls and zeros left out where Go leaves them out.
"""

# upstream: apiserver/pkg/endpoints/handlers/{create,rest}.go (v1.36)

from collections.abc import Mapping
from functools import cache
from typing import Any

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request
from kubesched_controlplane.schema.data import TEXTS
from kubesched_controlplane.schema.decoder import (
    Decoded,
    Decoder,
    ObjectDecoder,
    UnrecognizedError,
    WrongKindError,
    WrongVersionError,
)
from kubesched_controlplane.schema.notation import Library
from kubesched_controlplane.schema.shapes import Shape
from kubesched_controlplane.schema.strict_decoder import ShapeError

Document = dict[str, Any]
STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"

_SHOWN_BYTES = 30


@cache
def library() -> Library:
    """Return all shapes."""
    return Library(TEXTS)


@cache
def decoder_of(shape: Shape) -> Decoder:
    """Return the decoder of a shape."""
    return Decoder(shape, library())


class Schemas:
    """The shapes of all built-in kinds, and the decoders of custom ones."""

    def __init__(self) -> None:
        self._custom: Mapping[tuple[str, str], ObjectDecoder] = {}

    def define(self, decoders: Mapping[tuple[str, str], ObjectDecoder]) -> None:
        """Set the decoders of custom kinds, by apiVersion and kind."""
        self._custom = decoders

    def for_kind(self, api_version: str, kind: str) -> Shape | None:
        """Return the shape of a built-in kind, None if there is no such kind."""
        return library().kind(api_version, kind)

    def decode(self, resource: Resource, body: bytes, validation: str) -> Decoded:
        """Decode a body; return the document without unknown fields, and warnings about them.

        `validation` is Ignore, Warn or Strict; raises ApiError for a body that is not an object of the kind.
        """
        return _decoded(self.decoder(resource), body, validation)

    def check(self, resource: Resource, document: Any, validation: str) -> Decoded:
        """Decode a patched or mutated document; return it without unknown fields, and warnings about them."""
        decoder = self.decoder(resource)
        try:
            found = decoder.decode_patched(document)
        except UnrecognizedError as error:
            raise bad_request(
                f"the object provided is unrecognized (must be of type {decoder.name}): {error}"
            ) from None
        except ShapeError as error:
            raise _unhandled(decoder, error) from None
        return _with_warnings(decoder, found, validation)

    def decoder(self, resource: Resource) -> ObjectDecoder:
        """Return the decoder of a resource's objects."""
        found = self._custom.get((resource.api_version, resource.kind))
        return decoder_of(self.shape(resource)) if found is None else found

    def shape(self, resource: Resource) -> Shape:
        """Return the shape of the objects of a resource."""
        shape = self.for_kind(resource.api_version, resource.kind)
        assert shape is not None, f"the shape of {resource.kind} of {resource.api_version} is not written down"
        return shape


def _decoded(decoder: ObjectDecoder, body: bytes, validation: str) -> Decoded:
    try:
        found = decoder.decode(body, strict=validation != IGNORE)
    except UnrecognizedError as error:
        words = f"the object provided is unrecognized (must be of type {decoder.name}): {error}"
        raise bad_request(f"{words} ({_summary(body)})") from None
    except ShapeError as error:
        raise _unhandled(decoder, error) from None
    return _with_warnings(decoder, found, validation)


def _unhandled(decoder: ObjectDecoder, error: ShapeError) -> ApiError:
    if isinstance(error, WrongVersionError):
        return bad_request(str(error))
    kind, api_version = decoder.name, decoder.api_version
    if isinstance(error, WrongKindError):
        kind, api_version = error.kind, error.api_version
    version = api_version.rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {decoder.name}: {error}')


def _with_warnings(decoder: ObjectDecoder, found: Decoded, validation: str) -> Decoded:
    """Return the decoded document with warnings; raises ApiError for the same problems if validation is strict."""
    document, problems = found
    if validation == STRICT and problems:
        raise _unhandled(decoder, ShapeError(strict_words(problems)))
    return document, problems if validation == WARN else []


def strict_words(problems: list[str]) -> str:
    """Format strict decoding errors as one text."""
    return f"strict decoding error: {', '.join(problems)}"


def _summary(body: bytes) -> str:
    """Return the beginning of a body: as it is if it looks like JSON, else in hexadecimal."""
    if not body:
        return "<empty>"
    start = body[:_SHOWN_BYTES]
    shown = start.decode(errors="replace") if body[:1] == b"{" else start.hex()
    return f"{shown} ..." if len(body) > _SHOWN_BYTES else shown
