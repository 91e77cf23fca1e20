"""What answers have in common: plain JSON, DataFrames, notebooks."""

import dataclasses
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, ClassVar

import pytest

from kubesched.errors import KubeschedError
from kubesched.reports.answers import Answer, ObjectChange, ObjectName
from kubesched.testing import a_node, a_pod
from kubesched_answers.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Part(Answer):
    """A part."""

    a_name: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole(Answer):
    """An answer with parts."""

    ROWS: ClassVar[str] = "parts"

    parts: tuple[Part, ...]
    others: tuple[str, ...] = ()
    taken_at: datetime | None = None
    scores: dict[str, int] | None = None
    first: Part | None = None


WHOLE = Whole((Part("a", ("x",)), Part("b")), ("one",), datetime(2026, 1, 2, tzinfo=UTC), {"n1": 3}, Part("c"))


@pytest.fixture
def data_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a pandas into place whose DataFrames are lists of rows."""
    pandas = ModuleType("pandas")
    pandas.DataFrame = lambda rows, columns: rows  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", pandas)


def test_plain_json_has_fields_in_camel_case_without_absent_values() -> None:
    plain = WHOLE.to_dict()
    assert plain == {
        "parts": [{"aName": "a", "tags": ["x"]}, {"aName": "b", "tags": []}],
        "others": ["one"],
        "takenAt": "2026-01-02T00:00:00Z",
        "scores": {"n1": 3},
        "first": {"aName": "c", "tags": []},
    }
    assert json.loads(json.dumps(plain)) == plain
    assert Whole(()).to_dict() == {"parts": [], "others": []}


def test_a_change_of_an_object_is_a_patch_a_creation_or_a_deletion() -> None:
    name = ObjectName("v1", "Node", "", "n1")
    assert str(name) == "Node n1"
    assert ObjectChange(name, delete=True).to_dict() == {
        "object": {"apiVersion": "v1", "kind": "Node", "namespace": "", "name": "n1"},
        "delete": True,
    }


@pytest.mark.parametrize(
    ("answer", "field", "rows"),
    [
        (WHOLE, "", [{"a_name": "a", "tags": ["x"]}, {"a_name": "b", "tags": []}]),
        (WHOLE, "others", [{"value": "one"}]),
        (WHOLE, "scores", [{"key": "n1", "value": 3}]),
        (WHOLE, "first", [{"a_name": "c", "tags": []}]),
        (Whole(()), "", []),
        (Whole(()), "first", []),
        (Part("a"), "", [{"a_name": "a", "tags": []}]),
    ],
    ids=["its rows", "another field", "a mapping", "one value", "no rows", "an absent value", "an answer without rows"],
)
@pytest.mark.usefixtures("data_frames")
def test_data_frames_have_a_row_for_each_value(answer: Answer, field: str, rows: list[dict[str, Any]]) -> None:
    assert answer.to_pandas(field) == rows


@pytest.mark.usefixtures("data_frames")
def test_a_field_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(KubeschedError, match="Part has no field nmae; it has a_name, tags"):
        Part("a").to_pandas("nmae")


def test_without_pandas_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(KubeschedError, match=r"pip install 'kubesched\[pandas\]'"):
        WHOLE.to_pandas()


def test_a_real_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = WHOLE.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert (list(frame.columns), list(frame["a_name"])) == (["a_name", "tags"], ["a", "b"])


def test_a_real_data_frame_without_rows_has_columns() -> None:
    pytest.importorskip("pandas")
    columns = {field: list(Whole(()).to_pandas(field).columns) for field in ("", "others", "scores", "first")}
    parts = ["a_name", "tags"]
    assert columns == {"": parts, "others": ["value"], "scores": ["key", "value"], "first": parts}


def test_every_field_of_every_answer_becomes_a_real_data_frame() -> None:
    pytest.importorskip("pandas")
    nodes = [a_node(name, cpu="2", zone=name) for name in ("n1", "n2")]
    pods = [a_pod("p", node="n1", cpu="1", owner="ReplicaSet/p"), a_pod("small", cpu="1"), a_pod("large", cpu="9")]
    cluster = Cluster.of([*nodes, *pods])
    answers: list[Answer] = [
        *(cluster.explain(name) for name in ("p", "small", "large")),
        cluster.explain(),
        cluster.explain_node("n1"),
        cluster.capacity(a_pod("more", cpu="1"), until=9),
        cluster.whatif(drain="n1"),
        cluster.whatif(cordon="n2"),
        cluster.compare(reschedule_all=True),
        cluster.consolidate(),
    ]
    for answer in answers:
        for field in ("", *(each.name for each in dataclasses.fields(answer))):
            frame = answer.to_pandas(field)
            assert len(frame.columns), (type(answer), field)
            assert frame.to_csv()
            assert frame.to_html()


def test_a_value_without_a_report_is_left_to_its_repr() -> None:
    assert Part("a")._repr_html_() is None
