"""Restrictions on what a plugin reads: they concern the thread that asks the plugin, and they end with the answer.

While the scheduler asks a plugin whose answer is kept, threads and tasks of plugins read what they like.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, ClassVar

import pytest

from kubesched import FilterPlugin, Reads, Registry, ScorePlugin, build_engine, decide, unschedulable
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Namespace
from kubesched.core.cluster.changes import ANYTHING, UNRESTRICTED
from kubesched.core.cluster.restrictions import may_read, restricted
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.scheduling.decision import Decision
from kubesched.core.scheduling.engine import Engine
from kubesched.errors import PluginError
from kubesched.testing import a_node, a_pod

DEADLINE_SECONDS = 60.0
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Labels}, {name: Other}]}}
"""
NOT_NAMED = "which `reads` does not name"


@pytest.fixture(autouse=True)
def interrupts_of_a_terminal() -> Iterator[None]:
    """Python's own handler of Ctrl-C: with another one, a KeyboardInterrupt is an error of the plugin."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Labels(FilterPlugin):
    """A filter whose answer is kept, and which may read labels and taints; `hook` is what it does."""

    name = "Labels"
    reads = Reads.LABELS | Reads.TAINTS
    hook: ClassVar[Callable[[ClusterView, NodeRow], Status | None]]

    def __init__(self, cluster: ClusterView) -> None:
        self.cluster = cluster

    def key(self, pod: Any) -> str:
        return "same"

    def filter(self, cycle: Any, pod: Any, node: NodeRow) -> Status | None:
        return type(self).hook(self.cluster, node)


class Other(FilterPlugin):
    """A filter that is asked for every pod, and so may read anything."""

    name = "Other"
    made: ClassVar["Other"]
    hook: ClassVar[Callable[[ClusterView, NodeRow], Status | None]]

    def __init__(self, cluster: ClusterView) -> None:
        Other.made = self
        self.cluster = cluster
        self.pods = cluster.pod_index(lambda pod: ["all"])
        self.namespaces = cluster.index(Namespace, lambda namespace: ["all"])
        self.totals = cluster.pod_totals(lambda pod: "all")
        self.column = cluster.node_values(lambda node: len(node.annotations) + 7, reads=Reads.ANNOTATIONS)

    def filter(self, cycle: Any, pod: Any, node: NodeRow) -> Status | None:
        return type(self).hook(self.cluster, node)


def do_nothing(cluster: ClusterView, node: NodeRow) -> None:
    """Accept every node."""


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Return an engine with both plugins, neither of which does anything."""
    monkeypatch.setattr(Labels, "hook", staticmethod(do_nothing), raising=False)
    monkeypatch.setattr(Other, "hook", staticmethod(do_nothing), raising=False)
    registry = Registry()
    registry.register(Labels)
    registry.register(Other)
    return an_engine(CONFIG, registry, a_node("n1"), a_pod("there", node="n1"))


def an_engine(config: str, registry: Registry, *objects: ApiObject) -> Engine:
    engine = build_engine(config, registry=registry)
    for obj in objects:
        engine.cluster.add(obj)
    return engine


def decision_for(engine: Engine, pod: str = "p") -> Decision:
    return decide(engine.evaluation_of(engine.cluster.reader.read(a_pod(pod))), lambda count: 0)


