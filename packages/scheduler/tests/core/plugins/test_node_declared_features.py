"""NodeDeclaredFeatures: what pods need and nodes declare."""

from typing import Any

import msgspec
import pytest
from tests.support.asking import hint, rejections

from kubesched.api.pods import Container, ContainerRestartRule
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import SKIP, unresolvable
from kubesched.core.plugins.node_declared_features import (
    RESTART_ALL_CONTAINERS,
    USER_NAMESPACES_HOST_NETWORK,
    NodeDeclaredFeatures,
    required_features,
)
from kubesched.testing import a_cluster, a_container, a_node, a_pod

PLUGIN = NodeDeclaredFeatures(FeatureGates())
# gates that are on only beside it go with it
OFF = NodeDeclaredFeatures(
    FeatureGates(
        {
            "NodeDeclaredFeatures": False,
            "InPlacePodLevelResourcesVerticalScaling": False,
            "InPlacePodVerticalScalingInitContainers": False,
            "RestartAllContainersOnContainerExits": False,
            "UserNamespacesHostNetworkSupport": False,
            "ExtendWebSocketsToKubelet": False,
        }
    )
)


def restarting(action: str) -> Container:
    return msgspec.structs.replace(a_container(), restart_policy_rules=(ContainerRestartRule(action=action),))


USER_NAMESPACES: dict[str, Any] = {"host_network": True, "host_users": False}
RESTARTS: dict[str, Any] = {"containers": [restarting("RestartAllContainers")]}
BOTH = {RESTART_ALL_CONTAINERS, USER_NAMESPACES_HOST_NETWORK}


@pytest.mark.parametrize(
    ("pod", "required"),
    [
        pytest.param({}, set(), id="a plain pod"),
        pytest.param(RESTARTS, {RESTART_ALL_CONTAINERS}, id="a rule that restarts all containers"),
        pytest.param({"containers": [restarting("Restart")]}, set(), id="another rule"),
        pytest.param(
            {"init_containers": (restarting("RestartAllContainers"),)},
            {RESTART_ALL_CONTAINERS},
            id="an init container",
        ),
        pytest.param(USER_NAMESPACES, {USER_NAMESPACES_HOST_NETWORK}, id="user namespaces on the host's network"),
        pytest.param({"host_network": True}, set(), id="host users not said"),
        pytest.param({"host_users": False}, set(), id="no host network"),
        pytest.param({**RESTARTS, **USER_NAMESPACES}, BOTH, id="both"),
    ],
)
def test_what_pods_require(pod: dict[str, Any], required: set[str]) -> None:
    info = a_cluster().reader.read(a_pod(**pod))
    assert required_features(info) == required
    assert PLUGIN.pre_filter(CycleState(), info) is (None if required else SKIP)
    assert OFF.pre_filter(CycleState(), info) is SKIP


@pytest.mark.parametrize(
    ("features", "accepted"),
    [
        pytest.param([], False, id="nothing declared"),
        pytest.param([RESTART_ALL_CONTAINERS], True, id="declared"),
        pytest.param([USER_NAMESPACES_HOST_NETWORK], False, id="another feature"),
        pytest.param(["A", RESTART_ALL_CONTAINERS, "Z"], True, id="among features nobody knows"),
        pytest.param(["Z", RESTART_ALL_CONTAINERS], False, id="out of order it is not seen"),
        pytest.param([RESTART_ALL_CONTAINERS, "A"], True, id="what follows it does not matter"),
    ],
)
def test_what_nodes_declare(features: list[str], accepted: bool) -> None:
    cluster, pod = a_cluster(a_node("n", features=features)), a_pod(**RESTARTS)
    rejected = {} if accepted else {"n": unresolvable("node(s) didn't match Pod's required features")}
    assert rejections(PLUGIN, cluster, pod) == rejected
    assert rejections(OFF, cluster, pod) == {}


def test_node_hints() -> None:
    old, new = a_node(features=["A"]), a_node(features=["A", "B"])
    event = (Resource.NODE, Action.UPDATE_NODE_DECLARED_FEATURE)
    assert hint(PLUGIN, a_cluster(), a_pod(), (Resource.NODE, Action.ADD), None, old) is Hint.QUEUE
    assert hint(PLUGIN, a_cluster(), a_pod(), event, old, new) is Hint.QUEUE
    assert hint(PLUGIN, a_cluster(), a_pod(), event, old, old) is Hint.QUEUE_SKIP
    assert hint(OFF, a_cluster(), a_pod(), event, old, new) is None


def test_pod_hints() -> None:
    event = (Resource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL)
    cluster, old, new = a_cluster(), a_pod(**RESTARTS), a_pod()
    assert hint(PLUGIN, cluster, old, event, old, new) is Hint.QUEUE
    assert hint(PLUGIN, cluster, old, event, old, old) is Hint.QUEUE_SKIP
    assert hint(PLUGIN, cluster, a_pod("p"), event, old, new) is Hint.QUEUE_SKIP
