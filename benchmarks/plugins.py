"""`python -m benchmarks.plugins`: what plugins of others cost a pod, by the form in which they are written.

Each plugin scores or filters 5000 nodes with 30 000 pods on them; the figure is the difference to the same pods without
the plugin, both measured in turns in one process, in CPU time. Answers are kept by ScoreByObjects alone.
"""

import gc
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.workloads import filler, node
from kubesched import (
    ClusterView,
    Engine,
    FilterPlugin,
    NodeRow,
    Nodes,
    PodMatcher,
    Registry,
    ScorePlugin,
    Verdict,
    build_engine,
    decide,
    unschedulable,
)
from kubesched.testing import a_custom_object, a_pod

KIND = "nodeloads.v1.example.com"
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: with-plugin
  plugins: {{multiPoint: {{enabled: [{{name: {name}}}]}}}}
  pluginConfig: [{{name: {name}, args: {args}}}]
"""
FULL = unschedulable("node(s) full")


class ScoreByNode(ScorePlugin):
    """The share of CPU that is free, node by node."""

    name = "ScoreByNode"

    def score(self, cycle: Any, pod: Any, node: NodeRow) -> int:
        """Return one node's score."""
        return max(node.free.milli_cpu, 0) * 100 // max(node.allocatable.milli_cpu, 1)


class ScoreByColumn(ScorePlugin):
    """The same over columns."""

    name = "ScoreByColumn"

    def score_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Any:
        """Return the scores of many nodes."""
        return nodes.free("cpu").clip(0) * 100 // nodes.allocatable("cpu").clip(1)


class ScoreByObjects(ScorePlugin):
    """A score over a column of objects, kept and asked for again where an object changed."""

    name = "ScoreByObjects"
    looks_up = (KIND,)

    def __init__(self, cluster: ClusterView) -> None:
        """Keep a column of loads."""
        self.load = cluster.object_values(KIND, node_of=lambda load: load.name, value_of=lambda load: load.spec["cpu"])
        self.score_reads = self.load.reads

    def score_key(self, pod: Any) -> str:
        """Return the same key for all pods."""
        return ""

    def score_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Any:
        """Return the scores of many nodes."""
        return 100 - nodes.values_of(self.load)


class FilterByNode(FilterPlugin):
    """At most 100 pods a node, node by node."""

    name = "FilterByNode"

    def filter(self, cycle: Any, pod: Any, node: NodeRow) -> Any:
        """Return a rejection of one node, or None."""
        return FULL if node.pod_count > 100 else None


class FilterByColumn(FilterPlugin):
    """At most 100 pods of an application, over columns."""

    name = "FilterByColumn"

    def __init__(self) -> None:
        """Count the pods of an application."""
        self.apps = PodMatcher({"app": "web"})

    def filter_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Verdict:
        """Return the verdict on many nodes."""
        return Verdict.rejecting(nodes.count_pods(self.apps) > 100, FULL)


def loads(engine: Engine, numbers: Iterable[int], value: Callable[[int], int]) -> None:
    """Put a load for each of some nodes into the cluster."""
    for number in numbers:
        engine.cluster.add(a_custom_object(KIND, node(number).name, spec={"cpu": value(number)}))


def measure(
    plugin: type[Any],
    nodes: int,
    pods: int,
    *,
    args: str = "{}",
    prepare: Callable[[Engine], None] = lambda engine: None,
    cpu_of: Callable[[int], str] = lambda number: "100m",
) -> tuple[float, float]:
    """Return milliseconds a pod without and with a plugin, for pods that request some CPU."""
    registry = Registry()
    registry.register(plugin)
    engine = build_engine(CONFIG.format(name=plugin.name, args=args), registry=registry)
    for number in range(nodes):
        engine.cluster.add(node(number))
        for each in range(6):
            engine.cluster.add(filler(each, node(number).name, 500))
    chance = random.Random(1)
    if plugin is ScoreByObjects:
        loads(engine, range(nodes), lambda number: number % 100)
    prepare(engine)
    gc.collect()
    gc.freeze()
    spent: dict[str, list[float]] = {"default-scheduler": [], "with-plugin": []}
    for number in range(pods):
        # a hundred changes a second, at a pod every ten milliseconds
        if plugin is ScoreByObjects:
            loads(engine, [chance.randrange(nodes)], lambda number: chance.randrange(100))
        for profile, times in spent.items():
            pod = a_pod(f"p{number}-{profile}", cpu=cpu_of(number), scheduler=profile)
            began = time.process_time()
            info = engine.cluster.reader.read(pod)
            name = decide(engine.evaluation_of(info), lambda count: 0).node_name
            times.append(time.process_time() - began)
            assert name
            engine.cluster.assume(info, name)
    warm = pods // 10
    without, with_plugin = (1e3 * statistics.median(times[warm:]) for times in spent.values())
    return without, with_plugin


@click.command()
@click.option("--nodes", default=5000, show_default=True)
@click.option("--pods", default=300, show_default=True)
def main(nodes: int, pods: int) -> None:
    """Measure what plugins cost a pod."""
    plugins = (ScoreByNode, ScoreByColumn, ScoreByObjects, FilterByNode, FilterByColumn)
    show(nodes, pods, {plugin.name: measure(plugin, nodes, pods) for plugin in plugins})


def show(nodes: int, pods: int, measured: Mapping[str, tuple[float, float]]) -> None:
    """Print what plugins cost, by name."""
    table = Table(title=f"{nodes} nodes, median of {pods} pods")
    for column in ("plugin", "ms a pod without", "ms a pod with", "the plugin costs"):
        table.add_column(column, justify="left" if column == "plugin" else "right")
    for name, (without, with_plugin) in measured.items():
        table.add_row(name, f"{without:.3f}", f"{with_plugin:.3f}", f"{with_plugin - without:.3f}")
    console = Console(width=100)
    console.print(table)
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}")


if __name__ == "__main__":
    main()
