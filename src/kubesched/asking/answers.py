"""What all answers have in common: frozen dataclasses, their JSON form, references to objects and changes of them.

From values to plain JSON: names of fields in camel case, absent values left out.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """Base of the values that answers are made of."""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain JSON."""
        return {
            _camel(field.name): plain(value)
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) is not None
        }


@dataclass(frozen=True, slots=True)
class ObjectName(Answer):
    """The kind and the name of an object."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        full_name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {full_name}"


@dataclass(frozen=True, slots=True)
class ObjectChange(Answer):
    """A change of one object: a JSON Patch, or the object to create, or its deletion."""

    object: ObjectName
    patch: Sequence[Mapping[str, Any]] | None = None
    create: Mapping[str, Any] | None = None
    delete: bool | None = None


def plain(value: Any) -> Any:
    """Return a value as plain JSON."""
    if isinstance(value, Answer):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, int | float | bool | None):
        return value
    text = str(value)
    # half a surrogate pair cannot be encoded
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
