"""NodeResourcesBalancedAllocation: whether a pod makes the use of a node's resources more even."""

from collections.abc import Sequence
from typing import Any

import pytest

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod, ResourceRequirements
from kubesched.config.args import NodeResourcesBalancedAllocationArgs, ResourceSpec
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import SKIP, Status
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.node_resources import NodeResourcesBalancedAllocation
from kubesched.testing import a_cluster, a_node, a_pod

GPU, NIC = "example.com/gpu", "example.com/nic"
NODE = a_node("n", cpu="4", memory="8Gi", allocatable={GPU: 4, NIC: 2, "ephemeral-storage": "8Gi"})


def outcome(pod: Pod, *objects: ApiObject, resources: Sequence[str] = ("cpu", "memory")) -> tuple[bool, int]:
    """Return whether PreScore skips the pod, and the score of node `n`, which both forms must agree upon."""
    cluster = a_cluster(*objects)
    specs = tuple(ResourceSpec(name=name, weight=1) for name in resources)
    args = NodeResourcesBalancedAllocationArgs(resources=specs)
    plugin = NodeResourcesBalancedAllocation(args, cluster, FeatureGates())
    info, row, nodes = cluster.reader.read(pod), cluster.table.row_of["n"], Nodes(cluster.table)
    one = plugin.score(CycleState(), info, NodeRow(cluster.table, row))
    scores = plugin.score_nodes(CycleState(), info, nodes)
    assert isinstance(one, int)
    assert not isinstance(scores, Status)
    assert int(scores[row]) == one
    return plugin.pre_score(CycleState(), info, nodes) is SKIP, one


@pytest.mark.parametrize(
    ("pod", "others", "expected"),
    [
        pytest.param(a_pod(cpu="1", memory="2Gi"), [], 75, id="even before, even after"),
        pytest.param(a_pod(cpu="2"), [], 62, id="less even: 75 with the pod, 100 without"),
        pytest.param(a_pod(cpu="4"), [], 50, id="as uneven as can be"),
        pytest.param(a_pod(cpu="4"), [a_pod("b", memory="8Gi", node="n")], 100, id="from uneven to even"),
        pytest.param(a_pod(cpu="1"), [a_pod("b", cpu="9", node="n")], 75, id="more than all is all"),
        pytest.param(a_pod(cpu="1", memory="1Gi"), [], 71, id="1/4 and 1/8"),
        pytest.param(
            a_pod(cpu="1", resources=ResourceRequirements(requests={"cpu": "2", "memory": "4Gi"})),
            [],
            75,
            id="the pod as a whole counts",
        ),
        pytest.param(a_pod(cpu="1"), [a_pod("b", node="n")], 68, id="pods that ask for nothing count for nothing"),
    ],
)
def test_cpu_and_memory(pod: Pod, others: Sequence[ApiObject], expected: int) -> None:
    assert outcome(pod, NODE, *others) == (False, expected)


@pytest.mark.parametrize(
    ("resources", "requests", "expected"),
    [
        pytest.param(["cpu"], {"cpu": "4"}, 75, id="one resource is always even"),
        pytest.param(["cpu", "memory", "ephemeral-storage"], {"cpu": "4"}, 51, id="three: 1 - sqrt(2/9)"),
        pytest.param(["cpu", "memory", GPU], {"cpu": "4"}, 50, id="not asked for, not counted"),
        pytest.param(["cpu", "memory", GPU], {"cpu": "4", "memory": "8Gi", GPU: 4}, 75, id="all of everything"),
        pytest.param(
            ["cpu", "memory", "example.com/x"], {"cpu": "4", "example.com/x": 1}, 50, id="not there, not counted"
        ),
        pytest.param([GPU, NIC], {GPU: 4, NIC: 1}, 62, id="extended resources alone"),
        pytest.param(["pods"], {"pods": 1}, 75, id="asked for, but counted for nobody"),
    ],
)
def test_configured_resources(resources: list[str], requests: dict[str, Any], expected: int) -> None:
    assert outcome(a_pod(requests=requests), NODE, resources=resources) == (False, expected)


@pytest.mark.parametrize(
    ("pod", "resources"),
    [
        (a_pod(), ["cpu", "memory"]),
        (a_pod(cpu="0"), ["cpu", "memory"]),
        (a_pod(requests={GPU: 1}), ["cpu", "memory"]),
        (a_pod(cpu="1"), [GPU]),
    ],
)
def test_pods_that_ask_for_none_of_the_resources_are_skipped(pod: Pod, resources: list[str]) -> None:
    assert outcome(pod, NODE, resources=resources) == (True, 0)


def test_a_node_without_resources_is_even() -> None:
    assert outcome(a_pod(cpu="1"), a_node("n", cpu="0", memory="0")) == (False, 75)
