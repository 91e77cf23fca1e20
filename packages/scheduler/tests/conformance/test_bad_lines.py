"""Lines of the corpus, spoilt: whatever stands in them, the answer is one of ours or a sentence, never a traceback."""

import copy
import gzip
import random
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from kubesched.conformance.corpus import answer
from kubesched.errors import KubeschedError

DATA = Path(__file__).parent / "data"
FILES = (
    "resources",
    "taints",
    "ports",
    "node-affinity",
    "inter-pod-affinity",
    "topology-spread",
    "image-locality",
    "preemption",
    "preemption-sequence",
    "pod-groups",
    "quantities",
    "selectors",
    "cel-selectors",
    "tables",
    "config",
    "cluster-events",
    "queueing-hints",
)
# lines per file; a larger number is worth a run now and then
LINES = 12
DEEP: dict[str, Any] = {}
for _ in range(60):
    DEEP = {"a": DEEP}
SPOILERS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 2**64, 10**30, 1e308, 0.5),
    *("", "x", "ünï☃😀", "\0", "a" * 300, "-1", "1e30", "9223372036854775808", "100Ei", "1e-30", "-5Gi", "nan"),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2024-13-01T00:00:00Z"),
    *([], {}, [None], [[]], {"a": None}, {"": ""}, ["x"], [1], DEEP),
)


@cache
def lines(file: str) -> list[bytes]:
    with gzip.open(DATA / f"{file}.jsonl.gz") as stream:
        return [line for line in stream if len(line) < 30_000]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return (container, key) for everything inside a value."""
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found.append((value, key))
        found += places(item)
    return found


def spoil(value: Any, chance: random.Random) -> None:
    """Replace, drop, repeat or lengthen something inside a value."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        inside = places(value)
        if not inside:
            return
        container, key = chance.choice(inside)
        match chance.randrange(6):
            case 0:
                del container[key]
            case 1 if isinstance(container, list):
                container.append(copy.deepcopy(container[key]))
            case 2 if isinstance(container[key], str):
                container[key] += chance.choice((" ", "\n", ":", "é", "0" * 40))
            case 3:
                other, its_key = chance.choice(inside)
                if its_key in other if isinstance(other, dict) else its_key < len(other):
                    container[key] = copy.deepcopy(other[its_key])
            case _:
                container[key] = copy.deepcopy(chance.choice(SPOILERS))


def configuration(line: dict[str, Any], chance: random.Random) -> None:
    """Spoil the configuration of a line, which is a text."""
    try:
        tree = yaml.safe_load(line.get("config") or "")
    except yaml.YAMLError:
        return
    if isinstance(tree, dict):
        spoil(tree, chance)
        line["config"] = yaml.safe_dump(tree)


@pytest.mark.parametrize("file", FILES)
def test_a_spoilt_line_is_answered_or_refused(file: str) -> None:
    chance = random.Random(f"{file} 1")
    for text in chance.choices(lines(file), k=LINES):
        line = msgspec.json.decode(text)
        line.pop("expected", None)
        if file == "config" or chance.random() < 0.1:
            configuration(line, chance)
        else:
            spoil(line, chance)
        try:
            answer(line)
        except KubeschedError:
            continue
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}: {line}") from error


TIME = "2024-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("table", "question"),
    [
        ("numFeasibleNodesToFind", {"nodes": "7", "percentage": 5}),
        ("numFeasibleNodesToFind", {"nodes": 7}),
        ("preemptionCandidates", {"nodes": 7, "minCandidateNodesPercentage": None, "minCandidateNodesAbsolute": 1}),
        ("queueOrder", {"initialSeconds": {}, "maxSeconds": 1, "pods": []}),
        ("queueOrder", {"initialSeconds": 1, "maxSeconds": 1, "pods": ["p"]}),
        (
            "backoff",
            {
                "initialSeconds": 1,
                "maxSeconds": 1,
                "unschedulableCount": "1",
                "consecutiveErrors": 0,
                "timestamp": TIME,
            },
        ),
        (
            "backoff",
            {"initialSeconds": 1, "maxSeconds": 1, "unschedulableCount": 1, "consecutiveErrors": 0, "timestamp": 5},
        ),
        (
            "backoff",
            {
                "initialSeconds": 1e300,
                "maxSeconds": 1e300,
                "unschedulableCount": 1,
                "consecutiveErrors": 0,
                "timestamp": TIME,
            },
        ),
        ("podResources", {"spec": {"containers": 5}}),
        ("no such table", {}),
    ],
)
def test_a_table_line_of_the_wrong_shape_is_refused(table: str, question: dict[str, Any]) -> None:
    with pytest.raises(KubeschedError):
        answer({"table": table, "input": question})


def test_a_selector_line_without_labels_is_refused() -> None:
    with pytest.raises(KubeschedError, match="Expected `array`, got `null`"):
        answer({"string": "", "labels": None})
