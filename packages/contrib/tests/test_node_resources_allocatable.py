"""NodeResourcesAllocatable: raw scores, their range, and arguments."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages.contrib.tests.examples import run_example

from kubesched import CycleState, PluginError, Registry, build_engine, decide
from kubesched.testing import a_node, a_pod
from kubesched_contrib.node_resources_allocatable import (
    NodeResourcesAllocatable,
    NodeResourcesAllocatableArgs,
    ResourceWeight,
)

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: NodeResourcesAllocatable, weight: 1000}]}}
  pluginConfig: [{name: NodeResourcesAllocatable, args: ARGS}]
"""


def engine_of(args: str) -> Any:
    registry = Registry()
    registry.register(NodeResourcesAllocatable)
    return build_engine(CONFIG.replace("ARGS", args), registry=registry)


def chosen(args: str) -> str:
    engine = engine_of(args)
    engine.cluster.add(a_node("small", cpu="4", memory="64Gi"))
    engine.cluster.add(a_node("middle", cpu="8", memory="16Gi"))
    engine.cluster.add(a_node("large", cpu="32", memory="32Gi"))
    pod = engine.cluster.reader.read(a_pod("web", cpu="500m"))
    return decide(engine.evaluation_of(pod), pick=lambda nodes: 0).node_name


@pytest.mark.parametrize(
    ("args", "node"),
    [
        ("{}", "middle"),
        ("{mode: Most}", "small"),
        ("{mode: Least, resources: [{name: cpu, weight: 1}]}", "small"),
        ("{mode: Most, resources: [{name: cpu, weight: 1}]}", "large"),
        ("{mode: Most, resources: [{name: cpu, weight: 9223372036854775807}]}", "large"),
    ],
    ids=[
        "by default a core is worth a GiB, and the least is best",
        "the most memory and CPU together",
        "the least CPU",
        "the most CPU",
        "a weight has no upper bound",
    ],
)
def test_the_node_that_is_preferred(args: str, node: str) -> None:
    assert chosen(args) == node


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("{mode: Some}", "args.mode: invalid enum value 'Some'"),
        ("{resources: [{name: cpu, weight: 0}]}", "weight of cpu should be a positive value, got 0"),
        ("{resources: [{name: cpu, weight: 1}, {name: cpu, weight: 2}]}", "cpu is given twice"),
        ("{resources: []}", "resources: the list is empty"),
        ("{modes: Most}", "modes"),
    ],
)
def test_arguments_that_are_wrong_are_told_at_start(args: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        engine_of(args)


@given(st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=9))
def test_scores_are_stretched_from_0_to_100_in_their_order(raw: list[int]) -> None:
    pod: Any = None
    final = NodeResourcesAllocatable().normalize_scores(CycleState(), pod, np.array(raw, np.int64)).tolist()
    assert (min(final), max(final)) == ((0, 0) if len(set(raw)) == 1 else (0, 100))
    in_order = [score for _, score in sorted(zip(raw, final, strict=True))]
    assert in_order == sorted(in_order)


def test_the_default_arguments_are_the_documented_ones() -> None:
    assert NodeResourcesAllocatableArgs() == NodeResourcesAllocatableArgs(
        "Least", (ResourceWeight("cpu", 1 << 20), ResourceWeight("memory", 1))
    )


def test_the_example_places_the_little_pod_on_the_small_node() -> None:
    assert run_example("node-resources-allocatable") == {"little": "small", "large": "big"}
