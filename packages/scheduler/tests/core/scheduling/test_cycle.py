"""The scheduling cycle: from a popped pod to a place or a failure, extenders answered by the test."""

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import msgspec
import pytest

from kubesched.config.types import Extender
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.comparison import content, differences
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import Permission, PermitPlugin, ReservePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPreemptionArgs,
    ExtenderPreemptionResult,
    ExtenderPrioritizeArgs,
    ExtenderPrioritizeResult,
    ExtenderResult,
)
from kubesched.core.framework.values.status import Code, Status, unschedulable
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.cycle import CycleContext, schedule
from kubesched.core.scheduling.engine import Engine
from kubesched.core.scheduling.outcomes import Failed, Outcome, Placed, PodAttempt, Skipped
from kubesched.core.scheduling.visit_order import VisitOrder
from kubesched.testing import a_node, a_pod

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
Answerer = Callable[[ExtenderArgs], ExtenderResult]


class Keeper(ReservePlugin, PermitPlugin):
    """Reserves and permits as the test says; remembers what it holds."""

    name = "Keeper"
    held: set[str] = set()  # noqa: RUF012 - shared with the test on purpose
    reserve_says: Status | Exception | None = None
    permit_says: Permission | Exception = Permission(Status(Code.SUCCESS))

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        self.held.add(pod.uid)
        if isinstance(self.reserve_says, Exception):
            raise self.reserve_says
        return self.reserve_says

    def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        self.held.discard(pod.uid)

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        if isinstance(self.permit_says, Exception):
            raise self.permit_says
        return self.permit_says


@pytest.fixture
def keeper() -> type[Keeper]:
    return type("Keeper", (Keeper,), {"held": set()})


def an_engine(config: str = "", *plugins: Any) -> Engine:
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin)
    return build_engine(HEADER + config if config else None, registry=registry)


def with_keeper(keeper: type[Keeper]) -> Engine:
    return an_engine("profiles:\n- plugins:\n    multiPoint:\n      enabled:\n      - name: Keeper\n", keeper)


def attempt(engine: Engine, pod: Any, answers: Answerer | None = None, **context: Any) -> Outcome:
    """Run one cycle, the extenders answered by `answers`."""
    made = CycleContext(engine, Random(1).randrange)
    for name, value in context.items():
        setattr(made, name, value)
    running = schedule(made, PodAttempt(QueuedPod(engine.cluster.reader.read(pod), 0.0)))
    try:
        question = next(running)
        while True:
            assert answers is not None, f"unexpected {question}"
            question = running.send(answers(question))
    except StopIteration as finished:
        outcome: Outcome = finished.value
        return outcome


def test_a_pod_that_fits_is_placed_and_counts_at_once() -> None:
    engine = an_engine()
    engine.cluster.add(a_node("n1", cpu="1"))
    outcome = attempt(engine, a_pod("p", cpu="1"))
    assert isinstance(outcome, Placed)
    assert outcome.node_name == "n1"
    second = attempt(engine, a_pod("q", cpu="1"))
    assert isinstance(second, Failed)
    assert second.reason == "Unschedulable"
    assert second.unschedulable_plugins == {"NodeResourcesFit"}
    assert second.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


@pytest.mark.parametrize(
    ("pod", "note"),
    [
        pytest.param(a_pod("p", scheduler="somebody-else"), "", id="not ours"),
        pytest.param(a_pod("p", terminating=True), "skip schedule deleting pod: default/p", id="deleting"),
    ],
)
def test_pods_that_need_no_attempt_are_skipped(pod: Any, note: str) -> None:
    engine = an_engine()
    engine.cluster.add(a_node("n1"))
    outcome = attempt(engine, pod)
    assert isinstance(outcome, Skipped)
    assert outcome.note == note


def test_an_assumed_pod_is_skipped() -> None:
    engine = an_engine()
    engine.cluster.add(a_node("n1"))
    attempt(engine, a_pod("p"))
    assert isinstance(attempt(engine, a_pod("p")), Skipped)


def test_without_nodes_nobody_is_to_blame() -> None:
    outcome = attempt(an_engine(), a_pod("p"))
    assert isinstance(outcome, Failed)
    assert (outcome.message, outcome.unschedulable_plugins) == ("no nodes available to schedule pods", frozenset())


