"""Validation messages about one field, in the reference's words.

In: a path such as `profiles[0].schedulerName` and what is wrong. Out: the text of one violation.
"""

# upstream: apimachinery/pkg/util/validation/field/errors.go (v1.36)

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubesched.config.golang import quote, to_json


class Shown(str):
    """A bad value that is already in the form it is printed in."""


def as_json(value: Any) -> Shown:
    """Return a bad value that Go prints as JSON: lists, structs and named string types."""
    return Shown(to_json(value))


def _value(value: str | int) -> str:
    if isinstance(value, str) and not isinstance(value, Shown):
        return quote(value)
    return str(value)


def child(path: str, *names: str) -> str:
    """Return the path of a field below `path`; the empty path is the root."""
    return ".".join((path, *names) if path else names)


def _with_detail(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def invalid(path: str, value: str | int, detail: str) -> str:
    """Return the text of a malformed value."""
    return _with_detail(f"{path}: Invalid value: {_value(value)}", detail)


def duplicate(path: str, value: str | int) -> str:
    """Return the text of a value that must be unique."""
    return f"{path}: Duplicate value: {_value(value)}"


def required(path: str, detail: str = "") -> str:
    """Return the text of a missing value."""
    return _with_detail(f"{path}: Required value", detail)


def forbidden(path: str, detail: str) -> str:
    """Return the text of a value that may not be set here."""
    return f"{path}: Forbidden: {detail}"


def not_supported(path: str, value: str | int, supported: Iterable[str]) -> str:
    """Return the text of a value outside an enumeration."""
    return f"{path}: Unsupported value: {_value(value)}: supported values: {', '.join(map(quote, supported))}"


def aggregate(errors: Iterable[str]) -> str:
    """Return several texts as the one text the reference joins them to."""
    unique = tuple(dict.fromkeys(errors))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
