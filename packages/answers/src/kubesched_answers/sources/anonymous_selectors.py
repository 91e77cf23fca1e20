"""CEL expressions of device selectors, for anonymising.

From expressions to the same ones with codes in the place of texts that they compare attributes with. This is correct
as long as texts are only compared for equality; if one expression inspects a text, all expressions and attributes
stay.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

# functions of texts, texts that are ordered or concatenated, and rare forms of text literals
_LOOKS_INTO: Final = re.compile(
    r"""\.(?:startsWith|endsWith|contains|matches|lowerAscii|upperAscii|replace|split|substring|indexOf|lastIndexOf|find
        |findAll|charAt|trim|join|size|format|reverse)\(
    |\bsize\(
    |[<>+]=?\s*["'] | ["']\s*[<>+]
    |(?<!["'\w])[rRbB]{1,2}["'] | \"\"\" | ''' | \\""",
    re.VERBOSE,
)
_TEXT: Final = re.compile(r"""(?P<quote>["'])(?P<text>[^"']*)(?P=quote)""")
# before a text: the domain of attributes, or a function that parses it
_KEEPS_BEFORE: Final = re.compile(
    r"(?:(?:attributes|capacity)\s*\??\[\??|\b(?:semver|isSemver|quantity|isQuantity)\(|\bdriver\s*[!=]=)\s*$"
)
_KEEPS_AFTER: Final = re.compile(r"\s*in\s+device\.(?:attributes|capacity)\b(?!\s*\[)|\s*[!=]=\s*device\.driver\b")


class PlainExpressions:
    """Expressions; `plain` tells whether all of them only compare texts for equality."""

    def __init__(self, expressions: Iterable[str] = ()) -> None:
        self.plain = True
        self.learn(expressions)

    def learn(self, expressions: Iterable[str]) -> bool:
        """Learn further expressions; return whether they are the first that are not plain."""
        was_plain = self.plain
        self.plain = was_plain and not any(_LOOKS_INTO.search(each) for each in expressions)
        return was_plain and not self.plain

    def coded(self, expression: str, code: Callable[[str], str]) -> str:
        """Return an expression with codes for the texts that it compares with attributes."""
        if not self.plain:
            return expression

        def replaced(match: re.Match[str]) -> str:
            before, after = expression[: match.start()], expression[match.end() :]
            if _KEEPS_BEFORE.search(before) or _KEEPS_AFTER.match(after):
                return match[0]
            return f"{match['quote']}{code(match['text'])}{match['quote']}"

        return _TEXT.sub(replaced, expression)
