"""The answer of /v1/queue.

From a reading of the queue and its history to plain values.
"""

from typing import Any

import msgspec

from kubesched.reports.answers import plain
from kubesched_lab.page.queue.history import QueueHistory
from kubesched_lab.page.queue.reading import QueueReading


def answer_of(reading: QueueReading, history: QueueHistory, beginning: float | None = None) -> dict[str, Any]:
    """Return the answer; `beginning` is when a simulation began."""
    return {
        "kind": reading.kind,
        "now": reading.at.timestamp(),
        "beginning": beginning,
        "counts": dict(reading.counts),
        "history": history.columns(),
        "moves": history.moves(),
        "moved": msgspec.to_builtins(reading.moves),
        "first": msgspec.to_builtins(reading.first),
        "gaps": plain(reading.gaps),
    }
