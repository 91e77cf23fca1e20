"""The strategy of limit ranges, and admission of pods and claims by them.

    new pod ──▶ containers get default requests and limits ──▶ validation ──▶ containers and pod are checked

From the limit ranges of a namespace to defaults of containers, and to ApiError 403.
"""

# upstream: pkg/apis/core/{v1/defaults.go (SetDefaults_LimitRangeItem),validation/validation.go (ValidateLimitRange)},
# plugin/pkg/admission/limitranger/admission.go (v1.36)

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import inf

from kubesched.api.field_errors import aggregate, child, duplicate, forbidden, invalid, required
from kubesched.api.labels import label_key_problems
from kubesched.api.quantity import ZERO, Quantity, from_value, quantity_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import forbidden as refused
from kubesched_controlplane.kinds.checks import amount, part, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.amounts import resources_of, sum_of_containers
from kubesched_controlplane.kinds.pod.requirements import (
    container_resource_problems,
    overcommits,
    standard_name_problems,
)
from kubesched_controlplane.registry.strategy import StrategyContext
from kubesched_controlplane.storage.store import Store

LIMIT_RANGES = "limitranges"
POD, CONTAINER, CLAIM = "Pod", "Container", "PersistentVolumeClaim"
_TYPES = (POD, CONTAINER, CLAIM)
_ANNOTATION = "kubernetes.io/limit-ranger"
_LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_ONE = from_value(1)

Amounts = Mapping[str, Quantity]


