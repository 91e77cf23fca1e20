"""Codes in the place of texts, for anonymising: by a keyed hash, or in the order of the texts.

From a text to its code; equal texts have equal codes. Without the key, an attacker with a list of likely texts cannot
match them to codes.
"""

import hmac
from bisect import bisect
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from kubesched_answers.sources import anonymous_fields as fields

DIGITS: Final = 12
# without remembered codes, two texts must not collide by chance; a label has up to four codes
MORE_DIGITS: Final = 14


class Codes:
    """The code of each text; it remembers at most `most` codes and computes the rest each time."""

    def __init__(self, key: bytes, most: int | None = None) -> None:
        self._key = key
        self._most = most
        self._kept = set(fields.KEPT_VALUES)
        self._known: OrderedDict[str, str] = OrderedDict()
        self._derived: OrderedDict[str, str] = OrderedDict()
        self._taken: set[str] = set()

    def keep(self, texts: Iterable[str]) -> bool:
        """Leave texts unchanged; return whether one of them already had a code."""
        new = set(texts) - self._kept
        self._kept |= new
        return any(text in self._known or text in self._derived for text in new)

    def derive(self, text: str, code: str) -> None:
        """Give a text a code composed of other codes, like its name; if codes are not remembered, the first one
        stays.
        """
        if self._most is None:
            self._derived[text] = code
            return
        if text not in self._known:
            self._derived.setdefault(text, code)
            if len(self._derived) > self._most:
                self._derived.popitem(last=False)

    def of(self, text: str) -> str:
        """Return the code of a text."""
        if text in self._kept:
            return text
        code = self._derived.get(text) or self._known.get(text)
        if code is None:
            code = self._known[text] = self._new(text)
            if self._most is not None and len(self._known) > self._most:
                self._known.popitem(last=False)
        return code

    def _new(self, text: str) -> str:
        digest = hmac.new(self._key, text.encode(), sha256).hexdigest()
        if self._most is not None:
            return f"x{digest[:MORE_DIGITS]}"
        digits = DIGITS
        while f"x{digest[:digits]}" in self._taken:
            digits += 1
        self._taken.add(f"x{digest[:digits]}")
        return f"x{digest[:digits]}"

    def of_parts(self, text: str, *separators: str) -> str:
        """Return a text with the codes of its parts."""
        if not separators:
            return self.of(text)
        return separators[0].join(self.of_parts(part, *separators[1:]) for part in text.split(separators[0]))


class OrderedCodes:
    """Codes that sort like their texts, also when texts are added later."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._codes: list[str] = []
        self._of: dict[str, str] = {}
        self._highest = 0

    def add(self, texts: Iterable[str]) -> None:
        """Give codes to texts that have none."""
        for text in sorted(set(texts) - self._of.keys()):
            place = bisect(self._texts, text)
            if place == len(self._texts):
                self._highest += 1
                code = f"x{self._highest:06x}"
            else:
                code = _between(self._codes[place - 1] if place else "x000000", self._codes[place])
            self._texts.insert(place, text)
            self._codes.insert(place, code)
            self._of[text] = code

    def of(self, text: str) -> str:
        """Return the code of a text that has been added."""
        return self._of[text]


def _between(low: str, high: str) -> str:
    """Return a code that sorts between two codes."""
    zeros = ""
    while True:
        for digit in "8421":
            found = f"{low}{zeros}{digit}"
            if found < high:
                return found
        zeros += "0"
