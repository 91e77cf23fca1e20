"""docs/reference/answers.md lists the fields that answers have."""

import re
from pathlib import Path

import pytest

from tools import answer_forms

ROOT = Path(__file__).parents[1]


def test_the_fields_of_answers_are_those_of_their_classes() -> None:
    text = (ROOT / "docs" / "reference/answers.md").read_text()
    assert text == answer_forms.written(text), "run `make docs`"


def fields_of(name: str) -> dict[str, str]:
    """Return the types of the fields of a value by their names, as the document has them."""
    (section,) = (text for text in answer_forms.answer_sections().split("### ") if text.startswith(f"{name}\n"))
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    return dict(rows)


def test_a_field_is_written_as_json_has_it() -> None:
    assert fields_of("Reason") == {
        "message": "text",
        "plugin": "text",
        "count": "number",
        "nodes": "list of text",
        "preemptionMayHelp": "true or false",
        "terms": "list of [RejectingTerm](#rejectingterm)",
    }


def test_maps_and_lists_of_lists_are_written_in_words() -> None:
    assert fields_of("PendingGroup")["requests"] == "map of text to text"
    assert fields_of("EmptiedNode")["rounds"] == "list of list of [PodMove](#podmove)"


def test_a_document_without_a_place_for_it_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the answers"):
        answer_forms.written("# Nothing")


def test_records_of_decisions_have_rows_with_their_names_in_json() -> None:
    fields = fields_of("DecisionRecord")
    assert fields["pod"] == "text"
    assert fields["feasibleNodes"] == "number (optional)"
    assert fields["scores"] == "list of [ScoredNode](#scorednode) (optional)"
    assert fields_of("QueueMove")
