"""One reconcile of a job: its terminal pods, its completed and failed indexes, and whether the job ends.

From a job and its pods to counts, to completed and failed indexes, and to the condition that ends the job. Nothing is
written to the server.
"""

# upstream: pkg/controller/job/{job_controller,indexed_job_utils}.go (v1.36)

from datetime import datetime, timedelta

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import moment, timestamp
from kubesched_controlplane.controllers.workloads import job_pods
from kubesched_controlplane.controllers.workloads.conditions import find_condition
from kubesched_controlplane.controllers.workloads.job_backoff import Backoff
from kubesched_controlplane.controllers.workloads.job_pods import PodTermination
from kubesched_controlplane.controllers.workloads.pods import PodView
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.job import indexes
from kubesched_controlplane.kinds.job.specs import FAILED, INDEXED
from kubesched_controlplane.kinds.job.statuses import FAILURE_TARGET, SUCCESS_MET, is_true


class JobSync(msgspec.Struct):
    """One reconcile of a job."""

    job: Document
    pods: list[PodView]
    # by name: the termination of pods that are not counted yet
    ends: dict[str, PodTermination]
    now: datetime
    succeeded: int = 0
    failed: int = 0
    # the condition that ends the job, None if it continues
    end: Document | None = None
    # completed indexes, and failed indexes
    done: indexes.Intervals = ()
    lost: indexes.Intervals = ()
    # the last failed pod of each index that will be retried
    last_failed: dict[int, PodView] = msgspec.field(default_factory=dict)

    @property
    def spec(self) -> Document:
        """Return the spec of the job."""
        spec: Document = self.job["spec"]
        return spec

    @property
    def status(self) -> Document:
        """Return the status of the job, which is changed in place."""
        return part(self.job, "status")

    @property
    def deleting(self) -> bool:
        """Return whether the job is terminating."""
        return "deletionTimestamp" in self.job["metadata"]

    @property
    def active(self) -> list[PodView]:
        """Return the active pods."""
        return [pod for pod in self.pods if pod.active]

    @property
    def indexed(self) -> bool:
        """Return whether the job's completion mode is Indexed."""
        return bool(self.spec.get("completionMode") == INDEXED)

    @property
    def per_index(self) -> bool:
        """Return whether the job has a backoff limit for each index."""
        return self.spec.get("backoffLimitPerIndex") is not None

    @property
    def waits_for_end(self) -> bool:
        """Return whether a terminating pod is replaced only when it is terminal."""
        return self.spec.get("podReplacementPolicy") == FAILED or self.spec.get("podFailurePolicy") is not None

    def index(self, pod: PodView) -> int | None:
        """Return the completion index of a pod, None if it has no valid one."""
        return job_pods.index_of(pod, self.spec.get("completions") or 0)

    def has_failed(self, pod: PodView) -> bool:
        """Return whether a pod has failed; terminating pods count as failed unless their end is awaited."""
        if pod.phase == "Failed":
            return True
        return not self.waits_for_end and pod.deleting and pod.phase != "Succeeded"

    def is_counted(self, pod: PodView) -> bool:
        """Return whether the failure of a pod counts, which the pod failure policy may ignore."""
        policy = self.spec.get("podFailurePolicy")
        if policy is None or pod.name not in self.ends:
            return True
        return job_pods.failure_action(policy, pod, self.ends[pod.name])[0] != job_pods.IGNORE

    def times_failed(self, pod: PodView) -> Backoff:
        """Return the backoff of a failed pod's index: all its failures, and the time of this one."""
        end = self.ends[pod.name]
        return Backoff(end.failures + end.ignored_failures + 1, end.finished())

    def failures_before(self, index: int) -> tuple[int, int]:
        """Return the counted and the ignored failures of an index so far."""
        last = self.last_failed.get(index)
        if last is None:
            return 0, 0
        end, counted = self.ends[last.name], self.is_counted(last)
        return end.failures + counted, end.ignored_failures + (not counted)

    def pending_indexes(self, count: int) -> list[int]:
        """Return the first indexes that are neither completed, failed nor running, up to a number."""
        running = [pod for pod in self.pods if pod.active or (self.waits_for_end and pod.terminating)]
        taken = [index for pod in running if (index := self.index(pod)) is not None]
        settled = indexes.with_indexes(indexes.joined((*self.done, *self.lost)), taken)
        found: list[int] = []
        candidate, completions = 0, self.spec["completions"]
        for first, last in (*settled, (completions, completions)):
            found += range(candidate, min(first, completions, candidate + count - len(found)))
            candidate = last + 1
        return found

    def condition(self, kind: str, reason: str, message: str, state: str = "True") -> Document:
        """Return a condition with the time of this reconcile."""
        now = timestamp(self.now)
        times = {"lastProbeTime": now, "lastTransitionTime": now}
        return {"type": kind, "status": state, **times, "reason": reason, "message": message}


