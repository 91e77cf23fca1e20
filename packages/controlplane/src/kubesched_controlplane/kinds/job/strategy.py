"""The strategy of jobs and cron jobs."""

# upstream: pkg/registry/batch/{job,cronjob}/strategy.go, pkg/apis/batch/validation/validation.go (v1.36)

import re
from typing import Final

from kubesched.api.field_errors import invalid, not_supported, required
from kubesched.api.labels import InvalidSelectorError, from_label_selector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    as_selector,
    dns_label_problems,
    label_selector_problems,
    not_negative,
    one_of,
    part,
    shown,
)
from kubesched_controlplane.kinds.job.cron import ScheduleError, parse_schedule, zone_of
from kubesched_controlplane.kinds.job.specs import (
    INDEXED,
    default_job_spec,
    default_template,
    job_change_problems,
    job_spec_problems,
)
from kubesched_controlplane.kinds.job.statuses import status_problems
from kubesched_controlplane.kinds.workload.templates import TemplateStrategy, match_problems
from kubesched_controlplane.registry.strategy import StrategyContext

JOB_NAME, OLD_JOB_NAME = "batch.kubernetes.io/job-name", "job-name"
CONTROLLER_UID, OLD_CONTROLLER_UID = "batch.kubernetes.io/controller-uid", "controller-uid"
ALLOW, FORBID, REPLACE = "Allow", "Forbid", "Replace"
_LONGEST_CRON_NAME: Final = 52
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")


class JobStrategy(TemplateStrategy):
    """The strategy of jobs."""

    has_generation = True
    propagation = "Orphan"
    propagation_warning = (
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
        "set propagationPolicy=Orphan to suppress this warning"
    )

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, generate the selector unless it is manual, and clear the status."""
        default_job_spec(part(new, "spec"))
        if not new["spec"]["manualSelector"]:
            _make_selector(new)
        self.fill_in(new, context)
        new["status"] = {}

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults; a job without labels gets its template's labels."""
        spec = part(document, "spec")
        default_job_spec(spec)
        labels = (spec["template"].get("metadata") or {}).get("labels")
        if labels and not document["metadata"].get("labels"):
            document["metadata"]["labels"] = dict(labels)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a job."""
        meta, spec = document["metadata"], document["spec"]
        problems = _made_selector_problems(document) + job_spec_problems("spec", spec)
        problems += _selector_problems(spec)
        if spec.get("completionMode") == INDEXED and (spec.get("completions") or 0) > 0:
            name = meta.get("name") or ""
            host = f"{name}-{spec['completions'] - 1}"
            if dns_label_problems(host):
                why = f"will not able to create pod with invalid DNS label: {host}"
                problems.append(invalid("metadata.name", name, why))
        return problems

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return job_change_problems("spec", new["spec"], old["spec"], old.get("status") or {})

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        return status_problems(new, old)

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        return {"status.successful": str((document.get("status") or {}).get("succeeded") or 0)}


def _make_selector(job: Document) -> None:
    """Add labels with the job's name and UID to the template, and a selector by UID."""
    spec, meta = job["spec"], job["metadata"]
    labels = part(part(spec["template"], "metadata"), "labels")
    for key in (OLD_JOB_NAME, JOB_NAME):
        labels.setdefault(key, meta.get("name") or "")
    for key in (OLD_CONTROLLER_UID, CONTROLLER_UID):
        labels.setdefault(key, meta["uid"])
    part(part(spec, "selector"), "matchLabels").setdefault(CONTROLLER_UID, meta["uid"])


