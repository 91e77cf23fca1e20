"""Validation that device classes, slices and claims share: names, selectors, configurations, taints."""

# upstream: pkg/apis/resource/validation/validation.go (v1.36)

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from kubesched.api.field_errors import as_json, child, duplicate, index, invalid, not_supported, required
from kubesched.api.labels import label_key_problems, label_value_problems, subdomain_problems
from kubesched.cel import compile_selector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import dns_label_problems, driver_problems, text_problems, too_long, too_many
from kubesched_controlplane.kinds.marks import Fields, Marks

MARKS = Marks()
MOST_SELECTORS = 32
MOST_CONFIGS = 32
MOST_REQUESTS = 32
MOST_BINDING_CONDITIONS = 4
LONGEST_EXPRESSION = 10 * 1024
LARGEST_PARAMETERS = 10 * 1024
_LONGEST_ID = 32
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_OPERATORS = ("Equal", "Exists")
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER_PATTERN = re.compile(_IDENTIFIER)
_IDENTIFIER_RULE = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    f"'{_IDENTIFIER}')"
)
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
ItemProblems = Callable[[str, Any], list[str]]


def list_problems(
    path: str,
    items: Sequence[Any] | None,
    most: int,
    problems: ItemProblems,
    key: Callable[[Any], Hashable] | None = None,
) -> list[str]:
    """Return the problems of a list: too many items, problems of items, or items with the same key."""
    items = items or ()
    if 0 <= most < len(items):
        return [too_many(path, len(items), most)]
    found = []
    for number, item in enumerate(items):
        found += problems(index(path, number), item)
    seen = set()
    for number, item in enumerate(items) if key is not None else ():
        mark = key(item) if key is not None else None
        if mark in seen:
            found.append(duplicate(index(path, number), mark if isinstance(mark, str) else as_json(mark)))
        seen.add(mark)
    return found


def named(item: Document) -> str:
    """Return the name of an item."""
    return item.get("name") or ""


# -- names


@MARKS.format("pool")
def pool_problems(path: str, name: str) -> list[str]:
    """Return the problems of the name of a pool."""
    if not name:
        return [required(path)]
    problems = [too_long(path, 253)] if len(name.encode()) > 253 else []
    for part in name.split("/"):
        problems += text_problems(path, part, subdomain_problems)
    return problems


def device_name_problems(path: str, name: str) -> list[str]:
    """Return the problems of the name of a device, a request or a counter."""
    return text_problems(path, name, dns_label_problems)


def qualified_name_problems(path: str, name: str) -> list[str]:
    """Return the problems of the name of an attribute or a capacity."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        return _identifier_problems(path, name)
    if "/" in identifier:
        return []
    problems = driver_problems(path, domain) if domain else [invalid(path, "", "the domain must not be empty")]
    if not identifier:
        return [*problems, invalid(path, "", "the name must not be empty")]
    return problems + _identifier_problems(path, identifier)


def fully_qualified_name_problems(path: str, name: str) -> list[str]:
    """Return the problems of the name of an attribute that must have a domain."""
    problems = qualified_name_problems(path, name)
    if "/" not in name:
        why = "a fully qualified name must be a domain and a name separated by a slash"
        problems.append(invalid(path, name, why))
    return problems


def _identifier_problems(path: str, name: str) -> list[str]:
    problems = [too_long(path, _LONGEST_ID)] if len(name.encode()) > _LONGEST_ID else []
    return problems if _IDENTIFIER_PATTERN.fullmatch(name) else [*problems, invalid(path, name, _IDENTIFIER_RULE)]


def uid_problems(path: str, uid: str) -> list[str]:
    """Return the problems of a UID."""
    try:
        right = str(UUID(uid)) == uid
    except ValueError:
        return [invalid(path, uid, f"error validating uid: invalid UUID length: {len(uid)}")]
    if right:
        return []
    why = (
        "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
        "characters"
    )
    return [invalid(path, uid, why)]


# -- requests by name


def request_names(claim: Document) -> dict[str, set[str]]:
    """Return the names of a claim's requests, each with the names of its subrequests."""
    return {
        named(request): {named(each) for each in request.get("firstAvailable") or ()}
        for request in claim.get("requests") or ()
    }


def reference_problems(names: dict[str, set[str]]) -> ItemProblems:
    """Return a function that validates a reference to one of these requests."""

    def problems(path: str, reference: Any) -> list[str]:
        parts = reference.split("/")
        if len(parts) > 2:
            return [invalid(path, reference, _NO_REQUEST)]
        found = [problem for part in parts for problem in device_name_problems(path, part)]
        if parts[0] not in names or (len(parts) == 2 and parts[1] not in names[parts[0]]):
            found.append(invalid(path, reference, _NO_REQUEST))
        return found

    return problems


