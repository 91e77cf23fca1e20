"""Defaulting and validation of job specs, and validation of their changes.

From the spec of a job, or of a cron job's template, to the same spec with defaults, and to problems.
"""

# upstream: pkg/apis/batch/{v1/defaults.go,validation/validation.go} (v1.36)

import copy
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from kubesched.api.field_errors import as_json, child, duplicate, invalid, not_supported, required
from kubesched.api.go_text import quote
from kubesched.api.labels import label_key_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    domain_path_problems,
    immutable,
    not_negative,
    one_of,
    part,
    text_problems,
    too_long,
    too_many,
)
from kubesched_controlplane.kinds.job import indexes
from kubesched_controlplane.kinds.pod.amounts import containers_of
from kubesched_controlplane.kinds.pod.defaults import default_spec
from kubesched_controlplane.kinds.workload.templates import template_problems

INDEXED, NON_INDEXED = "Indexed", "NonIndexed"
FAILED, TERMINATING_OR_FAILED = "Failed", "TerminatingOrFailed"
MOST_INT32: Final = 2**31 - 1
BACKOFF_LIMIT: Final = 6
_MOST_PARALLEL, _MOST_FAILED_INDEXES = 100_000, 100_000
_MANY_COMPLETIONS, _FEW = 100_000, 10_000
_MOST_RULES, _MOST_EXIT_CODES, _MOST_PATTERNS = 20, 255, 20
_LONGEST_MANAGER, _LONGEST_INDEXES = 63, 64 * 1024
_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATES = ("False", "True", "Unknown")
_NEEDS_INDEXES = "requires indexed completion mode"


# -- defaulting


def default_job_spec(spec: Document) -> None:
    """Set the defaults of a job's spec."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = BACKOFF_LIMIT if spec.get("backoffLimitPerIndex") is None else MOST_INT32
    for field, value in (("completionMode", NON_INDEXED), ("suspend", False), ("manualSelector", False)):
        if spec.get(field) is None:
            spec[field] = value
    if spec.get("podReplacementPolicy") is None:
        spec["podReplacementPolicy"] = TERMINATING_OR_FAILED if spec.get("podFailurePolicy") is None else FAILED
    default_template(spec)


def default_template(spec: Document) -> None:
    """Set the defaults of the pod template and the pod failure policy in a job's spec."""
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern["status"] = pattern.get("status") or "True"
    default_spec(part(part(spec, "template"), "spec"))


# -- validation


