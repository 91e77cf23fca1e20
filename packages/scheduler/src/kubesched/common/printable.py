"""Texts of objects, made safe for terminals and pages.

From a name or a message to one line. Characters that control terminals or change the direction of writing are
replaced by visible ones.
"""

import re

_SPACES = re.compile(r"[\t\n\r]+")
# C0, DEL and C1; separators of lines; marks and overrides of direction; surrogates
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(value: object) -> str:
    """Return a text as one line that every output can show."""
    text = str(value)
    # nearly all texts are safe
    return text if text.isprintable() else _UNFIT.sub(_REPLACEMENT, _SPACES.sub(" ", text))
