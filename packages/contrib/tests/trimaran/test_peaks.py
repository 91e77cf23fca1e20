"""Peaks: the rise of power, and what is avoided."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages.contrib.tests.looking_up import built, run
from packages.contrib.tests.trimaran.loads import WATCHER, a_metric, watched

from kubesched import ClusterView, PluginError
from kubesched.testing import EngineFactory, FakeHttp, a_cluster, a_node, a_pod, check_plugin
from kubesched_contrib.trimaran import Peaks
from kubesched_contrib.trimaran.peaks import AVOIDED, PeaksArgs, PowerModel

FLAT = PowerModel(400, -100, -0.01)
STEEP = PowerModel(400, -300, -0.02)


def final(nodes: dict[str, tuple[PowerModel | None, float | None]], cpu: str = "1") -> dict[str, int]:
    """Return the scores of nodes with 10 cores, by their models and loads."""
    cluster = a_cluster(*(a_node(name, cpu="10") for name in nodes))
    models = {name: model for name, (model, _) in nodes.items() if model is not None} or {"else": FLAT}
    loads = {name: [a_metric("CPU", used)] for name, (_, used) in nodes.items() if used is not None}
    http = FakeHttp({f"{WATCHER}/watcher": watched(**loads)})
    plugin, background = built(Peaks, PeaksArgs(WATCHER, models), cluster, http)
    run(background.look_up())
    view = ClusterView(cluster).nodes
    pod = cluster.reader.read(a_pod("p", cpu=cpu))
    found = plugin.normalize_scores(None, pod, plugin.score_nodes(None, pod, view))
    return dict(zip(view.names, found.tolist(), strict=True))


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param({"a": (FLAT, 50), "b": (STEEP, 50)}, {"a": 100, "b": 0}, id="the one whose power rises less"),
        pytest.param({"a": (STEEP, 80), "b": (STEEP, 10)}, {"a": 100, "b": 0}, id="the busy one of a concave model"),
        pytest.param({"a": (FLAT, 50), "b": (FLAT, 50)}, {"a": 100, "b": 100}, id="the same rise"),
        pytest.param({"a": (FLAT, 95), "b": (STEEP, 50)}, {"a": 0, "b": 100}, id="one that is full is avoided"),
        pytest.param({"a": (None, 5), "b": (STEEP, 50)}, {"a": 0, "b": 100}, id="one without a model is avoided"),
        pytest.param(
            {"a": (FLAT, None), "b": (STEEP, 50)}, {"a": 0, "b": 100}, id="one that is not measured is avoided"
        ),
        pytest.param({"a": (FLAT, None), "b": (None, 50)}, {"a": 0, "b": 0}, id="all are avoided"),
        pytest.param(
            {"a": (PowerModel(0, 1, 100), 50), "b": (STEEP, 50)}, {"a": 0, "b": 100}, id="a model beyond all numbers"
        ),
    ],
)
def test_the_least_rise_of_power_is_best(nodes: dict[str, Any], expected: dict[str, int]) -> None:
    assert final(nodes) == expected


@given(st.lists(st.one_of(st.just(AVOIDED), st.integers(-(2**53), 2**53)), max_size=8))
def test_final_scores_are_in_range_and_in_order(raw: list[int]) -> None:
    plugin: Any = Peaks.__new__(Peaks)
    found = plugin.normalize_scores(None, None, np.array(raw, np.int64)).tolist()
    assert all(0 <= score <= 100 for score in found)
    ordered = [score for _, score in sorted(zip(raw, found, strict=True))]
    assert ordered == sorted(ordered, reverse=True)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({}, "args.WatcherAddress: is required"),
        ({"WatcherAddress": ""}, "WatcherAddress: is required"),
        ({"WatcherAddress": "x"}, "WatcherAddress: write the address as http://host:port"),
        ({"WatcherAddress": WATCHER}, "NodePowerModel: is empty"),
        ({"WatcherAddress": WATCHER, "NodePowerModel": {"n1": {"k0": 1, "k1": 2}}}, "is required"),
        ({"watcherAddress": WATCHER}, "did you mean WatcherAddress"),
    ],
)
def test_wrong_arguments(engine: EngineFactory, written: dict[str, Any], words: str) -> None:
    with pytest.raises(PluginError, match=words):
        engine([], plugins=[Peaks], args={"Peaks": written})


def test_it_holds_to_the_contract() -> None:
    args = {
        "WatcherAddress": WATCHER,
        "NodePowerModel": {f"n{number}": {"k0": 1, "k1": 2, "k2": 0.01} for number in range(4)},
    }
    assert check_plugin(Peaks, args=args, examples=10, speed=False)