def test_the_promised_node_comes_first_though_others_are_better() -> None:
    engine = an_engine()
    engine.cluster.add(a_node("n1", cpu="2"))
    engine.cluster.add(a_node("n2", cpu="64"))
    outcome = attempt(engine, a_pod("p", cpu="1", nominated="n1"))
    assert isinstance(outcome, Placed)
    assert outcome.node_name == "n1"


def test_preemption_names_node_and_victims() -> None:
    engine = an_engine()
    engine.cluster.add(a_node("n1", cpu="1"))
    engine.cluster.add(a_pod("low", cpu="1", node="n1", priority=0))
    outcome = attempt(engine, a_pod("high", cpu="1", priority=10))
    assert isinstance(outcome, Failed)
    assert outcome.nominated_node_name == "n1"
    assert outcome.preemption is not None
    assert [victim.name for victim in outcome.preemption.victims] == ["low"]


@pytest.mark.parametrize(
    ("changes", "reason", "message"),
    [
        pytest.param(
            {"reserve_says": unschedulable("taken")},
            "Unschedulable",
            "0/1 nodes are available: 1 taken.",
            id="Reserve rejects",
        ),
        pytest.param(
            {"reserve_says": Status(Code.ERROR, ("broken",))},
            "SchedulerError",
            'running Reserve plugin "Keeper": broken',
            id="Reserve fails",
        ),
        pytest.param(
            {"reserve_says": RuntimeError("boom")},
            "SchedulerError",
            'running Reserve plugin "Keeper": plugin "Keeper" failed in reserve: RuntimeError: boom (test_cycle.py:0)',
            id="Reserve raises",
        ),
        pytest.param(
            {"permit_says": Permission(unschedulable("not now"))},
            "Unschedulable",
            "0/1 nodes are available: 1 not now.",
            id="Permit rejects",
        ),
        pytest.param(
            {"permit_says": RuntimeError("boom")},
            "SchedulerError",
            'running Permit plugin "Keeper": plugin "Keeper" failed in permit: RuntimeError: boom (test_cycle.py:0)',
            id="Permit raises",
        ),
    ],
)
def test_what_fails_after_the_decision_leaves_nothing_behind(
    keeper: type[Keeper], changes: Mapping[str, Any], reason: str, message: str
) -> None:
    for name, value in changes.items():
        setattr(keeper, name, value)
    engine = with_keeper(keeper)
    engine.cluster.add(a_node("n1"))
    engine.cluster.add(a_pod("p"))
    before = content(engine.cluster)
    outcome = attempt(engine, a_pod("p"))
    assert isinstance(outcome, Failed)
    # whatever line it is
    assert (outcome.reason, re.sub(r"py:\d+\)$", "py:0)", outcome.message)) == (reason, message)
    assert keeper.held == set()
    assert list(differences(before, content(engine.cluster))) == []


def test_permit_can_make_a_pod_wait_for_a_quarter_of_an_hour_at_most(keeper: type[Keeper]) -> None:
    keeper.permit_says = Permission(Status(Code.WAIT), timeout_seconds=10_000)
    engine = with_keeper(keeper)
    engine.cluster.add(a_node("n1"))
    outcome = attempt(engine, a_pod("p"))
    assert isinstance(outcome, Placed)
    assert outcome.waits == {"Keeper": 900.0}


# -- extenders

EXTENDER = Extender(url_prefix="http://127.0.0.1:1", filter_verb="filter", prioritize_verb="prioritize", weight=2)


def three_nodes() -> Engine:
    engine = an_engine()
    for name in ("n1", "n2", "n3"):
        engine.cluster.add(a_node(name))
    return engine


def test_extenders_filter_and_their_scores_decide() -> None:
    def answers(question: ExtenderArgs) -> ExtenderResult:
        if isinstance(question, ExtenderFilterArgs):
            assert list(question.node_names) == ["n1", "n2", "n3"]
            return ExtenderFilterResult(node_names=["n2", "n3"], failed={"n1": "too far"})
        assert isinstance(question, ExtenderPrioritizeArgs)
        assert list(question.node_names) == ["n2", "n3"]
        return ExtenderPrioritizeResult(scores={"n2": 1, "n3": 10, "made-up": 10})

    outcome = attempt(three_nodes(), a_pod("p"), answers, extenders=[EXTENDER])
    assert isinstance(outcome, Placed)
    assert outcome.node_name == "n3"