class LimitRangeStrategy(KindStrategy):
    """The strategy of limit ranges."""

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, also of the name."""
        self.fill_in(new, context)
        new["metadata"]["name"] = new["metadata"].get("name") or new["metadata"]["uid"]

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set the defaults of container items: default from max, defaultRequest from default and min."""
        spec = part(document, "spec")
        spec["limits"] = spec.get("limits") or None
        for item in spec["limits"] or ():
            if item.get("type") == CONTAINER:
                limits = {**(item.get("max") or {}), **(item.get("default") or {})}
                requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
                for field, amounts in (("default", limits), ("defaultRequest", requests)):
                    if amounts:
                        item[field] = amounts

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a limit range."""
        problems = []
        seen = set()
        for number, item in enumerate(document["spec"].get("limits") or ()):
            path = f"spec.limits[{number}]"
            kind = item.get("type") or ""
            problems += _type_problems(child(path, "type"), kind)
            if kind in seen:
                problems.append(duplicate(child(path, "type"), kind))
            seen.add(kind)
            problems += _item_problems(path, item)
        return problems


def _type_problems(path: str, kind: str) -> list[str]:
    problems = text_problems(path, kind, label_key_problems)
    if not problems and "/" not in kind and kind not in _TYPES:
        problems.append(invalid(path, kind, "must be a standard limit type or fully qualified"))
    return problems


def _item_problems(path: str, item: Document) -> list[str]:
    kind = item.get("type")
    check = container_resource_problems if kind in (POD, CONTAINER) else standard_name_problems
    problems = []
    given: dict[str, dict[str, Quantity]] = {}
    for field in _LISTS:
        amounts = item.get(field) or {}
        if kind == POD and field in ("default", "defaultRequest"):
            if amounts:
                problems.append(forbidden(child(path, field), "may not be specified when `type` is 'Pod'"))
            amounts = {}
        for name in amounts:
            problems += check(f"{path}.{field}[{name}]", name)
        given[field] = {name: amount(raw) for name, raw in amounts.items()}
    if kind == CLAIM and "storage" not in given["min"] and "storage" not in given["max"]:
        why = "either minimum or maximum storage value is required, but neither was provided"
        problems.append(required(child(path, "limits"), why))
    for name in sorted({name for amounts in given.values() for name in amounts}):
        found = {field: amounts[name] for field, amounts in given.items() if name in amounts}
        problems += _amounts_problems(path, name, found)
    return problems


def _amounts_problems(path: str, name: str, given: Mapping[str, Quantity]) -> Iterator[str]:
    """Yield the problems of the amounts of one resource, compared with each other."""
    words = {"min": "min", "max": "max", "default": "default", "defaultRequest": "default request"}
    # the lower and the higher amount; the field of the problem, and the amount that it shows
    for low, high, where, bad in (
        ("min", "max", "min", "min"),
        ("min", "defaultRequest", "defaultRequest", "defaultRequest"),
        ("defaultRequest", "max", "defaultRequest", "defaultRequest"),
        ("defaultRequest", "default", "defaultRequest", "defaultRequest"),
        ("min", "default", "default", "min"),
        ("default", "max", "default", "max"),
    ):
        if low in given and high in given and given[low] > given[high]:
            named = "default limit" if (low, high) == ("defaultRequest", "default") else words[high]
            why = f"{words[low]} value {given[low]} is greater than {named} value {given[high]}"
            yield invalid(f"{path}.{where}[{name}]", str(given[bad]), why)
    ratio, here = given.get("maxLimitRequestRatio"), f"{path}.maxLimitRequestRatio[{name}]"
    if ratio is not None and ratio < _ONE:
        yield invalid(here, str(ratio), f"ratio {ratio} is less than 1")
    if ratio is not None and "max" in given and given.get("min", ZERO).sign() > 0:
        most = _ratio(given["max"], given["min"])
        if _ratio(ratio, _ONE) > most:
            yield invalid(here, str(ratio), f"ratio {ratio} is greater than max/min = {most:f}")
    default, request = given.get("default"), given.get("defaultRequest")
    if not overcommits(name) and default is not None and request is not None and default != request:
        why = f"default value {default} must equal to defaultRequest value {request} in {name}"
        yield invalid(f"{path}.defaultRequest[{name}]", str(request), why)


# -- admission


def fill_in_limits(pod: Document, store: Store) -> None:
    """Set the default requests and limits of a new pod's containers, and list them in an annotation."""
    for items in _items(store, pod["metadata"].get("namespace") or ""):
        limits: Document = {}
        requests: Document = {}
        for item in items:
            if item.get("type") == CONTAINER:
                requests.update(item.get("defaultRequest") or {})
                limits.update(item.get("default") or {})
        notes: list[str] = []
        for field, kind in (("containers", "container"), ("initContainers", "init container")):
            for container in pod["spec"].get(field) or ():
                notes += _fill_in_container(container, kind, limits, requests)
        if notes:
            annotations = part(pod["metadata"], "annotations")
            annotations[_ANNOTATION] = f"LimitRanger plugin set: {'; '.join(notes)}"


def _fill_in_container(container: Document, kind: str, limits: Document, requests: Document) -> Iterator[str]:
    resources = part(container, "resources")
    for field, word, defaults in (("requests", "request", requests), ("limits", "limit", limits)):
        given = resources.get(field) or {}
        missing = {name: raw for name, raw in defaults.items() if name not in given}
        if missing:
            resources[field] = {**given, **missing}
            yield f"{', '.join(sorted(missing))} {word} for {kind} {container.get('name', '')}"


def check_pod_limits(pod: Document, context: StrategyContext) -> None:
    """Raise ApiError 403 for a new pod that is not within the limit ranges of its namespace."""
    for items in _items(context.store, pod["metadata"].get("namespace") or ""):
        _refuse(pod, context, [problem for item in items for problem in _pod_problems(pod["spec"], item)])


def check_claim_limits(claim: Document, context: StrategyContext) -> None:
    """Raise ApiError 403 for a claim that is not within the limit ranges of its namespace."""
    requests = _quantities((claim["spec"].get("resources") or {}).get("requests") or {})
    for items in _items(context.store, claim["metadata"].get("namespace") or ""):
        problems: list[str] = []
        for item in items:
            if item.get("type") == CLAIM:
                problems += _least_problems(CLAIM, item, requests, {})
                problems += _most_requested_problems(item, requests)
        _refuse(claim, context, problems)


