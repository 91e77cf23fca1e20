"""docs/reference/answers.md lists the fields that answers have."""

from pathlib import Path

import pytest

from tools import answer_forms

ROOT = Path(__file__).parents[1]


def test_the_fields_of_answers_are_those_of_their_classes() -> None:
    text = (ROOT / "docs" / "reference/answers.md").read_text()
    assert text == answer_forms.written(text), "run `make docs`"


def test_a_field_is_written_as_json_has_it() -> None:
    rows = [line for line in answer_forms.table().splitlines() if line.startswith("| `Reason` |")]
    assert len(rows) == 1
    assert rows[0].endswith(
        "| `message` text, `plugin` text, `count` number, `nodes` [text], `preemptionMayHelp` true or false, "
        "`terms` [`RejectingTerm`] |"
    )


def test_a_document_without_a_place_for_it_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the answers"):
        answer_forms.written("# Nothing")


def test_records_of_decisions_have_rows_with_their_names_in_json() -> None:
    (row,) = [line for line in answer_forms.table().splitlines() if line.startswith("| `DecisionRecord` |")]
    assert "`pod` text, " in row
    assert "`feasibleNodes` number (optional)" in row
    assert "`scores` [`ScoredNode`] (optional)" in row
    assert any(line.startswith("| `QueueMove` |") for line in answer_forms.table().splitlines())