def test_an_extender_that_rejects_all_nodes_is_blamed() -> None:
    def answers(question: ExtenderArgs) -> ExtenderResult:
        return ExtenderFilterResult(failed={"n1": "full", "n2": "full"}, failed_and_unresolvable={"n3": "never"})

    outcome = attempt(three_nodes(), a_pod("p"), answers, extenders=[EXTENDER])
    assert isinstance(outcome, Failed)
    assert "Extender" in outcome.unschedulable_plugins
    assert outcome.message.startswith("0/3 nodes are available: 1 never, 2 full.")


@pytest.mark.parametrize(
    ("ignorable", "placed"),
    [
        pytest.param(True, True, id="one that may be ignored is passed over"),
        pytest.param(False, False, id="one that may not ends the attempt"),
    ],
)
def test_an_extender_that_does_not_answer(ignorable: bool, placed: bool) -> None:
    def answers(question: ExtenderArgs) -> ExtenderResult:
        if isinstance(question, ExtenderPrioritizeArgs):
            return ExtenderPrioritizeResult(error="connection refused")
        return ExtenderFilterResult(error="connection refused")

    extender = msgspec.structs.replace(EXTENDER, ignorable=ignorable)
    outcome = attempt(three_nodes(), a_pod("p"), answers, extenders=[extender])
    assert isinstance(outcome, Placed) is placed
    if isinstance(outcome, Failed):
        assert (outcome.reason, outcome.message) == ("SchedulerError", "connection refused")


def test_a_failing_prioritize_is_ignored_even_where_the_extender_is_not_ignorable() -> None:
    def answers(question: ExtenderArgs) -> ExtenderResult:
        return ExtenderPrioritizeResult(error="connection refused")

    extender = msgspec.structs.replace(EXTENDER, filter_verb="")
    assert isinstance(attempt(three_nodes(), a_pod("p"), answers, extenders=[extender]), Placed)


def test_a_lying_extender_ends_the_attempt_with_its_name() -> None:
    def answers(question: ExtenderArgs) -> ExtenderResult:
        return ExtenderFilterResult(node_names=["n1", "nowhere"])

    outcome = attempt(three_nodes(), a_pod("p"), answers, extenders=[EXTENDER])
    assert isinstance(outcome, Failed)
    assert outcome.message == (
        'extender "http://127.0.0.1:1" claims a filtered node "nowhere" which is not found in the input node list'
    )


PREEMPTING = Extender(url_prefix="http://127.0.0.1:1", preempt_verb="preempt")


def full_nodes() -> Engine:
    engine = an_engine()
    for name in ("n1", "n2"):
        engine.cluster.add(a_node(name, cpu="1"))
        engine.cluster.add(a_pod(f"low-{name}", cpu="1", node=name, priority=0))
    return engine


@pytest.mark.parametrize(
    ("answer", "nominated", "said"),
    [
        pytest.param(ExtenderPreemptionResult(victims={"n2": ["default-low-n2"]}), "n2", "", id="it leaves one node"),
        pytest.param(ExtenderPreemptionResult(), None, "no candidate node for preemption", id="it leaves none"),
        pytest.param(ExtenderPreemptionResult(error="out of order"), None, "out of order", id="it fails"),
        pytest.param(
            ExtenderPreemptionResult(victims={"n1": ["default-low-n2"]}),
            None,
            "claims to preempt pod (UID: default-low-n2) on node: n1, but the pod is not found on that node",
            id="it names a pod that is elsewhere",
        ),
        pytest.param(
            ExtenderPreemptionResult(victims={"n1": []}),
            None,
            'expected at least one victim pod on node "n1"',
            id="nobody",
        ),
    ],
)
def test_extenders_have_a_say_in_preemption(answer: ExtenderPreemptionResult, nominated: str | None, said: str) -> None:
    def answers(question: ExtenderArgs) -> ExtenderResult:
        assert isinstance(question, ExtenderPreemptionArgs)
        assert {name: [p.metadata.name for p in pods] for name, pods in question.victims.items()} == {
            "n1": ["low-n1"],
            "n2": ["low-n2"],
        }
        return answer

    outcome = attempt(full_nodes(), a_pod("high", cpu="1", priority=9), answers, extenders=[PREEMPTING])
    assert isinstance(outcome, Failed)
    assert outcome.nominated_node_name == nominated
    assert (outcome.preemption is not None) is (nominated is not None)
    assert said in outcome.message


# -- looking at a part of the nodes

