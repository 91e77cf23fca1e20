"""The pods of jobs: their termination, the policies that apply to it, and their templates.

From stored pods to exit codes, times and failure counts, and to policy decisions; from a job to the template of its
pods.
"""

# upstream: pkg/controller/job/{pod_failure_policy,backoff_utils,indexed_job_utils,success_policy}.go (v1.36)

import copy
from datetime import datetime, timedelta
from typing import Final

import msgspec

from kubesched.api.labels import parse_int64
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import moment
from kubesched_controlplane.controllers.workloads.pods import JOB_TRACKING, PodView
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.job import indexes
from kubesched_controlplane.kinds.pod.amounts import containers_of
from kubesched_controlplane.storage.store import Stored

INDEX: Final = "batch.kubernetes.io/job-completion-index"
FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES: Final = "batch.kubernetes.io/job-index-ignored-failure-count"
IGNORE, FAIL_JOB, FAIL_INDEX, COUNT = "Ignore", "FailJob", "FailIndex", "Count"
_INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
_LONGEST_START: Final = 58
_MOST_INT32 = 2**31 - 1


class _Terminated(msgspec.Struct, rename="camel"):
    exit_code: int = 0
    finished_at: str | None = None


class _State(msgspec.Struct):
    terminated: _Terminated | None = None


class _ContainerStatus(msgspec.Struct):
    name: str = ""
    state: _State = msgspec.field(default_factory=_State)


class _Condition(msgspec.Struct, rename="camel"):
    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class _Status(msgspec.Struct, rename="camel"):
    conditions: tuple[_Condition, ...] = ()
    container_statuses: tuple[_ContainerStatus, ...] = ()
    init_container_statuses: tuple[_ContainerStatus, ...] = ()


class _Container(msgspec.Struct, rename="camel"):
    name: str = ""
    restart_policy: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    init_containers: tuple[_Container, ...] = ()


class _Meta(msgspec.Struct, rename="camel"):
    annotations: dict[str, str] = {}
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None


class PodTermination(msgspec.Struct):
    """The fields of a stored pod that describe its termination."""

    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def failures(self) -> int:
        """Return how many earlier pods of the same index failed, ignored failures not counted."""
        return _whole(self.metadata.annotations.get(FAILURES, ""))

    @property
    def ignored_failures(self) -> int:
        """Return how many earlier failures of the same index were ignored."""
        return _whole(self.metadata.annotations.get(IGNORED_FAILURES, ""))

    def finished(self) -> datetime:
        """Return when the pod finished: by its containers, its Ready condition, its deletion, or its creation."""
        sidecars = {each.name for each in self.spec.init_containers if each.restart_policy == "Always"}
        statuses = (
            *self.status.container_statuses,
            *(each for each in self.status.init_container_statuses if each.name in sidecars),
        )
        times = [each.state.terminated.finished_at if each.state.terminated else None for each in statuses]
        if times and all(times):
            return max(moment(time) for time in times if time)
        for condition in self.status.conditions:
            if condition.type == "Ready" and condition.status == "False" and condition.last_transition_time:
                return moment(condition.last_transition_time)
        if self.metadata.deletion_timestamp:
            grace = timedelta(seconds=min(self.metadata.deletion_grace_period_seconds or 0, _MOST_INT32))
            return moment(self.metadata.deletion_timestamp) - grace
        return moment(self.metadata.creation_timestamp)


_decode = msgspec.json.Decoder(PodTermination).decode


def end_of(stored: Stored) -> PodTermination:
    """Return the termination of a pod."""
    return _decode(stored.body)


def _whole(text: str) -> int:
    number = parse_int64(text) or 0
    return number if 0 <= number <= _MOST_INT32 else 0


def index_of(pod: PodView, completions: int) -> int | None:
    """Return the completion index of a pod, None if it has no valid one."""
    number = parse_int64(pod.labels.get(INDEX, ""))
    return number if number is not None and 0 <= number < completions else None


