"""Cron jobs: jobs that are started by a schedule.

    last start ──schedule──▶ due? ──▶ past its deadline, or forbidden while another job runs? no ──▶ a job

From schedules and the time to jobs; finished jobs are kept up to the history limits. Of several missed starts only
the last is made up for.
"""

# upstream: pkg/controller/cronjob/{cronjob_controllerv2,utils}.go (v1.36)

from datetime import datetime, timedelta
from typing import Final

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.api.times import moment, timestamp
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.recorder import ControllerEventRecorder
from kubesched_controlplane.controllers.framework.retrying import Retries
from kubesched_controlplane.controllers.framework.views import controller_of, metadata_of
from kubesched_controlplane.controllers.workloads.jobs import JOBS
from kubesched_controlplane.controllers.workloads.owning import controller_reference, is_namespace_terminating
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.job.cron import Schedule, ScheduleError, parse_schedule, zone_of
from kubesched_controlplane.kinds.job.statuses import COMPLETE, JOB_FAILED, is_finished, is_true
from kubesched_controlplane.kinds.job.strategy import FORBID, REPLACE
from kubesched_controlplane.server.verbs.delete_options import BACKGROUND
from kubesched_controlplane.storage.store import DELETED, Change, Changed

CRON_JOBS = "cronjobs.batch"
_SCHEDULED: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_MANY_MISSED: Final = 100
# added to the time of the next start, in case clocks differ
_DELTA_SECONDS: Final = 0.1


class _Starts(msgspec.Struct):
    """The starts since the last one: the most recent due start, and about how many were missed."""

    since: datetime
    due: datetime | None = None
    missed: int = 0


