"""Quantities, selectors and tables of the corpus, every line."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubesched.conformance import quantities, selectors, tables

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    ("corpus", "answer", "lines"),
    [
        ("quantities", quantities.answer, 2779),
        ("selectors", selectors.answer, 473),
        ("tables", tables.answer, 620),
    ],
)
def test_every_line_is_answered_as_the_reference_does(
    corpus: str, answer: Callable[[dict[str, Any]], Any], lines: int
) -> None:
    with gzip.open(DATA / f"{corpus}.jsonl.gz", "rt", encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    assert len(questions) == lines
    different = []
    for question in questions:
        expected = question.pop("expected")
        answered = answer(question)
        if answered != expected:
            different.append((question, answered, expected))
    assert different[:3] == []
