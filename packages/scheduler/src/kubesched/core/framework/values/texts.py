"""Third-party texts, cleaned for conditions, events and the log.

From any text of a plugin or an exception to bounded text that can be encoded and has no control characters.
"""

import re

# Kubernetes' limit for the message of a condition, in characters.
MOST_CHARACTERS = 32768
CUT = " ..."
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def tidy(text: str, most: int = MOST_CHARACTERS) -> str:
    """Cut a text to a number of characters and replace characters that cannot be encoded or control terminals."""
    if len(text) > most:
        text = text[: most - len(CUT)] + CUT
    # nearly all texts are printable
    return text if text.isprintable() else _UNFIT.sub(_REPLACEMENT, text)


def described(raised: BaseException) -> str:
    """Return a one-line description of an exception, even if its `__str__` fails."""
    kind = type(raised).__name__
    try:
        words = str(raised)
    except BaseException as broken:
        # the `__str__` of the exception raises, too
        words = f"(its text failed with {type(broken).__name__})"
    return tidy(f"{kind}: {words}" if words else kind)
