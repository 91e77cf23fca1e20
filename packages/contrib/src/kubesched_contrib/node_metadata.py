"""NodeMetadata: prefer nodes by a number or a time in one of their labels or annotations.

From the text of each node, parsed when the node changes, to scores: the best feasible node gets 100, the worst 1, and
a node without the label, or with an invalid text, 0.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kubesched import ClusterView, CycleState, NodeRow, Nodes, PodInfo, Reads, Registration, ScorePlugin
from kubesched_contrib.go_time_layouts import time_reader

RFC3339 = "2006-01-02T15:04:05Z07:00"
STRATEGIES = {"Number": ("Highest", "Lowest"), "Timestamp": ("Newest", "Oldest")}
LARGEST_VALUE = 2**60
INVALID = -(2**62)
# numbers have a precision of a thousandth
PARTS = 1000
BEST, WORST = 100, 1
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)


@dataclass(frozen=True)
class NodeMetadataArgs:
    """The label or annotation, its format, and which values are best."""

    metadata_key: str
    metadata_source: Literal["Label", "Annotation"]
    metadata_type: Literal["Number", "Timestamp"]
    scoring_strategy: Literal["Highest", "Lowest", "Newest", "Oldest"]
    timestamp_format: str = RFC3339

    def __post_init__(self) -> None:
        if not self.metadata_key:
            raise ValueError("metadataKey: cannot be empty; name a label or an annotation")
        allowed = STRATEGIES[self.metadata_type]
        if self.scoring_strategy not in allowed:
            raise ValueError(
                f"scoringStrategy: {self.scoring_strategy} does not apply to metadataType {self.metadata_type}; "
                f"write {' or '.join(allowed)}"
            )
        if self.metadata_type == "Timestamp":
            try:
                time_reader(self.timestamp_format)
            except ValueError as error:
                raise ValueError(f"timestampFormat: {error}") from None


class NodeMetadata(ScorePlugin):
    """Scores nodes by a label or an annotation."""

    name = "NodeMetadata"
    score_key_of_template = True
    in_range = True

    def __init__(self, args: NodeMetadataArgs, cluster: ClusterView) -> None:
        self._key = args.metadata_key
        self._of_labels = args.metadata_source == "Label"
        self._read: Callable[[str], float] = read_number
        if args.metadata_type == "Timestamp":
            self._read = time_reader(args.timestamp_format)
        self._sign = 1 if args.scoring_strategy in ("Highest", "Newest") else -1
        reads = Reads.LABELS if self._of_labels else Reads.ANNOTATIONS
        self._values = cluster.node_values(self._value_of, reads=reads, default=INVALID)
        self.score_reads = self._values.reads

    def events_to_register(self) -> tuple[Registration, ...]:
        """Return no events: a score rejects no pod."""
        return ()

    def _value_of(self, node: NodeRow) -> int:
        text = (node.labels if self._of_labels else node.annotations).get(self._key)
        try:
            value = self._read(text) if text is not None else math.nan
        except (ValueError, OverflowError):
            return INVALID
        if not math.isfinite(value):
            return INVALID
        return self._sign * round(max(-LARGEST_VALUE, min(value * PARTS, LARGEST_VALUE)))

    def score_key(self, pod: PodInfo) -> str:
        """Return no key: the score depends on nodes alone."""
        return ""

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return the value of each node; high values are better."""
        return nodes.values_of(self._values)

    def normalize_scores(self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return 1 for the lowest value to 100 for the highest; 1 for all if they are equal, 0 without a value."""
        valid = scores != INVALID
        if not valid.any():
            return np.zeros_like(scores)
        lowest, highest = int(scores[valid].min()), int(scores[valid].max())
        span = highest - lowest
        # so that 100 * the span fits into 64 bits
        unit = max(1, span >> 54)
        above = (np.where(valid, scores, lowest) - lowest) // unit
        stretched = above * (BEST - WORST) // max(span // unit, 1) + WORST
        return np.where(valid, stretched, 0)


def read_number(text: str) -> float:
    """Return a decimal number; raises ValueError for anything else."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return float(text)