def _made_selector_problems(job: Document) -> list[str]:
    """Return the problems of labels and a selector that should be generated, but differ."""
    spec, meta = job["spec"], job["metadata"]
    if spec["manualSelector"] or spec.get("selector") is None:
        return []
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    name, uid = meta.get("name") or "", meta["uid"]
    expected = {OLD_CONTROLLER_UID: uid, OLD_JOB_NAME: name, CONTROLLER_UID: uid, JOB_NAME: name}
    path = "spec.template.metadata.labels"
    problems = []
    for key, value in expected.items():
        if key not in labels:
            problems.append(required(f"{path}[{key}]", f"must be '{value}'"))
        elif labels[key] != value:
            problems.append(invalid(f"{path}[{key}]", shown(labels), f"must be '{value}'"))
    try:
        selected = from_label_selector(as_selector(spec["selector"])).matches(expected)
    except InvalidSelectorError:
        selected = True
    if not selected:
        problems.append(invalid("spec.selector", shown(spec["selector"]), "`selector` not auto-generated"))
    return problems


def _selector_problems(spec: Document) -> list[str]:
    selector = spec.get("selector")
    if selector is None:
        problems = [required("spec.selector")]
    else:
        problems = label_selector_problems("spec.selector", selector)
    try:
        return problems + match_problems(spec["template"], from_label_selector(as_selector(selector)))
    except InvalidSelectorError:
        return problems


class CronJobStrategy(TemplateStrategy):
    """The strategy of cron jobs."""

    has_generation = True
    template_at = ("spec", "jobTemplate", "spec", "template")

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, and clear the status."""
        self.fill_in(new, context)
        new["status"] = {}

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        super().fill_in(document, context)
        spec = document["spec"]
        # other defaults of the job are set when it is created
        default_template(part(part(spec, "jobTemplate"), "spec"))

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new cron job; its name is limited, since the names of its jobs extend it."""
        problems = self._problems(new["spec"], {})
        name = new["metadata"].get("name") or ""
        if len(name) > _LONGEST_CRON_NAME:
            why = f"must be no more than {_LONGEST_CRON_NAME} characters"
            problems.append(invalid("metadata.name", name, why))
        return problems

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a changed cron job."""
        return self._problems(new["spec"], old["spec"])

    def _problems(self, spec: Document, before: Document) -> list[str]:
        problems = _schedule_problems("spec.schedule", spec, before)
        problems += not_negative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
        if spec.get("timeZone") is not None and spec["timeZone"] != before.get("timeZone"):
            problems += _zone_problems("spec.timeZone", spec["timeZone"])
        problems += one_of("spec.concurrencyPolicy", spec["concurrencyPolicy"], (ALLOW, FORBID, REPLACE))
        path, job = "spec.jobTemplate.spec", spec["jobTemplate"]["spec"]
        problems += job_spec_problems(path, job)
        if job.get("selector") is not None:
            problems.append(invalid(f"{path}.selector", shown(job["selector"]), "`selector` will be auto-generated"))
        if job.get("manualSelector"):
            problems.append(not_supported(f"{path}.manualSelector", shown(True), ("nil", "false")))
        for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
            problems += not_negative(f"spec.{field}", spec.get(field))
        return problems


def _schedule_problems(path: str, spec: Document, before: Document) -> list[str]:
    schedule = spec.get("schedule") or ""
    if not schedule:
        return [required(path)]
    problems = []
    try:
        parse_schedule(schedule)
    except ScheduleError as error:
        problems.append(invalid(path, schedule, str(error)))
    if "TZ" in schedule:
        if "TZ" not in (before.get("schedule") or ""):
            why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            problems.append(invalid(path, schedule, why))
        elif spec.get("timeZone") is not None:
            problems.append(invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
    return problems


def _zone_problems(path: str, zone: str) -> list[str]:
    if not zone:
        return [invalid(path, zone, "timeZone must be nil or non-empty string")]
    for each in zone.split("/"):
        if each in (".", "..") or each.startswith("-") or not _ZONE_PART.fullmatch(each):
            return [invalid(path, zone, f"unknown time zone {zone}")]
    problems = []
    if zone.lower() == "local":
        why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        problems.append(invalid(path, zone, why))
    if zone == "Local":
        return problems
    try:
        zone_of(zone)
    except ScheduleError as error:
        problems.append(invalid(path, zone, str(error)))
    return problems
