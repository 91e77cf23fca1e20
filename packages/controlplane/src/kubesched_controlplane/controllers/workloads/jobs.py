"""Jobs: run pods until enough of them have succeeded.

    terminal pods ──▶ enough succeeded? backoff limit? deadline? ──▶ pods created or deleted ──▶ complete or failed

From jobs to pods, and from terminal pods to counts and conditions. A finalizer keeps a pod until it is counted: its UID
is written into the status, then the finalizer is removed, then the count is raised; so each pod is counted once.
"""

# upstream: pkg/controller/job/{job_controller,indexed_job_utils}.go, pkg/controller/ttlafterfinished (v1.36)

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.api.times import moment
from kubesched_controlplane.controllers.framework.controller import ControllerContext, Key
from kubesched_controlplane.controllers.workloads import job_pods
from kubesched_controlplane.controllers.workloads.conditions import find_condition
from kubesched_controlplane.controllers.workloads.job_backoff import Backoff
from kubesched_controlplane.controllers.workloads.job_sync import JobSync, seconds_to_deadline, take_stock
from kubesched_controlplane.controllers.workloads.owning import BURST, PodOwners, is_namespace_terminating
from kubesched_controlplane.controllers.workloads.pods import JOB_TRACKING, PodsByOwner, PodView
from kubesched_controlplane.controllers.workloads.victims import in_order_of_end
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.job import indexes
from kubesched_controlplane.kinds.job.statuses import COMPLETE, JOB_FAILED, SUCCESS_MET, SUSPENDED, is_finished
from kubesched_controlplane.server.verbs.delete_options import FOREGROUND

JOBS = "jobs.batch"
_OURS: Final = "kubernetes.io/job-controller"
# the most pods that are counted in one reconcile, since their UIDs are in the status meanwhile
_MOST_UNCOUNTED: Final = 500
# the prefix of keys that are pods, not jobs
_POD: Final = "pod/"