def take_stock(sync: JobSync, backoff: Backoff) -> Backoff:
    """Count the terminal pods of a job, and find the condition that ends it; return its new backoff."""
    status = sync.status
    uncounted = part(status, "uncountedTerminatedPods")
    noted = {*(uncounted.get("succeeded") or ()), *(uncounted.get("failed") or ())}
    new = [pod for pod in sync.pods if pod.name in sync.ends and pod.uid not in noted]
    if sync.indexed:
        new = [pod for pod in new if sync.index(pod) is not None]
    succeeded = [pod for pod in new if pod.phase == "Succeeded"]
    failed = [pod for pod in new if sync.has_failed(pod)]
    sync.succeeded = (status.get("succeeded") or 0) + len(succeeded) + len(uncounted.get("succeeded") or ())
    sync.failed = (status.get("failed") or 0) + len(uncounted.get("failed") or ())
    sync.failed += sum(1 for pod in failed if sync.is_counted(pod))
    if status.get("startTime") is None and not sync.spec.get("suspend"):
        status["startTime"] = timestamp(sync.now)
    if is_true(status, SUCCESS_MET):
        sync.end = find_condition(status, SUCCESS_MET)
    elif is_true(status, FAILURE_TARGET):
        sync.end = find_condition(status, FAILURE_TARGET)
    else:
        sync.end = _failure(sync)
    if sync.indexed:
        _judge_indexes(sync)
    ended = [[sync.ends[pod.name].finished() for pod in pods] for pods in (succeeded, failed)]
    return backoff.after(*ended)


def seconds_to_deadline(sync: JobSync) -> float | None:
    """Return the seconds until the active deadline of a job, None without one."""
    seconds, start = sync.spec.get("activeDeadlineSeconds"), sync.status.get("startTime")
    if seconds is None or start is None or sync.spec.get("suspend"):
        return None
    return (moment(start) + timedelta(seconds=seconds) - sync.now).total_seconds()


def _failure(sync: JobSync) -> Document | None:
    """Return the condition of a job that failed by policy, backoff limit or deadline; None if it did not."""
    for pod in sync.pods:
        if pod.name in sync.ends and sync.has_failed(pod):
            action, why = job_pods.failure_action(sync.spec.get("podFailurePolicy"), pod, sync.ends[pod.name])
            if action == job_pods.FAIL_JOB:
                return sync.condition(FAILURE_TARGET, "PodFailurePolicy", why)
    if sync.failed > sync.spec["backoffLimit"] or _restarted_too_often(sync):
        why = "Job has reached the specified backoff limit"
        return sync.condition(FAILURE_TARGET, "BackoffLimitExceeded", why)
    left = seconds_to_deadline(sync)
    if left is not None and left <= 0:
        why = "Job was active longer than specified deadline"
        return sync.condition(FAILURE_TARGET, "DeadlineExceeded", why)
    return None


def _restarted_too_often(sync: JobSync) -> bool:
    """Return whether the container restarts of a job's pods have reached its backoff limit."""
    if sync.spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(pod.restarts for pod in sync.pods if pod.phase in ("Running", "Pending"))
    limit: int = sync.spec["backoffLimit"]
    return restarts > 0 if limit == 0 else restarts >= limit


def _judge_indexes(sync: JobSync) -> None:
    """Find the completed and the failed indexes of a job, and whether they end the job."""
    spec, status = sync.spec, sync.status
    completions = spec["completions"]
    ended = [(index, pod) for pod in sync.pods if pod.name in sync.ends and (index := sync.index(pod)) is not None]
    done = [index for index, pod in ended if pod.phase == "Succeeded"]
    sync.done = indexes.with_indexes(indexes.read(status.get("completedIndexes") or "", completions), done)
    sync.succeeded = indexes.total(sync.done)
    if sync.per_index:
        lost = [index for index, pod in ended if _is_given_up(sync, pod)]
        sync.lost = indexes.with_indexes(indexes.read(status.get("failedIndexes") or "", completions), lost)
        _find_last_failed(sync, ended)
        count, most = indexes.total(sync.lost), spec.get("maxFailedIndexes")
        if sync.end is None and most is not None and count > most:
            why = "Job has exceeded the specified maximal number of failed indexes"
            sync.end = sync.condition(FAILURE_TARGET, "MaxFailedIndexesExceeded", why)
        elif sync.end is None and count and count + sync.succeeded >= completions:
            sync.end = sync.condition(FAILURE_TARGET, "FailedIndexes", "Job has failed indexes")
    if sync.end is None:
        rule = job_pods.success_rule(spec.get("successPolicy"), completions, sync.done)
        if rule is not None:
            sync.end = sync.condition(SUCCESS_MET, "SuccessPolicy", f"Matched rules at index {rule}")


def _is_given_up(sync: JobSync, pod: PodView) -> bool:
    """Return whether the index of a pod has failed: by policy, or by its backoff limit."""
    if not sync.has_failed(pod):
        return False
    end = sync.ends[pod.name]
    action = job_pods.failure_action(sync.spec.get("podFailurePolicy"), pod, end)[0]
    if action == job_pods.FAIL_INDEX:
        return True
    limit: int = sync.spec["backoffLimitPerIndex"]
    return action != job_pods.IGNORE and end.failures >= limit


def _find_last_failed(sync: JobSync, ended: list[tuple[int, PodView]]) -> None:
    """Find the last failed pod of each index to retry; the next pod continues its failure count."""
    running = {sync.index(pod) for pod in sync.active}
    for index, pod in ended:
        settled = indexes.contains(sync.done, index) or indexes.contains(sync.lost, index) or index in running
        if settled or not sync.has_failed(pod):
            continue
        last = sync.last_failed.get(index)
        if last is None or sync.times_failed(last) <= sync.times_failed(pod):
            sync.last_failed[index] = pod
