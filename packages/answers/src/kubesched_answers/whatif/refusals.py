"""Why a pod finds no other node, in one line.

From the scheduler's message to its reasons, the commonest first, without the nodes that a plan itself has cordoned.
"""

import re
from typing import Final

_REASON: Final = re.compile(r"(\d+) (.+)")
CORDONED: Final = "node(s) were unschedulable"


def short_reasons(message: str, cordoned: int) -> str:
    """Return the reasons of a message, without the nodes that the plan itself has cordoned."""
    before, found, reasons = message.partition(" nodes are available: ")
    if not found or not before.startswith("0/"):
        return message
    counts: list[tuple[int, str]] = []
    for part in reasons.partition(". ")[0].removesuffix(".").split(", "):
        match = _REASON.fullmatch(part)
        if match is None:
            return message
        count = int(match[1]) - (cordoned if match[2] == CORDONED else 0)
        if count > 0:
            counts.append((count, match[2]))
    counts.sort(key=lambda each: -each[0])
    return ", ".join(f"{count} {reason}" for count, reason in counts) or "all other nodes are emptied, too"
