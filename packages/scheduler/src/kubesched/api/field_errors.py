"""Error texts for invalid fields, as the reference writes them; objects and configurations share them.

From the path of a field, the bad value and the problem to one sentence, or the joined text of several.
A path is plain text (`nodeSelectorTerms[0].key`); the empty path is the reference's nil path.
"""

# upstream: apimachinery/pkg/util/validation/field/{errors,path}.go, pkg/util/errors/errors.go (v1.36)

from collections.abc import Iterable, Sequence
from typing import Any

from kubesched.api.go_text import quote, to_json


class Shown(str):
    """A bad value that is already in the form it is printed in."""


class WrongType(str):
    """The sentence about a value that is not even of the right type."""


# Texts are quoted, numbers and lists are JSON; None stands for a list that was never given.
BadValue = str | int | Sequence[str] | None


def as_json(value: Any) -> Shown:
    """Return a bad value that Go prints as JSON: lists, structs and named string types."""
    return Shown(to_json(value))


def child(path: str, *names: str) -> str:
    """Return the path of a field below the value at `path`."""
    return ".".join((path, *names) if path else names)


def index(path: str, subscript: int | str) -> str:
    """Return the path of one element of the list or map at `path`."""
    return f"{path}[{subscript}]"


def invalid(path: str, value: BadValue, detail: str) -> str:
    """Return the sentence about a malformed value."""
    return _with_detail(f"{path or '<nil>'}: Invalid value: {_shown(value)}", detail)


def wrong_type(path: str, value: BadValue, detail: str) -> WrongType:
    """Return the sentence about a value of a wrong type."""
    return WrongType(invalid(path, value, detail))


def duplicate(path: str, value: BadValue) -> str:
    """Return the sentence about a value that must be unique."""
    return f"{path}: Duplicate value: {_shown(value)}"


def required(path: str, detail: str = "") -> str:
    """Return the sentence about a missing value."""
    return _with_detail(f"{path}: Required value", detail)


def forbidden(path: str, detail: str) -> str:
    """Return the sentence about a value that may not be set here."""
    return f"{path}: Forbidden: {detail}"


def not_supported(path: str, value: BadValue, supported: Iterable[str]) -> str:
    """Return the sentence about a value outside an enumeration; an empty bad value is shown as well."""
    return f"{path}: Unsupported value: {_shown(value)}: supported values: {', '.join(map(quote, supported))}"


def aggregate(problems: Iterable[str]) -> str:
    """Join the problems to one text without duplicates; without problems it is empty."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]" if distinct else ""


def _with_detail(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def _shown(value: BadValue) -> str:
    """Return the value as an error message shows it."""
    if isinstance(value, Shown):
        return str(value)
    return quote(value) if isinstance(value, str) else to_json(value)
