"""Scores that are kept equal fresh ones, whatever is measured and whichever pods come and go meanwhile."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packages.contrib.tests.trimaran.loads import WATCHER, a_metric, watched

from kubesched import Registry, build_engine, decide
from kubesched.testing import a_container, a_node, a_pod
from kubesched_contrib.trimaran import LoadVariationRiskBalancing, LowRiskOverCommitment, Peaks, TargetLoadPacking
from kubesched_contrib.trimaran.node_loads import from_load_watcher

NODES = [a_node(f"n{number}", cpu=str(8 + number), memory="64Gi") for number in range(4)]
MODELS = {f"n{number}": {"k0": 400, "k1": -100 - 50 * number, "k2": -0.02} for number in range(3)}
ARGS: dict[str, Any] = {"Peaks": {"WatcherAddress": WATCHER, "NodePowerModel": MODELS}}
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: NAME, weight: 100000}]}}
  pluginConfig: [{name: NAME, args: ARGS}]
"""


def an_engine(plugin: type[Any]) -> Any:
    registry = Registry()
    registry.register(plugin)
    args = str(ARGS.get(plugin.name, {"watcherAddress": WATCHER}))
    engine = build_engine(CONFIG.replace("NAME", plugin.name).replace("ARGS", args), registry=registry)
    for node in NODES:
        engine.cluster.add(node)
    return engine


def measure(engine: Any, plugin: type[Any], loads: dict[str, tuple[int, int]]) -> None:
    metrics = {
        node: [a_metric("CPU", used), a_metric("CPU", spread, "STD"), a_metric("Memory", used // 2)]
        for node, (used, spread) in loads.items()
    }
    next(iter(engine.profiles.values())).plugins[plugin.name]._loads.assign(from_load_watcher(watched(**metrics)))


def chosen(engine: Any, pod: Any) -> str:
    name: str = decide(engine.evaluation_of(engine.cluster.reader.read(pod)), lambda count: 0).node_name
    return name


LOADS = st.dictionaries(
    st.sampled_from([node.name for node in NODES]), st.tuples(st.integers(0, 110), st.integers(0, 40)), max_size=4
)
PODS = st.tuples(st.integers(0, 4), st.integers(0, 3), st.sampled_from(["100m", "1"]), st.sampled_from(["1", "9"]))
STEPS = st.lists(st.one_of(LOADS, PODS), min_size=1, max_size=8)


@pytest.mark.parametrize("plugin", [TargetLoadPacking, LoadVariationRiskBalancing, LowRiskOverCommitment, Peaks])
@given(STEPS)
@settings(max_examples=25, deadline=None)
def test_decisions_are_those_of_a_new_scheduler(plugin: type[Any], steps: list[Any]) -> None:
    kept = an_engine(plugin)
    placed: dict[str, Any] = {}
    loads: dict[str, tuple[int, int]] = {}
    asked = [a_pod("small", cpu="100m"), a_pod("large", containers=[a_container(cpu="2", limits={"cpu": "6"})])]
    for step in steps:
        if isinstance(step, dict):
            loads = step
            measure(kept, plugin, loads)
        else:
            number, node, request, limit = step
            pod = a_pod(
                f"p{number}",
                node=f"n{node}",
                containers=[a_container(cpu=request, limits={"cpu": limit})],
                uid=f"u{number}",
            )
            if pod.name in placed:
                kept.cluster.remove(placed.pop(pod.name))
            else:
                placed[pod.name] = pod
                kept.cluster.add(pod)
        fresh = an_engine(plugin)
        for pod in placed.values():
            fresh.cluster.add(pod)
        measure(fresh, plugin, loads)
        assert [chosen(kept, pod) for pod in asked] == [chosen(fresh, pod) for pod in asked]
