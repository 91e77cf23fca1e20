"""Cron jobs: when jobs are started, when they are not, and how many are kept."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster
from tests.support.workloads import a_job, status_of, with_nodes

from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.kinds.job.cron import ScheduleError, parse_schedule

Document = dict[str, Any]
MINUTE = 60


def a_cron_job(schedule: str = "* * * * *", *, run: str = "5", fail: str = "", **spec: Any) -> Document:
    """Return a cron job whose jobs run for some seconds."""
    job = a_job("work", run=run, fail=fail, backoffLimit=0)
    template = {"metadata": {"labels": {"made": "by-cron"}}, "spec": job["spec"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick"},
        "spec": {"schedule": schedule, "jobTemplate": template, **spec},
    }


def change(cluster: SimulatedCluster, **spec: Any) -> None:
    """Change the cron job."""
    cluster.change("CronJob", "tick", lambda cron: cron["spec"].update(spec))


NEXT: list[tuple[str, str, str | None, str, str]] = [
    ("every minute", "* * * * *", None, "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"),
    ("a time is after itself", "0 * * * *", None, "2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"),
    ("steps", "*/15 * * * *", None, "2026-01-01T00:16:00Z", "2026-01-01T00:30:00Z"),
    ("steps from a number on", "5/20 * * * *", None, "2026-01-01T00:26:00Z", "2026-01-01T00:45:00Z"),
    ("working days", "0 9 * * mon-fri", None, "2026-01-02T10:00:00Z", "2026-01-05T09:00:00Z"),
    ("a day of the month or of the week", "0 0 13 * 5", None, "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"),
    ("a day that few months have", "0 0 31 * *", None, "2026-02-01T00:00:00Z", "2026-03-31T00:00:00Z"),
    ("a day that few years have", "0 0 29 2 *", None, "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
    ("months by name", "0 0 1 MAR,jun *", None, "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"),
    ("by a word", "@daily", None, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
    ("weekly is on Sundays", "@weekly", None, "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
    ("at intervals", "@every 1h30m", None, "2026-01-01T00:10:00Z", "2026-01-01T01:40:00Z"),
    ("in another zone", "0 9 * * *", "Asia/Tokyo", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
    (
        "an hour that does not exist is passed over",
        "30 2 * * *",
        "America/New_York",
        "2026-03-08T05:00:00Z",
        "2026-03-09T06:30:00Z",
    ),
]


@pytest.mark.parametrize(("name", "schedule", "zone", "after", "expected"), NEXT, ids=[row[0] for row in NEXT])
def test_when_the_next_time_is(name: str, schedule: str, zone: str | None, after: str, expected: str) -> None:
    found = parse_schedule(schedule, zone).next(datetime.fromisoformat(after))
    assert found == datetime.fromisoformat(expected)


def test_a_day_that_no_month_has_never_comes() -> None:
    assert parse_schedule("0 0 31 2 *").next(datetime(2026, 1, 1, tzinfo=UTC)) is None


WRONG = [
    ("", "empty spec string"),
    ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
    ("60 * * * *", "end of range (60) above maximum (59): 60"),
    ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
    ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
    ("*/0 * * * *", "step of range should be a positive number: */0"),
    ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
    ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
    ("1/2/3 * * * *", "too many slashes: 1/2/3"),
    ("@often", "unrecognized descriptor: @often"),
    ("@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'),
    ("TZ=Here/There * * * * *", "provided bad location Here/There: unknown time zone Here/There"),
]


@pytest.mark.parametrize(("schedule", "message"), WRONG)
def test_texts_that_are_no_schedules(schedule: str, message: str) -> None:
    with pytest.raises(ScheduleError) as error:
        parse_schedule(schedule)
    assert str(error.value) == message


def test_a_job_is_started_when_it_is_time() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_cron_job())
        await asyncio.sleep(59)
        assert not cluster.names("Job")
        await asyncio.sleep(2)
        (job,) = cluster.all("Job")
        number = int(datetime(2026, 1, 1, 0, 1, tzinfo=UTC).timestamp()) // 60
        assert job["metadata"]["name"] == f"tick-{number}"
        assert job["metadata"]["labels"] == {"made": "by-cron"}
        annotation = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
        assert annotation == "2026-01-01T00:01:00Z"
        status = status_of(cluster, "CronJob", "tick")
        assert status["lastScheduleTime"] == "2026-01-01T00:01:00Z"
        assert [each["name"] for each in status["active"]] == [job["metadata"]["name"]]
        await asyncio.sleep(10)
        status = status_of(cluster, "CronJob", "tick")
        assert "active" not in status
        assert status["lastSuccessfulTime"] == "2026-01-01T00:01:05Z"

    with_nodes(story)


def test_of_jobs_that_are_over_some_are_kept() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_cron_job())
        await asyncio.sleep(10.5 * MINUTE)
        assert len(cluster.names("Job")) == 3
        assert len(cluster.names("Pod")) == 3
        change(cluster, successfulJobsHistoryLimit=0)
        await asyncio.sleep(10)
        assert not cluster.names("Job")

    with_nodes(story)


def test_of_jobs_that_failed_one_is_kept() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_cron_job(fail="1"))
        await asyncio.sleep(5.5 * MINUTE)
        assert len(cluster.names("Job")) == 1
        assert "lastSuccessfulTime" not in status_of(cluster, "CronJob", "tick")

    with_nodes(story)


CONCURRENCY = [
    ("jobs may run beside each other", "Allow", 3),
    ("a job is not started while another runs", "Forbid", 1),
    ("a job takes the place of the one before", "Replace", 1),
]


@pytest.mark.parametrize(("name", "policy", "count"), CONCURRENCY, ids=[row[0] for row in CONCURRENCY])
def test_jobs_that_take_longer_than_the_time_between_them(name: str, policy: str, count: int) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_cron_job(run="1000", concurrencyPolicy=policy))
        await asyncio.sleep(MINUTE + 5)
        first = cluster.names("Job")[0]
        await asyncio.sleep(2 * MINUTE)
        assert len(cluster.names("Job")) == count
        assert (first in cluster.names("Job")) is (policy != "Replace")
        assert len(status_of(cluster, "CronJob", "tick")["active"]) == count
        said = [reason for reason, _ in cluster.events("tick")]
        assert ("JobAlreadyActive" in said) is (policy == "Forbid")

    with_nodes(story)


def test_nothing_is_started_while_it_is_suspended() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_cron_job(suspend=True))
        await asyncio.sleep(3 * MINUTE)
        assert not cluster.names("Job")
        change(cluster, suspend=False)
        await asyncio.sleep(5)
        assert len(cluster.names("Job")) == 1, "the last start that was missed is made up for"

    with_nodes(story)


def test_a_start_that_is_too_late_is_not_made_up_for() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_cron_job("0 * * * *", suspend=True, startingDeadlineSeconds=30))
        await asyncio.sleep(61 * MINUTE)
        change(cluster, suspend=False)
        await asyncio.sleep(5)
        assert not cluster.names("Job")
        await asyncio.sleep(60 * MINUTE)
        assert len(cluster.names("Job")) == 1

    with_nodes(story)


def test_a_new_schedule_is_for_the_time_to_come() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_cron_job("0 0 1 1 *"))
        await asyncio.sleep(5.5 * MINUTE)
        change(cluster, schedule="*/10 * * * *")
        await asyncio.sleep(1)
        assert not cluster.names("Job")
        await asyncio.sleep(5 * MINUTE)
        assert len(cluster.names("Job")) == 1

    with_nodes(story)


def test_jobs_go_with_the_cron_job() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_cron_job(run="1000"))
        await asyncio.sleep(MINUTE + 5)
        assert len(cluster.names("Pod")) == 1
        cluster.delete("CronJob", "tick")
        await asyncio.sleep(10)
        assert not cluster.names("Job")
        assert not cluster.names("Pod")

    with_nodes(story)


REFUSALS: list[tuple[str, Document, str]] = [
    ("no schedule", {"schedule": ""}, "spec.schedule: Required value"),
    (
        "a schedule that is none",
        {"schedule": "x"},
        'spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]',
    ),
    (
        "a zone in the schedule",
        {"schedule": "TZ=UTC * * * * *"},
        'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, '
        "use timeZone field instead",
    ),
    (
        "a zone that is none",
        {"timeZone": "Nowhere"},
        'spec.timeZone: Invalid value: "Nowhere": unknown time zone Nowhere',
    ),
    (
        "a policy that is none",
        {"concurrencyPolicy": "Often"},
        'spec.concurrencyPolicy: Unsupported value: "Often": supported values: "Allow", "Forbid", "Replace"',
    ),
]


@pytest.mark.parametrize(("name", "spec", "message"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_what_a_cron_job_may_not_say(name: str, spec: Document, message: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        document = a_cron_job()
        document["spec"].update(spec)
        with pytest.raises(ApiError) as refusal:
            cluster.create(document)
        assert refusal.value.message == f'CronJob.batch "tick" is invalid: {message}'

    with_nodes(story, 0)
