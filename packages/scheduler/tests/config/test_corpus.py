"""The reference's answers to 373 configurations, to the letter; only texts of decode errors are our own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kubesched.config.report import describe

_CORPUS = Path(__file__).parents[1] / "conformance" / "data" / "config.jsonl.gz"
_LINES = [json.loads(line) for line in gzip.decompress(_CORPUS.read_bytes()).splitlines()]


def test_the_corpus_is_whole() -> None:
    assert len(_LINES) == 373


@pytest.mark.parametrize("line", _LINES, ids=lambda line: str(line["name"]))
def test_equals_the_reference(line: dict[str, Any]) -> None:
    expected = line["expected"]
    found = describe(line.get("config"), line.get("featureGates") or {})
    if expected["stage"] == "decode":
        assert found["stage"] == "decode"
        assert found["errors"]
    else:
        assert found == expected
