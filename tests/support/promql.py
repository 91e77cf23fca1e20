"""Which metrics and labels an expression of PromQL uses: enough of the language for the files in `deploy/`."""

import re
from typing import NamedTuple

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)?\s*\{([^}]*)\}")
_LISTS = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_RANGE = re.compile(r"\[[^\]]*\]")
_NAME = re.compile(r"(?<![\w.:$])([a-zA-Z_:][\w:]*)\b(?!\s*\()")
_KEYWORDS = {"and", "or", "unless", "bool", "offset", "by", "on", "without", "ignoring"}


class Used(NamedTuple):
    """The metrics of an expression, and the labels in its selectors and groupings."""

    metrics: frozenset[str]
    labels: frozenset[str]


def used(expression: str) -> Used:
    """Return what an expression uses."""
    text = _TEXT.sub('""', expression)
    labels = {part.strip() for found in _LISTS.findall(text) for part in found.split(",") if part.strip()}
    for _, matchers in _SELECTOR.findall(text):
        labels |= {re.split(r"[=!]", part)[0].strip() for part in matchers.split(",") if part.strip()}
    text = _RANGE.sub("", _LISTS.sub("", re.sub(r"\{[^}]*\}", "", text)))
    return Used(frozenset(_NAME.findall(text)) - _KEYWORDS, frozenset(labels))
