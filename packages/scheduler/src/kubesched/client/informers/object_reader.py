"""Objects of a list or watch, decoded one by one: an unreadable object does not affect the rest.

From the JSON text of an object to the object, or to `UnreadableObject`, with its name and UID as far as they can be
read. Each is logged once, and again when the reason changes.
"""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from kubesched.api import tolerant_json
from kubesched.api.codec import decode_json
from kubesched.api.meta import ApiObject
from kubesched.api.sharing import sharing_with_known
from kubesched.errors import InvalidObjectError

T = TypeVar("T", bound=ApiObject)

# at most so many objects are remembered as logged
MOST_NOTED = 1000
# a reason is cut to so many characters
LONGEST_NOTE = 500


class UnreadableObject(msgspec.Struct, frozen=True):
    """An object that cannot be decoded."""

    full_name: str
    uid: str
    resource_version: str


class _Identity(msgspec.Struct, rename="camel"):
    """The metadata that identifies an object; values that are no text count as empty."""

    name: object = None
    namespace: object = None
    uid: object = None
    resource_version: object = None


class _Identified(msgspec.Struct):
    metadata: _Identity = msgspec.field(default_factory=_Identity)


class ObjectReader(Generic[T]):
    """Decodes objects of one kind; `path` is the path of their resource, `known` are their known versions by name."""

    def __init__(self, kind: type[T], path: str, note: Callable[[str], None], known: Mapping[str, T]) -> None:
        # called with kind, name and reason, which is empty once the object can be decoded
        self.tell: Callable[[str, str, str], None] = lambda kind, full_name, why: None
        self._kind = kind
        self._path = path
        self._note = note
        self._share = sharing_with_known(kind)
        self._known = known
        # namespace/name -> the logged reason
        self._noted: dict[str, str] = {}

    def read(self, raw: msgspec.Raw | bytes) -> T | UnreadableObject:
        """Return the object, or `UnreadableObject` with its identity."""
        data = bytes(raw)
        try:
            obj = decode_json(self._kind, data)
            if not obj.metadata.name:
                # its path would be the path of the whole collection
                raise InvalidObjectError(f"{self._kind.__name__} without a name")
            found = self._share(obj, self._known.get(obj.full_name))
        except InvalidObjectError as error:
            unreadable = identify(data)
            self._say(unreadable.full_name, str(error)[:LONGEST_NOTE])
            return unreadable
        if self._noted:
            self.forget(found.full_name)
        return found

    def forget(self, full_name: str) -> None:
        """Report that an object is no longer unreadable: it can be decoded again, or was deleted."""
        if self._noted.pop(full_name, ""):
            self.tell(self._kind.__name__, full_name, "")

    def forget_all(self) -> None:
        """Report that no object is unreadable any more: the kind is not watched."""
        for full_name in list(self._noted):
            self.forget(full_name)

    def _say(self, full_name: str, why: str) -> None:
        if self._noted.get(full_name) == why:
            return
        if len(self._noted) >= MOST_NOTED:
            self._noted.clear()
        self._noted[full_name] = why
        self.tell(self._kind.__name__, full_name, f"it cannot be read: {why}")
        self._note(f"an object of {self._path} cannot be read and is left out: {why}")


def identify(data: bytes) -> UnreadableObject:
    """Return the identity of an object, as far as its metadata can be read."""
    try:
        found = tolerant_json.decode(data, _Identified).metadata
    except InvalidObjectError:
        found = _Identity()
    name, namespace = _text(found.name), _text(found.namespace)
    full_name = f"{namespace}/{name}" if namespace else name
    return UnreadableObject(full_name, _text(found.uid), _text(found.resource_version))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
