"""Texts of others, made fit to be written anywhere: into conditions, events and the log.

From whatever a plugin or an exception says to text that can be encoded, has no control characters, and ends.
"""

import re

# what Kubernetes lets a condition say, in characters
MOST_CHARACTERS = 32768
CUT = " ..."
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def tidy(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text of at most so many characters; what cannot be encoded or steers terminals is replaced."""
    if len(text) > most:
        text = text[: most - len(CUT)] + CUT
    # nearly all texts are fit
    return text if text.isprintable() else _UNFIT.sub(_REPLACEMENT, text)


def described(raised: BaseException) -> str:
    """Return what was raised in one line of words, whatever its own words do."""
    kind = type(raised).__name__
    try:
        words = str(raised)
    except BaseException as broken:
        # a text of its own that raises, too
        words = f"(its text failed with {type(broken).__name__})"
    return tidy(f"{kind}: {words}" if words else kind)
