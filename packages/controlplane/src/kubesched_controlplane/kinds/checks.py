"""Validation of fields that several kinds share.

From JSON values and their paths to problems in the form of `api.field_errors`.
"""

# upstream: apimachinery/pkg/util/validation, pkg/apis/meta/v1/validation, pkg/apis/core/validation (v1.36)

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kubesched.api.field_errors import (
    BadValue,
    as_json,
    child,
    duplicate,
    forbidden,
    index,
    invalid,
    not_supported,
    required,
)
from kubesched.api.labels import label_key_problems, label_value_problems, subdomain_problems
from kubesched.api.meta import LabelSelector
from kubesched.api.node_selectors import NAME_FIELD
from kubesched.api.quantity import ZERO, InvalidQuantityError, Quantity, quantity_of
from kubesched.api.resources import PODS, is_extended_resource
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import IMMUTABLE
from kubesched_controlplane.api.statuses import bad_request

TextProblems = Callable[[str], Iterable[str]]

NOT_NEGATIVE = "must be greater than or equal to 0"
NOT_POSITIVE = "must be greater than zero"
NOT_WHOLE = "must be an integer"
NO_OPERATOR = "not a valid selector operator"
NEEDS_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
NO_VALUES = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"

_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_DNS_LABEL}')"
)
_1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"
_1035_LABEL_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    f"'{_1035_LABEL}')"
)
_SEARCH_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH_DOMAIN = rf"{_SEARCH_LABEL}(\.{_SEARCH_LABEL})*"
_SEARCH_DOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    f"'{_SEARCH_DOMAIN}')"
)
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_CONFIG_KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    f"'key-name', regex used for validation is '{_CONFIG_KEY}')"
)
_PERCENT = "[0-9]+%"
_PERCENT_RULE = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    f"validation is '{_PERCENT}')"
)
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_RULE = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    f"'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '{_REASON}')"
)
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_DNS_LABEL_PATTERN = re.compile(_DNS_LABEL)
_HTTP_PATH_PATTERN = re.compile(_HTTP_PATH)
_CONFIG_KEY_PATTERN = re.compile(_CONFIG_KEY)
_PERCENT_PATTERN = re.compile(_PERCENT, re.ASCII)
_PORT_NAME_PATTERN = re.compile("[-a-z0-9]+")
_LETTER_PATTERN = re.compile("[a-z]")
_REASON_PATTERN = re.compile(_REASON)


def part(document: Document, field: str) -> Document:
    """Return the object in a field; an empty one is added if the field is missing."""
    found = document.get(field)
    if found is None:
        found = document[field] = {}
    part_of: Document = found
    return part_of


def shown(value: Any) -> BadValue:
    """Return a bad value as problems show it."""
    return value if isinstance(value, str) else as_json(value)


# -- texts


def dns_label_problems(text: str) -> list[str]:
    """Return the reasons why a text is not a valid DNS label (RFC 1123)."""
    problems = []
    if len(text.encode()) > 63:
        problems.append("must be no more than 63 characters")
    if not _DNS_LABEL_PATTERN.fullmatch(text):
        problems.append("must not contain dots" if not subdomain_problems(text) else _DNS_LABEL_RULE)
    return problems


def dns_1035_problems(text: str) -> list[str]:
    """Return the reasons why a text is not a valid DNS label that begins with a letter (RFC 1035)."""
    problems = ["must be no more than 63 characters"] if len(text.encode()) > 63 else []
    if not re.fullmatch(_1035_LABEL, text):
        problems.append(_1035_LABEL_RULE)
    return problems


def search_domain_problems(text: str) -> list[str]:
    """Return the reasons why a text is not a valid search domain: a subdomain whose labels may have underscores."""
    problems = ["must be no more than 253 characters"] if len(text.encode()) > 253 else []
    return problems if re.fullmatch(_SEARCH_DOMAIN, text) else [*problems, _SEARCH_DOMAIN_RULE]


def config_key_problems(text: str) -> list[str]:
    """Return the reasons why a text is not a valid key of a ConfigMap or Secret."""
    problems = []
    if len(text.encode()) > 253:
        problems.append("must be no more than 253 characters")
    if not _CONFIG_KEY_PATTERN.fullmatch(text):
        problems.append(_CONFIG_KEY_RULE)
    if text in (".", ".."):
        problems.append(f"must not be '{text}'")
    elif text.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def percent_problems(text: str) -> list[str]:
    """Return the reasons why a text is not a valid percentage."""
    return [] if _PERCENT_PATTERN.fullmatch(text) else [_PERCENT_RULE]


