"""Lines of a recording as bytes, with names or with codes in their place.

From the fields of a line to JSON. Anonymised lines have codes for names, namespaces, values of labels, images and UIDs,
by a key that is never stored.
"""

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kubesched.api.codec import encode, to_builtins
from kubesched.api.meta import ApiObject
from kubesched_answers.sources.anonymising import Anonymiser
from kubesched_answers.sources.anonymous_codes import Codes

# limit of cached codes; further ones are computed again
MOST_CODES = 200_000


class LineEncoder:
    """Encodes lines, by an anonymiser if there is one."""

    def __init__(self, anonymiser: Anonymiser | None = None) -> None:
        self._anonymiser = anonymiser

    @property
    def anonymises(self) -> bool:
        """Return whether names are codes."""
        return self._anonymiser is not None

    def learn(self, objects: Iterable[ApiObject]) -> bool:
        """Register objects before they are encoded; return whether this changed the codes of other objects."""
        if self._anonymiser is None:
            return False
        changed = [self._anonymiser.learn([to_builtins(obj)]) for obj in objects]
        return any(changed)

    def encode(self, line: Mapping[str, Any]) -> bytes:
        """Return a line."""
        return msgspec.json.encode({name: self._value(name, value) for name, value in line.items()}) + b"\n"

    def _value(self, name: str, value: Any) -> Any:
        anonymiser = self._anonymiser
        if isinstance(value, ApiObject):
            return msgspec.Raw(encode(value)) if anonymiser is None else anonymiser.document(to_builtins(value))
        if anonymiser is None or not isinstance(value, str):
            return value
        if name == "delete":
            kind, _, full_name = value.partition("/")
            return f"{kind}/{anonymiser.full_name(full_name)}"
        return anonymiser.full_name(value)


PLAIN = LineEncoder()


def anonymising_encoder(key: bytes | None = None) -> LineEncoder:
    """Return an encoder with codes by a key; without one it is random."""
    return LineEncoder(Anonymiser(Codes(key or secrets.token_bytes(32), MOST_CODES)))
