"""Validation and defaults by the marks of shapes (`schema.notation`), with functions for rules across fields.

From a document and its shape to problems, in the order of Go's fields. A kind's module has one `Marks`:

    MARKS = Marks()

    @MARKS.rule("NetworkPolicyPeer")
    def _peer_problems(path: str, peer: Document, fields: Fields) -> list[str]:
        return fields() + ([] if peer else [required(path, "must specify a peer")])

`fields()` are the problems of all fields of the object, `fields("cidr", "except")` those of these two in this order; a
name that the type lacks has no problems. Without a function a type has the problems of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kubesched.api.field_errors import as_json, child, duplicate, index, invalid, required
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds import checks
from kubesched_controlplane.kinds.addresses import network_problems
from kubesched_controlplane.kinds.checks import TextProblems
from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Scalar, ScalarType, Shape, Type


class Fields:
    """The problems of the fields of an object."""

    def __init__(self, marks: Marks, path: str, shape: Shape, document: Document) -> None:
        self._marks = marks
        self._path = path
        self._shape = shape
        self._document = document

    def __call__(self, *names: str) -> list[str]:
        """Return the problems of these fields in this order, or of all."""
        known = self._shape.fields
        found = [known[name] for name in names if name in known] if names else self._marks.marked(self._shape)
        return [
            problem
            for field in found
            for problem in self._marks.field_problems(self._path, field, self._document.get(field.name))
        ]

    def item(self, name: str, number: int) -> list[str]:
        """Return the problems of one object in a list."""
        here, inner = index(child(self._path, name), number), inner_type(self._shape.fields[name].type)
        return self._marks.object_problems(here, inner, self._document[name][number])


Rule = Callable[[str, Document, Fields], list[str]]
Format = Callable[[str, Any], list[str]]
_Check = Callable[[str, Any, str], list[str]]


def _text(problems: TextProblems) -> Callable[[str, str], list[str]]:
    return lambda path, text: checks.text_problems(path, text, problems)


_FORMATS: dict[str, Format] = {
    "label": _text(checks.dns_label_problems),
    "subdomain": _text(subdomain_problems),
    "segment": _text(checks.path_segment_problems),
    "labelkey": _text(label_key_problems),
    "driver": checks.driver_problems,
    "network": network_problems,
    "selector": checks.label_selector_problems,
    "domainpath": checks.domain_path_problems,
    "given": lambda path, text: [] if text else [required(path)],
}


def _each(check: _Check) -> _Check:
    """Return the check of a value or, for a list, of its items."""

    def checked(path: str, value: Any, argument: str) -> list[str]:
        if not isinstance(value, list):
            return check(path, value, argument)
        return [problem for number, each in enumerate(value) for problem in check(index(path, number), each, argument)]

    return checked


def _bound(path: str, value: int, argument: str, *, below: bool) -> list[str]:
    number, _, why = argument.partition(" ")
    words = why or f"must be {'greater' if below else 'less'} than or equal to {number}"
    wrong = value < int(number) if below else value > int(number)
    return [invalid(path, value, words)] if wrong else []


def _range(path: str, value: int, argument: str) -> list[str]:
    low, high, *why = argument.split(" ", 2)
    words = why[0] if why else f"must be between {low} and {high}, inclusive"
    return [] if int(low) <= value <= int(high) else [invalid(path, value, words)]


def _repeated(path: str, values: Sequence[str]) -> list[str]:
    return [duplicate(index(path, number), each) for number, each in enumerate(values) if each in values[:number]]


def wildcard_problems(path: str, values: Sequence[str], what: str) -> list[str]:
    """Return the problem of a wildcard among other values."""
    if len(values) > 1 and "*" in values:
        return [invalid(path, as_json(values), f"if '*' is present, must not specify other {what}")]
    return []


_CHECKS: dict[str, _Check] = {
    "enum": _each(
        lambda path, value, argument: checks.one_of(path, value, [each.strip() for each in argument.split("|")])
    ),
    "length": lambda path, value, most: [checks.too_long(path, int(most))] if len(value.encode()) > int(most) else [],
    "min": lambda path, value, argument: _bound(path, value, argument, below=True),
    "max": lambda path, value, argument: _bound(path, value, argument, below=False),
    "range": _range,
    "wildcard": wildcard_problems,
    "conditions": lambda path, value, argument: checks.conditions_problems(path, value),
    "unique": lambda path, value, argument: _repeated(path, value),
}


class Marks:
    """The marks of the types of a few kinds, with rules across fields by type; `base` has more rules."""

    def __init__(self, base: Marks | None = None) -> None:
        self.rules: dict[str, Rule] = dict(base.rules) if base else {}
        self.formats: dict[str, Format] = dict(base.formats if base else _FORMATS)
        self._checks = {**_CHECKS, "format": _each(lambda path, value, name: self.formats[name](path, value))}
        self._visited: dict[tuple[Shape, str], tuple[Field, ...]] = {}

    def rule(self, *names: str) -> Callable[[Rule], Rule]:
        """Return a decorator of functions that validate the objects of these types."""

        def register(function: Rule) -> Rule:
            self.rules.update(dict.fromkeys(names, function))
            return function

        return register

    def format(self, name: str) -> Callable[[Format], Format]:
        """Return a decorator of functions that validate values of a format."""

        def register(function: Format) -> Format:
            self.formats[name] = function
            return function

        return register

    def problems(self, path: str, shape: Shape, document: Document) -> list[str]:
        """Return the problems of an object. Those of a kind are without its status."""
        fields = Fields(self, path, shape, document)
        rule = self.rules.get(shape.name)
        return fields() if rule is None else rule(path, document, fields)

    def status_problems(self, shape: Shape, document: Document) -> list[str]:
        """Return the problems of the status of an object."""
        field = shape.fields.get("status")
        return [] if field is None else self.field_problems("", field, document.get("status"))

    def change_problems(self, path: str, shape: Shape, new: Document, old: Document) -> list[str]:
        """Return the problems of immutable fields that change."""
        problems = []
        for field in self.marked(shape, "immutable"):
            here, now, then = child(path, field.name), new.get(field.name), old.get(field.name)
            if _has(field, "immutable"):
                if isinstance(field.type, ScalarType) and not field.pointer:
                    now, then = now or _zero(field.type), then or _zero(field.type)
                problems += checks.immutable(here, now, then)
            elif isinstance(field.type, Shape):
                problems += self.change_problems(here, field.type, now or {}, then or {})
        return problems

    def fill_in(self, shape: Shape, document: Document) -> None:
        """Set the defaults of missing fields."""
        for field in self.marked(shape, "default"):
            value = document.get(field.name)
            if isinstance(field.type, Shape):
                is_made = not field.pointer or _has(field, "default")
                inner = {} if value is None and is_made else value
                if inner is not None:
                    self.fill_in(field.type, inner)
                    if inner or field.pointer:
                        document[field.name] = inner
            elif isinstance(field.type, ListType) and isinstance(field.type.element, Shape):
                for each in value or ():
                    self.fill_in(field.type.element, each)
            elif value is None or (not value and not field.pointer):
                for mark in field.marks:
                    if mark.name == "default":
                        document[field.name] = _parsed(mark.argument, field.type)

    def marked(self, shape: Shape, name: str = "") -> tuple[Field, ...]:
        """Return the fields with this mark, or types with such fields; without a name, with any mark or rule."""
        key = (shape, name)
        if key not in self._visited:
            # a type that contains itself is visited
            self._visited[key] = tuple(shape.fields.values())
            left_out = ("metadata", "status") if shape.is_kind else ()
            self._visited[key] = tuple(
                field
                for field in shape.fields.values()
                if field.name not in left_out and (_has(field, name) or self._is_marked(field.type, name))
            )
        return self._visited[key]

    def _is_marked(self, type_: Type, name: str = "") -> bool:
        inner = inner_type(type_)
        if not isinstance(inner, Shape):
            return False
        return (not name and inner.name in self.rules) or bool(self.marked(inner, name))

    def field_problems(self, path: str, field: Field, value: Any) -> list[str]:
        """Return the problems of the value of a field, None if it is missing."""
        here = child(path, field.name)
        if value is None and not field.pointer:
            value = _zero(field.type)
        for mark in field.marks:
            if mark.name == "nonempty" and (value is None if field.pointer else not value):
                return [required(here, mark.argument)]
        if value is None:
            return []
        most, key = _argument(field, "most"), _argument(field, "distinct")
        if most is not None and len(value) > int(most):
            return [checks.too_many(here, len(value), int(most))]
        problems = []
        for mark in field.marks:
            if mark.name in self._checks and (value or field.pointer or mark.name != "format"):
                problems += self._checks[mark.name](here, value, mark.argument)
        problems += self.object_problems(here, field.type, value)
        return problems if key is None else problems + _repeated(here, [each.get(key) or "" for each in value])

    def object_problems(self, path: str, type_: Type, value: Any) -> list[str]:
        """Return the problems of an object, or of the objects in a list or map."""
        if isinstance(type_, Shape):
            return self.problems(path, type_, value) if self._is_marked(type_) else []
        inner = inner_type(type_)
        if not isinstance(inner, Shape) or not self._is_marked(inner):
            return []
        items: Iterable[tuple[Any, Any]] = value.items() if isinstance(type_, MapType) else enumerate(value)
        return [problem for key, each in items for problem in self.problems(index(path, key), inner, each)]


def inner_type(type_: Type) -> Type:
    """Return the type of what is in a list or map, and any other type as it is."""
    while isinstance(type_, ListType | MapType):
        type_ = type_.element if isinstance(type_, ListType) else type_.value
    return type_


def _has(field: Field, name: str) -> bool:
    return any(name in ("", mark.name) for mark in field.marks)


def _argument(field: Field, name: str) -> str | None:
    return next((mark.argument for mark in field.marks if mark.name == name), None)


def _zero(type_: Type) -> Any:
    """Return the value of a missing field in Go."""
    if not isinstance(type_, ScalarType):
        return [] if isinstance(type_, ListType) else {}
    if type_.scalar is Scalar.BOOL:
        return False
    return 0 if type_.scalar in (Scalar.INT32, Scalar.INT64) else ""


def _parsed(text: str, type_: Type) -> Any:
    """Return a default as a value of its type."""
    zero = _zero(type_)
    return text == "true" if zero is False else int(text) if zero == 0 else text