NO_SCORING = (
    "profiles:\n- plugins:\n    preScore:\n      disabled: [{name: '*'}]\n    score:\n      disabled: [{name: '*'}]\n"
)


def test_without_scoring_the_first_fitting_node_from_the_rotating_start_of_interleaved_zones_is_taken() -> None:
    engine = an_engine(NO_SCORING)
    for number, zone in enumerate("aaabbc"):
        engine.cluster.add(a_node(f"n{number}", zone=zone))
    order = VisitOrder(engine.cluster.table)
    chosen = []
    for number in range(7):
        outcome = attempt(engine, a_pod(f"p{number}"), visit_order=order)
        assert isinstance(outcome, Placed)
        chosen.append(outcome.node_name)
    assert chosen == ["n0", "n3", "n5", "n1", "n4", "n2", "n0"]


def test_a_percentage_limits_the_search() -> None:
    engine = an_engine()
    for number in range(400):
        engine.cluster.add(a_node(f"n{number:03}"))
    order = VisitOrder(engine.cluster.table)
    outcome = attempt(engine, a_pod("p"), visit_order=order, percentage_of_nodes_to_score=50)
    assert isinstance(outcome, Placed)
    assert outcome.feasible_nodes == 200
    again = attempt(engine, a_pod("q"), visit_order=order, percentage_of_nodes_to_score=50)
    assert isinstance(again, Placed)
    assert again.node_name >= "n200"


def test_the_same_seed_makes_the_same_decisions() -> None:
    def decisions() -> list[str]:
        engine = three_nodes()
        pick = Random(7).randrange
        outcomes = [attempt(engine, a_pod(f"p{i}", cpu="100m"), pick=pick) for i in range(12)]
        return [outcome.node_name for outcome in outcomes if isinstance(outcome, Placed)]

    assert decisions() == decisions()
    assert len(set(decisions())) > 1


# -- pods that fail for reasons that are known


def failed(engine: Engine, name: str, **fields: Any) -> Failed:
    outcome = attempt(engine, a_pod(name, cpu="2", **fields))
    assert isinstance(outcome, Failed)
    return outcome


def test_pods_of_a_class_that_fail_share_their_verdicts_until_the_table_changes() -> None:
    engine = an_engine()
    for name in ("n1", "n2"):
        engine.cluster.add(a_node(name, cpu="2"))
        engine.cluster.add(a_pod(f"on-{name}", node=name, cpu="1"))
    first, second = failed(engine, "p"), failed(engine, "q")
    assert second.verdicts is first.verdicts
    assert second.message == first.message
    assert second.unschedulable_plugins == first.unschedulable_plugins == {"NodeResourcesFit"}
    assert second.nominated_node_name == first.nominated_node_name == ""
    engine.cluster.add(a_node("n2", cpu="2", taints=["x:NoSchedule"]))
    third = failed(engine, "r")
    assert third.message.startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).")
    assert third.unschedulable_plugins == {"NodeResourcesFit", "TaintToleration"}
    assert "1 No preemption victims found for incoming pod, 1 Preemption is not helpful" in third.message


def test_that_preemption_does_not_help_is_known_for_pods_of_the_same_priority_only() -> None:
    engine = an_engine()
    engine.cluster.add(a_node("n1", cpu="2"))
    engine.cluster.add(a_pod("low", node="n1", cpu="2", priority=5))
    assert "No preemption victims" in failed(engine, "p", priority=5).message
    never = failed(engine, "never", priority=5, preemption_policy="Never")
    assert "not eligible due to preemptionPolicy=Never." in never.message
    assert failed(engine, "q", priority=5).preemption is None
    preempts = failed(engine, "r", priority=6).preemption
    assert preempts is not None
    assert [victim.name for victim in preempts.victims] == ["low"]
    assert failed(engine, "s", priority=5).preemption is None


def test_what_is_known_of_a_failure_is_not_taken_for_a_pod_that_nominations_count_for() -> None:
    engine = an_engine()
    engine.cluster.add(a_node("n1", cpu="2"))
    engine.cluster.add(a_pod("big", node="n1", cpu="1"))
    known = failed(engine, "p").verdicts
    reader = engine.cluster.reader
    engine.cluster.nominate(reader.read(a_pod("vip", cpu="2", priority=10)), "n1")
    for name, priority in (("q", 0), ("r", 20)):
        assert failed(engine, name, priority=priority).verdicts is not known
