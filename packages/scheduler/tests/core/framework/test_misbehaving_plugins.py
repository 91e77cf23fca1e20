"""Plugins that raise or return nonsense: the attempt fails with their name, nothing is kept, the next pod is fine.

Each case is a hook that misbehaves while the word "bad" stands on the engine's blackboard, and behaves otherwise.
"""

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kubesched.core.assembly import build_engine
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import (
    FilterPlugin,
    PostFilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QuestionFilterPlugin,
    ScorePlugin,
    WorldsFilterPlugin,
)
from kubesched.core.framework.results.outcomes import NodeVerdicts, PostFilterResult, PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import unschedulable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.queue.queueing_hints import QueueingHints
from kubesched.core.scheduling.decision import Decision, decide
from kubesched.core.scheduling.engine import Engine
from kubesched.core.scheduling.post_filter import run_post_filter
from kubesched.errors import PluginError
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Bad}]
"""
TROUBLE: list[Any] = []


def raising(*_: Any) -> Any:
    raise RuntimeError("boom")


def maybe(value: Any, usual: Any) -> Any:
    """Return what is wrong if something is to go wrong, the usual answer otherwise."""
    if not TROUBLE:
        return usual
    return value() if callable(value) else value


def engine_with(plugin: type[Any]) -> Engine:
    plugin.name = "Bad"
    registry = Registry()
    registry.register(plugin)
    engine = build_engine(CONFIG, registry=registry)
    for number in range(3):
        engine.cluster.add(a_node(f"n{number}"))
    return engine


def decision(engine: Engine) -> Decision:
    return decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu="1"))), lambda count: 0)


def keyed(hook: str, value: Any, usual: Any, *, cached: bool) -> type[Any]:
    """Return a plugin of one hook that may misbehave; a cached one consents to keeping its columns."""

    class Filtering(FilterPlugin):
        def key(self, pod: PodInfo) -> Any:
            return "same" if cached else super().key(pod)

        def score_key(self, pod: PodInfo) -> Any:
            return "same" if cached else FilterPlugin.key(self, pod)

        def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Any:
            return None

    class Misbehaving(Filtering, ScorePlugin, PreFilterPlugin, PreScorePlugin):
        def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Any:
            return None

        def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Any:
            return None

        def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Any:
            return 1

    def misbehave(self: Any, *_: Any) -> Any:
        return maybe(value, usual(_) if callable(usual) else usual)

    setattr(Misbehaving, hook, misbehave)
    Misbehaving.normalizes = hook == "normalize_scores"
    return Misbehaving


def columns(arguments: Any) -> Any:
    return np.ones(len(arguments[2]), np.int64)


def verdicts(arguments: Any) -> Any:
    return Verdict.uniform(len(arguments[2]), None)


NO = unschedulable("no")
CASES: list[tuple[str, Any, Any, str]] = [
    ("pre_filter", raising, None, "failed in pre_filter: RuntimeError: boom"),
    ("pre_filter", True, None, "pre_filter returned True; return None or a status"),
    ("pre_filter", PreFilterResult("n1"), None, "narrowed the search to 'n1'; give a frozenset"),  # type: ignore[arg-type]
    ("pre_filter", PreFilterResult([1]), None, "narrowed the search to [1]; give a frozenset"),  # type: ignore[arg-type]
    ("filter", raising, None, "RuntimeError: boom"),
    ("filter", "full", None, "filter returned 'full'; return None or a status"),
    ("filter", False, None, "filter returned False; return None or a status"),
    ("filter_nodes", raising, verdicts, "failed in filter_nodes: RuntimeError: boom"),
    ("filter_nodes", None, verdicts, "filter_nodes returned None; return a verdict"),
    ("filter_nodes", np.ones(3, np.bool_), verdicts, "returned an array of bool of shape (3,); return a verdict"),
    ("filter_nodes", Verdict(np.zeros(2, np.int16), (None, NO)), verdicts, "answered for 2 nodes, was asked about 3"),
    ("filter_nodes", Verdict(np.full(3, 2), (None, NO)), verdicts, "points outside its 2 statuses"),
    ("filter_nodes", Verdict(np.full(3, -1), (None, NO)), verdicts, "points outside its 2 statuses"),
    ("filter_nodes", Verdict(np.ones(3, np.bool_), (None, NO)), verdicts, "expected an array of 3 integers"),
    ("filter_nodes", Verdict(np.ones(3), (None, NO)), verdicts, "expected an array of 3 integers"),
    ("filter_nodes", Verdict(np.ones(3, np.int16), (None, "no")), verdicts, "filter_nodes returned 'no'"),  # type: ignore[arg-type]
    ("pre_score", raising, None, "failed in pre_score: RuntimeError: boom"),
    ("pre_score", 7, None, "pre_score returned 7; return None or a status"),
    ("score", raising, 1, "RuntimeError: boom"),
    ("score", None, 1, "score returned None; return an integer"),
    ("score", 0.5, 1, "score returned 0.5; return an integer"),
    ("score", True, 1, "score returned True; return an integer"),
    ("score", 10**30, 1, "return an integer from 0 to 100"),
    ("score", 101, 1, "invalid score 101"),
    ("score", -1, 1, "invalid score -1"),
    ("score_nodes", raising, columns, "failed in score_nodes: RuntimeError: boom"),
    ("score_nodes", None, columns, "score_nodes returned None; expected an array of 3 integers"),
    (
        "score_nodes",
        np.array([1.5, 2.5, 3.5]),
        columns,
        "returned an array of float64 of shape (3,); expected an array",
    ),
    ("score_nodes", np.zeros(2, np.int64), columns, "answered for 2 nodes, was asked about 3"),
    ("score_nodes", ["a", "b", "c"], columns, "expected an array of 3 integers"),
    ("normalize_scores", raising, columns, "failed in normalize_scores: RuntimeError: boom"),
    ("normalize_scores", None, columns, "normalize_scores returned None; expected an array of 3 integers"),
    ("normalize_scores", np.zeros(9, np.int64), columns, "answered for 9 nodes, was asked about 3"),
    ("key", raising, "same", "failed in key: RuntimeError: boom"),
    ("key", [], "same", "failed in key: TypeError: unhashable type: 'list'"),
    ("score_key", raising, "same", "failed in score_key: RuntimeError: boom"),
    ("score_key", {}, "same", "failed in score_key: TypeError: unhashable type: 'dict'"),
]


@pytest.mark.parametrize("cached", [False, True], ids=["asked anew", "kept"])
@pytest.mark.parametrize(("hook", "value", "usual", "text"), CASES)
def test_a_hook_that_misbehaves_fails_one_attempt(hook: str, value: Any, usual: Any, text: str, cached: bool) -> None:
    engine = engine_with(keyed(hook, value, usual, cached=cached))
    TROUBLE.append("bad")
    try:
        failure = decision(engine).failure
    finally:
        TROUBLE.clear()
    assert failure is not None
    assert text in failure.message
    assert "Bad" in failure.message
    assert decision(engine).node_name, "the next pod is fine"


@pytest.mark.parametrize(
    ("hook", "value", "text"),
    [
        ("filter", raising, "failed in filter: RuntimeError: boom"),
        ("filter", "full", "failed in filter: filter returned 'full'; return None or a status"),
        ("score", raising, "failed in score: RuntimeError: boom"),
        ("score", "best", "failed in score: score returned 'best'; return an integer"),
        ("score", 10**30, "failed in score: score returned 1000000000000000000000000000000; return an integer"),
    ],
)
def test_a_kept_column_that_fails_to_catch_up_fails_one_attempt(hook: str, value: Any, text: str) -> None:
    engine = engine_with(keyed(hook, value, 1 if hook == "score" else None, cached=True))
    assert decision(engine).node_name
    engine.cluster.add(a_pod("more", cpu="1", node="n1"))
    TROUBLE.append("bad")
    try:
        failure = decision(engine).failure
    finally:
        TROUBLE.clear()
    assert failure is not None
    assert text in failure.message
    assert decision(engine).node_name


class StatusWriter(PreFilterPlugin, FilterPlugin):
    """Is told of pods that come and go in worlds."""

    told: Callable[..., Any] = staticmethod(lambda *_: None)

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> None:
        return None

    def add_pod(self, cycle: CycleState, pod: PodInfo, added: PodInfo, node: NodeRow) -> Any:
        return self.told()

    def remove_pod(self, cycle: CycleState, pod: PodInfo, removed: PodInfo, node: NodeRow) -> Any:
        return self.told()

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> None:
        return None


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (raising, 'running {} on PreFilter plugin "Bad": plugin "Bad" failed in {}: RuntimeError: boom'),
        (lambda: "no", "{1} returned 'no'; return None or a status"),
        (lambda: unschedulable("not that one"), 'running {} on PreFilter plugin "Bad": not that one'),
    ],
)
def test_what_goes_wrong_when_a_plugin_is_told_of_a_pod_is_an_error_on_that_node(told: Any, text: str) -> None:
    class Told(StatusWriter):
        pass

    Told.told = staticmethod(told)
    engine = engine_with(Told)
    engine.cluster.add(a_pod("ahead", priority=5, nominated="n1"))
    failure = decision(engine).failure
    assert failure is not None
    assert text.format("AddPod", "add_pod") in failure.message

    engine.cluster.remove_pod("default-ahead")
    engine.cluster.add(a_pod("victim", cpu="4", node="n1"))
    for name in ("n0", "n2"):
        engine.cluster.table.remove_node(name)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu="1", priority=10)))
    profile = engine.profiles["default-scheduler"]
    found = run_post_filter(profile.post_filter, evaluation.cycle, evaluation.pod, evaluation.verdicts())
    assert text.format("RemovePod", "remove_pod") in found.message


@pytest.mark.parametrize("value", [raising, None, "nothing found"])
def test_a_post_filter_that_misbehaves_fails_the_attempt_by_name(value: Any) -> None:
    class Helpless(PostFilterPlugin):
        def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
            TROUBLE.append("bad")
            try:
                return maybe(value, None)  # type: ignore[no-any-return]
            finally:
                TROUBLE.clear()

    engine = engine_with(Helpless)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu="100")))
    (plugin,) = (p for p in engine.profiles["default-scheduler"].post_filter if p.name == "Bad")
    found = run_post_filter((plugin,), evaluation.cycle, evaluation.pod, evaluation.verdicts())
    assert not found.status.ok
    assert found.status.plugin == "Bad"
    assert 'plugin "Bad" failed in post_filter' in found.message


@pytest.mark.parametrize(("value", "text"), [(raising, "RuntimeError: boom"), (None, "returned None; return a Filter")])
@pytest.mark.parametrize(
    ("hook", "bases"), [("filter_question", (QuestionFilterPlugin,)), ("filter_worlds", (WorldsFilterPlugin,))]
)
def test_a_plugin_that_gives_no_question_or_no_worlds_fails_the_attempt_by_name(
    hook: str, bases: tuple[type[Any], ...], value: Any, text: str
) -> None:
    def misbehave(self: Any, *_: Any) -> Any:
        return value() if callable(value) else value

    def filter_nodes(self: Any, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        return Verdict.uniform(len(nodes), None)

    engine = engine_with(type("Made", bases, {hook: misbehave, "filter_nodes": filter_nodes}))
    # worlds: the nodes are asked about with this pod on them, too
    engine.cluster.add(a_pod("ahead", priority=5, nominated="n1"))
    failure = decision(engine).failure
    assert failure is not None
    assert f'plugin "Bad" failed in {hook}: ' in failure.message
    assert text in failure.message


class ColumnRoom(FilterPlugin):
    """Wants a free core; written over columns only."""

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        return Verdict.rejecting(nodes.free("cpu") < 1000, unschedulable("no core"))


class CountingRoom(FilterPlugin):
    """Wants a node with fewer than two pods; goes through the nodes one by one in its column form."""

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        full = np.array([len(list(node.pods)) >= 2 for node in nodes])
        return Verdict.rejecting(full, unschedulable("no core"))


@pytest.mark.parametrize("plugin", [ColumnRoom, CountingRoom])
def test_a_column_form_sees_the_pods_of_a_world(plugin: type[FilterPlugin]) -> None:
    """It is asked with nominated pods on the node and with victims off it, as the one-node form is."""
    engine = engine_with(type("Made", (plugin,), {}))
    for name in ("n0", "n2"):
        engine.cluster.table.remove_node(name)
    engine.cluster.add(a_pod("small", cpu="100m", node="n1"))
    assert decision(engine).node_name == "n1"
    engine.cluster.add(a_pod("ahead", cpu="3100m", nominated="n1", priority=5))
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p")))
    ids = evaluation.first_objectors()[engine.cluster.table.present_rows()]
    assert [evaluation.statuses[index].plugin for index in ids.tolist()] == ["Bad"]
    engine.cluster.remove_pod("default-ahead")

    engine.cluster.add(a_pod("victim", cpu="3", node="n1"))
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", priority=10)))
    profile = engine.profiles["default-scheduler"]
    found = run_post_filter(profile.post_filter, evaluation.cycle, evaluation.pod, evaluation.verdicts())
    assert found.by_plugin["DefaultPreemption"].nominated_node_name == "n1"


def test_ctrl_c_of_a_person_is_not_taken_for_a_plugins_fault() -> None:
    """Where no signal handler is set, as in `kubesched evaluate` and notebooks, it ends what runs."""

    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    engine = engine_with(keyed("filter", interrupt, None, cached=False))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    TROUBLE.append("bad")
    try:
        with pytest.raises(KeyboardInterrupt):
            decision(engine)
    finally:
        TROUBLE.clear()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("answer", [None, [1], "all", raising])
def test_events_to_register_that_cannot_be_had_are_an_error_at_start(answer: Any) -> None:
    class Bad(FilterPlugin):
        name = "Bad"

        def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> None:
            return None

        def events_to_register(self) -> Any:
            return answer() if callable(answer) else answer

    with pytest.raises(PluginError, match='plugin "Bad" failed in events_to_register'):
        QueueingHints(engine_with(Bad).profiles)
