"""The status of PodGroups: phases and counts, of pods that run and of finished ones, which are looked up."""

from pathlib import Path
from typing import Any

import pytest

from kubesched.testing import EmbeddedCluster, FakeHttp, VirtualScheduler, a_custom_object, a_node, a_pod
from kubesched_contrib.coscheduling import Coscheduling
from kubesched_contrib.coscheduling.pod_group import KIND, LABEL
from kubesched_contrib.coscheduling.status import FINISHED_PODS, MemberCounts, phase_of

CONTRIB = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("counts", "phase"),
    [
        pytest.param(MemberCounts(2), "Pending", id="pods are missing"),
        pytest.param(MemberCounts(3), "Scheduling", id="all are there, none runs"),
        pytest.param(MemberCounts(4, 2), "Scheduling", id="fewer than minMember run"),
        pytest.param(MemberCounts(4, 3), "Running", id="minMember run"),
        pytest.param(MemberCounts(3, 2, 1), "Running", id="some run, some succeeded"),
        pytest.param(MemberCounts(3, 0, 3), "Finished", id="minMember succeeded"),
        pytest.param(MemberCounts(3, 2, 0, 1), "Failed", id="one of minMember failed"),
        pytest.param(MemberCounts(3, 1, 0, 1), "Scheduling", id="one failed while another is not there yet"),
        pytest.param(MemberCounts(4, 0, 3, 1), "Finished", id="minMember succeeded, one more failed"),
        pytest.param(MemberCounts(2, 2), "Pending", id="pods were lost"),
    ],
)
def test_phases(counts: MemberCounts, phase: str) -> None:
    assert phase_of(3, counts) == phase


def put_pod(world: VirtualScheduler, number: int, **options: Any) -> None:
    world.put(a_pod(f"a-{number}", cpu="1", labels={LABEL: "a"}, owner="Job/train", **options))


def put_group(world: VirtualScheduler, members: int = 2, **fields: Any) -> None:
    world.put(a_custom_object(KIND, "a", namespace="default", spec={"minMember": members}, **fields))


def status(world: VirtualScheduler) -> Any:
    group: Any = world.objects[KIND, "default/a"]
    return group.status


def a_finished_pod(phase: str) -> dict[str, Any]:
    return {"metadata": {"namespace": "default", "labels": {LABEL: "a"}}, "status": {"phase": phase}}


def test_the_status_follows_the_pods() -> None:
    with VirtualScheduler(Coscheduling) as world:
        world.put(a_node("n1", cpu="4"))
        put_group(world)
        world.run(5)
        assert status(world) == {"phase": "Pending"}
        for number in range(2):
            put_pod(world, number)
        world.run(5)
        began = status(world)["scheduleStartTime"]
        assert status(world) == {"phase": "Scheduling", "scheduleStartTime": began, "occupiedBy": "default/train"}
        for number in range(2):
            put_pod(world, number, node="n1", phase="Running")
        world.run(5)
        assert status(world)["phase"] == "Running"
        assert (status(world)["running"], status(world)["scheduleStartTime"]) == (2, began)


def test_a_status_that_is_right_is_not_written() -> None:
    with VirtualScheduler(Coscheduling) as world:
        put_group(world)
        world.run(100)
        assert len([effect for effect in world.performed if type(effect).__name__ == "Patch"]) == 1


def test_finished_pods_are_looked_up_when_pods_are_gone() -> None:
    http = FakeHttp({FINISHED_PODS: {"items": [a_finished_pod("Succeeded"), a_finished_pod("Succeeded")]}})
    with VirtualScheduler(Coscheduling, http=http) as world:
        world.put(a_node("n1", cpu="4"))
        put_group(world)
        for number in range(2):
            put_pod(world, number, node="n1", phase="Running")
        world.run(10)
        assert status(world)["phase"] == "Running"
        assert http.asked == []
        for number in range(2):
            world.delete("Pod", f"default/a-{number}")
        world.run(20)
        assert (status(world)["phase"], status(world)["succeeded"], status(world)["running"]) == ("Finished", 2, 0)
        asked = len(http.asked)
        world.run(60)
        assert len(http.asked) == asked, "a group that is over is left alone"


def test_a_group_whose_pods_were_deleted_is_pending_again() -> None:
    with VirtualScheduler(Coscheduling, http=FakeHttp({FINISHED_PODS: {"items": []}})) as world:
        world.put(a_node("n1", cpu="4"))
        put_group(world)
        for number in range(2):
            put_pod(world, number, node="n1", phase="Running")
        world.run(10)
        world.delete("Pod", "default/a-0")
        world.run(20)
        assert (status(world)["phase"], status(world)["running"]) == ("Pending", 1)


def test_after_a_restart_finished_pods_of_a_group_that_ran_are_looked_up() -> None:
    http = FakeHttp({FINISHED_PODS: {"items": [a_finished_pod("Succeeded"), a_finished_pod("Failed")]}})
    with VirtualScheduler(Coscheduling, http=http) as world:
        put_group(world, status={"phase": "Running", "running": 2})
        world.run(20)
        assert (status(world)["phase"], status(world)["running"], status(world)["failed"]) == ("Failed", 0, 1)


def test_a_group_that_is_over_stays_so() -> None:
    with VirtualScheduler(Coscheduling) as world:
        put_group(world, status={"phase": "Finished", "succeeded": 2})
        world.run(20)
        assert status(world) == {"phase": "Finished", "succeeded": 2}


def test_a_group_with_nonsense_in_it_has_no_status() -> None:
    with VirtualScheduler(Coscheduling) as world:
        world.put(a_custom_object(KIND, "a", namespace="default", spec={"minMember": "many"}))
        world.run(20)
        assert status(world) is None


def test_in_a_whole_cluster_a_gang_runs_and_finishes() -> None:
    with EmbeddedCluster(Coscheduling) as cluster:
        cluster.apply(CONTRIB / "crds", CONTRIB / "examples" / "coscheduling" / "cluster.yaml")
        seen: list[dict[str, Any]] = []
        for _ in range(30):
            cluster.run(1)
            seen.append((cluster.get(KIND, "train") or {}).get("status", {}))
        phases = dict.fromkeys(status.get("phase", "") for status in seen)
        assert [phase for phase in phases if phase] == ["Scheduling", "Running", "Finished"]
        assert (seen[-1]["succeeded"], seen[-1]["occupiedBy"]) == (4, "default/train")
