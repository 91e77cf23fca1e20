"""Selectors in a query: the objects of a list or a watch.

From `labelSelector` and `fieldSelector` to a test of stored objects.
"""

# upstream: apimachinery/pkg/fields/selector.go, pkg/apis/core/v1/conversion.go (v1.36)

import re
from collections.abc import Callable

from kubesched.api.label_syntax import parse_selector
from kubesched.api.labels import InvalidSelectorError
from kubesched_controlplane.api.requests import Request, Target
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import bad_request
from kubesched_controlplane.registry.strategy import Strategy
from kubesched_controlplane.storage.store import Stored

Matches = Callable[[Stored], bool]
# terms are separated by commas that are not escaped; empty terms are ignored
_TERM = re.compile(r"(?:[^,\\]|\\.|\\$)+", re.DOTALL)
_OPERATOR = re.compile("!=|==|=")
_ESCAPED = re.compile(r"\\([\\,=])")


def matcher(request: Request, target: Target, strategy: Strategy) -> Matches | None:
    """Return the test for a request's selectors, namespace and name; None if they select all objects."""
    tests = [*_labels(request), *_fields(request, target.resource, strategy), *_place(target)]
    if not tests:
        return None
    if len(tests) == 1:
        return tests[0]
    return lambda stored: all(test(stored) for test in tests)


def _place(target: Target) -> list[Matches]:
    tests: list[Matches] = []
    if target.namespace:
        tests.append(lambda stored: stored.namespace == target.namespace)
    if target.name:
        tests.append(lambda stored: stored.name == target.name)
    return tests


def _labels(request: Request) -> list[Matches]:
    text = request.option("labelSelector")
    if not text:
        return []
    try:
        selector = parse_selector(text)
    except InvalidSelectorError as error:
        raise bad_request(str(error)) from None
    return [] if selector.empty else [lambda stored: selector.matches(stored.labels)]


def _fields(request: Request, resource: Resource, strategy: Strategy) -> list[Matches]:
    terms = _TERM.findall(request.option("fieldSelector"))
    return [_field_test(term, resource, strategy) for term in terms]


def required_name(request: Request) -> str:
    """Return the name that the field selector of a request requires, or an empty text."""
    for term in _TERM.findall(request.option("fieldSelector")):
        field, operator, value = _parts(term)
        if field == "metadata.name" and operator in ("=", "=="):
            return _ESCAPED.sub(r"\1", value)
    return ""


def _parts(term: str) -> tuple[str, str, str]:
    """Return field, operator and value of a term; a term without an operator is all field."""
    found = _OPERATOR.search(term)
    return (term[: found.start()], found[0], term[found.end() :]) if found else (term, "", "")


def _unescaped(value: str) -> str:
    """Unescape `\\`, `,` and `=` in a value; raises ApiError 400 for invalid escape sequences."""
    rest = _ESCAPED.sub("", value)
    if "\\" in rest:
        sequence = rest[rest.index("\\") :][:2]
        raise bad_request(f"invalid field selector: invalid escape sequence: {sequence}")
    if "=" in rest:
        raise bad_request(f"invalid field selector: unescaped character in value: {ord('=')}")
    return _ESCAPED.sub(r"\1", value)


def _field_test(term: str, resource: Resource, strategy: Strategy) -> Matches:
    field, operator, value = _parts(term)
    if not operator:
        raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
    equal, value = operator != "!=", _unescaped(value)
    if field == "metadata.name":
        return lambda stored: (stored.name == value) is equal
    if field == "metadata.namespace":
        return lambda stored: (stored.namespace == value) is equal
    kept = strategy.kept_field(field, resource)
    if kept not in strategy.selectable():
        raise bad_request(f"field label not supported: {field}")
    return lambda stored: (strategy.field_of(stored, kept) == value) is equal
