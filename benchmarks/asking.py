"""`python -m benchmarks.asking`: how long answers about a cluster take, reading its snapshot included.

A cluster of many nodes and pods, of which some are pending for one of several causes, is written as a snapshot; each
question is asked in a process of its own, as a command would be. A question is a function from a model to an answer.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from kubesched.api.meta import ApiObject
from kubesched.common.garbage_collection import collect_seldom
from kubesched.core.assembly import load_config
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.reports.answers import Answer
from kubesched.testing import a_budget, a_claim, a_node, a_pod, a_spread, an_affinity
from kubesched_answers.capacity.capacity import CapacityOptions, capacity
from kubesched_answers.capacity.capacity_answer import CapacityAnswer
from kubesched_answers.explain.explain_node import explain_node
from kubesched_answers.explain.explain_pod import explain_named_pod
from kubesched_answers.explain.triage import triage
from kubesched_answers.sources.files import read_files
from kubesched_answers.sources.snapshots import snapshot_bytes
from kubesched_answers.templates.reading import read_templates
from kubesched_answers.whatif.compare import NamedModel, compare
from kubesched_answers.whatif.configurations import with_weights
from kubesched_answers.whatif.consolidate import consolidate
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.operations import Operation
from kubesched_answers.whatif.whatif import whatif
from kubesched_answers.whatif.workload_operations import ScaleWorkload
from kubesched_answers.whatif.workloads import parse_name

PARTS = ("read", "model", "answer", "sum", "cpu")
ZONES = 10
PER_WORKLOAD = 20
# a workload of the cluster
APP = "rs/app-1-6d4b75cb6d"
CREATED = "2026-01-01T00:00:00Z"
NOW = datetime(2026, 1, 2, tzinfo=UTC)

# what pending pods want; each kind is pending for a cause of its own
PENDING: list[dict[str, Any]] = [
    {"cpu": "16", "memory": "8Gi"},
    {"cpu": "2", "memory": "300Gi"},
    {"requests": {"nvidia.com/gpu": 8}},
    {"cpu": "1", "node_selector": {"disk": "nvme"}},
    {"cpu": "12", "tolerations": ["dedicated=batch:NoSchedule"], "node_selector": {"pool": "batch"}},
    {"cpu": "1", "affinity": an_affinity(near="app=absent@zone")},
    {"cpu": "10", "priority": 1000},
    {"cpu": "11", "spread": a_spread("zone", "app=web")},
    {"cpu": "1", "volumes": ["lost"]},
    {"gates": ["quota"]},
]


def a_workload(name: str = "more", *, spread: bool = False) -> Manifest:
    """Return a Deployment of pods of two CPUs."""
    labels = {"app": name}
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    container = {"name": "main", "image": "main", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}
    spec = {"containers": [container], "topologySpreadConstraints": [constraint] if spread else []}
    template = {"metadata": {"labels": labels}, "spec": spec}
    document = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    return Manifest(name, document)


def count(model: ClusterModel, *workloads: Manifest, **options: Any) -> CapacityAnswer:
    """Return how many replicas of workloads fit."""
    return capacity(model, read_templates(model, workloads), CapacityOptions(**options))


Question = Callable[[ClusterModel], Answer]
# by name, with the seconds that it may take
QUESTIONS: dict[str, tuple[Question, float]] = {
    "explain pod, pending": (lambda model: explain_named_pod(model, "default/pending-000000"), 3.0),
    "explain pod, preempting": (lambda model: explain_named_pod(model, "default/pending-000006"), 3.0),
    "explain pod, bound": (lambda model: explain_named_pod(model, "default/pod-000000"), 3.0),
    "explain node": (lambda model: explain_node(model, "node-00000"), 3.0),
    "explain pods": (lambda model: triage(model, NOW), 15.0),
    "capacity": (lambda model: count(model, a_workload()), 15.0),
    "capacity, and nodes to add": (lambda model: count(model, a_workload(), until=100_000), 15.0),
    "capacity, spread over zones": (lambda model: count(model, a_workload(spread=True)), 15.0),
    "capacity, spread, and nodes to add": (lambda model: count(model, a_workload(spread=True), until=21_000), 15.0),
    "capacity by weights": (lambda model: count(model, a_workload(), a_workload("other"), weights=(2, 1)), 15.0),
    "whatif, draining 50 nodes": (lambda model: _tried(model, Drain(tuple(model.node_names()[:50]))), 15.0),
    "whatif, scaling by 2000": (lambda model: _tried(model, ScaleWorkload(parse_name(APP), 2040)), 15.0),
    "whatif, comparing": (lambda model: _compared(model), 15.0),
    "whatif, comparing all pods": (lambda model: _compared(model, reschedule_all=True), 15.0),
    "whatif consolidate": (lambda model: consolidate(model), 15.0),
}


def _compared(model: ClusterModel, *, reschedule_all: bool = False) -> Answer:
    loaded = load_config(adjust=lambda config: with_weights(config, {"NodeResourcesBalancedAllocation": 5}))
    other = ClusterModel(model.source, loaded)
    models = NamedModel("default", model, disposable=True), NamedModel("other", other, disposable=True)
    return compare(*models, reschedule_all=reschedule_all)


def _tried(model: ClusterModel, operation: Operation) -> Answer:
    return whatif(model, [operation], disposable=True)


def objects(nodes: int, pods: int, pending: int) -> Iterator[ApiObject]:
    """Return the objects of a cluster, the same on every machine; nodes are nearly full."""
    for number in range(nodes):
        batch = number % 20 == 0
        yield a_node(
            f"node-{number:05}",
            cpu="32",
            memory="128Gi",
            zone=f"zone-{number % ZONES}",
            labels={"pool": "batch" if batch else "general"},
            taints=["dedicated=batch:NoSchedule"] if batch else [],
            unschedulable=number % 100 == 1,
            allocatable={"nvidia.com/gpu": 4} if number % 50 == 7 else None,
        )
    for number in range(pods):
        owner = f"ReplicaSet/app-{number % 500}-6d4b75cb6d"
        labels = {"app": f"app-{number % 500}", "pod-template-hash": "6d4b75cb6d"}
        yield a_pod(
            f"pod-{number:06}",
            node=f"node-{number % nodes:05}",
            cpu="6",
            memory="24Gi",
            labels=labels,
            owner=owner,
            created=CREATED,
        )
    for number in range(50):
        yield a_budget(f"budget-{number}", f"app=app-{number}", allowed=1)
    yield a_claim("unbound", storage_class="nothing")
    for number in range(pending):
        workload, words = number // PER_WORKLOAD, PENDING[number % len(PENDING)]
        # pods of every other workload have a label of their own, as those of a StatefulSet do
        own = {"statefulset.kubernetes.io/pod-name": f"pending-{number:06}"} if workload % 2 else {}
        labels = {"app": f"new-{workload}", **own}
        kind = "StatefulSet" if workload % 2 else "ReplicaSet"
        yield a_pod(f"pending-{number:06}", labels=labels, owner=f"{kind}/new-{workload}", created=CREATED, **words)


def measure(snapshot: Path, name: str) -> dict[str, float]:
    """Return the seconds that reading, the model and a question take."""
    # as the commands do
    collect_seldom()
    began, at_work = time.perf_counter(), time.process_time()
    cluster = read_files([str(snapshot)])
    read = time.perf_counter()
    model = ClusterModel(cluster, load_config())
    modelled = time.perf_counter()
    QUESTIONS[name][0](model)
    ended = time.perf_counter()
    parts = {"read": read - began, "model": modelled - read, "answer": ended - modelled, "sum": ended - began}
    # processor time, which other processes on the machine do not stretch
    return {**parts, "cpu": time.process_time() - at_work}


@click.command()
@click.option("--nodes", default=5000, show_default=True)
@click.option("--pods", default=20_000, show_default=True)
@click.option("--pending", default=2000, show_default=True)
@click.option("--only", default="", help="Only questions whose name contains this.")
@click.option("--child", nargs=2, hidden=True)
def main(nodes: int, pods: int, pending: int, only: str, child: tuple[str, str] | None) -> None:
    """Measure how long answers take."""
    if child is not None:
        print(json.dumps(measure(Path(child[0]), child[1])))
        return
    table = Table(title=f"Answers about {nodes} nodes, {pods} pods and {pending} pending pods, in seconds")
    for heading in ("question", *PARTS, "allowed"):
        table.add_column(heading, justify="left" if heading == "question" else "right")
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "cluster.kubesched"
        snapshot.write_bytes(snapshot_bytes(ClusterObjects(tuple(objects(nodes, pods, pending)))))
        for name, (_, allowed) in QUESTIONS.items():
            if only in name:
                command = [sys.executable, "-m", "benchmarks.asking", "--child", str(snapshot), name]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise click.ClickException(f"{name} failed:\n{done.stderr}")
                took = json.loads(done.stdout)
                table.add_row(name, *(f"{took[part]:.2f}" for part in PARTS), f"{allowed:g}")
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    main()
