"""Jobs: pods until enough have succeeded, or too many have failed."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster
from tests.support.workloads import a_job, a_template, conditions, phases, status_of, staying, with_nodes

from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.controllers.workloads.job_backoff import Backoff
from kubesched_controlplane.kinds.job import indexes

Document = dict[str, Any]
TRACKING = "batch.kubernetes.io/job-tracking"
COMPLETE = {"SuccessCriteriaMet": ("True", "CompletionsReached"), "Complete": ("True", "CompletionsReached")}


def failed(reason: str) -> dict[str, tuple[str, str]]:
    """Return the conditions of a job that failed."""
    return {"FailureTarget": ("True", reason), "Failed": ("True", reason)}


def tally(cluster: SimulatedCluster, name: str = "work") -> tuple[int, int, int]:
    """Return how many pods of a job are active, have succeeded and have failed."""
    status = status_of(cluster, "Job", name)
    return status.get("active", 0), status.get("succeeded", 0), status.get("failed", 0)


def test_a_plain_job_runs_one_pod_to_its_end() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        job = cluster.create(a_job())
        await asyncio.sleep(2)
        assert tally(cluster) == (1, 0, 0)
        (pod,) = cluster.all("Pod")
        assert pod["metadata"]["finalizers"] == [TRACKING]
        assert pod["metadata"]["labels"]["batch.kubernetes.io/controller-uid"] == job["metadata"]["uid"]
        await asyncio.sleep(5)
        status = status_of(cluster, "Job", "work")
        assert tally(cluster) == (0, 1, 0)
        assert conditions(cluster, "Job", "work") == COMPLETE
        assert status["startTime"] < status["completionTime"]
        assert status["uncountedTerminatedPods"] == {}
        (pod,) = cluster.all("Pod")
        assert pod["status"]["phase"] == "Succeeded"
        assert "finalizers" not in pod["metadata"], "it was counted"
        assert ("Completed", "Job completed") in cluster.events("work")

    with_nodes(story)


def test_so_many_pods_at_a_time_until_so_many_have_succeeded() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(completions=7, parallelism=3, run="10"))
        await asyncio.sleep(5)
        assert tally(cluster) == (3, 0, 0)
        await asyncio.sleep(10)
        assert tally(cluster) == (3, 3, 0)
        await asyncio.sleep(10)
        assert tally(cluster) == (1, 6, 0)
        await asyncio.sleep(10)
        assert tally(cluster) == (0, 7, 0)
        assert conditions(cluster, "Job", "work") == COMPLETE
        assert len(cluster.names("Pod")) == 7

    with_nodes(story)


def test_without_a_number_of_completions_the_first_success_ends_it() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(parallelism=3, run="10"))
        await asyncio.sleep(5)
        assert tally(cluster) == (3, 0, 0)
        await asyncio.sleep(10)
        assert tally(cluster) == (0, 3, 0)
        assert conditions(cluster, "Job", "work") == COMPLETE

    with_nodes(story)


def test_failures_are_tried_again_later_each_time_until_there_are_too_many() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(backoffLimit=2, run="1", fail="3"))
        times: list[int] = []
        for second in range(60):
            while len(times) < len(cluster.names("Pod")):
                times.append(second)
            await asyncio.sleep(1)
        assert tally(cluster) == (0, 0, 3)
        assert conditions(cluster, "Job", "work") == failed("BackoffLimitExceeded")
        waits = [after - before for before, after in pairwise(times)]
        assert len(waits) == 2
        assert 10 <= waits[0] <= 13
        assert 20 <= waits[1] <= 23

    with_nodes(story)


def test_containers_that_are_restarted_in_place_count_as_failures() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(restarts="OnFailure", backoffLimit=3, run="1", fail="3"))
        await asyncio.sleep(20)
        assert conditions(cluster, "Job", "work") == failed("BackoffLimitExceeded")
        assert not staying(cluster)

    with_nodes(story)


def test_a_job_that_takes_too_long_fails() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(activeDeadlineSeconds=30, parallelism=2, completions=2, run="1000"))
        await asyncio.sleep(25)
        assert tally(cluster) == (2, 0, 0)
        await asyncio.sleep(10)
        assert conditions(cluster, "Job", "work") == failed("DeadlineExceeded")
        assert tally(cluster) == (0, 0, 2)
        assert not cluster.names("Pod")

    with_nodes(story)


def test_a_job_that_is_suspended_has_no_pods() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(suspend=True, run="10"))
        await asyncio.sleep(5)
        assert not cluster.names("Pod")
        assert conditions(cluster, "Job", "work") == {"Suspended": ("True", "JobSuspended")}
        assert "startTime" not in status_of(cluster, "Job", "work")
        cluster.change("Job", "work", lambda job: job["spec"].update(suspend=False))
        await asyncio.sleep(5)
        assert tally(cluster) == (1, 0, 0)
        assert conditions(cluster, "Job", "work") == {"Suspended": ("False", "JobResumed")}
        cluster.change("Job", "work", lambda job: job["spec"].update(suspend=True))
        await asyncio.sleep(5)
        assert tally(cluster) == (0, 0, 0), "a pod that was taken away has not failed"
        cluster.change("Job", "work", lambda job: job["spec"].update(suspend=False))
        await asyncio.sleep(15)
        assert tally(cluster) == (0, 1, 0)

    with_nodes(story)


def test_a_job_that_is_over_is_deleted_with_its_pods_after_a_while() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(ttlSecondsAfterFinished=60, run="1"))
        await asyncio.sleep(50)
        assert cluster.names("Job") == ["work"]
        await asyncio.sleep(20)
        assert not cluster.names("Job")
        assert not cluster.names("Pod")

    with_nodes(story)


def test_fewer_at_a_time_takes_pods_away() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(completions=9, parallelism=6, run="100"))
        await asyncio.sleep(2)
        cluster.change("Job", "work", lambda job: job["spec"].update(parallelism=2))
        await asyncio.sleep(5)
        assert tally(cluster) == (2, 0, 0)
        assert len(cluster.names("Pod")) == 2

    with_nodes(story)


def test_a_pod_that_is_deleted_has_failed_and_is_replaced() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(run="100"))
        await asyncio.sleep(2)
        cluster.delete("Pod", cluster.names("Pod")[0])
        await asyncio.sleep(30)
        assert tally(cluster) == (1, 0, 1)
        assert len(cluster.names("Pod")) == 1

    with_nodes(story)


def test_pods_are_replaced_only_once_they_have_ended() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(run="100", podReplacementPolicy="Failed"))
        await asyncio.sleep(2)
        cluster.delete("Pod", cluster.names("Pod")[0])
        await asyncio.sleep(10)
        assert len(cluster.names("Pod")) == 1
        assert status_of(cluster, "Job", "work")["terminating"] == 1
        await asyncio.sleep(60)
        assert len(staying(cluster)) == 1

    with_nodes(story, options=Options(termination_seconds=20))


# -- indexes


def test_each_index_is_done_once() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(completions=5, parallelism=2, completionMode="Indexed", run="10"))
        await asyncio.sleep(5)
        pods = cluster.all("Pod")
        assert sorted(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] for pod in pods) == [
            "0",
            "1",
        ]
        assert sorted(pod["spec"]["hostname"] for pod in pods) == ["work-0", "work-1"]
        variable = pods[0]["spec"]["containers"][0]["env"][0]
        assert variable["name"] == "JOB_COMPLETION_INDEX"
        assert variable["valueFrom"]["fieldRef"]["fieldPath"] == (
            "metadata.labels['batch.kubernetes.io/job-completion-index']"
        )
        await asyncio.sleep(10)
        assert status_of(cluster, "Job", "work")["completedIndexes"] == "0,1"
        await asyncio.sleep(20)
        assert status_of(cluster, "Job", "work")["completedIndexes"] == "0-4"
        assert conditions(cluster, "Job", "work") == COMPLETE

    with_nodes(story)


def test_an_index_that_fails_too_often_is_given_up_and_others_go_on() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        job = a_job(completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=1, run="5")
        cluster.create(job)
        await asyncio.sleep(1)
        for _ in range(2):
            for pod in cluster.all("Pod"):
                mine = pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "1"
                if mine and pod["status"]["phase"] == "Running":
                    name = pod["metadata"]["name"]
                    cluster.change("Pod", name, lambda pod: pod["status"].update(phase="Failed"), "status")
            await asyncio.sleep(12)
        status = status_of(cluster, "Job", "work")
        assert (status["completedIndexes"], status["failedIndexes"]) == ("0,2", "1")
        assert conditions(cluster, "Job", "work") == failed("FailedIndexes")
        counts = [
            pod["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"]
            for pod in cluster.all("Pod", **{"batch.kubernetes.io/job-completion-index": "1"})
        ]
        assert sorted(counts) == ["0", "1"]

    with_nodes(story)


def test_some_indexes_may_be_success_enough() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        policy = {"rules": [{"succeededIndexes": "0,4", "succeededCount": 1}]}
        cluster.create(a_job(completions=5, parallelism=1, completionMode="Indexed", successPolicy=policy, run="5"))
        await asyncio.sleep(10)
        assert status_of(cluster, "Job", "work")["completedIndexes"] == "0"
        assert conditions(cluster, "Job", "work")["Complete"] == ("True", "SuccessPolicy")
        assert not [pod for pod in staying(cluster) if pod["status"]["phase"] == "Running"]

    with_nodes(story)


POLICIES: list[tuple[str, Document, dict[str, tuple[str, str]], tuple[int, int, int]]] = [
    (
        "an exit code that ends the job",
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}},
        failed("PodFailurePolicy"),
        (0, 0, 1),
    ),
    (
        "an exit code that does not count",
        {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [3]}},
        {},
        (0, 0, 0),
    ),
    (
        "another exit code than those",
        {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [4, 5]}},
        failed("PodFailurePolicy"),
        (0, 0, 1),
    ),
    (
        "a rule that does not fit",
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [9]}},
        {},
        (0, 0, 1),
    ),
]


@pytest.mark.parametrize(("name", "rule", "expected", "counts"), POLICIES, ids=[row[0] for row in POLICIES])
def test_what_failure_policies_make_of_a_failure(
    name: str, rule: Document, expected: dict[str, tuple[str, str]], counts: tuple[int, int, int]
) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(podFailurePolicy={"rules": [rule]}, run="1", fail="3"))
        await asyncio.sleep(5)
        assert conditions(cluster, "Job", "work") == expected
        assert tally(cluster) == counts
        if expected:
            (pod,) = cluster.names("Pod")
            status = status_of(cluster, "Job", "work")
            assert status["conditions"][0]["message"] == (
                f"Container main for pod default/{pod} failed with exit code 3 matching FailJob rule at index 0"
            )

    with_nodes(story)


# -- whose pods


def test_a_job_that_is_deleted_lets_its_pods_go() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(run="100"))
        await asyncio.sleep(2)
        cluster.delete("Job", "work", propagationPolicy="Background")
        await asyncio.sleep(5)
        assert not cluster.names("Pod")
        cluster.create(a_job("other", run="100"))
        await asyncio.sleep(2)
        cluster.delete("Job", "other")
        await asyncio.sleep(5)
        (pod,) = cluster.all("Pod")
        assert "ownerReferences" not in pod["metadata"], "by default they are left alone"
        assert "finalizers" not in pod["metadata"]
        assert phases(cluster) == {pod["metadata"]["name"]: "Running"}

    with_nodes(story)


def test_a_job_of_somebody_else_is_left_alone() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(managedBy="example.com/mine"))
        await asyncio.sleep(5)
        assert not cluster.names("Pod")
        assert status_of(cluster, "Job", "work") == {}

    with_nodes(story)


def test_many_pods_are_counted_exactly_once() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(completions=200, parallelism=50, run="3"))
        await asyncio.sleep(60)
        assert tally(cluster) == (0, 200, 0)
        assert conditions(cluster, "Job", "work") == COMPLETE

    with_nodes(story, 5)


REFUSALS: list[tuple[str, Document, str]] = [
    (
        "pods that never end",
        {"template": a_template("work")},
        'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ),
    (
        "indexes without a number of them",
        {"completionMode": "Indexed", "parallelism": 1},
        "spec.completions: Required value: when completion mode is Indexed",
    ),
    (
        "limits of indexes without indexes",
        {"backoffLimitPerIndex": 1},
        "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
    ),
    (
        "a manager without a domain",
        {"managedBy": "me"},
        'spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")',
    ),
]


@pytest.mark.parametrize(("name", "spec", "message"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_what_a_job_may_not_say(name: str, spec: Document, message: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        with pytest.raises(ApiError) as refusal:
            cluster.create(a_job(**spec))
        assert refusal.value.message == f'Job.batch "work" is invalid: {message}'

    with_nodes(story, 0)


def test_a_template_changes_only_while_nothing_was_started() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(suspend=True))
        await asyncio.sleep(1)

        def place(job: Document) -> None:
            job["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "a"}

        cluster.change("Job", "work", place)
        cluster.change("Job", "work", lambda job: job["spec"].update(suspend=False))
        await asyncio.sleep(1)
        with pytest.raises(ApiError) as refusal:
            cluster.change("Job", "work", lambda job: job["spec"]["template"]["spec"].pop("nodeSelector"))
        assert "spec.template: Invalid value" in refusal.value.message
        assert "field is immutable" in refusal.value.message

    with_nodes(story)


def test_a_job_that_is_over_stays_over() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(a_job(run="1"))
        await asyncio.sleep(5)
        with pytest.raises(ApiError) as refusal:
            cluster.change("Job", "work", lambda job: job["status"].update(conditions=[]), "status")
        assert "cannot disable the terminal Complete=True condition" in refusal.value.message

    with_nodes(story)


# -- arithmetic

TEXTS = [
    ("", ()),
    ("0", ((0, 0),)),
    ("0,2-4,7", ((0, 0), (2, 4), (7, 7))),
    ("0,1", ((0, 1),)),
    ("3-99", ((3, 9),)),
    ("x,2", ((2, 2),)),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_indexes_as_text(text: str, expected: indexes.Intervals) -> None:
    assert indexes.read(text, 10) == expected
    assert indexes.read(indexes.written(expected), 10) == expected


WRONG = [
    (
        "1-2-3",
        'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts '
        "separated by '-'",
    ),
    ("a", 'cannot convert string to integer for index: "a"'),
    ("99", 'too large index: "99"'),
    ("3,2", "non-increasing order, previous: 3, current: 2"),
    ("4-4", "non-increasing order, previous: 4, current: 4"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG)
def test_texts_that_are_no_indexes(text: str, problem: str) -> None:
    assert indexes.problem(text, 10) == (0, problem)


def test_how_long_a_job_waits() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def at(seconds: int) -> datetime:
        return start + timedelta(seconds=seconds)

    once = Backoff().after([], [at(0)])
    assert once.seconds_left(at(3)) == 7
    assert once.after([], [at(10)]).seconds_left(at(10)) == 20
    assert once.after([at(5)], []).seconds_left(at(5)) == 0, "a success makes up for failures"
    assert once.after([at(5)], [at(4), at(6)]).seconds_left(at(6)) == 10
    assert Backoff(50, at(0)).seconds_left(at(0)) == 600
