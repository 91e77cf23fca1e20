"""DefaultPreemption: who may preempt, whom it would hit, which node is best."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from kubesched.api.meta import ApiObject, Condition, ObjectMeta
from kubesched.api.pods import Pod, PodSchedulingGroup, PodStatus
from kubesched.api.scheduling import PodGroup, PodGroupSchedulingConstraints, PodGroupSpec
from kubesched.config.args import DefaultPreemptionArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import build_engine
from kubesched.core.framework.results.outcomes import PostFilterResult
from kubesched.core.framework.values.events import Hint
from kubesched.core.framework.values.preemption import Candidates
from kubesched.core.framework.values.sampling import CANDIDATE_DRAW
from kubesched.core.framework.values.status import Code
from kubesched.core.plugins.default_preemption import DefaultPreemption
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_budget, a_cluster, a_node, a_pod, an_affinity


def engine_of(
    objects: Sequence[ApiObject], gates: Mapping[str, bool] | None = None, config: str | None = None
) -> Engine:
    engine = build_engine(config, FeatureGates(gates or {}))
    for obj in objects:
        engine.cluster.add(obj)
    return engine


def preempt(
    pod: Pod,
    *objects: ApiObject,
    gates: Mapping[str, bool] | None = None,
    config: str | None = None,
    draw: int | None = None,
) -> PostFilterResult:
    """Return what the plugin finds for a pod that no node takes."""
    engine = engine_of((*objects, pod), gates, config)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(pod))
    assert not evaluation.feasible().count
    if draw is not None:
        evaluation.cycle.write(CANDIDATE_DRAW, draw)
    plugin = engine.profiles["default-scheduler"].plugins["DefaultPreemption"]
    assert isinstance(plugin, DefaultPreemption)
    return plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())


def victims(result: PostFilterResult) -> dict[str, tuple[list[str], int]]:
    return {c.node_name: ([v.name for v in c.victims], c.pdb_violations) for c in result.candidates}


def started(minute: int) -> str:
    return f"2024-01-01T00:{minute:02}:00Z"


NODE = a_node("n1", cpu="4")


def on(node: str, name: str, cpu: str, priority: int, minute: int = 0, **more: Any) -> Pod:
    return a_pod(name, cpu=cpu, node=node, priority=priority, start=started(minute), **more)


# -- whom it hits


@pytest.mark.parametrize(
    ("what", "pods", "cpu", "hit"),
    [
        ("the least important pod goes", [("a", "2", 1, 0), ("b", "2", 0, 0)], "2", ["b"]),
        ("of equal priority the youngest goes", [("a", "2", 0, 1), ("b", "2", 0, 2)], "1", ["b"]),
        ("pods that fit beside the pod are spared", [("a", "3", 0, 1), ("b", "1", 0, 2)], "1", ["b"]),
        ("a spared important pod may cost a small one", [("a", "1", 5, 0), ("b", "3", 0, 0)], "3", ["b"]),
        (
            "victims come most important first",
            [("a", "1", 0, 3), ("b", "1", 5, 2), ("c", "1", 0, 1), ("d", "1", -5, 0)],
            "4",
            ["b", "c", "a", "d"],
        ),
        ("pods of equal priority are no victims", [("a", "2", 100, 0), ("b", "2", 0, 0)], "2", ["b"]),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_victims(what: str, pods: list[tuple[str, str, int, int]], cpu: str, hit: list[str]) -> None:
    result = preempt(a_pod("p", cpu=cpu, priority=100), NODE, *(on("n1", *pod) for pod in pods))
    assert victims(result) == {"n1": (hit, 0)}, what
    assert result.status.ok
    assert result.nominated_node_name == "n1"


def test_a_pod_without_a_start_time_counts_as_started_last() -> None:
    old = on("n1", "old", "2", 0, 1)
    new = a_pod("new", cpu="2", node="n1", priority=0)
    assert victims(preempt(a_pod("p", cpu="2", priority=1), NODE, new, old)) == {"n1": (["new"], 0)}


def test_the_whole_profile_judges_the_worlds() -> None:
    """A pod that must stay away from another one evicts it, though there is room."""
    apart = on("n1", "apart", "1", 0, labels={"app": "a"})
    beside = on("n1", "beside", "1", 0, 1)
    pod = a_pod("p", cpu="1", priority=1, affinity=an_affinity(apart="app=a@hostname"))
    assert victims(preempt(pod, NODE, apart, beside)) == {"n1": (["apart"], 0)}


def test_room_promised_to_a_more_important_pod_is_not_taken() -> None:
    pods = [on("n1", "a", "2", 0, 1), on("n1", "b", "2", 0, 2)]
    promised = a_pod("promised", cpu="2", priority=200, nominated="n1")
    result = preempt(a_pod("p", cpu="2", priority=100), NODE, *pods, promised)
    assert victims(result) == {"n1": (["a", "b"], 0)}


# -- budgets


@pytest.mark.parametrize(
    ("what", "budget", "expected"),
    [
        ("a budget that allows nothing saves its pods", a_budget("b", "app=a"), (["b"], 0)),
        ("a budget that allows one disruption pays for it", a_budget("b", "app=a", allowed=1), (["a"], 0)),
        ("a pod that is already disrupted costs nothing", a_budget("b", "app=a", disrupted=["a"]), (["a"], 0)),
        ("a budget without a selector means nobody", a_budget("b", None), (["a"], 0)),
        ("a budget with an empty selector means nobody", a_budget("b", {}), (["a"], 0)),
        ("a budget of another namespace means nobody here", a_budget("b", "app=a", namespace="other"), (["a"], 0)),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_budgets(what: str, budget: ApiObject, expected: tuple[list[str], int]) -> None:
    pods = [on("n1", "b", "2", 0, 1), on("n1", "a", "2", 0, 2, labels={"app": "a"})]
    result = preempt(a_pod("p", cpu="2", priority=1), NODE, *pods, budget)
    assert victims(result) == {"n1": expected}, what


def test_a_budget_is_broken_where_nothing_else_helps() -> None:
    pods = [on("n1", name, "2", 0, minute, labels={"app": "a"}) for minute, name in enumerate("ab")]
    result = preempt(a_pod("p", cpu="4", priority=1), NODE, *pods, a_budget("b", "app=a", allowed=1))
    # the most important pod is counted first and still affordable
    assert victims(result) == {"n1": (["a", "b"], 1)}


def test_a_budget_counts_afresh_on_each_node() -> None:
    nodes = [a_node("n1", cpu="2"), a_node("n2", cpu="2")]
    pods = [on(node.metadata.name, f"on-{node.metadata.name}", "2", 0, labels={"app": "a"}) for node in nodes]
    result = preempt(a_pod("p", cpu="2", priority=1), *nodes, *pods, a_budget("b", "app=a", allowed=1))
    assert victims(result) == {"n1": (["on-n1"], 0), "n2": (["on-n2"], 0)}


def test_budgets_may_change_between_two_runs() -> None:
    pods = [on("n1", "b", "2", 0, 1), on("n1", "a", "2", 0, 2, labels={"app": "a"})]
    engine = engine_of([NODE, *pods])
    plugin = engine.profiles["default-scheduler"].plugins["DefaultPreemption"]
    assert isinstance(plugin, DefaultPreemption)
    pod = engine.cluster.reader.read(a_pod("p", cpu="2", priority=1))

    def hit() -> dict[str, tuple[list[str], int]]:
        evaluation = engine.evaluation_of(pod)
        return victims(plugin.post_filter(evaluation.cycle, pod, evaluation.verdicts()))

    assert hit() == {"n1": (["a"], 0)}
    engine.cluster.add(a_budget("budget", "app=a"))
    assert hit() == {"n1": (["b"], 0)}
    engine.cluster.add(a_budget("budget", "app=other"))
    assert hit() == {"n1": (["a"], 0)}


# -- the best node


@pytest.mark.parametrize(
    ("what", "pods", "best"),
    [
        (
            "fewest broken budgets",
            {"n1": [("a", 0, 0, "guarded")], "n2": [("b", 50, 0, "")]},
            ["n2"],
        ),
        ("lowest highest priority", {"n1": [("a", 5, 0, ""), ("b", 0, 0, "")], "n2": [("c", 6, 0, "")]}, ["n1"]),
        ("smallest sum of priorities", {"n1": [("a", 5, 0, ""), ("b", 4, 0, "")], "n2": [("c", 5, 0, "")]}, ["n2"]),
        (
            "a further victim of negative priority is no gain",
            {"n1": [("a", -5, 0, ""), ("b", -5, 0, "")], "n2": [("c", -5, 0, "")]},
            ["n2"],
        ),
        ("latest start of the most important victim", {"n1": [("a", 0, 1, "")], "n2": [("b", 0, 2, "")]}, ["n2"]),
        ("ties are all named", {"n2": [("a", 0, 1, "")], "n1": [("b", 0, 1, "")]}, ["n1", "n2"]),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_best(what: str, pods: dict[str, list[tuple[str, int, int, str]]], best: list[str]) -> None:
    objects: list[ApiObject] = [a_budget("budget", "app=guarded")]
    for node, there in pods.items():
        objects.append(a_node(node, cpu="2"))
        share = str(2 / len(there))
        objects += [
            on(node, name, share, priority, minute, labels={"app": app}) for name, priority, minute, app in there
        ]
    result = preempt(a_pod("p", cpu="2", priority=100), *objects)
    assert isinstance(result.candidates, Candidates)
    assert result.candidates.best() == best, what
    assert result.nominated_node_name == best[0]


# -- who may not, and when it is no use


def evicted(pod: Pod, reason: str = "PreemptionByScheduler", status: str = "True") -> Pod:
    condition = Condition(type="DisruptionTarget", status=status, reason=reason)
    return msgspec.structs.replace(pod, status=PodStatus(conditions=(condition,)))


LEAVING = on("n1", "leaving", "4", 0, terminating=True)


@pytest.mark.parametrize(
    ("what", "pod", "there", "message"),
    [
        (
            "a pod that must not preempt",
            a_pod("p", cpu="2", priority=1, preemption_policy="Never"),
            on("n1", "a", "4", 0),
            "preemption: not eligible due to preemptionPolicy=Never.",
        ),
        (
            "victims of an earlier attempt are still going",
            a_pod("p", cpu="2", priority=1, nominated="n1"),
            evicted(LEAVING),
            "preemption: not eligible due to a terminating pod on the nominated node.",
        ),
        (
            "nobody is less important",
            a_pod("p", cpu="2"),
            on("n1", "a", "4", 0),
            "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
        ),
        (
            "the node is too small for the pod",
            a_pod("p", cpu="8", priority=1),
            on("n1", "a", "4", 0),
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        ),
        (
            "those that could go are not enough",
            a_pod("p", cpu="2", priority=1),
            [on("n1", "a", "1", 0), on("n1", "b", "3", 1)],
            "preemption: 0/1 nodes are available: 1 Insufficient cpu.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_no_help(what: str, pod: Pod, there: Pod | list[Pod], message: str) -> None:
    result = preempt(pod, NODE, *(there if isinstance(there, list) else [there]))
    assert (result.status.code, result.status.message) == (Code.UNSCHEDULABLE, message), what
    assert not result.candidates
    assert result.nominated_node_name == ("" if "nodes are available" in message else None)


@pytest.mark.parametrize(
    ("what", "there", "nominated"),
    [
        ("a pod that goes for another reason", evicted(LEAVING, reason="EvictionByEvictionAPI"), "n1"),
        ("a condition that does not hold", evicted(LEAVING, status="False"), "n1"),
        ("a pod that goes without a condition", LEAVING, "n1"),
        ("a nomination to another node", evicted(LEAVING), "n2"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_only_the_own_victims_are_waited_for(what: str, there: Pod, nominated: str) -> None:
    result = preempt(a_pod("p", cpu="2", priority=1, nominated=nominated), NODE, there)
    assert result.status.ok, what


def test_nodes_are_counted_by_why_preemption_does_not_help() -> None:
    nodes = [a_node("n1", cpu="1"), a_node("n2", cpu="4"), a_node("n3", cpu="4")]
    pods = [on("n2", "a", "4", 0), on("n3", "b", "3", 9), on("n3", "c", "1", 0)]
    result = preempt(a_pod("p", cpu="2", priority=0), *nodes, *pods)
    assert result.status.message == (
        "preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, "
        "2 No preemption victims found for incoming pod."
    )


# -- looking at a part of the cluster


def test_with_a_draw_the_search_ends_when_enough_is_found() -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 2}
"""
    objects: list[ApiObject] = [a_budget("budget", "app=guarded")]
    for index in range(8):
        objects.append(a_node(f"n{index}", cpu="2"))
        app = "guarded" if index in (3, 4, 5) else ""
        objects.append(on(f"n{index}", f"b{index}", "2", 0, labels={"app": app}))
    pod = a_pod("p", cpu="2", priority=1)

    def looked_at(draw: int | None) -> list[str]:
        return [c.node_name for c in preempt(pod, *objects, config=config, draw=draw).candidates]

    assert len(looked_at(None)) == 8
    assert looked_at(1) == ["n1", "n2"]
    assert looked_at(7) == ["n7", "n0"]
    # at least one candidate that breaks no budget is worth going on for
    assert looked_at(3) == ["n3", "n4", "n5", "n6"]


