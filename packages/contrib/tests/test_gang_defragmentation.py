"""GangDefragmentation: plans that are proposed, proved, carried out and given up, in virtual time."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from kubesched import PluginError
from kubesched.testing import (
    EmbeddedCluster,
    VirtualScheduler,
    a_budget,
    a_custom_object,
    a_node,
    a_pod,
    an_affinity,
    check_plugin,
)
from kubesched_contrib.coscheduling import Coscheduling
from kubesched_contrib.coscheduling.pod_group import KIND, LABEL
from kubesched_contrib.gang_defragmentation import GangDefragmentation
from kubesched_contrib.gang_defragmentation.plugin import PLAN

pytest.importorskip("scipy")

CONTRIB = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def solver_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the solver at once: virtual time does not wait for threads."""

    async def at_once(function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    monkeypatch.setattr(asyncio, "to_thread", at_once)


@contextmanager
def scheduling(**args: Any) -> Iterator[VirtualScheduler]:
    """Schedule gangs, and look for plans with some arguments; hold in the end that nothing is lost or left over."""
    with VirtualScheduler(Coscheduling, GangDefragmentation, args={"GangDefragmentation": args}) as world:
        yield world
        world.run(30)
        world.assert_settled()


def put_small(world: VirtualScheduler, name: str, node: str, **options: Any) -> None:
    labels = options.pop("labels", {"app": name})
    owner = options.pop("owner", "ReplicaSet/web")
    cpu = options.pop("cpu", "1")
    world.put(a_pod(name, cpu=cpu, node=node, phase="Running", owner=owner, labels=labels, **options))


def put_gang(world: VirtualScheduler, name: str, count: int, cpu: str, **options: Any) -> None:
    world.put(a_custom_object(KIND, name, namespace="default", spec={"minMember": count}))
    for number in range(count):
        world.put(a_pod(f"{name}-{number}", cpu=cpu, labels={LABEL: name}, **options))


def put_fragmented(world: VirtualScheduler, **options: Any) -> None:
    """Three nodes of four CPUs, each with a pod of one, and a gang that needs two of the nodes."""
    for node in ("n1", "n2", "n3"):
        world.put(a_node(node, cpu="4"))
        put_small(world, f"small-{node}", node, **options)
    put_gang(world, "train", 2, "4")


def with_controllers(world: VirtualScheduler) -> None:
    """Have controllers create evicted pods again."""
    delete = world.delete

    def recreate(kind: str, full_name: str) -> None:
        pod = world.objects.get((kind, full_name))
        delete(kind, full_name)
        if kind == "Pod" and pod is not None and pod.metadata.owner_references:
            name = f"{pod.metadata.name}-again"
            assert isinstance(pod, type(a_pod()))
            requests = pod.spec.containers[0].resources.requests
            again = a_pod(name, cpu=requests["cpu"], owner="ReplicaSet/web", labels=dict(pod.metadata.labels))
            world.loop.call_later(0.2, world.put, again)

    world.delete = recreate  # type: ignore[method-assign]


def group(world: VirtualScheduler, name: str = "train") -> Any:
    return world.objects[KIND, f"default/{name}"]


def plan_of(world: VirtualScheduler) -> Any:
    text = group(world).metadata.annotations.get(PLAN)
    return None if text is None else json.loads(text)


def reasons(world: VirtualScheduler, name: str = "train") -> list[str]:
    return [event.reason for event in world.events_of(name)]


def placed(world: VirtualScheduler, gang: str = "train") -> int:
    return sum(bool(pod.spec.node_name) for pod in world.pods() if pod.name.startswith(f"{gang}-"))


# -- proposing


def test_the_fewest_moves_are_proposed_and_nothing_is_moved() -> None:
    with scheduling() as world:
        put_fragmented(world)
        world.run(100)

    plan = plan_of(world)
    assert len(plan["moves"]) == 2
    assert {move["to"] for move in plan["moves"]}.isdisjoint(move["from"] for move in plan["moves"])
    assert {place["node"] for place in plan["places"]} == {move["from"] for move in plan["moves"]}
    assert world.evicted == []
    assert reasons(world).count("DefragmentationPlan") == 1, "once"
    note = next(event.message for event in world.events_of("train") if event.reason == "DefragmentationPlan")
    assert note.startswith("moving 2 pods would make room for PodGroup default/train: default/small-")
    assert any("moving 2 pods would make room" in event.message for event in world.events_of("train-0"))
    assert REGISTRY.get_sample_value("kubesched_plugin_gang_defragmentation_plans_total", {"result": "proposed"}), (
        "it is counted"
    )


def test_a_plan_is_taken_back_when_the_gang_has_its_nodes() -> None:
    with scheduling() as world:
        put_fragmented(world)
        world.run(100)
        assert plan_of(world) is not None
        world.delete("Pod", "default/small-n1")
        world.delete("Pod", "default/small-n2")
        world.run(100)
        assert placed(world) == 2

    assert plan_of(world) is None


def test_a_gang_is_left_alone_for_a_while() -> None:
    with scheduling(pendingSeconds=1000) as world:
        put_fragmented(world)
        world.run(300)
        assert plan_of(world) is None


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"owner": None}, id="pods without a controller do not come back"),
        pytest.param({"owner": "DaemonSet/agent"}, id="pods of DaemonSets belong to their node"),
        pytest.param({"owner": "Node/n1"}, id="static pods belong to their node"),
        pytest.param({"annotations": {"kubesched.io/movable": "false"}}, id="pods opt out"),
        pytest.param({"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, id="as elsewhere"),
        pytest.param({"priority": 10}, id="pods that are more important stay"),
        pytest.param({"namespace": "kube-system"}, id="pods in an excluded namespace stay"),
        pytest.param({"labels": {LABEL: "other"}}, id="pods of other gangs stay"),
        pytest.param({"scheduler": "another"}, id="pods of other schedulers cannot be judged"),
        pytest.param({"terminating": True}, id="pods that are going are not moved"),
    ],
)
def test_some_pods_are_never_moved(options: dict[str, Any]) -> None:
    with scheduling() as world:
        put_fragmented(world, **options)
        world.run(100)
        assert plan_of(world) is None
        world.delete("Pod", "default/train-0")


