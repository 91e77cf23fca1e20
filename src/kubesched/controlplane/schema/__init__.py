"""Shapes of kinds: which fields there are and of which type, and how lists merge."""

from typing import Any

import msgspec

from kubesched.api.merging import strategic_merge
from kubesched.controlplane.resources import Resource
from kubesched.controlplane.statuses import bad_request

Document = dict[str, Any]


class Schemas:
    """The shapes of all kinds that are served."""

    def decode(self, resource: Resource, body: bytes, validation: str) -> tuple[Document, list[str]]:
        """Return the document in a body, without fields that do not exist, and warnings about them.

        `validation` is Ignore, Warn or Strict; refuses a body that is no object of the kind.
        """
        try:
            document = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise bad_request(
                f"the object provided is unrecognized (must be of type {resource.kind}): {error}"
            ) from None
        return self.check(resource, document, validation)

    def check(self, resource: Resource, document: Any, validation: str) -> tuple[Document, list[str]]:
        """Return a document that was put together (patched) without fields that do not exist, and warnings."""
        if not isinstance(document, dict):
            raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind})")
        return document, []

    def merge(self, resource: Resource, document: Document, patch: Document) -> Document:
        """Return a document with a strategic merge patch applied."""
        return strategic_merge(document, patch)
