"""What all answers have in common: frozen dataclasses, their JSON form, references to objects and changes of objects.

From values to plain JSON: names of fields in camel case, absent values left out. Notebooks show an answer as HTML,
and can turn it into a pandas DataFrame.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import msgspec

from kubesched.common.extras import extra_module
from kubesched.errors import KubeschedError

# renderers for notebooks, by class of answer; filled in by `reports`, which this module does not import
HTML_FORMS: dict[type["Answer"], Callable[[Any], str]] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """Base of all answers and of their parts.

    `ROWS` is the field whose values are the rows of the answer's DataFrame; without it the answer is one row.
    """

    ROWS: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain JSON."""
        return {
            camel(field.name): plain(value)
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) is not None
        }

    def to_pandas(self, field: str = "") -> Any:
        """Return a pandas DataFrame with a row for each value of a field: `ROWS`, or another field with several
        values.
        """
        pandas = extra_module("pandas", "pandas", "a DataFrame")
        rows = self._rows(field or self.ROWS)
        # also for an empty field
        return pandas.DataFrame(rows, columns=list(rows[0]) if rows else _columns(type(self), field or self.ROWS))

    def _rows(self, field: str) -> list[dict[str, Any]]:
        names = [each.name for each in dataclasses.fields(self)]
        if field and field not in names:
            raise KubeschedError(f"{type(self).__name__} has no field {field}; it has {', '.join(names)}")
        values = getattr(self, field) if field else (self,)
        if isinstance(values, Mapping):
            return [{"key": str(key), **_row(value)} for key, value in values.items()]
        if not isinstance(values, list | tuple):
            values = () if values is None else (values,)
        return [_row(value) for value in values]

    def _repr_html_(self) -> str | None:
        """Return the HTML form for notebooks; None leaves it to the repr."""
        form = HTML_FORMS.get(type(self))
        return form(self) if form is not None else None


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
    """A change of one object: a JSON Patch, or the object to create, or its deletion.

    `recreate`: the patch changes an immutable field; delete the object and create it again, patched.
    """

    object: ObjectName
    patch: Sequence[Mapping[str, Any]] | None = None
    create: Mapping[str, Any] | None = None
    delete: bool | None = None
    recreate: bool | None = None


def plain(value: Any) -> Any:
    """Return a value as plain JSON."""
    if isinstance(value, Answer):
        return value.to_dict()
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, datetime):
        return msgspec.to_builtins(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, int | float | bool | None):
        return value
    text = str(value)
    # half a surrogate pair cannot be encoded
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _row(value: Any) -> dict[str, Any]:
    """Return a value as a row: its fields under their Python names, nested values as plain JSON."""
    if isinstance(value, msgspec.Struct):
        return {name: plain(each) for name, each in msgspec.structs.asdict(value).items()}
    if not isinstance(value, Answer):
        return {"value": plain(value)}
    return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _columns(kind: type[Answer], field: str) -> list[str]:
    """Return the columns of the DataFrame of a field, by its type."""
    declared = get_type_hints(kind).get(field)
    for part in (declared, *get_args(declared)):
        if isinstance(part, type) and issubclass(part, Answer):
            return [each.name for each in dataclasses.fields(part)]
        if get_origin(part) in (dict, Mapping):
            return ["key", "value"]
    return ["value"]


def camel(name: str) -> str:
    """Return the name of a field in JSON."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
