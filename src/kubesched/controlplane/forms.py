"""The forms in which objects leave: another version of the kind, or the metadata alone.

From stored bytes to the bytes that are sent. The plain form is what is stored; others are made once for each change.
"""

from collections.abc import Callable

import msgspec

from kubesched.controlplane.conversion import from_storage, needs_conversion
from kubesched.controlplane.resources import Resource
from kubesched.controlplane.store import Document, Stored


class Form(msgspec.Struct, frozen=True):
    """A form by name; `convert` is None for what is stored as it is."""

    name: str
    convert: Callable[[Document], Document] | None = None

    def encode(self, stored: Stored) -> bytes:
        """Return an object in this form."""
        if self.convert is None:
            return stored.body
        return msgspec.json.encode(self.convert(stored.document()))


def form_of(resource: Resource) -> Form:
    """Return the form in which the objects of a resource leave."""
    if not needs_conversion(resource):
        return Form("")
    return Form(resource.api_version, lambda document: from_storage(resource, document))
