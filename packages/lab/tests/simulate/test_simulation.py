"""Simulations in virtual time: pods wait, run, are preempted, lose their nodes; figures are those computed by hand."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from kubesched import ClusterView, CycleState, FilterPlugin, NodeRow, ObjectWriter, PodInfo, ReservePlugin
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.cli import main
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_claim, a_custom_object, a_node, a_pod, a_storage_class
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.measuring.pod_log import PodLog, PodRecord
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces import reading
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent
from kubesched_lab.simulate.traces.workload_spec import API_VERSION, trace_of_workload


def pod(at: float, name: str, runs: float | None = None, **options: Any) -> PodArrival:
    return PodArrival(at, a_pod(name, **options), runs)


def put(obj: ApiObject, at: float = 0) -> ObjectPut:
    return ObjectPut(at, obj)


def simulated(*events: TraceEvent, log: PodLog | None = None, **options: Any) -> Figures:
    def read(seed: int) -> Iterator[TraceEvent]:
        yield from events

    return simulate(Run(Trace("story", read), load_config(), Registry(), **options), pod_log=log)


NODE = put(a_node("n", cpu="2", memory="4Gi"))


def test_a_pod_waits_until_another_one_has_run() -> None:
    figures = simulated(NODE, pod(0, "first", 100, cpu="2"), pod(10, "second", 50, cpu="2"))
    failed = {"failedAttempts": 1, "unschedulableAttempts": 1}
    assert figures.pods == {"arrived": 2, "attempts": 3, "bound": 2, "ended": 2, **failed}
    assert figures.waiting.largest == 90
    assert (figures.pending_at_end, figures.running_at_end) == (0, 0)
    # from 0 to 150, all CPUs are taken, and a pod waits from 10 to 100
    assert figures.seconds == pytest.approx(150, abs=2)
    assert figures.resources["cpu"].requested == pytest.approx(2000 * 150 / figures.seconds)
    assert figures.mean_pending == pytest.approx(90 / figures.seconds)


def test_a_pod_that_never_fits_is_pending_at_the_end() -> None:
    figures = simulated(NODE, pod(0, "giant", cpu="64"))
    assert figures.pending_at_end == 1
    assert figures.seconds < 10


def test_a_preempted_pod_is_created_again_and_runs_its_whole_time() -> None:
    events = (NODE, pod(0, "low", 100, cpu="2"), pod(50, "high", 10, cpu="2", priority=5))
    figures = simulated(*events)
    assert (figures.pods["preempted"], figures.pods["lost"], figures.pods["bound"]) == (1, 1, 3)
    assert figures.seconds == pytest.approx(160, abs=12)
    assert set(figures.waiting_by_priority) == {"0", "5"}
    without = simulated(*events, pace=Pace(recreate=False))
    assert (without.pods["bound"], without.pods["ended"]) == (2, 1)


def test_pods_of_a_node_that_fails_go_elsewhere() -> None:
    log = PodLog()
    events = (
        put(a_node("a", cpu="2")),
        pod(0, "p", 100, cpu="2"),
        put(a_node("b", cpu="2"), 10),
        ObjectDeletion(40, "Node", "a"),
    )
    figures = simulated(*events, log=log)
    assert figures.pods["lost"] == 1
    assert [(each.node, each.bound, each.left, each.end) for each in log.records] == [
        ("a", 0, 40, "lost"),
        ("b", 40, 140, "ended"),
    ]


def test_a_pod_that_is_deleted_while_it_waits_is_gone() -> None:
    figures = simulated(NODE, pod(0, "giant", cpu="64"), ObjectDeletion(5, "Pod", "default/giant"))
    assert figures.pods["deletedBeforeBound"] == 1
    assert figures.pending_at_end == 0


@pytest.mark.parametrize(
    ("events", "options", "said"),
    [
        ([pod(0, "p")], {"until": 60.0}, ["the trace has no nodes: add a file with nodes to the one with the pods"]),
        (
            [NODE, pod(0, "p", 5)],
            {"warm_up": 60.0},
            ["the last event is at 6 s, before the end of the warm-up, so it is measured, too"],
        ),
        ([NODE, pod(0, "p", 5)], {}, []),
        ([], {}, []),
    ],
)
def test_what_is_likely_a_mistake_is_told(events: list[TraceEvent], options: dict[str, Any], said: list[str]) -> None:
    notes: list[str] = []
    run = Run(Trace("story", lambda seed: iter(events)), load_config(), Registry(), **options)
    simulate(run, notes.append)
    assert notes == said


def test_until_ends_it_and_the_warm_up_is_not_measured() -> None:
    arrivals = [pod(number, f"p{number}", 5, cpu="1") for number in range(100)]
    figures = simulated(NODE, *arrivals, until=60.0, warm_up=20.0)
    assert (figures.seconds, figures.measured_from) == (60, 20)
    assert figures.pods["arrived"] == 40 or figures.pods["arrived"] == 41


def test_times_of_a_cluster_count() -> None:
    quick = simulated(NODE, pod(0, "p", 10, cpu="2"), pod(0, "q", 10, cpu="2"))
    slow = simulated(
        NODE, pod(0, "p", 10, cpu="2"), pod(0, "q", 10, cpu="2"), pace=Pace(binding_seconds=1, starting_seconds=3)
    )
    assert slow.waiting.largest >= quick.waiting.largest + 4


def test_claims_are_provisioned_where_the_scheduler_wants_them() -> None:
    events = (
        NODE,
        put(a_storage_class("fast", provisioner="example.com/disk")),
        put(a_claim("data", storage_class="fast")),
        pod(0, "database", 10, volumes=["data"]),
    )
    assert simulated(*events).pods["bound"] == 1


def a_busy_trace(seed: int) -> Iterator[TraceEvent]:
    chance, at = Random(seed), 0.0
    for number in range(8):
        yield put(a_node(f"n{number}", cpu="16", zone=f"z{number % 3}"))
    for number in range(400):
        at += chance.randrange(3)
        cpu = chance.choice(["1", "2", "6"])
        yield pod(at, f"p{number}", chance.randrange(5, 60), cpu=cpu, priority=chance.choice([0, 0, 7]))
        if number % 50 == 25:
            yield ObjectDeletion(at, "Node", f"n{number // 50}")
        if number % 50 == 40:
            yield put(a_node(f"n{number // 50}", cpu="16"), at)


def test_the_same_run_gives_the_same_figures_and_nothing_is_lost() -> None:
    run = Run(Trace("busy", a_busy_trace), load_config(), Registry(), seed=3)
    first, second = simulate(run), simulate(run)
    assert msgspec.json.encode(first) == msgspec.json.encode(second)
    counts = first.pods
    assert counts["arrived"] == 400 + counts["lost"]
    assert counts["bound"] == counts["ended"] + counts["lost"]
    assert (first.pending_at_end, first.running_at_end) == (0, 0)


# -- against `kubesched try`


def manifests(seed: int) -> dict[str, Any]:
    chance = Random(seed)
    items: list[dict[str, Any]] = []
    for number in range(12):
        labels = {"topology.kubernetes.io/zone": f"z{number % 3}", "disk": chance.choice(["ssd", "hdd"])}
        capacity = {"cpu": "8", "memory": "32Gi", "pods": "20"}
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": f"n{number}", "labels": labels},
                "status": {"capacity": capacity},
            }
        )
    for number in range(80):
        app = {"app": f"a{number % 3}"}
        requests = {"cpu": chance.choice(["500m", "1", "2"]), "memory": chance.choice(["512Mi", "1Gi", "4Gi"])}
        spec: dict[str, Any] = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
        kind = chance.random()
        if kind < 0.2:
            spec["nodeSelector"] = {"disk": "ssd"}
        elif kind < 0.5:
            spread = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
            spec["topologySpreadConstraints"] = [{**spread, "labelSelector": {"matchLabels": app}}]
        metadata = {"name": f"p{number:03}", "labels": app}
        items.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    return {"apiVersion": "v1", "kind": "List", "items": items}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_trace_without_time_agrees_with_up_pod_by_pod(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(manifests(seed)))
    upped = CliRunner().invoke(main, ["try", "-o", "json", str(file)], catch_exceptions=False)
    assert upped.exit_code in (0, 3), upped.output
    expected = {each["name"]: each["node"] or "" for each in json.loads(upped.stdout)["pods"]}
    log = PodLog()
    simulate(Run(read_traces([str(file)]), load_config(), Registry()), pod_log=log)
    assert {each.name: each.node for each in log.records} == expected
    assert all(isinstance(each, PodRecord) for each in log.records)


def test_a_pod_without_a_name_of_its_own_is_refused() -> None:
    twice = simulated(NODE, pod(0, "p", 5), pod(1, "p", 5))
    assert twice.pods["arrived"] == 1


def test_pods_that_run_from_the_beginning_hold_their_places() -> None:
    running: Pod = a_pod("running", node="n", cpu="2")
    figures = simulated(NODE, PodArrival(0, running, 30.0), pod(0, "p", 5, cpu="2"))
    assert figures.waiting.largest == 30


class Marking(ReservePlugin):
    """Writes the status of a custom object for each pod that gets a node."""

    name = "Marking"
    looks_up = ("racks.v1.example.com",)
    writes = ("racks.v1.example.com/status",)

    def __init__(self, cluster: ClusterView, writer: ObjectWriter) -> None:
        self.cluster = cluster
        self.writer = writer
        self.seen: list[Any] = []

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        rack = self.cluster.get("racks.v1.example.com", "default/r")
        self.seen.append((rack.status or {}).get("pods", 0))
        MARKED[:] = self.seen
        self.writer.status(rack, {"pods": len(self.seen)})


MARKED: list[int] = []
CONFIG = (
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: {}}}]}}}}}}]\n"
)


def test_plugins_write_custom_objects() -> None:
    registry = Registry()
    registry.register(Marking)
    rack = a_custom_object("racks.v1.example.com", "r", namespace="default")
    events: list[TraceEvent] = [put(rack), NODE, pod(0, "p", 5), pod(10, "q", 5)]
    loaded = load_config(CONFIG.format("Marking"), registry=registry)
    run = Run(Trace("racks", lambda seed: iter(events)), loaded, registry, until=60.0)
    assert simulate(run).pods["bound"] == 2
    assert MARKED == [0, 1]


class Failing(FilterPlugin):
    """Fails on every node."""

    name = "Failing"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> None:
        raise ZeroDivisionError("on purpose")


def test_pods_that_are_tried_again_and_again_are_given_up_at_last() -> None:
    registry = Registry()
    registry.register(Failing)
    loaded = load_config(CONFIG.format("Failing"), registry=registry)
    notes: list[str] = []
    run = Run(Trace("story", lambda seed: iter((NODE, pod(0, "p", 10)))), loaded, registry)
    figures = simulate(run, notes.append)
    assert figures.pending_at_end == 1
    assert 3600 < figures.seconds < 2 * 3600
    assert any("1 pods are retried without success" in note for note in notes)


def test_an_error_in_the_middle_of_a_trace_ends_the_simulation_with_that_error() -> None:
    def read(seed: int) -> Iterator[TraceEvent]:
        yield NODE
        yield pod(5, "p", 10)
        raise TraceError("line 3: no pod")

    with pytest.raises(TraceError, match="line 3"):
        simulate(Run(Trace("story", read), load_config(), Registry()))


def test_a_trace_without_events_ends_at_once() -> None:
    assert simulated().seconds == 0


def gang(at: float, name: str, size: int, runs: float, cpu: str) -> list[TraceEvent]:
    document = {
        "apiVersion": API_VERSION,
        "kind": "Workload",
        "until": at,
        "pods": [{"name": name, "arrivals": {"at": at}, "runs": runs, "cpu": cpu, "gang": {"pods": size}}],
    }
    return list(trace_of_workload("gang.yaml", document).events(0))


@pytest.mark.parametrize("together", [True, False])
def test_a_gang_waits_until_all_of_it_fits_if_the_gates_are_on(together: bool) -> None:
    gates = FeatureGates({"GenericWorkload": True, "GangScheduling": True} if together else {})
    events = [NODE, pod(0, "first", 100, cpu="1"), *gang(10, "pair", 2, 50, "1")]
    notes: list[str] = []
    log = PodLog()
    run = Run(Trace("gang", lambda seed: iter(events)), load_config(gates=gates), Registry())
    figures = simulate(run, notes.append, pod_log=log)
    began = sorted(record.bound or 0.0 for record in log.records if "pair" in record.name)
    assert figures.pods["ended"] == 3
    if together:
        assert began[0] == began[1] >= 100
        assert notes == []
    else:
        assert began[0] == 10
        assert "pod groups of the trace are ignored" in notes[0]


def test_large_manifests_are_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_SPEC", 10)
    path = tmp_path / "nodes.yaml"
    path.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: 2, pods: 9}}\n")
    names = {event.obj.name for event in read_traces([str(path)]).events(0) if isinstance(event, ObjectPut)}
    assert "n1" in names
