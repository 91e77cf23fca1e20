"""Label keys, label values and resource names: what is wrong with a text, in the reference's words.

In: a text. Out: the list of problems, empty if it is well formed.
"""

# upstream: apimachinery/pkg/api/validate/content/kube.go, dns.go; pkg/apis/core/v1/helper/helpers.go (v1.36)

from __future__ import annotations

import re

_KEY_FORMAT = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_VALUE_FORMAT = f"({_KEY_FORMAT})?"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_FORMAT = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORMAT = rf"{_LABEL_FORMAT}(\.{_LABEL_FORMAT})*"
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)

_KEY = re.compile(_KEY_FORMAT)
_VALUE = re.compile(_VALUE_FORMAT)
_SUBDOMAIN = re.compile(_SUBDOMAIN_FORMAT)

_NAME_BYTES = 63
_SUBDOMAIN_BYTES = 253
_QUOTA_PREFIX = "requests."
_NATIVE_NAMESPACE = "kubernetes.io/"


def _regex_problem(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"


def _length_problem(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def _too_long(text: str, limit: int) -> bool:
    return len(text.encode()) > limit


def _subdomain_problems(text: str) -> list[str]:
    problems = []
    if _too_long(text, _SUBDOMAIN_BYTES):
        problems.append(_length_problem(_SUBDOMAIN_BYTES))
    if not _SUBDOMAIN.fullmatch(text):
        problems.append(_regex_problem(_SUBDOMAIN_RULE, _SUBDOMAIN_FORMAT, "example.com"))
    return problems


def label_key_problems(key: str) -> list[str]:
    """Return what keeps `key` from being a label key (a qualified name)."""
    name_problem = _regex_problem(_KEY_RULE, _KEY_FORMAT, "MyName", "my.name", "123-abc")
    parts = key.split("/")
    if len(parts) > 2:
        optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {name_problem} {optional}"]
    problems = []
    name = parts[-1]
    if len(parts) == 2:
        prefix_problems = _subdomain_problems(parts[0]) if parts[0] else ["must be non-empty"]
        problems += [f"prefix part {problem}" for problem in prefix_problems]
    if not name:
        problems.append("name part must be non-empty")
    elif _too_long(name, _NAME_BYTES):
        problems.append(f"name part {_length_problem(_NAME_BYTES)}")
    if not _KEY.fullmatch(name):
        problems.append(f"name part {name_problem}")
    return problems


def label_value_problems(value: str) -> list[str]:
    """Return what keeps `value` from being a label value."""
    problems = []
    if _too_long(value, _NAME_BYTES):
        problems.append(_length_problem(_NAME_BYTES))
    if not _VALUE.fullmatch(value):
        problems.append(_regex_problem(_VALUE_RULE, _VALUE_FORMAT, "MyValue", "my_value", "12345"))
    return problems


def is_extended_resource_name(name: str) -> bool:
    """Return whether `name`, a qualified name, is outside Kubernetes' own namespace and usable in a quota."""
    if "/" not in name or _NATIVE_NAMESPACE in name or name.startswith(_QUOTA_PREFIX):
        return False
    return not label_key_problems(_QUOTA_PREFIX + name)
