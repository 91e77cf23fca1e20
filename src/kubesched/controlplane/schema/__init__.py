"""Shapes of kinds: which fields there are and of which type, and how lists merge.

    data (text) ──notation──▶ shapes ──┬──▶ structs: the fast way to read
                                       ├──▶ careful: the slow way, with Go's words
                                       └──▶ merging: strategic merge patches

From bodies and patches to documents (dicts and lists) with the fields of their kind and no others, as Go would have
stored them: quantities and times in their canonical form, nulls and zeros left out where Go leaves them out.
"""

# upstream: apiserver/pkg/endpoints/handlers/{create,rest}.go (v1.36)

from functools import cache
from typing import Any

from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.api.statuses import ApiError, bad_request
from kubesched.controlplane.schema.careful import ShapeError
from kubesched.controlplane.schema.data import TEXTS
from kubesched.controlplane.schema.merging import MergeError, strategic_merge
from kubesched.controlplane.schema.notation import Library
from kubesched.controlplane.schema.reading import (
    Read,
    Reader,
    Reads,
    UnrecognizedError,
    WrongKindError,
    WrongVersionError,
)
from kubesched.controlplane.schema.shapes import Shape

Document = dict[str, Any]
STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"

_SHOWN_BYTES = 30


@cache
def library() -> Library:
    """Return all shapes."""
    return Library(TEXTS)


@cache
def reader_of(shape: Shape) -> Reader:
    """Return the reader of a shape."""
    return Reader(shape, library())


class Schemas:
    """The shapes of all kinds that are served."""

    def for_kind(self, api_version: str, kind: str) -> Shape | None:
        """Return the shape of a kind, None if there is no such kind."""
        return library().kind(api_version, kind)

    def decode(self, resource: Resource, body: bytes, validation: str) -> Read:
        """Return the document in a body, without fields that do not exist, and warnings about them.

        `validation` is Ignore, Warn or Strict; refuses a body that is no object of the kind.
        """
        return _read(self.reader(resource), body, validation)

    def read(self, shape: Shape, body: bytes, validation: str) -> Read:
        """Return the document of a shape in a body, and warnings: for bodies of another kind than their resource."""
        return _read(reader_of(shape), body, validation)

    def check(self, resource: Resource, document: Any, validation: str) -> Read:
        """Return a document that was put together without fields that do not exist, and warnings about them."""
        reader = self.reader(resource)
        try:
            found = reader.read_patched(document)
        except UnrecognizedError as error:
            raise bad_request(f"the object provided is unrecognized (must be of type {reader.name}): {error}") from None
        except ShapeError as error:
            raise _unhandled(reader, error) from None
        return _with_warnings(reader, found, validation)

    def merge(self, resource: Resource, document: Document, patch: Document) -> Document:
        """Return a document with a strategic merge patch applied; what results is not checked."""
        try:
            return strategic_merge(self.shape(resource), document, patch)
        except MergeError as error:
            # differs (a strategic merge patch that cannot be applied): Go answers 500 to most patches that cannot be
            # applied, though it is the client who is wrong
            raise bad_request(str(error)) from None

    def reader(self, resource: Resource) -> Reads:
        """Return what reads the objects of a resource."""
        return reader_of(self.shape(resource)) if resource.custom is None else resource.custom.reader

    def shape(self, resource: Resource) -> Shape:
        """Return the shape of the objects of a resource."""
        shape = self.for_kind(resource.api_version, resource.kind)
        assert shape is not None, f"the shape of {resource.kind} of {resource.api_version} is not written down"
        return shape


def _read(reader: Reads, body: bytes, validation: str) -> Read:
    try:
        found = reader.read(body, strict=validation != IGNORE)
    except UnrecognizedError as error:
        words = f"the object provided is unrecognized (must be of type {reader.name}): {error}"
        raise bad_request(f"{words} ({_summary(body)})") from None
    except ShapeError as error:
        raise _unhandled(reader, error) from None
    return _with_warnings(reader, found, validation)


def _unhandled(reader: Reads, error: ShapeError) -> ApiError:
    if isinstance(error, WrongVersionError):
        return bad_request(str(error))
    kind, api_version = reader.name, reader.api_version
    if isinstance(error, WrongKindError):
        kind, api_version = error.kind, error.api_version
    version = api_version.rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {reader.name}: {error}')


def _with_warnings(reader: Reads, found: Read, validation: str) -> Read:
    """Return what was read with what is to be said of it; refuses it if there is something and validation is strict."""
    document, problems = found
    if validation == STRICT and problems:
        raise _unhandled(reader, ShapeError(strict_words(problems)))
    return document, problems if validation == WARN else []


def strict_words(problems: list[str]) -> str:
    """Return all that a strict reader minds as one text."""
    return f"strict decoding error: {', '.join(problems)}"


def _summary(body: bytes) -> str:
    """Return the beginning of a body: as it is if it looks like JSON, else in hexadecimal."""
    if not body:
        return "<empty>"
    start = body[:_SHOWN_BYTES]
    shown = start.decode(errors="replace") if body[:1] == b"{" else start.hex()
    return f"{shown} ..." if len(body) > _SHOWN_BYTES else shown
