"""Details: single fields in which a random node or pod differs from a plain one, or changes.

From the words of a plugin to the details that may matter to it, by subject.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import msgspec

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.testing.builders import a_container
from kubesched.testing.shorthand import taint, toleration

O = TypeVar("O", Node, Pod)  # noqa: E741
VALUES = ("a", "b", "true", "1", "50")
# a path such as spec.taints, and the keys of a mapping there
Path = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ObjectDetail:
    """A field and its value; with a key, an entry of the field; the value None removes it."""

    path: Path
    value: Any
    key: str = ""

    def applied(self, obj: O) -> O:
        """Return the object with this detail."""
        part_name, field = self.path
        part = getattr(obj, part_name)
        value = self.value
        if self.key:
            entries = {**getattr(part, field), self.key: value}
            value = {key: each for key, each in entries.items() if each is not None}
        return msgspec.structs.replace(obj, **{part_name: msgspec.structs.replace(part, **{field: value})})


def node_details(words: Sequence[str], values: Sequence[str] = ()) -> list[list[ObjectDetail]]:
    """Return the details of nodes in groups of equal interest; `values` are words of objects that plugins look up."""
    taints = [(), *((taint(f"{word}:NoSchedule"),) for word in ("dedicated", *_keys(words)))]
    allocatable = {"cpu": ("10m", "1", "4"), "memory": ("8Gi", "1Gi"), "pods": (110, 1, 0), **_extended(words)}
    return [
        _entries(("metadata", "labels"), words, values),
        _entries(("metadata", "annotations"), words, values),
        [ObjectDetail(("status", "allocatable"), value, key) for key, all_ in allocatable.items() for value in all_],
        [
            *(ObjectDetail(("spec", "unschedulable"), value) for value in (True, False)),
            *(ObjectDetail(("spec", "taints"), value) for value in taints),
        ],
    ]


def pod_details(words: Sequence[str], values: Sequence[str] = ()) -> list[list[ObjectDetail]]:
    """Return the details of pods in groups of equal interest; `values` are words of objects that plugins look up."""
    requests: list[dict[str, str]] = [{"cpu": cpu} for cpu in ("50m", "900m", "2")] + [{"memory": "512Mi"}]
    requests += [{name: "1"} for name in _extended(words)]
    return [
        _entries(("metadata", "labels"), words, values),
        _entries(("metadata", "annotations"), words, values),
        [ObjectDetail(("spec", "containers"), (a_container(requests=each),)) for each in requests],
        [
            *(ObjectDetail(("spec", "priority"), value) for value in (10, -5)),
            *(ObjectDetail(("spec", "tolerations"), (toleration(word),)) for word in ("dedicated", *_keys(words))),
        ],
    ]


def likely_details(groups: Sequence[Sequence[ObjectDetail]], most: int = 4) -> list[ObjectDetail]:
    """Return the most frequent details of each group, without removals."""
    found: list[ObjectDetail] = []
    for group in groups:
        last: list[ObjectDetail] = []
        for detail in reversed(group):
            if detail.value not in (None, (), False) and detail not in last and len(last) < most:
                last.append(detail)
        found += last
    return found


def _entries(path: Path, words: Sequence[str], values: Sequence[str] = ()) -> list[ObjectDetail]:
    """Return entries of a mapping: words that may be keys with all values, and without a value.

    Two kinds of entries together come as often as all of these: a word with the next one in the code, as in
    `labels.get("disk") == "ssd"`, and a word with a value from an object that the plugin looks up.
    """
    keys = _keys(words) or ["app"]
    every = [ObjectDetail(path, value, key) for key in keys for value in (*words, *VALUES, None) if value != key]
    likely = [ObjectDetail(path, value, key) for key, value in pairwise(words) if key in keys]
    looked_up = looked_up_entries(path, words, values)
    return every + _as_often(likely, len(every)) + _as_often(looked_up, len(every))


def looked_up_entries(path: Path, words: Sequence[str], values: Sequence[str]) -> list[ObjectDetail]:
    """Return entries whose keys are words of the code and whose values are words of objects."""
    return [ObjectDetail(path, value, key) for value in values for key in _keys(words)]


def _as_often(details: Sequence[ObjectDetail], count: int) -> list[ObjectDetail]:
    """Return details, repeated to about `count` entries."""
    return list(details) * max(count // max(len(details), 1), 1)


def _keys(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.isdigit() and word.count("/") <= 1 and not word.endswith("/")]


def _extended(words: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the words that may be extended resources, with amounts."""
    return {word: (2, 1) for word in words if "/" in word and word.count("/") == 1 and not word.endswith("/")}