def job_spec_problems(path: str, spec: Document) -> list[str]:
    """Return the problems of a job's spec, except its selector."""
    problems = [problem for field in _COUNTS for problem in not_negative(child(path, field), spec.get(field))]
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        problems.append(required(child(path, "backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
    if spec.get("managedBy") is not None:
        here = child(path, "managedBy")
        problems += domain_path_problems(here, spec["managedBy"])
        if len(spec["managedBy"].encode()) > _LONGEST_MANAGER:
            problems.append(too_long(here, _LONGEST_MANAGER))
    problems += _mode_problems(path, spec)
    if spec.get("podFailurePolicy") is not None:
        problems += _failure_policy_problems(child(path, "podFailurePolicy"), spec)
    if spec.get("successPolicy") is not None:
        problems += _success_policy_problems(child(path, "successPolicy"), spec)
    problems += _replacement_problems(child(path, "podReplacementPolicy"), spec)
    problems += template_problems(child(path, "template"), spec["template"])
    return problems + _restart_problems(child(path, "template", "spec", "restartPolicy"), spec)


def _mode_problems(path: str, spec: Document) -> list[str]:
    mode = spec.get("completionMode", NON_INDEXED)
    problems = one_of(child(path, "completionMode"), mode, (NON_INDEXED, INDEXED))
    if mode == NON_INDEXED:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(field) is not None:
                problems.append(invalid(child(path, field), spec[field], _NEEDS_INDEXES))
    if mode != INDEXED:
        return problems
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes")
    parallel = spec.get("parallelism") or 0
    if completions is None:
        problems.append(required(child(path, "completions"), f"when completion mode is {INDEXED}"))
    if parallel > _MOST_PARALLEL:
        why = f"must be less than or equal to {_MOST_PARALLEL} when completion mode is {INDEXED}"
        problems.append(invalid(child(path, "parallelism"), parallel, why))
    here = child(path, "maxFailedIndexes")
    if failed is not None:
        if completions is not None and failed > completions:
            problems.append(invalid(here, failed, "must be less than or equal to completions"))
        if failed > _MOST_FAILED_INDEXES:
            problems.append(invalid(here, failed, f"must be less than or equal to {_MOST_FAILED_INDEXES}"))
    if (completions or 0) > _MANY_COMPLETIONS and spec.get("backoffLimitPerIndex") is not None:
        many = f"when completions are above {_MANY_COMPLETIONS} and used with backoff limit per index"
        why = f"must be less than or equal to {_FEW} {many}"
        if failed is None:
            problems.append(required(here, f"must be specified when completions is above {_MANY_COMPLETIONS}"))
        if parallel > _FEW:
            problems.append(
                invalid(child(path, "parallelism"), parallel, f"must be less than or equal to {_FEW} {why}")
            )
        if failed is not None and failed > _FEW:
            problems.append(invalid(here, failed, why))
    return problems


def _replacement_problems(path: str, spec: Document) -> list[str]:
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return []
    return one_of(path, policy, (FAILED, TERMINATING_OR_FAILED) if spec.get("podFailurePolicy") is None else (FAILED,))


def _restart_problems(path: str, spec: Document) -> list[str]:
    policy = spec["template"]["spec"]["restartPolicy"]
    if policy == "Always":
        return [required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [not_supported(path, policy, ("OnFailure", "Never"))]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    return []


def _failure_policy_problems(path: str, spec: Document) -> list[str]:
    rules = spec["podFailurePolicy"].get("rules") or ()
    here = child(path, "rules")
    problems = [too_many(here, len(rules), _MOST_RULES)] if len(rules) > _MOST_RULES else []
    names = {container.get("name") for container in containers_of(spec["template"]["spec"])}
    for number, rule in enumerate(rules):
        problems += _failure_rule_problems(f"{here}[{number}]", rule, spec, names)
    return problems


def _failure_rule_problems(path: str, rule: Document, spec: Document, names: set[Any]) -> list[str]:
    action = rule.get("action") or ""
    here = child(path, "action")
    problems = []
    if action == "FailIndex":
        if spec.get("backoffLimitPerIndex") is None:
            problems.append(invalid(here, action, "requires the backoffLimitPerIndex to be set"))
    else:
        problems += _choice_problems(here, action, _ACTIONS)
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if codes is not None:
        problems += _exit_codes_problems(child(path, "onExitCodes"), codes, names)
    problems += _patterns_problems(child(path, "onPodConditions"), conditions)
    if codes is not None and conditions:
        problems.append(f"{path}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not conditions:
        problems.append(f"{path}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required")
    return problems


def _choice_problems(path: str, value: str, choices: tuple[str, ...]) -> list[str]:
    if not value:
        return [required(path, f"valid values: [{' '.join(quote(each) for each in choices)}]")]
    return one_of(path, value, choices)


def _patterns_problems(path: str, patterns: Any) -> list[str]:
    problems = [too_many(path, len(patterns), _MOST_PATTERNS)] if len(patterns) > _MOST_PATTERNS else []
    for number, pattern in enumerate(patterns):
        problems += text_problems(f"{path}[{number}].type", pattern.get("type") or "", label_key_problems)
        problems += _choice_problems(f"{path}[{number}].status", pattern.get("status") or "", _STATES)
    return problems


def _exit_codes_problems(path: str, codes: Document, names: set[Any]) -> list[str]:
    problems = _choice_problems(child(path, "operator"), codes.get("operator") or "", _OPERATORS)
    name = codes.get("containerName")
    if name is not None and name not in names:
        why = "must be one of the container or initContainer names in the pod template"
        problems.append(invalid(child(path, "containerName"), name, why))
    values = codes.get("values") or []
    here = child(path, "values")
    if not values:
        problems.append(invalid(here, as_json(codes.get("values")), "at least one value is required"))
    elif len(values) > _MOST_EXIT_CODES:
        problems.append(too_many(here, len(values), _MOST_EXIT_CODES))
    problems += _code_problems(here, values, is_in=codes.get("operator") == "In")
    if any(before > after for before, after in pairwise(values)):
        problems.append(invalid(here, as_json(values), "must be ordered"))
    return problems


def _code_problems(path: str, values: list[int], *, is_in: bool) -> Iterator[str]:
    seen = set()
    for number, value in enumerate(values):
        if is_in and not value:
            yield invalid(f"{path}[{number}]", value, "must not be 0 for the In operator")
        if value in seen:
            yield duplicate(f"{path}[{number}]", value)
        seen.add(value)


def _success_policy_problems(path: str, spec: Document) -> list[str]:
    if spec.get("completionMode") != INDEXED:
        return [invalid(path, as_json(spec["successPolicy"]), _NEEDS_INDEXES)]
    rules = spec["successPolicy"].get("rules") or ()
    here = child(path, "rules")
    problems = []
    if not rules:
        problems.append(required(here, "at least one rules must be specified when the successPolicy is specified"))
    if len(rules) > _MOST_RULES:
        problems.append(too_many(here, len(rules), _MOST_RULES))
    for number, rule in enumerate(rules):
        problems += _success_rule_problems(f"{here}[{number}]", rule, spec.get("completions") or 0)
    return problems


def _success_rule_problems(path: str, rule: Document, completions: int) -> list[str]:
    count, text = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and text is None:
        return [required(path, "at least one of succeededCount or succeededIndexes must be specified")]
    problems, total = [], 0
    if text is not None:
        here = child(path, "succeededIndexes")
        if len(text.encode()) > _LONGEST_INDEXES:
            problems.append(too_long(here, _LONGEST_INDEXES))
        total, wrong = indexes.problem(text, completions)
        if wrong:
            problems.append(invalid(here, text, f"error parsing succeededIndexes: {wrong}"))
    if count is not None:
        here = child(path, "succeededCount")
        problems += not_negative(here, count)
        least = "must be less than or equal to"
        if count > completions:
            problems.append(invalid(here, count, f"{least} {completions} (the number of specified completions)"))
        if text is not None and count > total:
            why = f"{least} {total} (the number of indexes in the specified succeededIndexes field)"
            problems.append(invalid(here, count, why))
    return problems


# -- changes


def job_change_problems(path: str, new: Document, old: Document, status: Document) -> list[str]:
    """Return the problems of a change of a job's spec; `status` is the job's."""
    problems = []
    if new.get("completions") != old.get("completions"):
        if new.get("completionMode") != INDEXED:
            problems += immutable(child(path, "completions"), new.get("completions"), old.get("completions"))
        elif new.get("completions") is not None and new["completions"] != new["parallelism"]:
            why = f"can only be modified in tandem with {child(path, 'parallelism')}"
            problems.append(invalid(child(path, "completions"), new["completions"], why))
    problems += immutable(child(path, "selector"), new.get("selector"), old.get("selector"))
    problems += _template_change_problems(path, new, old, status)
    for field in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        problems += immutable(child(path, field), new.get(field), old.get(field))
    return problems


def _template_change_problems(path: str, new: Document, old: Document, status: Document) -> list[str]:
    """Return the problems of a changed template: a suspended job may change only scheduling fields and resources."""
    template, before = new["template"], copy.deepcopy(old["template"])
    suspended = bool(old.get("suspend"))
    is_suspended = any(
        each.get("type") == "Suspended" and each.get("status") == "True" for each in status.get("conditions") or ()
    )
    if not suspended or not (status.get("startTime") is None or is_suspended) or status.get("active"):
        return immutable(child(path, "template"), template, before)
    pod, pod_before = template["spec"], before["spec"]
    meta, meta_before = template.get("metadata") or {}, part(before, "metadata")
    for holder, source, fields in (
        (pod_before, pod, ("nodeSelector", "tolerations", "schedulingGates")),
        (meta_before, meta, ("annotations", "labels")),
    ):
        for field in fields:
            _copy_field(holder, source, field)
    affinity = part(pod_before, "affinity")
    _copy_field(affinity, pod.get("affinity") or {}, "nodeAffinity")
    if not affinity and pod.get("affinity") is None:
        del pod_before["affinity"]
    for field in ("containers", "initContainers"):
        for now, then in zip(pod.get(field) or (), pod_before.get(field) or (), strict=False):
            if now.get("name") == then.get("name"):
                _copy_field(then, now, "resources")
    return immutable(child(path, "template", "spec"), pod, pod_before)


def _copy_field(holder: Document, source: Document, field: str) -> None:
    holder.pop(field, None)
    if field in source:
        holder[field] = source[field]
