"""LoadVariationRiskBalancing: scores by average and deviation."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages.contrib.tests.looking_up import built, run, scores
from packages.contrib.tests.trimaran.loads import WATCHER, a_metric, watched

from kubesched.testing import FakeHttp, a_cluster, a_node, a_pod, check_plugin
from kubesched_contrib.trimaran import LoadVariationRiskBalancing
from kubesched_contrib.trimaran.load_variation_risk_balancing import LoadVariationRiskBalancingArgs
from kubesched_contrib.trimaran.node_loads import from_load_watcher


def score(metrics: list[Any], margin: float = 1, sensitivity: float = 1, cpu: str = "0", memory: str = "0") -> int:
    """Return the score of a node with 4 cores and 4 GiB."""
    cluster = a_cluster(a_node("n1", cpu="4", memory="4Gi"))
    args = LoadVariationRiskBalancingArgs(
        watcher_address=WATCHER, safe_variance_margin=margin, safe_variance_sensitivity=sensitivity
    )
    http = FakeHttp({f"{WATCHER}/watcher": watched(n1=metrics)})
    plugin, background = built(LoadVariationRiskBalancing, args, cluster, http)
    run(background.look_up())
    return scores(plugin, cluster, a_pod("p", cpu=cpu, memory=memory))["n1"]


CPU, DEVIATION = a_metric("CPU", 40), a_metric("CPU", 36, "STD")


@pytest.mark.parametrize(
    ("metrics", "options", "expected"),
    [
        pytest.param([], {}, 0, id="not measured"),
        pytest.param([CPU], {}, 80, id="the mean of an average of 0.4 and no deviation"),
        pytest.param([CPU, DEVIATION], {}, 62, id="the mean of 0.4 and 0.36"),
        pytest.param([CPU, DEVIATION], {"margin": 2}, 44, id="the deviation is doubled"),
        pytest.param([CPU, DEVIATION], {"margin": 5}, 30, id="but is at most 1"),
        pytest.param([CPU, DEVIATION], {"sensitivity": 2}, 50, id="its square root"),
        pytest.param([CPU, DEVIATION], {"sensitivity": 0}, 80, id="its infinite power"),
        pytest.param([CPU], {"cpu": "1"}, 68, id="the request adds to the average"),
        pytest.param([CPU], {"cpu": "100"}, 50, id="at most 1"),
        pytest.param([CPU, a_metric("Memory", 60)], {}, 70, id="the larger risk counts"),
        pytest.param([CPU, a_metric("Memory", 60)], {"cpu": "2"}, 55, id="with requests"),
        pytest.param([a_metric("Memory", 61)], {"memory": "1Gi"}, 57, id="memory alone"),
        pytest.param([a_metric("CPU", 500)], {}, 50, id="more than there is"),
    ],
)
def test_the_larger_risk_is_taken_off(metrics: list[Any], options: dict[str, Any], expected: int) -> None:
    assert score(metrics, **options) == expected


PERCENT = st.floats(0, 120)


@given(average=PERCENT, deviation=PERCENT, margin=st.floats(0, 3), sensitivity=st.floats(0.1, 4))
def test_scores_are_those_of_the_formula(average: float, deviation: float, margin: float, sensitivity: float) -> None:
    mean, spread = min(average / 100, 1), min(min(deviation / 100, 1) ** (1 / sensitivity) * margin, 1)
    expected = 100 * (1 - (mean + spread) / 2)
    found = score([a_metric("CPU", average), a_metric("CPU", deviation, "STD")], margin, sensitivity)
    assert abs(found - expected) <= 0.5 + 1e-9


@pytest.mark.parametrize("name", ["safe_variance_margin", "safe_variance_sensitivity"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_wrong_arguments(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=r"safeVariance\w+: must be a number of at least 0"):
        LoadVariationRiskBalancingArgs(**{name: value})  # type: ignore[arg-type]


class Loaded(LoadVariationRiskBalancing):
    """With the load of some nodes, from the start."""

    def __init__(
        self, args: LoadVariationRiskBalancingArgs, cluster: Any, background: Any, http: Any, log: Any, metrics: Any
    ) -> None:
        super().__init__(args, cluster, background, http, log, metrics)
        nodes = {f"n{number}": [a_metric("CPU", 7.0 * number), a_metric("Memory", 30, "STD")] for number in range(9)}
        self._loads.assign(from_load_watcher(watched(**nodes)))


def test_it_holds_to_the_contract() -> None:
    assert check_plugin(Loaded, examples=20, speed=False)