def test_equally_good_candidates_are_taken_by_the_draw() -> None:
    objects = [obj for i in range(3) for obj in (a_node(f"n{i}", cpu="2"), on(f"n{i}", f"b{i}", "2", 0))]
    pod = a_pod("p", cpu="2", priority=1)
    assert {preempt(pod, *objects, draw=draw).nominated_node_name for draw in range(9)} == {"n0", "n1", "n2"}


# -- groups, the queue, events

GROUPED = a_pod("p", cpu="2", priority=1, scheduling_group=PodSchedulingGroup(pod_group_name="g"))
FREE = PodGroup(metadata=ObjectMeta(name="g", namespace="default", uid="group"))
PLACED = PodGroup(metadata=FREE.metadata, spec=PodGroupSpec(scheduling_constraints=PodGroupSchedulingConstraints()))


@pytest.mark.parametrize(
    ("what", "gate", "group", "message"),
    [
        ("by default a grouped pod preempts", None, FREE, ""),
        (
            "with placements its group must be known",
            "TopologyAwareWorkloadScheduling",
            None,
            "preemption: pod group for pod not found",
        ),
        (
            "groups with constraints do not preempt pod by pod",
            "TopologyAwareWorkloadScheduling",
            PLACED,
            "preemption: not eligible due to placement-based pod group scheduling limitation",
        ),
        ("groups without constraints do", "TopologyAwareWorkloadScheduling", FREE, ""),
        (
            "groups preempt as a whole",
            "WorkloadAwarePreemption",
            FREE,
            "preemption: not eligible due to workload aware preemption enabled",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_groups(what: str, gate: str | None, group: PodGroup | None, message: str) -> None:
    engine = engine_of([NODE, on("n1", "a", "4", 0), *([group] if group else [])])
    gates = FeatureGates({"GenericWorkload": True, "GangScheduling": True, gate: True} if gate else {})
    plugin = DefaultPreemption(engine.cluster, gates)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(GROUPED))
    result = plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())
    assert result.status.message == message, what


def test_a_pod_waits_while_its_victims_are_being_deleted() -> None:
    cluster = a_cluster(NODE, on("n1", "victim", "1", 0))
    plugin = DefaultPreemption(cluster, FeatureGates({}))
    pod = cluster.reader.read(a_pod("p"))
    assert plugin.pre_enqueue(pod) is None
    plugin.preemptions.begin(pod.uid)
    held = plugin.pre_enqueue(pod)
    assert held is not None
    assert held.message == "waiting for the preemption for this pod to be finished"
    plugin.preemptions.last_victim(pod.uid, "default-victim")
    assert plugin.pre_enqueue(pod) is not None
    # once the last victim is going there is nothing left to wait for
    cluster.add(on("n1", "victim", "1", 0, terminating=True))
    assert plugin.pre_enqueue(pod) is None
    cluster.remove_pod("default-victim")
    assert plugin.pre_enqueue(pod) is None
    plugin.preemptions.end(pod.uid)
    assert plugin.pre_enqueue(pod) is None


def test_a_group_waits_as_a_whole() -> None:
    cluster = a_cluster(FREE)
    gates = FeatureGates({"GenericWorkload": True, "GangScheduling": True, "WorkloadAwarePreemption": True})
    plugin = DefaultPreemption(cluster, gates)
    pod = cluster.reader.read(GROUPED)
    plugin.preemptions.begin(pod.uid)
    assert plugin.pre_enqueue(pod) is None
    plugin.preemptions.begin("group")
    held = plugin.pre_enqueue(pod)
    assert held is not None
    assert held.message == "waiting for the preemption for this pod group to be finished"


def test_events() -> None:
    cluster = a_cluster()
    pod = cluster.reader.read(a_pod("p"))
    (registration,) = DefaultPreemption(cluster, FeatureGates({})).events_to_register()
    assert registration.hint is not None
    assert registration.hint(pod, pod, None) is Hint.QUEUE_SKIP
    synchronous = DefaultPreemption(cluster, FeatureGates({"SchedulerAsyncPreemption": False}))
    assert synchronous.events_to_register() == ()
    synchronous.preemptions.begin(pod.uid)
    assert synchronous.pre_enqueue(pod) is None


def test_without_nodes_there_is_an_error() -> None:
    engine = engine_of([])
    plugin = DefaultPreemption(engine.cluster, args=DefaultPreemptionArgs())
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p")))
    result = plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())
    assert (result.status.code, result.status.message) == (Code.ERROR, "preemption: no nodes available")


def test_candidates_can_be_sliced_and_outlive_the_pods() -> None:
    objects = [obj for i in range(3) for obj in (a_node(f"n{i}", cpu="2"), on(f"n{i}", f"b{i}", "2", 0))]
    engine = engine_of(objects)
    plugin = engine.profiles["default-scheduler"].plugins["DefaultPreemption"]
    assert isinstance(plugin, DefaultPreemption)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu="2", priority=1)))
    result = plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())
    for index in range(3):
        engine.cluster.remove_pod(f"default-b{index}")
    assert [c.node_name for c in result.candidates[1:]] == ["n1", "n2"]
    assert [v.name for v in result.candidates[-1].victims] == ["b2"]
