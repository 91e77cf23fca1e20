"""Completion indexes of jobs as text: `0,2-4,7`.

From a text to intervals, and back. `read` skips invalid parts, since a status must not stop a controller; `problem`
validates a text of a client.
"""

# upstream: pkg/controller/job/indexed_job_utils.go, pkg/apis/batch/validation/validation.go (validateIndexesFormat)
# (v1.36)

from collections.abc import Iterable

from kubesched.api.go_text import quote

# first and last index, both included; sorted, and never adjacent
Intervals = tuple[tuple[int, int], ...]


def read(text: str, completions: int) -> Intervals:
    """Return the indexes in a text that are below `completions`; invalid parts are skipped."""
    found: list[tuple[int, int]] = []
    for part in text.split(",") if text else ():
        first, dash, last = part.partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            continue
        start = int(first)
        if start >= completions:
            break
        found.append((start, min(int(last), completions - 1) if dash else start))
    return joined(found)


def joined(intervals: Iterable[tuple[int, int]]) -> Intervals:
    """Return intervals sorted, with overlapping and adjacent ones merged."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(intervals):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def with_indexes(intervals: Intervals, indexes: Iterable[int]) -> Intervals:
    """Return intervals with further indexes added."""
    return joined((*intervals, *((index, index) for index in indexes)))


def total(intervals: Intervals) -> int:
    """Return the number of indexes in intervals."""
    return sum(last - first + 1 for first, last in intervals)


def contains(intervals: Intervals, index: int) -> bool:
    """Return whether intervals contain an index."""
    return any(first <= index <= last for first, last in intervals)


def written(intervals: Intervals) -> str:
    """Return intervals as text."""
    parts = []
    for first, last in intervals:
        parts.append(str(first))
        if last == first + 1:
            parts.append(str(last))
        elif last > first:
            parts[-1] = f"{first}-{last}"
    return ",".join(parts)


def problem(text: str, completions: int) -> tuple[int, str]:
    """Return the number of indexes in a text, and its problem, an empty text if it is valid."""
    count, previous = 0, -1
    for part in text.split(",") if text else ():
        limits = part.split("-")
        if len(limits) > 2:
            rule = "an index interval can have at most two parts separated by '-'"
            return 0, f"the fragment {quote(part)} violates the requirement that {rule}"
        for limit in limits:
            if not _is_number(limit):
                return 0, f"cannot convert string to integer for index: {quote(limit)}"
            if int(limit) >= completions:
                return 0, f"too large index: {quote(limit)}"
        first, last = int(limits[0]), int(limits[-1])
        if len(limits) > 1 and first >= last:
            return 0, f"non-increasing order, previous: {first}, current: {last}"
        if previous >= first:
            return 0, f"non-increasing order, previous: {previous}, current: {first}"
        count += last - first + 1
        previous = last
    return count, ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12