def in_thread_meanwhile(read: Callable[[], Any]) -> tuple[Callable[[], None], Callable[[], Any]]:
    """Return a function that waits while a thread of a plugin reads, and one that returns what the thread got."""
    asked, done = threading.Event(), threading.Event()

    def plugins_thread() -> Any:
        assert asked.wait(DEADLINE_SECONDS), "the scheduler asked no plugin"
        try:
            return read()
        finally:
            done.set()

    executor = ThreadPoolExecutor(1)
    result = executor.submit(plugins_thread)
    executor.shutdown(wait=False)

    def wait() -> None:
        asked.set()
        assert done.wait(DEADLINE_SECONDS), "the thread did not read"

    return wait, lambda: result.result(DEADLINE_SECONDS)


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda other: other.cluster.get(Namespace, "default").name, "default"),
        (lambda other: [each.name for each in other.cluster.all(Namespace)], ["default"]),
        (lambda other: other.cluster.node("n1").annotations.get("rack"), None),
        (lambda other: [pod.name for pod in other.cluster.node("n1").pods], ["there"]),
        (lambda other: other.cluster.nodes.pod_count.tolist(), [1]),
        (lambda other: len(other.cluster.pods), 1),
        (lambda other: len(other.pods["all"]), 1),
        (lambda other: len(other.namespaces["all"]), 1),
        (lambda other: other.totals["all"]["pods"], 1),
        (lambda other: other.column.all().tolist(), [7]),
    ],
    ids=["get", "all", "annotations", "pods of a node", "nodes", "pods", "pod index", "index", "totals", "column"],
)
def test_a_thread_reads_what_it_likes_while_another_plugin_is_asked(engine: Engine, read: Any, expected: Any) -> None:
    engine.cluster.add(Namespace(metadata=a_node("default").metadata))
    wait, result = in_thread_meanwhile(lambda: read(Other.made))

    def hook(cluster: ClusterView, node: NodeRow) -> None:
        with pytest.raises(PluginError, match=NOT_NAMED):
            cluster.get(Namespace, "default")
        wait()
        # the thread has lifted no restriction either
        with pytest.raises(PluginError, match=NOT_NAMED):
            cluster.get(Namespace, "default")

    Labels.hook = staticmethod(hook)
    decision = decision_for(engine)
    assert result() == expected
    assert decision.node_name == "n1"


def test_a_plugin_is_asked_without_restriction_while_a_thread_makes_a_column(engine: Engine) -> None:
    asked, done = threading.Event(), threading.Event()

    def value_of(node: NodeRow) -> int:
        asked.set()
        assert done.wait(DEADLINE_SECONDS), "the scheduler asked no plugin"
        with pytest.raises(PluginError, match=NOT_NAMED):
            _ = node.taints
        return 7

    def hook(cluster: ClusterView, node: NodeRow) -> Status | None:
        assert asked.wait(DEADLINE_SECONDS), "the thread made no column"
        return unschedulable("tainted") if node.taints or cluster.get(Namespace, "none") else None

    Other.hook = staticmethod(hook)
    column = Other.made.cluster.node_values(value_of, reads=Reads.LABELS)
    with ThreadPoolExecutor(1) as executor:
        values = executor.submit(column.all)
        try:
            decision = decision_for(engine)
        finally:
            done.set()
        assert values.result(DEADLINE_SECONDS).tolist() == [7]
    assert decision.node_name == "n1"


def test_a_thread_that_a_filter_starts_is_not_restricted(engine: Engine) -> None:
    found = []

    def hook(cluster: ClusterView, node: NodeRow) -> None:
        with ThreadPoolExecutor(1) as executor:
            found.append(executor.submit(lambda: len(cluster.pods)).result(DEADLINE_SECONDS))

    Labels.hook = staticmethod(hook)
    assert decision_for(engine).node_name == "n1"
    assert found == [1]


def test_a_task_that_a_filter_starts_is_not_restricted(engine: Engine) -> None:
    async def decide_in_a_loop() -> int:
        tasks = []

        async def count(cluster: ClusterView) -> int:
            return len(cluster.pods)

        def hook(cluster: ClusterView, node: NodeRow) -> None:
            tasks.append(asyncio.create_task(count(cluster)))

        Labels.hook = staticmethod(hook)
        assert decision_for(engine).node_name == "n1"
        return await tasks[0]

    assert asyncio.run(decide_in_a_loop()) == 1


# -- the restriction ends where it began


def taints_of(node: NodeRow) -> int:
    return len(node.taints)


def pods_of(node: NodeRow) -> int:
    return len(list(node.pods))


def fail(node: NodeRow) -> int:
    raise ValueError("no value")


