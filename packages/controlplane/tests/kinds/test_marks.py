"""Marks of shapes: what each one refuses, and that marks, rules and formats fit together."""

from typing import Any

import pytest

from kubesched.api.field_errors import required
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.data import TEXTS
from kubesched_controlplane.schema.notation import Library
from kubesched_controlplane.schema.shapes import Shape
from kubesched_controlplane.server.catalog import STRATEGIES

Document = dict[str, Any]
TYPES = """
Thing kind: spec=2 ThingSpec, status=3 ThingStatus
ThingSpec: name=1! string nonempty(a thing has a name) format(label) immutable, count=2 int32 default(3) range(1 5)
    mode=3 *string default(Fast) enum(Fast|Slow), parts=4 []Part nonempty, tags=5 []string unique
        wildcard(tags)
    ready=6 *bool default(true), part=7 *Part
Part: size=1 int32 min(0) max(9 must be less than 10), owner=2 *string format(subdomain)
ThingStatus: ready=1 int32 min(0)
"""
_FOUND = Library((*TEXTS, ("example.com/v1", TYPES))).kind("example.com/v1", "Thing")
assert _FOUND is not None
THING: Shape = _FOUND
SPEC = {"name": "a", "count": 1, "mode": "Fast", "parts": [{"size": 1}]}

PROBLEMS: list[tuple[Document, list[str]]] = [
    ({}, []),
    ({"name": ""}, ["spec.name: Required value: a thing has a name"]),
    ({"name": "a.b"}, ['spec.name: Invalid value: "a.b": must not contain dots']),
    ({"count": 6}, ["spec.count: Invalid value: 6: must be between 1 and 5, inclusive"]),
    ({"mode": None}, []),
    ({"mode": ""}, ['spec.mode: Unsupported value: "": supported values: "Fast", "Slow"']),
    ({"parts": []}, ["spec.parts: Required value"]),
    ({"parts": [{"size": -1}]}, ["spec.parts[0].size: Invalid value: -1: must be greater than or equal to 0"]),
    ({"part": {"size": 10}}, ["spec.part.size: Invalid value: 10: must be less than 10"]),
    ({"tags": ["a", "a"]}, ['spec.tags[1]: Duplicate value: "a"']),
    ({"tags": ["a", "*"]}, ['spec.tags: Invalid value: ["a","*"]: if \'*\' is present, must not specify other tags']),
]


@pytest.mark.parametrize(("change", "expected"), PROBLEMS)
def test_the_problems_of_fields(change: Document, expected: list[str]) -> None:
    document = {"spec": {**SPEC, **change}, "status": {"ready": -1}}
    assert Marks().problems("", THING, document) == expected


def test_a_status_is_validated_separately() -> None:
    problems = Marks().status_problems(THING, {"status": {"ready": -1}})
    assert problems == ["status.ready: Invalid value: -1: must be greater than or equal to 0"]


def test_missing_fields_get_their_defaults() -> None:
    document: Document = {"spec": {"ready": False}}
    Marks().fill_in(THING, document)
    assert document == {"spec": {"ready": False, "count": 3, "mode": "Fast"}}


def test_an_immutable_field_may_not_change() -> None:
    changes = Marks().change_problems("", THING, {"spec": {**SPEC, "name": "b", "count": 2}}, {"spec": SPEC})
    assert changes == ['spec.name: Invalid value: "b": field is immutable']


def test_a_rule_sets_the_order_and_adds_problems() -> None:
    marks = Marks()

    @marks.rule("ThingSpec")
    def _spec_problems(path: str, spec: Document, fields: Fields) -> list[str]:
        return [*fields("count", "name"), required(path, "more"), *fields.item("parts", 1)]

    document = {"spec": {**SPEC, "name": "", "count": 0, "parts": [{"size": -1}, {"size": -2}]}}
    paths = [problem.split(":")[0] for problem in marks.problems("", THING, document)]
    assert paths == ["spec.count", "spec.name", "spec", "spec.parts[1].size"]


def test_rules_and_formats_exist() -> None:
    shapes = library().shapes()
    types = {shape.name for shape in shapes}
    all_marks = [each.marks for each in STRATEGIES.values() if isinstance(each, KindStrategy)]
    assert {name for marks in all_marks for name in marks.rules} <= types
    named = {mark.argument for shape in shapes for mark in _marks_of(shape) if mark.name == "format"}
    assert named <= {name for marks in all_marks for name in marks.formats}


def _marks_of(shape: Shape) -> list[Any]:
    return [mark for field in shape.fields.values() for mark in field.marks]