def _refuse(document: Document, context: StrategyContext, problems: list[str]) -> None:
    if problems:
        raise refused(context.resource, document["metadata"].get("name", ""), aggregate(problems))


def _items(store: Store, namespace: str) -> Iterator[list[Document]]:
    """Yield the items of each limit range of a namespace."""
    ranges = store.set_of(LIMIT_RANGES)
    if len(ranges):
        for stored in ranges.in_order(namespace):
            yield stored.document()["spec"].get("limits") or []


def _quantities(resources: Mapping[str, str]) -> dict[str, Quantity]:
    return {name: quantity_of(raw) for name, raw in resources.items()}


def _pod_problems(spec: Document, item: Document) -> Iterator[str]:
    kind = item.get("type")
    if kind == CONTAINER:
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            requests, limits = (_quantities(resources_of(container, field)) for field in ("requests", "limits"))
            yield from _range_problems(CONTAINER, item, requests, limits)
    elif kind == POD:
        yield from _range_problems(POD, item, _of_pod(spec, "requests"), _of_pod(spec, "limits"))


def _of_pod(spec: Document, field: str) -> dict[str, Quantity]:
    """Return the requests or limits of a pod: pod-level ones, or else the sum of its containers."""
    whole = _quantities((spec.get("resources") or {}).get(field) or {})
    return {**sum_of_containers(spec, field), **{name: whole[name] for name in ("cpu", "memory") if name in whole}}


def _range_problems(kind: str, item: Document, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _least_problems(kind, item, requests, limits)
    for name, raw in sorted((item.get("max") or {}).items()):
        most = quantity_of(raw)
        start = f"maximum {name} usage per {kind} is {most}"
        if name not in limits:
            yield f"{start}.  No limit is specified"
        elif limits[name] > most:
            yield f"{start}, but limit is {limits[name]}"
        elif name in requests and requests[name] > most:
            yield f"{start}, but request is {requests[name]}"
    for name, raw in sorted((item.get("maxLimitRequestRatio") or {}).items()):
        yield from _ratio_problems(kind, name, quantity_of(raw), requests, limits)


def _least_problems(kind: str, item: Document, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, raw in sorted((item.get("min") or {}).items()):
        least = quantity_of(raw)
        start = f"minimum {name} usage per {kind} is {least}"
        if name not in requests:
            yield f"{start}.  No request is specified"
        elif requests[name] < least:
            yield f"{start}, but request is {requests[name]}"
        elif name in limits and limits[name] < least:
            yield f"{start}, but limit is {limits[name]}"


def _most_requested_problems(item: Document, requests: Amounts) -> Iterator[str]:
    for name, raw in sorted((item.get("max") or {}).items()):
        most = quantity_of(raw)
        start = f"maximum {name} usage per {CLAIM} is {most}"
        if name not in requests:
            yield f"{start}.  No request is specified"
        elif requests[name] > most:
            yield f"{start}, but request is {requests[name]}"


def _ratio_problems(kind: str, name: str, most: Quantity, requests: Amounts, limits: Amounts) -> Iterator[str]:
    start = f"{name} max limit to request ratio per {kind} is {most}, but"
    request, limit = requests.get(name, ZERO), limits.get(name, ZERO)
    if request.is_zero():
        yield f"{start} no request is specified or request is 0"
    elif limit.is_zero():
        yield f"{start} no limit is specified or limit is 0"
    else:
        ratio = _ratio(limit, request)
        if ratio > _ratio(most, _ONE):
            yield f"{start} provided ratio is {ratio:f}"


def _ratio(one: Quantity, other: Quantity) -> float:
    """Return the ratio of an amount to another, which is not zero."""
    ratio = Fraction(one.unscaled, other.unscaled) * Fraction(10) ** (one.exponent - other.exponent)
    try:
        return float(ratio)
    except OverflowError:
        return inf
