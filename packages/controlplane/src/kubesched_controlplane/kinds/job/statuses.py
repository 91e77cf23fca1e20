"""Validation of changes to a job's status.

From statuses to problems. Other controllers may manage jobs, so the invariants that clients rely on are enforced: a
finished job stays finished, has no uncounted pods, and has a start time and, if complete, a completion time.
"""

# upstream: pkg/apis/batch/validation/validation.go (validateJobStatus, ValidateJobStatusUpdate),
# pkg/registry/batch/job/strategy.go (getStatusValidationOptions) (v1.36)

from typing import Any

from kubesched.api.field_errors import as_json, duplicate, invalid, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import not_negative
from kubesched_controlplane.kinds.job import indexes
from kubesched_controlplane.kinds.job.specs import INDEXED

COMPLETE, JOB_FAILED, SUSPENDED = "Complete", "Failed", "Suspended"
FAILURE_TARGET, SUCCESS_MET = "FailureTarget", "SuccessCriteriaMet"
_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
# conditions that exclude each other
_EXCLUSIVE = (
    (COMPLETE, JOB_FAILED, "cannot set Complete=True and Failed=true conditions"),
    (COMPLETE, FAILURE_TARGET, "cannot set Complete=True and FailureTarget=true conditions"),
    (SUCCESS_MET, JOB_FAILED, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
    (SUCCESS_MET, FAILURE_TARGET, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
)
# conditions that need another condition
_NEEDED = (
    (JOB_FAILED, FAILURE_TARGET, "cannot set Failed=True condition without the FailureTarget=true condition"),
    (COMPLETE, SUCCESS_MET, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"),
)


def is_true(status: Document, kind: str) -> bool:
    """Return whether a condition of a job is true."""
    return any(
        condition.get("type") == kind and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )


def is_finished(status: Document) -> bool:
    """Return whether a job is complete or failed."""
    return is_true(status, COMPLETE) or is_true(status, JOB_FAILED)


def status_problems(new: Document, old: Document) -> list[str]:
    """Return the problems of a change of a job's status."""
    spec, status, before = new["spec"], new.get("status") or {}, old.get("status") or {}
    problems = [problem for field in _COUNTS for problem in not_negative(f"status.{field}", status.get(field))]
    problems += _uncounted_problems(status.get("uncountedTerminatedPods") or {})
    conditions = {kind: is_true(status, kind) for kind in (COMPLETE, JOB_FAILED, FAILURE_TARGET, SUCCESS_MET)}
    news = {kind for kind, true in conditions.items() if true and not is_true(before, kind)}
    for first, second, why in _EXCLUSIVE:
        if conditions[first] and conditions[second] and news & {first, second}:
            problems.append(_wrong_conditions(why))
    for kind, needed, why in _NEEDED:
        if kind in news and not conditions[needed]:
            problems.append(_wrong_conditions(why))
    for kind in conditions:
        if is_true(before, kind) and not conditions[kind]:
            terminal = "" if kind == SUCCESS_MET else "terminal "
            problems.append(_wrong_conditions(f"cannot disable the {terminal}{kind}=True condition"))
    if is_finished(status):
        problems += _end_problems(status, before)
    problems += _time_problems(spec, status, before)
    problems += _count_changes(spec, status, before)
    return problems + _index_problems(spec, status, before)


def _wrong_conditions(why: str) -> str:
    return f"status.conditions: Invalid value: {why}"


def _uncounted_problems(uncounted: Document) -> list[str]:
    problems = []
    seen: set[str] = set()
    for field in ("succeeded", "failed"):
        for number, uid in enumerate(uncounted.get(field) or ()):
            path = f"status.uncountedTerminatedPods.{field}[{number}]"
            if not uid:
                problems.append(invalid(path, "", "must not be empty"))
            elif uid in seen:
                problems.append(duplicate(path, uid))
            seen.add(uid)
    return problems


def _end_problems(status: Document, before: Document) -> list[str]:
    """Return the problems of the status of a finished job."""
    problems = []
    new = not is_finished(before)
    for field in ("active", "terminating"):
        count = status.get(field) or 0
        if count > 0 and (new or count != (before.get(field) or 0)):
            problems.append(invalid(f"status.{field}", count, f"{field}>0 is invalid for finished job"))
    uncounted = status.get("uncountedTerminatedPods") or {}
    if new and (uncounted.get("succeeded") or uncounted.get("failed")):
        path = "status.uncountedTerminatedPods"
        problems.append(invalid(path, as_json(uncounted), "must be empty for finished job"))
    if new and status.get("startTime") is None:
        problems.append(required("status.startTime", "startTime is required for finished job"))
    if is_true(status, COMPLETE) and status.get("completionTime") is None:
        problems.append(required("status.completionTime", "completionTime is required for Complete jobs"))
    return problems


def _time_problems(spec: Document, status: Document, before: Document) -> list[str]:
    problems = []
    start, end = status.get("startTime"), status.get("completionTime")
    if end is not None and not is_true(status, COMPLETE):
        why = "cannot set completionTime when there is no Complete=True condition"
        problems.append(invalid("status.completionTime", end, why))
    if start is not None and end is not None and end < start:
        problems.append(invalid("status.completionTime", end, "must be equal to or after `startTime`"))
    if end is not None and before.get("completionTime") not in (None, end):
        problems.append(invalid("status.completionTime", end, "field is immutable"))
    resumes = is_true(before, SUSPENDED) and not is_true(status, SUSPENDED)
    if before.get("startTime") not in (None, start) and not spec.get("suspend") and not resumes:
        why = "field is immutable for unsuspended job once set"
        problems.append(invalid("status.startTime", as_json(start), why))
    return problems


def _count_changes(spec: Document, status: Document, before: Document) -> list[str]:
    problems = []
    ready, active = status.get("ready") or 0, status.get("active") or 0
    if ready > active and (ready, active) != (before.get("ready") or 0, before.get("active") or 0):
        problems.append(invalid("status.ready", ready, "cannot set more ready pods than active"))
    may_shrink = spec.get("completionMode") == INDEXED and spec.get("completions") == spec.get("parallelism")
    for field in ("failed", *(() if may_shrink else ("succeeded",))):
        if (count := status.get(field) or 0) < (before.get(field) or 0):
            problems.append(invalid(f"status.{field}", count, f"cannot decrease the {field} counter"))
    return problems


def _index_problems(spec: Document, status: Document, before: Document) -> list[str]:
    problems = []
    completions: Any = spec.get("completions")
    completed, failed = status.get("completedIndexes") or "", status.get("failedIndexes")
    if completed != (before.get("completedIndexes") or ""):
        path = "status.completedIndexes"
        wrong = indexes.problem(completed, completions)[1] if completions is not None else ""
        if wrong:
            problems.append(invalid(path, completed, f"error parsing completedIndexes: {wrong}"))
        if completed and spec.get("completionMode") != INDEXED:
            why = "cannot set non-empty completedIndexes when non-indexed completion mode"
            problems.append(invalid(path, completed, why))
    if failed is not None and failed != before.get("failedIndexes"):
        path = "status.failedIndexes"
        if spec.get("backoffLimitPerIndex") is None:
            why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
            problems.append(invalid(path, failed, why))
        elif completions is not None:
            wrong = indexes.problem(failed, completions)[1]
            if wrong:
                problems.append(invalid(path, failed, f"error parsing failedIndexes: {wrong}"))
            both = _overlap(indexes.read(completed, completions), indexes.read(failed, completions))
            if both is not None:
                why = f"failedIndexes and completedIndexes overlap at index: {both}"
                problems.append(invalid(path, failed, why))
    return problems


def _overlap(one: indexes.Intervals, other: indexes.Intervals) -> int | None:
    """Return the first index in both intervals, None if they do not overlap."""
    shared = [max(a, c) for a, b in one for c, d in other if a <= d and c <= b]
    return min(shared, default=None)