def path_segment_problems(name: str) -> tuple[str, ...]:
    """Return the problems of a name as a path segment."""
    if name in (".", ".."):
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{part}'" for part in ("/", "%") if part in name)


def port_name_problems(text: str) -> list[str]:
    """Return the reasons why a text is not a valid port name."""
    problems = []
    if len(text) > 15:
        problems.append("must be no more than 15 characters")
    if not _PORT_NAME_PATTERN.fullmatch(text):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _LETTER_PATTERN.search(text):
        problems.append("must contain at least one letter (a-z)")
    if "--" in text:
        problems.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def text_problems(path: str, text: str, problems: TextProblems) -> list[str]:
    """Return the problems of a text that a function finds, with their path."""
    return [invalid(path, text, problem) for problem in problems(text)]


def driver_problems(path: str, name: str) -> list[str]:
    """Return the problems of a driver name."""
    if not name:
        return [required(path)]
    problems = [too_long(path, 63)] if len(name.encode()) > 63 else []
    return problems + [invalid(path, name, problem) for problem in subdomain_problems(name.lower())]


def domain_path_problems(path: str, text: str) -> list[str]:
    """Return the problems of a path that must have a domain before it (`acme.io/foo`)."""
    if not text:
        return [required(path)]
    host, _, rest = text.partition("/")
    if not host or not rest:
        return [invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    problems = text_problems(path, host, subdomain_problems)
    if not _HTTP_PATH_PATTERN.fullmatch(rest):
        problems.append(invalid(path, rest, f"Invalid path (regex used for validation is '{_HTTP_PATH}')"))
    return problems


def one_of(path: str, value: str, supported: Sequence[str]) -> list[str]:
    """Return the problem of a value that is not supported."""
    return [] if value in supported else [not_supported(path, value, supported)]


def too_long(path: str, most: int) -> str:
    """Return the problem of a value with too many bytes."""
    return f"{path}: Too long: may not be more than {most} {'byte' if most == 1 else 'bytes'}"


def too_many(path: str, count: int, most: int) -> str:
    """Return the problem of a list with too many items."""
    return f"{path}: Too many: {count}: must have at most {most} {'item' if most == 1 else 'items'}"


# -- numbers and amounts


def not_negative(path: str, value: int | None) -> list[str]:
    """Return the problems of a number that may not be negative."""
    return [invalid(path, value, NOT_NEGATIVE)] if value is not None and value < 0 else []


def port_problems(path: str, port: int) -> list[str]:
    """Return the problems of a port number."""
    return [] if 1 <= port <= 65535 else [invalid(path, port, "must be between 1 and 65535, inclusive")]


def amount(raw: Any) -> Quantity:
    """Return a value as a quantity. Raises ApiError 400 if it is not one."""
    try:
        return quantity_of(raw)
    except InvalidQuantityError as error:
        raise bad_request(str(error)) from None


def resource_problems(path: str, name: str, raw: Any) -> list[str]:
    """Return the problems of an amount of a resource."""
    quantity = amount(raw)
    problems = [invalid(path, str(quantity), NOT_NEGATIVE)] if quantity < ZERO else []
    if (name == PODS or is_extended_resource(name)) and quantity.milli_value() % 1000:
        problems.append(invalid(path, str(quantity), NOT_WHOLE))
    return problems


def positive_amount(path: str, raw: Any) -> list[str]:
    """Return the problem of an amount that is not positive."""
    quantity = amount(raw)
    return [] if quantity > ZERO else [invalid(path, str(quantity), NOT_POSITIVE)]


# -- changes


def immutable(path: str, new: Any, old: Any) -> list[str]:
    """Return the problem of a field that may not change."""
    return [] if new == old else [invalid(path, shown(new), IMMUTABLE)]


# -- labels and selectors


def labels_problems(path: str, labels: Mapping[str, str] | None) -> list[str]:
    """Return the problems of labels."""
    problems = []
    for key, value in (labels or {}).items():
        problems += [invalid(path, key, problem) for problem in label_key_problems(key)]
        problems += [invalid(path, value, problem) for problem in label_value_problems(value)]
    return problems


def as_selector(selector: Document | None) -> LabelSelector | None:
    """Return a LabelSelector as a struct."""
    return None if selector is None else msgspec.convert(selector, LabelSelector)


def label_selector_problems(path: str, selector: Document | None) -> list[str]:
    """Return the problems of a LabelSelector."""
    if not selector:
        return []
    problems = labels_problems(child(path, "matchLabels"), selector.get("matchLabels"))
    for number, expression in enumerate(selector.get("matchExpressions") or ()):
        here = index(child(path, "matchExpressions"), number)
        problems += _operator_problems(here, expression, ordered=False)
        problems += _key_and_values(here, expression)
    return problems


def node_selector_problems(path: str, selector: Document) -> list[str]:
    """Return the problems of a NodeSelector."""
    terms = child(path, "nodeSelectorTerms")
    if not selector.get("nodeSelectorTerms"):
        return [required(terms, "must have at least one node selector term")]
    problems = []
    for number, term in enumerate(selector["nodeSelectorTerms"]):
        problems += node_term_problems(index(terms, number), term)
    return problems


def node_term_problems(path: str, term: Document, *, any_value: bool = False) -> list[str]:
    """Return the problems of a term of a NodeSelector; `any_value` skips the values, as for preferred terms."""
    problems = []
    for place, expression in enumerate(term.get("matchExpressions") or ()):
        here = index(child(path, "matchExpressions"), place)
        problems += _operator_problems(here, expression, ordered=True)
        problems += _key_and_values(here, {**expression, "values": ()} if any_value else expression)
    for place, expression in enumerate(term.get("matchFields") or ()):
        problems += _field_problems(index(child(path, "matchFields"), place), expression)
    return problems


def _operator_problems(path: str, expression: Document, *, ordered: bool) -> list[str]:
    operator, values = expression.get("operator") or "", expression.get("values")
    if operator in ("In", "NotIn"):
        return [] if values else [required(child(path, "values"), NEEDS_VALUES)]
    if operator in ("Exists", "DoesNotExist"):
        return [forbidden(child(path, "values"), NO_VALUES)] if values else []
    if ordered and operator in ("Gt", "Lt"):
        needed = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        return [] if len(values or ()) == 1 else [required(child(path, "values"), needed)]
    return [invalid(child(path, "operator"), operator, NO_OPERATOR)]


def _key_and_values(path: str, expression: Document) -> list[str]:
    problems = text_problems(child(path, "key"), expression.get("key") or "", label_key_problems)
    for number, value in enumerate(expression.get("values") or ()):
        problems += text_problems(index(child(path, "values"), number), value, label_value_problems)
    return problems


def _field_problems(path: str, expression: Document) -> list[str]:
    key, values = expression.get("key") or "", expression.get("values") or ()
    problems = []
    if expression.get("operator") not in ("In", "NotIn"):
        problems.append(invalid(child(path, "operator"), expression.get("operator") or "", NO_OPERATOR))
    elif len(values) != 1:
        needed = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        problems.append(required(child(path, "values"), needed))
    if key != NAME_FIELD:
        problems.append(invalid(child(path, "key"), key, "not a valid field selector key"))
    else:
        for number, value in enumerate(values):
            problems += text_problems(index(child(path, "values"), number), value, subdomain_problems)
    return problems


# -- conditions


def conditions_problems(path: str, conditions: Sequence[Document] | None) -> list[str]:
    """Return the problems of conditions of the type meta/v1 Condition."""
    problems = []
    seen = set()
    for number, condition in enumerate(conditions or ()):
        here = index(path, number)
        kind = condition.get("type") or ""
        if kind in seen:
            problems.append(duplicate(child(here, "type"), kind))
        seen.add(kind)
        problems += text_problems(child(here, "type"), kind, label_key_problems)
        problems += one_of(child(here, "status"), condition.get("status") or "", ("False", "True", "Unknown"))
        generation = condition.get("observedGeneration")
        if generation is not None and generation < 0:
            needed = "must be greater than or equal to zero"
            problems.append(invalid(child(here, "observedGeneration"), generation, needed))
        if not condition.get("lastTransitionTime"):
            problems.append(required(child(here, "lastTransitionTime")))
        reason = condition.get("reason") or ""
        if not reason:
            problems.append(required(child(here, "reason")))
        elif not _REASON_PATTERN.fullmatch(reason):
            problems.append(invalid(child(here, "reason"), reason, _REASON_RULE))
        if len((condition.get("message") or "").encode()) > 32 * 1024:
            problems.append(too_long(child(here, "message"), 32 * 1024))
    return problems
