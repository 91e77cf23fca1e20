"""Validation of the request policy of a device's capacity: valid values, or a valid range with steps."""

# upstream: pkg/apis/resource/validation/validation.go (validateRequestPolicy) (v1.36)

from typing import Any

from kubesched.api.field_errors import child, duplicate, forbidden, index, invalid, required
from kubesched.api.quantity import Quantity
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import amount, too_many

MOST_CHOICES = 10
_NOT_VALID = "default value is not valid according to the requestPolicy"


def policy_problems(path: str, policy: Document, capacity: Any) -> list[str]:
    """Return the problems of the request policy of a capacity."""
    values, span = policy.get("validValues") or [], policy.get("validRange")
    if values and span is not None:
        why = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        return [forbidden(path, why)]
    field = "validValues" if values else "validRange"
    if not values and span is None:
        return []
    if policy.get("default") is None:
        return [required(child(path, "default"), f"required when {field} is defined")]
    standard, most = amount(policy["default"]), amount(capacity)
    if values:
        return _choice_problems(child(path, field), [amount(value) for value in values], standard, most)
    assert span is not None
    return _range_problems(child(path, field), span, standard, most)


def _choice_problems(path: str, values: list[Quantity], standard: Quantity, most: Quantity) -> list[str]:
    problems = []
    for number in range(1, len(values)):
        if values[number] < values[number - 1]:
            problems.append(
                invalid(index(path, number), str(values[number]), "values must be sorted in ascending order")
            )
    if len(values) > MOST_CHOICES:
        problems.append(too_many(path, len(values), MOST_CHOICES))
    else:
        for number, value in enumerate(values):
            if value > most:
                why = f"option is larger than capacity value: {most}"
                problems.append(invalid(index(path, number), str(value), why))
            if value in values[:number]:
                problems.append(duplicate(index(path, number), str(value.value())))
    if standard not in values:
        problems.append(invalid(path, str(standard), _NOT_VALID))
    return problems


def _range_problems(path: str, span: Document, standard: Quantity, most: Quantity) -> list[str]:
    if span.get("min") is None:
        return [required(child(path, "min"), "required when validRange is defined")]
    low = amount(span["min"])
    high = amount(span["max"]) if span.get("max") is not None else None
    problems = []

    def check(wrong: bool, field: str, value: Quantity, why: str) -> None:
        if wrong:
            problems.append(invalid(child(path, field), str(value), why))

    check(low > most, "min", low, f"min is larger than capacity value: {most}")
    check(standard < low, "min", standard, f"default is less than min: {low}")
    if high is not None:
        check(low > high, "max", low, f"min is larger than max: {high}")
        check(high > most, "max", high, f"max is larger than capacity value: {most}")
        check(standard > high, "max", standard, f"default is more than max: {high}")
    if span.get("step") is not None:
        step = amount(span["step"])
        check(low + step > most, "step", step, f"one step {low + step} is larger than capacity value: {most}")
        for value in (standard, high):
            if value is not None:
                # differs (D-014): the reference divides by zero here
                off = step.value() == 0 or (value.value() - low.value()) % step.value() != 0
                check(off, "step", value, f"value is not a multiple of a given step ({step}) from ({low})")
    return problems
