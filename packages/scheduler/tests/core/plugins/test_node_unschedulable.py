"""NodeUnschedulable: cordoned nodes and those who may go there."""

import pytest
from tests.support.asking import hint, rejections

from kubesched.api.pods import Toleration
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import unresolvable
from kubesched.core.plugins.node_unschedulable import CORDON, NodeUnschedulable
from kubesched.testing import a_cluster, a_node, a_pod

CORDONED = {"cordoned": unresolvable("node(s) were unschedulable")}


@pytest.mark.parametrize(
    ("tolerations", "rejected"),
    [
        pytest.param([], CORDONED, id="a cordoned node is rejected"),
        pytest.param([f"{CORDON.key}:NoSchedule"], {}, id="unless the pod tolerates the taint of a cordon"),
        pytest.param([CORDON.key], {}, id="with any effect"),
        pytest.param(["*"], {}, id="or everything"),
        pytest.param([f"{CORDON.key}:NoExecute"], CORDONED, id="another effect does not help"),
        pytest.param(["other"], CORDONED, id="nor does another key"),
        pytest.param([Toleration(key=CORDON.key)], {}, id="the taint has the empty value"),
        pytest.param([Toleration(key=CORDON.key, operator="Lt", value="5")], CORDONED, id="which is no number"),
    ],
)
def test_cordons(tolerations: list[str | Toleration], rejected: dict[str, object]) -> None:
    cluster = a_cluster(a_node("open"), a_node("cordoned", unschedulable=True))
    assert rejections(NodeUnschedulable(), cluster, a_pod(tolerations=tolerations)) == rejected


OPEN, SHUT = a_node(), a_node(unschedulable=True)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, OPEN, Hint.QUEUE, id="a schedulable node appeared"),
        pytest.param(None, SHUT, Hint.QUEUE_SKIP, id="a cordoned node appeared"),
        pytest.param(SHUT, OPEN, Hint.QUEUE, id="a cordon was lifted"),
        pytest.param(OPEN, OPEN, Hint.QUEUE_SKIP, id="nothing new"),
        pytest.param(OPEN, SHUT, Hint.QUEUE_SKIP, id="a node was cordoned"),
    ],
)
def test_node_hints(old: object, new: object, expected: Hint) -> None:
    event = (Resource.NODE, Action.ADD if old is None else Action.UPDATE_NODE_TAINT)
    assert hint(NodeUnschedulable(), a_cluster(), a_pod(), event, old, new) is expected  # type: ignore[arg-type]


def test_pod_hints() -> None:
    cluster, event = a_cluster(), (Resource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATION)
    tolerant = a_pod(tolerations=[CORDON.key])
    assert hint(NodeUnschedulable(), cluster, a_pod(), event, a_pod(), tolerant) is Hint.QUEUE
    assert hint(NodeUnschedulable(), cluster, a_pod(), event, a_pod(), a_pod(tolerations=["x"])) is Hint.QUEUE_SKIP
    assert hint(NodeUnschedulable(), cluster, a_pod("p"), event, a_pod(), tolerant) is Hint.QUEUE_SKIP