# -- policies


def failure_action(policy: Document | None, pod: PodView, end: PodTermination) -> tuple[str, str]:
    """Return the action of the pod failure policy for a failed pod and the reason; empty texts if no rule matches."""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        action = rule.get("action") or ""
        if rule.get("onExitCodes") is not None:
            found = _matching_exit(end, rule["onExitCodes"])
            if found is not None:
                name, code = found
                where = f"Container {name} for pod {pod.namespace}/{pod.name} failed with exit code {code}"
                return action, f"{where} matching {action} rule at index {number}"
        elif rule.get("onPodConditions"):
            kind = _matching_condition(end, rule["onPodConditions"])
            if kind is not None:
                where = f"Pod {pod.namespace}/{pod.name} has condition {kind}"
                return action, f"{where} matching {action} rule at index {number}"
    return "", ""


def _matching_exit(end: PodTermination, wanted: Document) -> tuple[str, int] | None:
    for status in (*end.status.container_statuses, *end.status.init_container_statuses):
        terminated = status.state.terminated
        if terminated is None or not terminated.exit_code:
            continue
        if wanted.get("containerName") not in (None, status.name):
            continue
        among = terminated.exit_code in (wanted.get("values") or ())
        if among is (wanted.get("operator") == "In"):
            return status.name, terminated.exit_code
    return None


def _matching_condition(end: PodTermination, patterns: list[Document]) -> str | None:
    for condition in end.status.conditions:
        for pattern in patterns:
            if (condition.type, condition.status) == (pattern.get("type"), pattern.get("status")):
                return condition.type
    return None


def success_rule(policy: Document | None, completions: int, succeeded: indexes.Intervals) -> int | None:
    """Return the number of the success policy's rule that the succeeded indexes meet, None if they meet none."""
    for number, rule in enumerate((policy or {}).get("rules") or () if succeeded else ()):
        count = rule.get("succeededCount")
        if rule.get("succeededIndexes") is None:
            if count is not None and indexes.total(succeeded) >= count:
                return number
            continue
        wanted = indexes.read(rule["succeededIndexes"], completions)
        done = sum(
            max(0, min(last, other_last) - max(first, other_first) + 1)
            for first, last in wanted
            for other_first, other_last in succeeded
        )
        if wanted and (done == indexes.total(wanted) or (count is not None and done >= count)):
            return number
    return None


# -- templates


def tracked_template(job: Document) -> Document:
    """Return a job's template with the tracking finalizer and, for indexed jobs, the index as a variable."""
    template: Document = copy.deepcopy(job["spec"]["template"])
    meta = part(template, "metadata")
    meta["finalizers"] = [*(each for each in meta.get("finalizers") or () if each != JOB_TRACKING), JOB_TRACKING]
    if job["spec"].get("completionMode") == "Indexed":
        source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
        for container in containers_of(template["spec"]):
            variables = container.get("env") or []
            if all(each.get("name") != _INDEX_VARIABLE for each in variables):
                container["env"] = [*variables, {"name": _INDEX_VARIABLE, "valueFrom": source}]
    return template


def with_index(pod: Document, job: Document, index: int, before: tuple[int, int] | None) -> None:
    """Write the index into a pod; `before` are the counted and the ignored failures of the index so far."""
    name, meta = job["metadata"]["name"], pod["metadata"]
    end = f"-{index}-"
    meta["generateName"] = f"{name[: _LONGEST_START - len(end)]}{end}"
    part(meta, "labels")[INDEX] = str(index)
    annotations = part(meta, "annotations")
    annotations[INDEX] = str(index)
    if before is not None:
        annotations[FAILURES] = str(before[0])
        if before[1]:
            annotations[IGNORED_FAILURES] = str(before[1])
    pod["spec"] = {**pod["spec"], "hostname": f"{name}-{index}"}