class CronJobController(Controller):
    """Starts the jobs of cron jobs."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._recorder = ControllerEventRecorder(context, "cronjob-controller")
        self._retries = Retries(self.workqueue)
        # the names of jobs by their cron job
        self._jobs: dict[Key, dict[str, None]] = {}

    # -- events

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {JOBS: self._job_changed, CRON_JOBS: self._cron_job_changed}

    def _job_changed(self, change: Change) -> None:
        stored = change.new
        for each in (change.old, stored):
            owner = None if each is None else controller_of(metadata_of(each).owner_references)
            if owner is None or owner.kind != "CronJob":
                continue
            key = (stored.namespace, owner.name)
            jobs = self._jobs.setdefault(key, {})
            jobs.pop(stored.name, None)
            if each is stored and change.type != DELETED:
                jobs[stored.name] = None
            if not jobs:
                del self._jobs[key]
            self.workqueue.add(key)

    def _cron_job_changed(self, change: Change) -> None:
        key = (change.new.namespace, change.new.name)
        if change.type == DELETED:
            self.workqueue.forget(key)
            self._retries.forget(key)
            return
        cron_job = change.new.document()
        before = {} if change.old is None else change.old.document()["spec"]
        fields = ("schedule", "timeZone")
        if before and any(cron_job["spec"].get(field) != before.get(field) for field in fields):
            # a new schedule applies from now on
            schedule = self._schedule(cron_job)
            if schedule is not None:
                self._plan(key, cron_job, schedule)
            return
        self.workqueue.add(key)

    # -- reconciling

    def reconcile(self, key: Key) -> None:
        """Delete and count the finished jobs of a cron job, and start a job if one is due."""
        cron_job = self.context.find(CRON_JOBS, *key)
        if cron_job is None:
            return
        status = part(cron_job, "status")
        jobs = [job for name in self._jobs.get(key, ()) if (job := self.context.find(JOBS, key[0], name)) is not None]
        self._clean_up(cron_job, jobs)
        self._take_in(cron_job, jobs)
        try:
            if "deletionTimestamp" not in cron_job["metadata"]:
                self._reconcile_schedule(key, cron_job)
            self._retries.forget(key)
        except ApiError:
            self._retries.again(key)
        if not status.get("active"):
            status.pop("active", None)
        if cron_job != self.context.find(CRON_JOBS, *key):
            self.context.update(CRON_JOBS, cron_job, "status")

    def _take_in(self, cron_job: Document, jobs: list[Document]) -> None:
        """Remove finished and deleted jobs from the active ones of the status."""
        status = cron_job["status"]
        active = {each.get("uid") for each in status.get("active") or ()}
        for job in jobs:
            meta, finished = job["metadata"], is_finished(job.get("status") or {})
            if not finished:
                if meta["uid"] not in active:
                    message = f"Saw a job that the controller did not create or forgot: {meta['name']}"
                    self._recorder.warning(cron_job, "UnexpectedJob", message)
                continue
            if meta["uid"] in active:
                kind = COMPLETE if is_true(job["status"], COMPLETE) else JOB_FAILED
                self._drop_active(cron_job, meta["uid"])
                message = f"Saw completed job: {meta['name']}, condition: {kind}"
                self._recorder.normal(cron_job, "SawCompletedJob", message)
            time = job["status"].get("completionTime")
            if is_true(job["status"], COMPLETE) and time and time > (status.get("lastSuccessfulTime") or ""):
                status["lastSuccessfulTime"] = time
        there = {job["metadata"]["uid"] for job in jobs}
        for each in list(status.get("active") or ()):
            if each.get("uid") not in there:
                self._drop_active(cron_job, each.get("uid"))
                self._recorder.normal(cron_job, "MissingJob", f"Active job went missing: {each.get('name')}")

    def _drop_active(self, cron_job: Document, uid: str | None) -> None:
        status = cron_job["status"]
        status["active"] = [each for each in status.get("active") or () if each.get("uid") != uid]

    def _clean_up(self, cron_job: Document, jobs: list[Document]) -> None:
        """Delete the oldest finished jobs beyond the history limits."""
        spec = cron_job["spec"]
        for kind, field in ((COMPLETE, "successfulJobsHistoryLimit"), (JOB_FAILED, "failedJobsHistoryLimit")):
            finished = [job for job in jobs if is_true(job.get("status") or {}, kind)]
            finished.sort(key=lambda job: (job["status"].get("startTime") or "~", job["metadata"]["name"]))
            limit = spec.get(field)
            for job in finished[: max(0, len(finished) - limit)] if limit is not None else ():
                if self._delete(cron_job, job["metadata"]["name"]):
                    jobs.remove(job)

    def _delete(self, cron_job: Document, name: str) -> bool:
        stored = self.context.get(JOBS, cron_job["metadata"]["namespace"], name)
        if stored is None:
            return False
        self.context.delete(JOBS, stored, propagation=BACKGROUND)
        self._drop_active(cron_job, stored.uid)
        self._recorder.normal(cron_job, "SuccessfulDelete", f"Deleted job {name}")
        return True

    # -- the schedule

    def _schedule(self, cron_job: Document) -> Schedule | None:
        """Return the schedule of a cron job; None, and a warning event, if it cannot be parsed."""
        spec = cron_job["spec"]
        try:
            return parse_schedule(spec.get("schedule") or "", spec.get("timeZone"))
        except ScheduleError as error:
            message = f'unparseable schedule: "{spec.get("schedule")}" : {error}'
            self._recorder.warning(cron_job, "UnparseableSchedule", message)
            return None

    def _plan(self, key: Key, cron_job: Document, schedule: Schedule) -> None:
        """Queue a cron job for the time when its next job is due."""
        now = self.context.now()
        starts = self._starts(cron_job, schedule, now, within_deadline=False)
        since = starts.due or (now if starts.missed else starts.since)
        following = schedule.next(since)
        if following is not None:
            self.workqueue.add_after(key, max(0.0, (following - now).total_seconds()) + _DELTA_SECONDS)

    def _starts(self, cron_job: Document, schedule: Schedule, now: datetime, *, within_deadline: bool) -> _Starts:
        """Return the due start of a cron job, and the number of missed starts."""
        last = cron_job["status"].get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"]
        since = moment(last)
        seconds = cron_job["spec"].get("startingDeadlineSeconds")
        if within_deadline and seconds is not None:
            since = max(since, now - timedelta(seconds=min(seconds, 10**9)))
        first = schedule.next(since)
        if first is None or now < first:
            return _Starts(since)
        second = schedule.next(first)
        if second is None or now < second:
            return _Starts(since, first)
        between = max(1, round((second - first).total_seconds()))
        missed = int((now - first).total_seconds()) // between + 1
        # search from about the last but one on, since the intervals between starts may differ
        due: datetime | None = None
        following = schedule.next(first + timedelta(seconds=(missed - 2) * between))
        while following is not None and following <= now:
            due, following = following, schedule.next(following)
        return _Starts(since, due, missed)

    def _reconcile_schedule(self, key: Key, cron_job: Document) -> None:
        """Start a job if one is due, and queue the cron job for the next one."""
        spec = cron_job["spec"]
        if spec.get("suspend"):
            return
        schedule = self._schedule(cron_job)
        if schedule is None:
            return
        now = self.context.now()
        starts = self._starts(cron_job, schedule, now, within_deadline=True)
        if starts.due is not None:
            if starts.missed > _MANY_MISSED:
                message = (
                    "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
                )
                self._recorder.warning(cron_job, "TooManyMissedTimes", message)
            if self._may_start(cron_job, starts.due, now):
                self._start(cron_job, starts.due)
        self._plan(key, cron_job, schedule)

    def _may_start(self, cron_job: Document, due: datetime, now: datetime) -> bool:
        spec, status = cron_job["spec"], cron_job["status"]
        seconds = spec.get("startingDeadlineSeconds")
        if seconds is not None and due + timedelta(seconds=min(seconds, 10**9)) < now:
            message = f"Missed scheduled time to start a job: {due:%a, %d %b %Y %H:%M:%S +0000}"
            self._recorder.warning(cron_job, "MissSchedule", message)
            return False
        active = status.get("active") or ()
        name = _job_name(cron_job, due)
        if any(each.get("name") == name for each in active) or status.get("lastScheduleTime") == timestamp(due):
            return False
        if spec["concurrencyPolicy"] == FORBID and active:
            message = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._recorder.normal(cron_job, "JobAlreadyActive", message)
            return False
        if spec["concurrencyPolicy"] == REPLACE:
            for each in list(active):
                self._delete(cron_job, each.get("name") or "")
        return True

    def _start(self, cron_job: Document, due: datetime) -> None:
        meta, status = cron_job["metadata"], cron_job["status"]
        name = _job_name(cron_job, due)
        try:
            job = self.context.create(JOBS, job_of(cron_job, name, due))
        except ApiError as error:
            if is_namespace_terminating(error):
                return
            found = self.context.find(JOBS, meta["namespace"], name)
            if error.reason != "AlreadyExists" or found is None:
                self._recorder.warning(cron_job, "FailedCreate", f"Error creating job: {error.message}")
                raise
            owners = found["metadata"].get("ownerReferences") or ()
            if is_finished(found.get("status") or {}) or all(each["uid"] != meta["uid"] for each in owners):
                return
            job = found
        else:
            self._recorder.normal(cron_job, "SuccessfulCreate", f"Created job {name}")
        made = job["metadata"]
        reference = {"kind": "Job", "apiVersion": "batch/v1", "namespace": meta["namespace"], "name": name}
        reference |= {field: made[field] for field in ("uid", "resourceVersion")}
        status["active"] = [*(status.get("active") or ()), reference]
        status["lastScheduleTime"] = timestamp(due)


def _job_name(cron_job: Document, due: datetime) -> str:
    return f"{cron_job['metadata']['name']}-{int(due.timestamp()) // 60}"


def job_of(cron_job: Document, name: str, due: datetime) -> Document:
    """Return the job of a cron job for a start."""
    meta, template = cron_job["metadata"], cron_job["spec"]["jobTemplate"]
    described = template.get("metadata") or {}
    zone = zone_of(cron_job["spec"].get("timeZone") or "")
    annotations = {
        **(described.get("annotations") or {}),
        _SCHEDULED: due.astimezone(zone).isoformat().replace("+00:00", "Z"),
    }
    made: Document = {"name": name, "namespace": meta["namespace"], "annotations": annotations}
    if described.get("labels"):
        made["labels"] = dict(described["labels"])
    made["ownerReferences"] = [controller_reference("batch/v1", "CronJob", cron_job)]
    return {"metadata": made, "spec": template["spec"]}
