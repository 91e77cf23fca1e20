"""Label selectors: requirements on labels, compiled once and matched often.

From a LabelSelector struct, a plain label map, or parsed text (`label_syntax`) to a `Selector`, immutable and hashable,
equal to every selector with the same meaning, so that it can be interned as a dictionary key.

Invariants: a selector that exists is valid; an invalid one raises InvalidSelectorError in the reference's words, since
these become part of pods' conditions. `NOTHING` matches no labels, `EVERYTHING` (no requirement) matches all.
"""

# upstream: apimachinery/pkg/labels/selector.go, pkg/apis/meta/v1/helpers.go,
# pkg/api/validate/content/kube.go, dns.go (v1.36)

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from kubesched.api.field_errors import aggregate, child, index, invalid, not_supported
from kubesched.api.go_text import quote
from kubesched.api.meta import LabelSelector
from kubesched.errors import InvalidObjectError

IN: Final = "in"
NOT_IN: Final = "notin"
EQUALS: Final = "="
DOUBLE_EQUALS: Final = "=="
NOT_EQUALS: Final = "!="
GREATER_THAN: Final = "gt"
LESS_THAN: Final = "lt"
EXISTS: Final = "exists"
DOES_NOT_EXIST: Final = "!"

BINARY_OPERATORS: Final = (IN, NOT_IN, EQUALS, DOUBLE_EQUALS, NOT_EQUALS, GREATER_THAN, LESS_THAN)
_OPERATORS = (*BINARY_OPERATORS, EXISTS, DOES_NOT_EXIST)
_STRUCT_OPERATORS = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST}
_SIGNS = {
    EQUALS: "=",
    DOUBLE_EQUALS: "==",
    NOT_EQUALS: "!=",
    IN: " in ",
    NOT_IN: " notin ",
    GREATER_THAN: ">",
    LESS_THAN: "<",
}

_MAX_INT64 = 2**63 - 1
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")


class InvalidSelectorError(InvalidObjectError):
    """A selector that does not parse; the text is the reference's."""


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One requirement on one label key; the values keep the order in which they were given."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the requirement in the selector syntax."""
        if self.operator == EXISTS:
            return self.key
        if self.operator == DOES_NOT_EXIST:
            return f"!{self.key}"
        values = ",".join(sorted(self.values))
        if self.operator in (IN, NOT_IN):
            values = f"({values})"
        return f"{self.key}{_SIGNS[self.operator]}{values}"


# The checks of requirements, independent of their spelling. Numbers, since they also order the checks of a selector.
_ANY_OF, _NONE_OF, _PRESENT, _ABSENT, _ABOVE, _BELOW, _NEVER = range(7)
_KINDS = {
    IN: _ANY_OF,
    EQUALS: _ANY_OF,
    DOUBLE_EQUALS: _ANY_OF,
    NOT_IN: _NONE_OF,
    NOT_EQUALS: _NONE_OF,
    EXISTS: _PRESENT,
    DOES_NOT_EXIST: _ABSENT,
    GREATER_THAN: _ABOVE,
    LESS_THAN: _BELOW,
}
# kind, key, values and bound; a single value is a tuple, which takes a fraction of a set's memory
_Check = tuple[int, str, Collection[str], int]


def _checks_of(requirements: tuple[Requirement, ...]) -> tuple[_Check, ...]:
    """Return the normal form of the requirements: their distinct checks, in a fixed order."""
    questions: set[tuple[str, int, tuple[str, ...], int]] = set()
    for requirement in requirements:
        kind, bound = _KINDS[requirement.operator], 0
        values: tuple[str, ...] = requirement.values
        if kind in (_ABOVE, _BELOW):
            bound = parse_int64(values[0]) or 0
            values = ()
        elif len(values) > 1:
            values = tuple(sorted(set(values)))
        questions.add((requirement.key, kind, values, bound))
    in_order = sorted(questions) if len(questions) > 1 else questions
    return tuple(
        [(kind, key, values if len(values) < 2 else frozenset(values), bound) for key, kind, values, bound in in_order]
    )


class NeededLabel(NamedTuple):
    """A label that has to exist, with one of these values; None stands for any value."""

    key: str
    values: Collection[str] | None


