"""The public corpus: every line gets the reference's answer, to the letter.

Lines are checked in portions so that processes share them.
"""

import gzip
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.conformance.corpus import answer, differences

DATA = Path(__file__).parent / "data"
PORTION = 40
# file -> lines, so that none is lost unnoticed
FILES = {
    "cel-selectors": 218,
    "cluster-events": 226,
    "config": 373,
    "dynamic-resources": 675,
    "framework": 303,
    "image-locality": 221,
    "inter-pod-affinity": 417,
    "mixed": 425,
    "node-affinity": 335,
    "pod-groups": 235,
    "ports": 169,
    "preemption": 400,
    "preemption-sequence": 260,
    "quantities": 2779,
    "queueing-hints": 945,
    "resources": 411,
    "selectors": 473,
    "tables": 620,
    "taints": 294,
    "topology-spread": 395,
    "volumes": 417,
}


@cache
def lines(file: str) -> list[bytes]:
    """Return the lines as texts: decoded, they would slow down every test that collects garbage."""
    with gzip.open(DATA / f"{file}.jsonl.gz") as stream:
        return list(stream)


def portion(file: str, start: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield some lines with their numbers."""
    for number, text in enumerate(lines(file)[start : start + PORTION], start + 1):
        yield number, msgspec.json.decode(text)


@pytest.mark.parametrize("file", FILES)
def test_no_line_is_missing(file: str) -> None:
    assert len(lines(file)) == FILES[file]


@pytest.mark.parametrize(
    ("file", "start"),
    [
        pytest.param(file, start, id=f"{file}-{start}")
        for file, count in FILES.items()
        for start in range(0, count, PORTION)
    ],
)
def test_answers_equal_the_reference(file: str, start: int) -> None:
    found = [
        f"{file}:{number}: {line.get('name', '')}: {difference}"
        for number, line in portion(file, start)
        for difference in differences(line["expected"], answer(line, steered=True))
    ]
    assert not found, "\n".join(found[:20])
