"""`python -m benchmarks.contrib_plugins`: what plugins of kubesched-contrib cost that score by load, cost and signals.

As `benchmarks.plugins` measures it: for pods of one template, whose scores are kept, and for pods of which each
requests something else; and how long it takes to apply new metrics of all nodes.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from benchmarks.plugins import measure, show
from benchmarks.workloads import node
from kubesched import Engine
from kubesched_contrib.node_cost import NodeCost
from kubesched_contrib.trimaran import LoadVariationRiskBalancing, LowRiskOverCommitment, Peaks, TargetLoadPacking
from kubesched_contrib.trimaran.node_loads import AVERAGE, CPU, DEVIATION, MEMORY, NodeLoads
from kubesched_contrib.zone_signal import ZoneSignal

WATCHER = "http://load-watcher:2020"
ZONE = "topology.kubernetes.io/zone"
# pods of one template, and one template for each pod
TEMPLATES: dict[str, Callable[[int], str]] = {
    "one template": lambda number: "100m",
    "a template each": lambda number: f"{100 + number}m",
}


def some_loads(nodes: int, turn: int = 0) -> NodeLoads:
    """Return loads of all nodes, which differ from turn to turn."""
    loads = NodeLoads(1000.0 + turn)
    for number in range(nodes):
        name, busy = node(number).name, (number * 7 + turn) % 90
        for resource in (CPU, MEMORY):
            loads.put(resource, AVERAGE, name, float(busy))
            loads.put(resource, DEVIATION, name, float(busy % 13))
    return loads


def prepare(engine: Engine, nodes: int, spent: list[float]) -> None:
    """Give the plugin values to score by; note how long it takes to apply them anew."""
    plugins = engine.profiles["with-plugin"].plugins
    plugin: Any = next(plugins[name] for name in OURS if name in plugins)
    if isinstance(plugin, ZoneSignal):
        plugin._values = {f"zone-{number}": (float(number), 0.0) for number in range(100)}
    elif not isinstance(plugin, NodeCost):
        loads = plugin._loads
        loads.assign(some_loads(nodes))
        renewed = some_loads(nodes, 1)
        began = time.process_time()
        loads.assign(renewed)
        spent.append(time.process_time() - began)


OURS: dict[str, tuple[type[Any], str]] = {
    "TargetLoadPacking": (TargetLoadPacking, f"{{watcherAddress: '{WATCHER}'}}"),
    "LoadVariationRiskBalancing": (LoadVariationRiskBalancing, f"{{watcherAddress: '{WATCHER}'}}"),
    "LowRiskOverCommitment": (LowRiskOverCommitment, f"{{watcherAddress: '{WATCHER}'}}"),
    "Peaks": (Peaks, f"{{WatcherAddress: '{WATCHER}', NodePowerModel: {{node-0: {{k0: 400, k1: -300, k2: -0.02}}}}}}"),
    "NodeCost": (NodeCost, "{priceLabel: price, defaultPrice: 1, cost: Marginal}"),
    "ZoneSignal": (ZoneSignal, f"{{url: 'http://signal', topologyKey: {ZONE}}}"),
}


@click.command()
@click.option("--nodes", default=5000, show_default=True)
@click.option("--pods", default=300, show_default=True)
def main(nodes: int, pods: int) -> None:
    """Measure what plugins cost a pod."""
    measured: dict[str, tuple[float, float]] = {}
    applied: list[float] = []
    for name, (plugin, args) in OURS.items():
        for templates, cpu_of in TEMPLATES.items():
            given = partial(prepare, nodes=nodes, spent=applied)
            measured[f"{name}, {templates}"] = measure(plugin, nodes, pods, args=args, prepare=given, cpu_of=cpu_of)
    show(nodes, pods, measured)
    click.echo(f"new metrics of all nodes: {1e3 * sum(applied) / len(applied):.1f} ms")


if __name__ == "__main__":
    main()
