"""Semantic versions: a text in, a value that compares by precedence out."""

# upstream: blang/semver v4, apiserver/pkg/cel/library/semverlib.go (v1.36)

from functools import lru_cache
from typing import Any, Final

from kubesched.api.go_text import quote
from kubesched.cel import types
from kubesched.cel.errors import CelValueError
from kubesched.cel.values import MAX_UINT, Opaque

_DIGITS: Final = frozenset("0123456789")
# Devices have versions of at most 64 characters.
_LONGEST_KEPT: Final = 64
_ALLOWED: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")


class InvalidVersionError(ValueError):
    """A text that is no semantic version; the words are the reference's."""


def parse_version(text: str) -> Opaque:
    """Return the version that a text stands for, or raise InvalidVersionError."""
    return _short_version(text) if len(text) <= _LONGEST_KEPT else _version(text)


@lru_cache(maxsize=4096)
def _short_version(text: str) -> Opaque:
    return _version(text)


def _version(text: str) -> Opaque:
    if not text:
        raise InvalidVersionError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise InvalidVersionError("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major", "Major"), _number(parts[1], "minor", "Minor")
    rest, plus, build = parts[2].partition("+")
    patch_text, dash, prerelease = rest.partition("-")
    patch = _number(patch_text, "patch", "Patch")
    identifiers = tuple(_identifier(each) for each in prerelease.split(".")) if dash else ()
    if plus:
        _check_build(build)
    # a version without prerelease comes after all that have one; build metadata does not count
    precedence = (major, minor, patch, not identifiers, identifiers)
    return Opaque(types.SEMVER, (major, minor, patch), precedence)


def parse_loosely(text: str) -> Opaque:
    """Return the version of a text that may have a `v`, leading zeroes, and fewer than three numbers."""
    parts = [_without_zeroes(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise InvalidVersionError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return parse_version(".".join(parts))


def _without_zeroes(part: str) -> str:
    if len(part) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped and stripped[0] in _DIGITS else "0" + stripped


def _number(text: str, name: str, title: str) -> int:
    if not _DIGITS.issuperset(text):
        raise InvalidVersionError(f"Invalid character(s) found in {name} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise InvalidVersionError(f"{title} number must not contain leading zeroes {quote(text)}")
    return _unsigned(text)


def _unsigned(text: str) -> int:
    if not text:
        raise InvalidVersionError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > MAX_UINT:
        raise InvalidVersionError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)


def _identifier(text: str) -> tuple[bool, int, str]:
    """Return the sort key of a prerelease identifier: numbers come before words."""
    if not text:
        raise InvalidVersionError("Prerelease is empty")
    if _DIGITS.issuperset(text):
        if len(text) > 1 and text[0] == "0":
            raise InvalidVersionError(f"Numeric PreRelease version must not contain leading zeroes {quote(text)}")
        return False, _unsigned(text), ""
    if not _ALLOWED.issuperset(text):
        raise InvalidVersionError(f"Invalid character(s) found in prerelease {quote(text)}")
    return True, 0, text


def _check_build(build: str) -> None:
    for part in build.split("."):
        if not part:
            raise InvalidVersionError("Build meta data is empty")
        if not _ALLOWED.issuperset(part):
            raise InvalidVersionError(f"Invalid character(s) found in build meta data {quote(part)}")


# The functions of the library.


def to_version(text: str, loosely: bool = False) -> Opaque:
    """Return the version of a text."""
    try:
        return parse_loosely(text) if loosely else parse_version(text)
    except InvalidVersionError as error:
        raise CelValueError(str(error)) from None


def is_version(text: str, loosely: bool = False) -> bool:
    """Return whether a text is a version."""
    try:
        to_version(text, loosely)
    except CelValueError:
        return False
    return True


def part_of(index: int) -> Any:
    """Return the function that reads the major, minor or patch number."""

    def apply(version: Opaque) -> int:
        number = int(version.held[index])
        # the reference reads an unsigned number as a signed one
        return number if number < 2**63 else number - 2**64

    return apply


def compare_versions(left: Opaque, right: Opaque) -> int:
    """Return -1, 0 or 1."""
    return int(left.compared > right.compared) - int(left.compared < right.compared)
