"""Hashes of templates, for names and labels.

From a document to a short text that is valid in names and labels.
"""

# upstream: pkg/controller/controller_utils.go (ComputeHash), apimachinery/pkg/util/rand (SafeEncodeString) (v1.36)

from typing import Any, Final

from kubesched.api.go_text import to_json

# without vowels, and without digits that look like letters
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_OFFSET, _PRIME, _MASK = 2166136261, 16777619, 2**32 - 1


def short_hash(value: Any, collisions: int | None = None) -> str:
    """Return the hash of a value; a count of collisions changes it."""
    # differs (D-200): the reference hashes a dump of Go's structs, so its hashes of the same template are different
    number = _OFFSET
    for byte in to_json(value).encode():
        number = (number ^ byte) * _PRIME & _MASK
    if collisions is not None:
        for byte in collisions.to_bytes(8, "little"):
            number = (number ^ byte) * _PRIME & _MASK
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(number))