def itself(item: Any) -> Hashable:
    """Return the item as its own key."""
    mark: Hashable = item
    return mark


# -- selectors, configurations, taints


@MARKS.rule("DeviceSelector")
def _selector_problems(path: str, selector: Document, fields: Fields) -> list[str]:
    return selector_problems(path, selector)


@MARKS.rule("DeviceClassConfiguration")
def _configuration_problems(path: str, configuration: Document, fields: Fields) -> list[str]:
    return configuration_problems(path, configuration)


@MARKS.rule("DeviceTaint")
def _taint_problems(path: str, taint: Document, fields: Fields) -> list[str]:
    return taint_problems(path, taint)


def selector_problems(path: str, selector: Document) -> list[str]:
    """Return the problems of a device selector, with the error of its expression's compilation."""
    if selector.get("cel") is None:
        return [required(child(path, "cel"))]
    here = f"{path}.cel.expression"
    expression = selector["cel"].get("expression") or ""
    if len(expression.encode()) > LONGEST_EXPRESSION:
        return [too_long(here, LONGEST_EXPRESSION)]
    error = compile_selector(expression, list_attributes=False).error
    # a scheduler with the gate of list attributes may know types that this server does not
    if not error or not compile_selector(expression, list_attributes=True).error:
        return []
    return [invalid(here, expression, error)]


def configuration_problems(path: str, configuration: Document) -> list[str]:
    """Return the problems of a device configuration."""
    opaque = configuration.get("opaque")
    if opaque is None:
        return [required(child(path, "opaque"))]
    here = child(path, "opaque")
    problems = driver_problems(child(here, "driver"), opaque.get("driver") or "")
    return problems + raw_problems(child(here, "parameters"), opaque.get("parameters"), LARGEST_PARAMETERS)


def raw_problems(path: str, value: Any, most: int) -> list[str]:
    """Return the problems of opaque parameters of a driver."""
    if value is None:
        return [required(path)]
    if len(msgspec.json.encode(value)) > most:
        return [too_long(path, most)]
    return [] if isinstance(value, dict) else [invalid(path, "<value omitted>", "must be a valid JSON object")]


def taint_problems(path: str, taint: Document) -> list[str]:
    """Return the problems of a device taint."""
    problems = text_problems(child(path, "key"), taint.get("key") or "", label_key_problems)
    if taint.get("value"):
        problems += text_problems(child(path, "value"), taint["value"], label_value_problems)
    effect = taint.get("effect") or ""
    if not effect:
        problems.append(required(child(path, "effect")))
    elif effect not in _EFFECTS:
        problems.append(not_supported(child(path, "effect"), effect, _EFFECTS))
    return problems


def toleration_problems(path: str, toleration: Document) -> list[str]:
    """Return the problems of a device toleration."""
    problems = []
    operator, value = toleration.get("operator") or "", toleration.get("value") or ""
    if toleration.get("key"):
        problems += text_problems(child(path, "key"), toleration["key"], label_key_problems)
    if operator == "Exists" and value:
        problems.append(invalid(child(path, "value"), value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        problems += text_problems(child(path, "value"), value, label_value_problems)
    elif not operator:
        problems.append(required(child(path, "operator")))
    elif operator not in _OPERATORS:
        problems.append(not_supported(child(path, "operator"), operator, _OPERATORS))
    effect = toleration.get("effect") or ""
    if effect and effect not in _EFFECTS:
        problems.append(not_supported(child(path, "effect"), effect, _EFFECTS))
    return problems


def binding_condition_problems(path: str, holder: Document) -> list[str]:
    """Return the problems of binding conditions and binding failure conditions."""

    def label_problems(here: str, name: Any) -> list[str]:
        return text_problems(here, name, label_key_problems)

    ready, failed = holder.get("bindingConditions") or [], holder.get("bindingFailureConditions") or []
    problems = []
    for field, conditions in (("bindingConditions", ready), ("bindingFailureConditions", failed)):
        problems += list_problems(child(path, field), conditions, MOST_BINDING_CONDITIONS, label_problems, itself)
    for number, condition in enumerate(failed):
        if condition in ready:
            here = index(child(path, "bindingFailureConditions"), number)
            why = "bindingFailureConditions must not overlap with bindingConditions"
            problems.append(invalid(here, condition, why))
    if failed and not ready:
        why = "bindingConditions are required to use bindingFailureConditions"
        problems.append(invalid(child(path, "bindingConditions"), as_json(ready), why))
    if ready and not failed:
        why = "bindingFailureConditions are required to use bindingConditions"
        problems.append(invalid(child(path, "bindingFailureConditions"), as_json(failed), why))
    return problems