class JobController(PodOwners):
    """Creates, counts and deletes the pods of jobs, and keeps their status."""

    prefix = JOBS
    api_version, kind, component = "batch/v1", "Job", "job-controller"
    batch_seconds = 0.1

    def __init__(self, context: ControllerContext, pods: PodsByOwner) -> None:
        super().__init__(context, pods)
        self._backoffs: dict[Key, Backoff] = {}

    # -- orphan pods

    def forget(self, key: Key, uid: str) -> None:
        """Forget a deleted job; queue its pods, to remove their tracking finalizers."""
        self._backoffs.pop(key, None)
        for pod in self.pods.of(uid):
            self.lost(pod)

    def lost(self, pod: PodView) -> None:
        """Queue a pod whose job does not need to count it, to remove its tracking finalizer."""
        if pod.tracked:
            self.workqueue.add((pod.namespace, _POD + pod.name))

    def orphan_changed(self, pod: PodView) -> None:
        """Queue the jobs that may adopt a pod, and the pod itself, to remove its tracking finalizer."""
        super().orphan_changed(pod)
        self.lost(pod)

    def adopted(self, meta: Document) -> None:
        """Add the tracking finalizer to an adopted pod."""
        meta["finalizers"] = [*(meta.get("finalizers") or ()), JOB_TRACKING]

    def _let_go(self, namespace: str, name: str) -> None:
        pod = self.pods.get(namespace, name)
        if pod is None or not pod.tracked:
            return
        if pod.owner is not None and pod.owner.kind == self.kind:
            job = self.context.find(self.prefix, namespace, pod.owner.name)
            if job is not None and job["metadata"]["uid"] == pod.owner.uid and not is_finished(job.get("status") or {}):
                return
        self._untrack(pod)

    def _untrack(self, pod: PodView) -> None:
        def drop(meta: Document) -> None:
            meta["finalizers"] = [each for each in meta.get("finalizers") or () if each != JOB_TRACKING]

        self.change_pod(pod, drop)

    # -- reconciling

    def reconcile(self, key: Key) -> None:
        """Count a job's terminal pods, create or delete pods, and write the status; delete an expired job."""
        if key[1].startswith(_POD):
            self._let_go(key[0], key[1].removeprefix(_POD))
            return
        job = self.context.find(self.prefix, *key)
        if job is None or job["spec"].get("managedBy") not in (None, _OURS):
            return
        if is_finished(part(job, "status")):
            self._see_to_end(key, job)
            return
        pods = self.claim(job)
        sync = JobSync(job, pods, self._ends(pods), self.context.now())
        self._backoffs[key] = take_stock(sync, self._backoffs.get(key, Backoff()))
        left = seconds_to_deadline(sync)
        if left is not None and left > 0:
            self.workqueue.add_after(key, left)
        problem: ApiError | None = None
        try:
            self._manage(key, sync)
        except ApiError as error:
            problem = error
        self._settle(key, sync)
        if problem is None:
            self.retries.forget(key)
        elif not is_namespace_terminating(problem):
            self.retries.again(key)

    def _ends(self, pods: Iterable[PodView]) -> dict[str, job_pods.PodTermination]:
        """Return the termination, by name, of pods that are not counted yet."""
        found = {}
        for pod in pods:
            if pod.tracked and (pod.terminal or pod.deleting):
                stored = self.context.get(PODS, pod.namespace, pod.name)
                if stored is not None:
                    found[pod.name] = job_pods.end_of(stored)
        return found

    def _own(self, sync: JobSync) -> list[PodView]:
        """Return the current pods of a job."""
        return self.pods.of(sync.job["metadata"]["uid"])

    def _see_to_end(self, key: Key, job: Document) -> None:
        """Remove the tracking finalizers of a finished job's pods; delete the job after its time to live."""
        self._backoffs.pop(key, None)
        for pod in self.pods.of(job["metadata"]["uid"]):
            self.lost(pod)
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        if seconds is None or "deletionTimestamp" in job["metadata"]:
            return
        end = find_condition(job["status"], COMPLETE) or find_condition(job["status"], JOB_FAILED) or {}
        time = moment(end.get("lastTransitionTime") or job["metadata"]["creationTimestamp"])
        left = (time + timedelta(seconds=seconds) - self.context.now()).total_seconds()
        stored = self.context.get(self.prefix, *key)
        if left > 0:
            self.workqueue.add_after(key, left)
        elif stored is not None:
            self.context.delete(self.prefix, stored, propagation=FOREGROUND)

    # -- creating and deleting pods

    def _manage(self, key: Key, sync: JobSync) -> None:
        """Create or delete pods of a job, and find whether it has succeeded or is suspended."""
        if sync.end is not None:
            for pod in sync.active:
                self.delete_pod(sync.job, pod)
            return
        if not sync.deleting:
            self._match(key, sync)
        completions = sync.spec.get("completions")
        enough = sync.succeeded > 0 if completions is None else sync.succeeded >= completions
        if enough and not any(pod.active for pod in self._own(sync)):
            why = "Reached expected number of succeeded pods"
            sync.end = sync.condition(SUCCESS_MET, "CompletionsReached", why)
        elif not sync.deleting:
            self._note_suspension(sync)

    def _match(self, key: Key, sync: JobSync) -> None:
        """Create or delete pods until the active ones match the parallelism and remaining completions."""
        spec, active = sync.spec, len(sync.active)
        if spec.get("suspend"):
            self._retire(sync, sync.active)
            return
        if spec.get("completions") is None:
            wanted = active if sync.succeeded else spec["parallelism"]
        else:
            wanted = max(0, min(spec["completions"] - sync.succeeded, spec["parallelism"]))
        surplus = self._surplus(sync, max(0, active - wanted))
        if surplus:
            self._retire(sync, surplus[:BURST])
            return
        terminating = sum(1 for pod in sync.pods if pod.terminating) if sync.waits_for_end else 0
        missing = wanted - active - terminating
        if missing <= 0:
            return
        left = 0.0 if sync.per_index else self._backoffs[key].seconds_left(sync.now)
        if left > 0:
            self.workqueue.add_after(key, left)
        elif sync.indexed:
            self._start_indexes(key, sync, min(missing, BURST))
        else:
            template = job_pods.tracked_template(sync.job)
            for _ in range(min(missing, BURST)):
                if not self.create_pod(sync.job, self.pod_of(sync.job, template)):
                    return

    def _start_indexes(self, key: Key, sync: JobSync, count: int) -> None:
        """Create pods for pending indexes; requeue the job after the backoff of failed indexes."""
        template = job_pods.tracked_template(sync.job)
        waits = []
        for index in sync.pending_indexes(count):
            last = sync.last_failed.get(index)
            left = 0.0 if last is None else sync.times_failed(last).seconds_left(sync.now)
            if left > 0:
                waits.append(left)
                continue
            pod = self.pod_of(sync.job, template)
            job_pods.with_index(pod, sync.job, index, sync.failures_before(index) if sync.per_index else None)
            if not self.create_pod(sync.job, pod):
                return
            sync.last_failed.pop(index, None)
        if waits:
            self.workqueue.add_after(key, min(waits))

    def _retire(self, sync: JobSync, pods: Iterable[PodView]) -> None:
        """Remove the tracking finalizers of surplus pods, and delete the pods."""
        for pod in pods:
            self._untrack(pod)
            self.delete_pod(sync.job, pod)

    def _surplus(self, sync: JobSync, count: int) -> list[PodView]:
        """Return the pods to delete: duplicates of an index, pods without an index, and more up to the count."""
        doomed: list[PodView] = []
        rest = sync.active
        if sync.indexed:
            by_index: dict[int | None, list[PodView]] = {}
            for pod in rest:
                by_index.setdefault(sync.index(pod), []).append(pod)
            doomed, rest = by_index.pop(None, []), []
            for pods in by_index.values():
                *more, last = in_order_of_end(pods)
                doomed += more
                rest.append(last)
        if len(doomed) < count:
            doomed += in_order_of_end(rest)[: count - len(doomed)]
        return doomed

    def _note_suspension(self, sync: JobSync) -> None:
        status, suspended = sync.status, bool(sync.spec.get("suspend"))
        condition = find_condition(status, SUSPENDED)
        if suspended and (condition is None or condition.get("status") != "True"):
            _put(status, sync.condition(SUSPENDED, "JobSuspended", "Job suspended"))
            self.recorder.normal(sync.job, "Suspended", "Job suspended")
            status.pop("startTime", None)
        elif not suspended and condition is not None and condition.get("status") != "False":
            _put(status, sync.condition(SUSPENDED, "JobResumed", "Job resumed", "False"))
            self.recorder.normal(sync.job, "Resumed", "Job resumed")
            status["startTime"] = self.context.time()

    # -- counting

    def _settle(self, key: Key, sync: JobSync) -> None:
        """Count terminal pods, remove their tracking finalizers, and write the status."""
        ready = self._note_uncounted(sync)
        if sync.end is not None and find_condition(sync.status, sync.end["type"]) is None:
            _put(sync.status, sync.end)
        _write_indexes(sync)
        if ready:
            self._write(key, sync)
        for pod in ready:
            self._untrack(pod)
        self._raise_counts(sync)
        finished = self._finish(sync)
        self._write(key, sync)
        if finished is None:
            return
        if finished["type"] == COMPLETE:
            self.recorder.normal(sync.job, "Completed", "Job completed")
        else:
            self.recorder.warning(sync.job, finished["reason"], finished["message"])

    def _write(self, key: Key, sync: JobSync) -> None:
        """Write the status of a job if it has changed."""
        own = self._own(sync)
        active = [pod for pod in own if pod.active]
        _write_count(sync.status, "active", len(active))
        sync.status["ready"] = sum(1 for pod in active if pod.ready)
        sync.status["terminating"] = sum(1 for pod in own if pod.terminating)
        if sync.job != self.context.find(self.prefix, *key):
            sync.job = self.context.update(self.prefix, sync.job, "status")

    def _note_uncounted(self, sync: JobSync) -> list[PodView]:
        """Write the UIDs of pods to count into the status; return the pods whose finalizer can be removed."""
        uncounted = part(sync.status, "uncountedTerminatedPods")
        ended = sync.end is not None and sync.end["type"] != SUCCESS_MET
        ready: list[PodView] = []
        for pod in self._own(sync):
            if not pod.tracked or len(ready) >= _MOST_UNCOUNTED or not self._may_count(sync, pod):
                continue
            ready.append(pod)
            field = "succeeded" if pod.phase == "Succeeded" else "failed"
            if field == "succeeded":
                # indexed jobs count completed indexes, not pods
                counts = not sync.indexed
            else:
                valid = not sync.indexed or sync.index(pod) is not None
                counts = valid and (ended or sync.has_failed(pod)) and sync.is_counted(pod)
            noted = uncounted.get(field) or []
            if counts and pod.uid not in noted:
                uncounted[field] = [*noted, pod.uid]
        return ready

    def _may_count(self, sync: JobSync, pod: PodView) -> bool:
        """Return whether a pod can be counted now; the last failed pod of an index waits for its replacement."""
        if sync.end is not None or sync.deleting or pod.phase == "Succeeded":
            return True
        if not sync.has_failed(pod) or pod.name not in sync.ends:
            return False
        index = sync.index(pod) if sync.per_index else None
        last = None if index is None else sync.last_failed.get(index)
        return last is None or last.uid != pod.uid

    def _raise_counts(self, sync: JobSync) -> None:
        """Raise the counts by the uncounted pods of the status whose finalizer was removed."""
        uncounted = part(sync.status, "uncountedTerminatedPods")
        tracked = {pod.uid for pod in self._own(sync) if pod.tracked}
        for field in ("succeeded", "failed"):
            uids = uncounted.pop(field, None) or []
            left = [uid for uid in uids if uid in tracked]
            if left:
                uncounted[field] = left
            _write_count(sync.status, field, (sync.status.get(field) or 0) + len(uids) - len(left))

    def _finish(self, sync: JobSync) -> Document | None:
        """Set the final condition of a job that has ended and has no pods left to count; return the condition."""
        status = sync.status
        left = any(pod.active or pod.terminating or pod.tracked for pod in self._own(sync))
        if sync.end is None or left or any(status["uncountedTerminatedPods"].values()):
            return None
        kind = COMPLETE if sync.end["type"] == SUCCESS_MET else JOB_FAILED
        condition = sync.condition(kind, sync.end["reason"], sync.end["message"])
        _put(status, condition)
        if kind == COMPLETE:
            status["completionTime"] = condition["lastTransitionTime"]
        status.setdefault("startTime", condition["lastTransitionTime"])
        return condition


def _write_indexes(sync: JobSync) -> None:
    """Write the completed and the failed indexes into the status of a job."""
    if not sync.indexed:
        return
    status = sync.status
    _write_count(status, "succeeded", indexes.total(sync.done))
    status["completedIndexes"] = indexes.written(sync.done)
    if not status["completedIndexes"]:
        del status["completedIndexes"]
    if sync.per_index:
        status["failedIndexes"] = indexes.written(sync.lost)


def _write_count(status: Document, field: str, number: int) -> None:
    status[field] = number
    if not number:
        del status[field]


def _put(status: Document, condition: Document) -> None:
    """Replace the condition of the same type, or append the condition."""
    conditions = list(status.get("conditions") or ())
    places = [number for number, each in enumerate(conditions) if each.get("type") == condition["type"]]
    if places:
        conditions[places[0]] = condition
    else:
        conditions.append(condition)
    status["conditions"] = conditions