def test_disruption_budgets_bound_a_plan() -> None:
    with scheduling() as world:
        budget = a_budget("web", "app=web", allowed=1)
        world.put(budget)
        put_fragmented(world, labels={"app": "web"})
        world.run(100)
        assert plan_of(world) is None, "two would have to go"
        world.put(a_budget("web", "app=web", allowed=2))
        world.run(100)
        assert len(plan_of(world)["moves"]) == 2


def test_a_plan_has_no_more_than_so_many_moves() -> None:
    with scheduling(maxMoves=1) as world:
        put_fragmented(world)
        world.run(100)
        assert plan_of(world) is None


def test_less_important_pods_are_moved_first_then_smaller_ones() -> None:
    with scheduling() as world:
        for node, cpu, priority in (("n1", "500m", 5), ("n2", "1", 0), ("n3", "500m", 0)):
            world.put(a_node(node, cpu="4"))
            put_small(world, f"small-{node}", node, cpu=cpu, priority=priority)
        put_gang(world, "train", 1, "4", priority=9, preemption_policy="Never")
        world.run(100)
        assert [move["pod"] for move in plan_of(world)["moves"]] == ["default/small-n3"]


def test_what_the_engine_refuses_is_not_proposed() -> None:
    # the solver knows no affinity between pods that may move: one would go to the other's node
    with scheduling() as world:
        apart = an_affinity(apart="app=web@kubernetes.io/hostname")
        for node in ("n1", "n2", "n3"):
            world.put(a_node(node, cpu="4", labels={"kubernetes.io/hostname": node}))
        for node in ("n1", "n2"):
            put_small(world, f"small-{node}", node, labels={"app": "web"}, affinity=apart)
        put_gang(world, "train", 2, "4")
        world.run(100)
        assert plan_of(world) is None
        world.put(a_node("n4", cpu="1", labels={"kubernetes.io/hostname": "n4"}))
        world.run(100)
        assert [move["to"] for move in plan_of(world)["moves"]] == ["n4"]


# -- carrying out


def test_in_mode_evict_pods_are_moved_and_the_gang_gets_their_places() -> None:
    with scheduling(mode="Evict") as world:
        with_controllers(world)
        put_fragmented(world)
        world.run(120)
        assert placed(world) == 2
        assert sum(bool(pod.spec.node_name) for pod in world.pods()) == 5, "every moved pod has a node again"

    assert len(world.evicted) == 2
    assert "Defragmented" in reasons(world)


def test_pods_that_take_their_time_to_go_are_waited_for() -> None:
    with scheduling(mode="Evict") as world:
        world.grace_seconds = 40.0
        put_fragmented(world)
        world.run(70)
        assert placed(world) == 0
        assert sum(pod.status.nominated_node_name != "" for pod in world.pods()) == 2, "their places are kept"
        # what comes meanwhile does not take them
        world.put(a_pod("other", cpu="4"))
        world.run(60)
        assert placed(world) == 2
        assert world.node_of("other") == ""
    assert len(world.evicted) == 2


