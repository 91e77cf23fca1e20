"""What kept answers depend on: annotations, objects of any kind, and whatever else a node or its pods say.

A plugin with a key is asked again where something changed that it reads, and only there; what nobody reads is not even
logged. One that reads what it did not name is told.
"""

from datetime import UTC, datetime
from typing import Any, ClassVar, cast

import msgspec
import pytest

from kubesched import Reads, Registry, build_engine, decide, kind_reads
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node, NodeCondition
from kubesched.core.cluster.changes import ANYTHING, UNRESTRICTED
from kubesched.core.cluster.restrictions import may_read
from kubesched.core.framework.plugin import FilterPlugin, ScorePlugin
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.framework.views.pod_matcher import PodMatcher
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_node, a_pod

KIND = "nodeloads.v1.example.com"
NodeLoad = msgspec.defstruct(KIND, [("spec", object, None)], bases=(ApiObject,), frozen=True, kw_only=True, gc=False)
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Reader, weight: 1000}]
"""


class Reader(ScorePlugin):
    """Scores nodes by something that it reads; counts how often it is asked."""

    name = "Reader"
    score_reads = ANYTHING
    asked: ClassVar[list[str]] = []
    what: ClassVar[Any] = None

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster

    def score_key(self, pod: Any) -> str:
        return "same"

    def score(self, cycle: Any, pod: Any, node: Any) -> int:
        Reader.asked.append(node.name)
        return int(Reader.what(self, node))


def annotation(reader: Reader, node: Any) -> int:
    return int(node.annotations.get("score", 0))


def annotation_of_the_object(reader: Reader, node: Any) -> int:
    return int(node.node.metadata.annotations.get("score", 0))


def custom_object(reader: Reader, node: Any) -> int:
    loads = {load.name: load.spec["score"] for load in reader.cluster.all(KIND)}
    return int(loads.get(node.name, 0))


def condition(reader: Reader, node: Any) -> int:
    return int(next((each.reason for each in node.node.status.conditions if each.type == "Score"), 0))


def annotation_of_pods(reader: Reader, node: Any) -> int:
    return sum(int(pod.metadata.annotations.get("score", 0)) for pod in node.pods)


def with_annotations(obj: Any, **annotations: str) -> Any:
    metadata = msgspec.structs.replace(obj.metadata, annotations=annotations)
    return msgspec.structs.replace(obj, metadata=metadata)


def with_condition(node: Node, score: int, beat: int) -> Node:
    time = datetime(2030, 1, 1, 0, 0, beat, tzinfo=UTC)
    said = NodeCondition(type="Score", status="True", reason=str(score), last_heartbeat_time=time)
    return msgspec.structs.replace(node, status=msgspec.structs.replace(node.status, conditions=(said,)))


def a_load(name: str, score: int) -> ApiObject:
    metadata = msgspec.structs.replace(a_node(name).metadata, uid=f"load-{name}")
    load: Any = NodeLoad(metadata=metadata, spec={"score": score})
    return cast(ApiObject, load)


NODES = [a_node(f"n{number}", cpu="64") for number in range(4)]


def make(name: str, what: Any, score: int) -> ApiObject:
    """Return the object that gives a node a score, as a reader of `what` sees it."""
    node = next(each for each in NODES if each.name == name)
    if what is custom_object:
        return a_load(name, score)
    if what is condition:
        return with_condition(node, score, beat=score % 60)
    if what is annotation_of_pods:
        return with_annotations(a_pod(f"on-{name}", node=name), score=str(score))  # type: ignore[no-any-return]
    return with_annotations(node, score=str(score))  # type: ignore[no-any-return]


def an_engine(reads: int, what: Any) -> Engine:
    Reader.score_reads, Reader.what, Reader.asked = reads, what, []
    registry = Registry()
    registry.register(Reader)
    engine = build_engine(CONFIG, registry=registry)
    for node in NODES:
        engine.cluster.add(node)
    return engine


def best(engine: Engine) -> str:
    decision = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0)
    assert decision.failure is None, decision.failure
    return decision.node_name


@pytest.mark.parametrize(
    ("what", "own"),
    [
        (annotation, Reads.ANNOTATIONS),
        (annotation_of_the_object, Reads.ANNOTATIONS),
        (custom_object, kind_reads(KIND)),
        (condition, Reads.NODE_OBJECT | Reads.ANNOTATIONS),
        (annotation_of_pods, Reads.POD_OBJECTS | Reads.PODS),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
@pytest.mark.parametrize("default", [True, False], ids=["by default", "what it names"])
def test_a_kept_answer_is_asked_for_again_when_what_it_read_has_changed(what: Any, own: int, default: bool) -> None:
    engine = an_engine(ANYTHING if default else own, what)
    for score, name in ((10, "n1"), (20, "n2"), (30, "n3"), (40, "n1")):
        engine.cluster.add(make(name, what, score))
        assert best(engine) == name
    asked = len(Reader.asked)
    assert best(engine) == "n1"
    assert len(Reader.asked) == asked, "nothing has changed, nobody is asked"


def test_only_the_node_whose_annotations_changed_is_asked_about() -> None:
    engine = an_engine(Reads.ANNOTATIONS, annotation)
    best(engine)
    Reader.asked = []
    engine.cluster.add(make("n2", annotation, 50))
    assert best(engine) == "n2"
    assert Reader.asked == ["n2"]


def test_who_reads_something_else_is_not_asked() -> None:
    engine = an_engine(Reads.LABELS, lambda reader, node: len(node.labels))
    best(engine)
    Reader.asked = []
    engine.cluster.add(make("n2", annotation, 50))
    engine.cluster.add(a_load("n2", 5))
    best(engine)
    assert Reader.asked == []


def test_what_nobody_reads_is_not_logged() -> None:
    engine = build_engine()
    for node in NODES:
        engine.cluster.add(node)
    best(engine)
    seq = engine.cluster.log.seq
    for score in range(5):
        for what in (annotation, custom_object, condition):
            engine.cluster.add(make("n2", what, score))
    assert engine.cluster.log.seq == seq


def test_a_heartbeat_is_no_change_for_anybody() -> None:
    engine = an_engine(ANYTHING, condition)
    engine.cluster.add(with_condition(NODES[1], 7, beat=1))
    assert best(engine) == "n1"
    seq = engine.cluster.log.seq
    engine.cluster.add(with_condition(NODES[1], 7, beat=2))
    assert engine.cluster.log.seq == seq


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (annotation, "annotations of nodes are read, which `reads` does not name"),
        (annotation_of_the_object, "add Reads.ANNOTATIONS"),
        (custom_object, f"add kind_reads('{KIND}')"),
    ],
)
def test_a_plugin_that_reads_what_it_did_not_name_is_told(what: Any, words: str) -> None:
    engine = an_engine(Reads.LABELS | Reads.RESOURCES, what)
    engine.cluster.add(a_load("n1", 3))
    failure = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0).failure
    assert failure is not None
    assert 'plugin "Reader" failed in score' in failure.message
    assert words in failure.message
    assert may_read(engine.cluster.log) == UNRESTRICTED, "the plugin that is asked next has no restriction"


@pytest.mark.parametrize(
    ("reads", "what", "name"),
    [
        (Reads.RESOURCES, lambda reader, node: len(node.labels), "LABELS"),
        (Reads.LABELS, lambda reader, node: len(node.taints), "TAINTS"),
        (Reads.LABELS, lambda reader, node: node.unschedulable, "TAINTS"),
        (Reads.RESOURCES, lambda reader, node: len(list(node.pods)), "PODS"),
        (Reads.LABELS, lambda reader, node: node.pod_count, "PODS"),
        (Reads.LABELS, lambda reader, node: node.free.milli_cpu, "RESOURCES"),
        (Reads.LABELS, lambda reader, node: node.free_of("example.com/gpu"), "RESOURCES"),
        (Reads.RESOURCES, lambda reader, node: node.alone().label_codes("zone")[0], "LABELS"),
        (Reads.RESOURCES, lambda reader, node: node.alone().count_pods(PodMatcher({"app": "a"}))[0], "PODS"),
        (Reads.LABELS, lambda reader, node: node.alone().free("cpu")[0], "RESOURCES"),
    ],
)
def test_whatever_is_read_has_to_be_named(reads: int, what: Any, name: str) -> None:
    engine = an_engine(reads, what)
    failure = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0).failure
    assert failure is not None
    assert f"add Reads.{name}, or leave `reads` as it is by default" in failure.message


@pytest.mark.parametrize("reads", [Reads.PODS, ANYTHING], ids=["that of pods", "by default"])
@pytest.mark.parametrize(
    "what",
    [
        lambda reader, node: len(reader.cluster.pods),
        lambda reader, node: len(reader.cluster.pending),
        lambda reader, node: len(reader.cluster.nodes),
        lambda reader, node: reader.cluster.node("n2").pod_count,
    ],
)
def test_an_answer_that_is_kept_must_not_depend_on_other_nodes(reads: int, what: Any) -> None:
    engine = an_engine(reads, what)
    failure = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0).failure
    assert failure is not None
    assert "pods elsewhere or other nodes are read" in failure.message
    assert "leave out `key`" in failure.message


def test_a_filter_is_held_to_what_it_reads_as_well() -> None:
    class Picky(FilterPlugin):
        name = "Reader"
        reads = Reads.LABELS

        def key(self, pod: Any) -> str:
            return "same"

        def filter(self, cycle: Any, pod: Any, node: Any) -> Status | None:
            return unschedulable("no") if "bad" in node.annotations else None

    registry = Registry()
    registry.register(Picky)
    engine = build_engine(CONFIG, registry=registry)
    engine.cluster.add(NODES[0])
    failure = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0).failure
    assert failure is not None
    assert "add Reads.ANNOTATIONS" in failure.message


def test_kinds_have_groups_of_their_own() -> None:
    assert kind_reads("a.v1.example.com") != kind_reads("b.v1.example.com")
    assert kind_reads("PersistentVolume") == Reads.STORAGE
    assert all(kind_reads(f"k{number}.v1.example.com") & ANYTHING for number in range(100))
    with pytest.raises(ValueError, match=r"such as Reads\.LABELS"):
        kind_reads("Node")
