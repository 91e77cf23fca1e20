"""LowRiskOverCommitment: the risk of limits, the risk of load, and the beta distribution."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packages.contrib.tests.looking_up import built, run, scores
from packages.contrib.tests.trimaran.loads import WATCHER, a_metric, watched

from kubesched import SKIP, ClusterView
from kubesched.testing import FakeHttp, a_cluster, a_container, a_node, a_pod, check_plugin
from kubesched_contrib.trimaran import LowRiskOverCommitment
from kubesched_contrib.trimaran.beta_distribution import regularized_incomplete_beta
from kubesched_contrib.trimaran.low_risk_over_commitment import LowRiskOverCommitmentArgs
from kubesched_contrib.trimaran.node_loads import from_load_watcher


def asking(name: str, request: str, limit: str, node: str = "") -> Any:
    """Return a pod with a request and a limit of CPU."""
    return a_pod(name, node=node, containers=[a_container(cpu=request, limits={"cpu": limit} if limit else {})])


def score(pod: Any, *pods: Any, metrics: Any = (), **options: Any) -> int:
    """Return the score of a node with 4 cores."""
    cluster = a_cluster(a_node("n1", cpu="4", memory="4Gi"), *pods)
    args = LowRiskOverCommitmentArgs(watcher_address=WATCHER, **options)
    http = FakeHttp({f"{WATCHER}/watcher": watched(n1=list(metrics))})
    plugin, background = built(LowRiskOverCommitment, args, cluster, http)
    run(background.look_up())
    return scores(plugin, cluster, pod)["n1"]


def load(average: float, deviation: float = 0) -> list[Any]:
    return [a_metric("CPU", average), a_metric("CPU", deviation, "STD")]


POD = asking("p", "1", "1")
OTHER = asking("other", "1", "2", "n1")


@pytest.mark.parametrize(
    ("pod", "pods", "metrics", "expected"),
    [
        pytest.param(POD, (), [], 0, id="not measured"),
        pytest.param(a_pod("p"), (), load(0), 0, id="a pod without requests and limits"),
        pytest.param(POD, (OTHER,), load(80), 50, id="more load than is requested, limits within the node"),
        pytest.param(POD, (OTHER,), load(20), 100, id="less load than is requested"),
        pytest.param(POD, (OTHER,), load(0), 100, id="idle"),
        pytest.param(asking("p", "1", "5"), (), load(50), 88, id="a limit of 5 of 4 cores: 1 of 4 is not there"),
        pytest.param(asking("p", "1", ""), (asking("q", "3", "4", "n1"),), load(80), 0, id="limits and load exceed"),
        pytest.param(POD, (), load(50), 100, id="nobody may take anything yet"),
    ],
)
def test_the_larger_risk_is_taken_off(pod: Any, pods: tuple[Any, ...], metrics: list[Any], expected: int) -> None:
    assert score(pod, *pods, metrics=metrics) == expected


@pytest.mark.parametrize(("pod", "skipped"), [(a_pod("p"), True), (POD, False), (a_pod("p", memory="1Gi"), False)])
def test_pods_without_requests_and_limits_are_skipped(pod: Any, skipped: bool) -> None:
    cluster = a_cluster(a_node("n1"))
    plugin, _ = built(LowRiskOverCommitment, LowRiskOverCommitmentArgs(), cluster, FakeHttp())
    assert (plugin.pre_score(None, cluster.reader.read(pod), ClusterView(cluster).nodes) is SKIP) == skipped


def test_weights_and_smoothing() -> None:
    pods = (asking("q", "1", "5", "n1"),)
    of_load = {"risk_limit_weights": {"cpu": 0.0, "memory": 0.0}}
    of_limits = {"risk_limit_weights": {"cpu": 1.0, "memory": 1.0}}
    # beta(2, 6), which is a sum of binomials
    mean, deviation = 0.25, math.sqrt(0.25 * 0.75 / 9)
    metrics = load(100 * mean, 100 * deviation)
    below = 1 - sum(math.comb(7, k) * 0.25**k * 0.75 ** (7 - k) for k in range(2))
    assert score(POD, *pods, metrics=metrics, smoothing_window_size=1, **of_load) == round(100 * below)
    assert score(POD, *pods, metrics=metrics, **of_limits) == 50, "2 of 4 cores are not there"
    wider = score(POD, *pods, metrics=metrics, smoothing_window_size=4, **of_load)
    assert wider > round(100 * below), "more deviation, more of it below a quarter"


def test_a_load_below_limits_that_the_node_has_room_for() -> None:
    # beta(1, 1): 25 percent of the load is below the requests, 50 percent below the limits
    metrics = load(50, 100 * math.sqrt(1 / 12))
    options = {"risk_limit_weights": {"cpu": 0.0, "memory": 0.0}, "smoothing_window_size": 1}
    assert score(POD, asking("q", "1", "2", "n1"), metrics=metrics, **options) == 50
    assert score(POD, asking("q", "1", "9", "n1"), metrics=metrics, **options) == 25


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"smoothing_window_size": 0}, "smoothingWindowSize: must be at least 1, got 0"),
        ({"risk_limit_weights": {"cpu": 1.5}}, r"riskLimitWeights.cpu: must be between 0 and 1, got 1\.5"),
        ({"risk_limit_weights": {"gpu": 0.5}}, "riskLimitWeights.gpu: only cpu and memory have weights"),
    ],
)
def test_wrong_arguments(written: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LowRiskOverCommitmentArgs(**written)


def one(x: float, a: float, b: float) -> float:
    return float(regularized_incomplete_beta(np.array([x]), np.array([a]), np.array([b]))[0])


@given(x=st.floats(1e-9, 1 - 1e-9), a=st.floats(0.01, 500), b=st.floats(0.01, 500))
def test_the_incomplete_beta_function_is_symmetric_and_rises(x: float, a: float, b: float) -> None:
    value = one(x, a, b)
    assert 0 <= value <= 1
    assert value == pytest.approx(1 - one(1 - x, b, a), abs=1e-5)
    assert value <= one(min(x + 0.01, 1), a, b) + 1e-9


@given(x=st.floats(0, 1), a=st.integers(1, 40), b=st.integers(1, 40))
def test_the_incomplete_beta_function_of_whole_numbers_is_a_sum(x: float, a: int, b: int) -> None:
    total = a + b - 1
    expected = sum(math.comb(total, k) * x**k * (1 - x) ** (total - k) for k in range(a, total + 1))
    assert one(x, a, b) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 500), st.floats(0.01, 500)), min_size=1, max_size=5))
@example([(5e-324, 0.015625, 1.0)])
def test_a_few_values_and_many_are_the_same(asked: list[tuple[float, float, float]]) -> None:
    x, a, b = (np.array(column) for column in zip(*asked, strict=True))
    many = regularized_incomplete_beta(np.tile(x, 30), np.tile(a, 30), np.tile(b, 30))
    assert many[: len(asked)] == pytest.approx(regularized_incomplete_beta(x, a, b), abs=1e-9)


class Loaded(LowRiskOverCommitment):
    """With the load of some nodes, from the start."""

    def __init__(
        self, args: LowRiskOverCommitmentArgs, cluster: Any, background: Any, http: Any, log: Any, metrics: Any
    ) -> None:
        super().__init__(args, cluster, background, http, log, metrics)
        self._loads.assign(from_load_watcher(watched(**{f"n{each}": load(7.0 * each, 3.0) for each in range(9)})))


def test_it_holds_to_the_contract() -> None:
    assert check_plugin(Loaded, examples=20, speed=False)