def test_a_plan_that_takes_too_long_is_given_up() -> None:
    with scheduling(mode="Evict", planTimeoutSeconds=20) as world:
        world.grace_seconds = 100.0
        put_fragmented(world)
        world.run(90)
        assert [pod.status.nominated_node_name for pod in world.pods() if pod.name.startswith("train")] == ["", ""]
        world.run(100)
    note = next(event.message for event in world.events_of("train") if event.reason == "DefragmentationAbandoned")
    assert note == "the plan was given up: evicted pods did not end in time"


def test_an_eviction_that_is_refused_ends_the_plan_and_nominations_are_taken_back() -> None:
    with scheduling(mode="Evict") as world:
        world.refuse = lambda effect: "a budget does not allow it" if type(effect).__name__ == "Evict" else ""
        put_fragmented(world)
        world.run(60)
        assert [pod.status.nominated_node_name for pod in world.pods() if pod.name.startswith("train")] == ["", ""]

    assert world.evicted == []
    note = next(event.message for event in world.events_of("train") if event.reason == "DefragmentationAbandoned")
    assert "was not evicted: a budget does not allow it" in note


def test_after_a_plan_was_carried_out_the_next_one_waits() -> None:
    with scheduling(mode="Evict") as world:
        with_controllers(world)
        put_fragmented(world)
        world.run(120)
        first = len(world.evicted)
        assert (first, placed(world)) == (2, 2)
        world.put(a_node("n4", cpu="4"))
        put_small(world, "small-n4", "n4")
        world.put(a_node("n5", cpu="1"))
        put_gang(world, "next", 1, "4")
        world.run(100)
        assert len(world.evicted) == first
        world.run(300)
        assert len(world.evicted) == first + 1
        assert placed(world, "next") == 1


def test_the_example_makes_room_for_the_gang_in_a_whole_cluster() -> None:
    example = CONTRIB / "examples" / "gang-defragmentation"
    config = (example / "config.yaml").read_text()
    with EmbeddedCluster(Coscheduling, GangDefragmentation, config=config) as cluster:
        cluster.apply(CONTRIB / "crds", example / "cluster.yaml")
        cluster.settle()
        assert len({pod.spec.node_name for pod in cluster.pods()}) == 3, "one on each node"
        cluster.apply(example / "gang.yaml")
        cluster.run(120)
        nodes = {pod.name[:5]: pod.spec.node_name for pod in cluster.pods()}
        assert all(pod.spec.node_name for pod in cluster.pods()), nodes
        train = {pod.spec.node_name for pod in cluster.pods() if pod.name.startswith("train")}
        web = {pod.spec.node_name for pod in cluster.pods() if pod.name.startswith("web")}
        assert (len(train), len(web)) == (2, 1)
        assert not [note for note in cluster.notes if "rejected" in note], "it may write what it writes"


@settings(max_examples=15, deadline=None)
@given(
    nodes=st.lists(st.lists(st.integers(1, 3), max_size=3), min_size=2, max_size=4),
    gang=st.tuples(st.integers(1, 3), st.integers(2, 4)),
)
def test_whatever_is_carried_out_all_pods_have_nodes_afterwards(nodes: list[list[int]], gang: tuple[int, int]) -> None:
    with scheduling(mode="Evict", intervalSeconds=5, pendingSeconds=5, coolDownSeconds=1000) as world:
        with_controllers(world)
        for number, cpus in enumerate(nodes):
            world.put(a_node(f"n{number}", cpu=str(max(4, sum(cpus)))))
            for place, cpu in enumerate(cpus):
                put_small(world, f"small-{number}-{place}", f"n{number}", cpu=str(cpu))
        put_gang(world, "train", gang[0], str(gang[1]))
        world.run(120)
        if world.evicted:
            assert all(pod.spec.node_name for pod in world.pods()), world.evicted
            assert placed(world) == gang[0]


# -- bad input


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"mode": "Delete"}, r"args\.mode: "),
        ({"maxMoves": 0}, "maxMoves: must be at least 1"),
        ({"maxNodes": 1}, "maxNodes: must be at least 2"),
        ({"intervalSeconds": 0}, "intervalSeconds: must be at least 1"),
    ],
)
def test_arguments_that_are_wrong_are_told_at_start(args: dict[str, Any], message: str) -> None:
    with pytest.raises(PluginError, match=message), scheduling(**args):
        pass


def test_without_the_solver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(PluginError, match=r"pip install 'kubesched-contrib\[defragment\]'"), scheduling():
        pass


def test_it_keeps_to_the_contract() -> None:
    pods = [a_pod("a-0", labels={LABEL: "a"}), a_pod("other", owner="ReplicaSet/web", phase="Running")]
    groups = [a_custom_object(KIND, "a", namespace="default", spec={"minMember": 1})]
    report = check_plugin(GangDefragmentation, pods=pods, objects=groups, examples=10, speed=False)
    assert report, str(report)