@dataclass(frozen=True, eq=False, slots=True)
class Selector:
    """A conjunction of requirements, sorted by key; equality and hash depend on their meaning, not their spelling."""

    requirements: tuple[Requirement, ...] = ()
    matches_nothing: bool = False
    _checks: tuple[_Check, ...] = field(init=False, repr=False)
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        checks = _checks_of(self.requirements) if not self.matches_nothing else ((_NEVER, "", (), 0),)
        object.__setattr__(self, "_checks", checks)
        object.__setattr__(self, "_hash", hash(checks))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selector) and self._checks == other._checks

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        """Return the canonical text."""
        return ",".join(map(str, self.requirements))

    @property
    def empty(self) -> bool:
        """Return whether the selector restricts nothing."""
        return not self._checks

    @property
    def keys(self) -> frozenset[str]:
        """Return the label keys that the result of `matches` depends on."""
        return frozenset(requirement.key for requirement in self.requirements)

    @property
    def needed_label(self) -> NeededLabel | None:
        """Return a label that every match has, if possible one with given values; None if no label is required."""
        needed: NeededLabel | None = None
        for kind, key, values, _ in self._checks:
            if kind in (_ANY_OF, _NEVER):
                return NeededLabel(key, values)
            if kind in (_PRESENT, _ABOVE, _BELOW):
                needed = needed or NeededLabel(key, None)
        return needed

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the labels satisfy every requirement."""
        for kind, key, values, bound in self._checks:
            value = labels.get(key)
            if kind == _ANY_OF:
                if value not in values:
                    return False
            elif kind == _NONE_OF:
                if value in values:
                    return False
            elif kind == _PRESENT:
                if value is None:
                    return False
            elif kind == _ABSENT:
                if value is not None:
                    return False
            elif kind == _NEVER:
                return False
            else:
                number = parse_int64(value) if value is not None else None
                if number is None or not (number > bound if kind == _ABOVE else number < bound):
                    return False
        return True

    def adding(self, *requirements: Requirement) -> Selector:
        """Return the selector with further requirements; NOTHING stays NOTHING."""
        return self if self.matches_nothing else selector_of((*self.requirements, *requirements))


def selector_of(requirements: Iterable[Requirement]) -> Selector:
    """Return the conjunction of the requirements, sorted by key."""
    return Selector(tuple(sorted(requirements, key=_key_of)))


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(matches_nothing=True)


def selector_from_set(labels: Mapping[str, str]) -> Selector:
    """Return the selector that requires exactly these labels, without validating them."""
    return selector_of(Requirement(key, EQUALS, (value,)) for key, value in labels.items())


def from_label_selector(selector: LabelSelector | None) -> Selector:
    """Return the compiled form of a LabelSelector; none given matches nothing, an empty one everything."""
    if selector is None:
        return NOTHING
    if not selector.match_labels and not selector.match_expressions:
        return EVERYTHING
    # The reference walks this map in no fixed order; sorted, the first error is always the same.
    requirements = [new_requirement(key, EQUALS, (value,)) for key, value in sorted(selector.match_labels.items())]
    for expression in selector.match_expressions:
        operator = _STRUCT_OPERATORS.get(expression.operator)
        if operator is None:
            raise InvalidSelectorError(f"{quote(expression.operator)} is not a valid label selector operator")
        # The reference copies the values in a way that turns an empty list into none at all.
        requirements.append(new_requirement(expression.key, operator, expression.values or None))
    return selector_of(requirements)


def new_requirement(key: str, operator: str, values: Sequence[str] | None, path: str = "") -> Requirement:
    """Return the requirement, or raise InvalidSelectorError with all its problems."""
    problems = requirement_problems(key, operator, values, path)
    if problems:
        raise InvalidSelectorError(aggregate(problems))
    return Requirement(key, operator, tuple(values or ()))


def requirement_problems(key: str, operator: str, values: Sequence[str] | None, path: str = "") -> list[str]:
    """Return the problems of a requirement, one sentence each."""
    problems = []
    if key_problems := label_key_problems(key):
        problems.append(invalid(child(path, "key"), key, "; ".join(key_problems)))
    given = values or ()
    if operator not in _OPERATORS:
        problems.append(not_supported(child(path, "operator"), operator, _OPERATORS))
    elif count_problem := _count_problem(operator, len(given)):
        problems.append(invalid(child(path, "values"), values, count_problem))
    if operator in (GREATER_THAN, LESS_THAN):
        problems += [
            invalid(index(child(path, "values"), i), value, "for 'Gt', 'Lt' operators, the value must be an integer")
            for i, value in enumerate(given)
            if parse_int64(value) is None
        ]
    for i, value in enumerate(given):
        if value_problems := label_value_problems(value):
            where = index(index(child(path, "values"), i), key)
            problems.append(invalid(where, value, "; ".join(value_problems)))
    return problems


_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    f" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE = f"({_NAME})?"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    f" end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
    f" '{_VALUE}')"
)
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    f" end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_NAME_PATTERN = re.compile(_NAME)
_VALUE_PATTERN = re.compile(_VALUE)
_SUBDOMAIN_PATTERN = re.compile(_SUBDOMAIN)
# one search says that nothing is wrong; the words for what is wrong are found step by step
_LONGEST_KEY = 253 + 1 + 63
_GOOD_KEY = re.compile(rf"(?:(?=[^/]{{1,253}}/){_SUBDOMAIN}/)?(?=[^/]{{1,63}}\Z){_NAME}")
_GOOD_VALUE = re.compile(rf"(?=.{{0,63}}\Z){_VALUE}")


def label_key_problems(key: str) -> tuple[str, ...]:
    """Return the problems of a label key (`name` or `dns.prefix/name`)."""
    if len(key) <= _LONGEST_KEY and _is_good_key(key):
        return ()
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        rule = f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/'"
        return (f"{rule} (e.g. 'example.com/MyName')",)
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += [f"prefix part {problem}" for problem in _subdomain_problems(prefix, "bytes")]
    if not name:
        problems.append("name part must be non-empty")
    elif _bytes(name) > 63:
        problems.append("name part must be no more than 63 bytes")
    if not _NAME_PATTERN.fullmatch(name):
        problems.append(f"name part {_NAME_RULE}")
    return tuple(problems)


@lru_cache(maxsize=1024)
def _is_good_key(key: str) -> bool:
    return _GOOD_KEY.fullmatch(key) is not None


def label_value_problems(value: str) -> tuple[str, ...]:
    """Return the problems of a label value."""
    if _GOOD_VALUE.fullmatch(value):
        return ()
    problems = []
    if _bytes(value) > 63:
        problems.append("must be no more than 63 bytes")
    if not _VALUE_PATTERN.fullmatch(value):
        problems.append(_VALUE_RULE)
    return tuple(problems)


def subdomain_problems(text: str) -> tuple[str, ...]:
    """Return the problems of a text as a lower-case DNS subdomain."""
    return _subdomain_problems(text, "characters")


def _subdomain_problems(text: str, unit: str) -> tuple[str, ...]:
    """Return the problems of a subdomain; the reference counts bytes, and its texts name one unit or the other."""
    problems = []
    if _bytes(text) > 253:
        problems.append(f"must be no more than 253 {unit}")
    if not _SUBDOMAIN_PATTERN.fullmatch(text):
        problems.append(_SUBDOMAIN_RULE)
    return tuple(problems)


def parse_int64(text: str) -> int | None:
    """Parse a decimal integer of 64 bits; return None for any other text."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -_MAX_INT64 - 1 <= number <= _MAX_INT64 else None


def _count_problem(operator: str, count: int) -> str:
    """Return the problem of the number of values, or the empty text."""
    if operator in (IN, NOT_IN):
        return "" if count else "for 'in', 'notin' operators, values set can't be empty"
    if operator in (EXISTS, DOES_NOT_EXIST):
        return "values set must be empty for exists and does not exist" if count else ""
    if count == 1:
        return ""
    if operator in (GREATER_THAN, LESS_THAN):
        return "for 'Gt', 'Lt' operators, exactly one value is required"
    return "exact-match compatibility requires one single value"


def _key_of(requirement: Requirement) -> str:
    """Return the key that requirements are sorted by."""
    return requirement.key


def _bytes(text: str) -> int:
    """Return the length of the text in bytes."""
    return len(text.encode("utf-8", "surrogatepass"))