@pytest.mark.parametrize(("value_of", "raises"), [(taints_of, None), (pods_of, PluginError), (fail, ValueError)])
def test_after_a_column_a_filter_may_read_what_it_might_before(
    engine: Engine, value_of: Callable[[NodeRow], int], raises: type[Exception] | None
) -> None:
    column = Other.made.cluster.node_values(value_of, reads=Reads.TAINTS)

    def hook(cluster: ClusterView, node: NodeRow) -> None:
        if raises is None:
            assert node.value_of(column) == 0
        else:
            with pytest.raises(raises):
                node.value_of(column)
        assert node.labels is not None
        with pytest.raises(PluginError, match=NOT_NAMED):
            _ = node.pods
        with pytest.raises(PluginError, match="other nodes are read"):
            _ = cluster.pods

    Labels.hook = staticmethod(hook)
    assert decision_for(engine).node_name == "n1"
    assert may_read(engine.cluster.log) == UNRESTRICTED


def test_a_sum_over_pods_may_read_more_than_the_filter_that_reads_the_sum(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Other.made.cluster
    sums = cluster.pod_sums(lambda pod: len(cluster.all(Namespace)) + 1)
    monkeypatch.setattr(Labels, "reads", Reads.LABELS | sums.reads)
    found = []

    def hook(cluster: ClusterView, node: NodeRow) -> None:
        found.append(node.value_of(sums))
        with pytest.raises(PluginError, match=NOT_NAMED):
            cluster.all(Namespace)

    Labels.hook = staticmethod(hook)
    assert decision_for(engine).node_name == "n1"
    assert found == [1]


@pytest.mark.parametrize("raised", [ValueError("no"), SystemExit(1), KeyboardInterrupt()])
def test_the_restriction_ends_when_a_filter_raises(engine: Engine, raised: BaseException) -> None:
    def hook(cluster: ClusterView, node: NodeRow) -> None:
        raise raised

    Labels.hook = staticmethod(hook)
    # a person who presses Ctrl-C ends more than the attempt
    with pytest.raises(KeyboardInterrupt) if isinstance(raised, KeyboardInterrupt) else nullcontext():
        assert decision_for(engine).failure is not None
    assert may_read(engine.cluster.log) == UNRESTRICTED


class Picky(ScorePlugin):
    """A score that fails on node `bad`, and is therefore asked again about the feasible nodes alone."""

    name = "Labels"
    score_reads = Reads.LABELS
    hook: ClassVar[Callable[[NodeRow], int]]

    def score_key(self, pod: Any) -> str:
        return "same"

    def score_nodes(self, cycle: Any, pod: Any, nodes: Any) -> Any:
        if "bad" in nodes.names:
            raise ValueError("no score")
        return [type(self).hook(node) for node in nodes]


def a_picky_engine(hook: Callable[[NodeRow], int]) -> Engine:
    Picky.hook = staticmethod(hook)
    registry = Registry()
    registry.register(Picky)
    config = CONFIG.replace(", {name: Other}", "")
    return an_engine(config, registry, a_node("bad", unschedulable=True), a_node("n1"), a_node("n2"))


def test_a_score_of_feasible_nodes_alone_is_restricted_too() -> None:
    failure = decision_for(a_picky_engine(taints_of)).failure
    assert failure is not None
    assert "add Reads.TAINTS" in failure.message


def test_the_restriction_ends_when_a_score_of_feasible_nodes_alone_is_interrupted() -> None:
    def interrupt(node: NodeRow) -> int:
        raise KeyboardInterrupt

    engine = a_picky_engine(interrupt)
    with pytest.raises(KeyboardInterrupt):
        decision_for(engine)
    assert may_read(engine.cluster.log) == UNRESTRICTED


def test_the_restriction_of_the_caller_is_back_after_a_score_of_feasible_nodes_alone() -> None:
    engine = a_picky_engine(lambda node: 1)
    with restricted(engine.cluster.log, ANYTHING):
        assert decision_for(engine).failure is None
        assert may_read(engine.cluster.log) == ANYTHING
