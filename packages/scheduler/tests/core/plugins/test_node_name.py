"""NodeName: pods that name their node."""

import pytest
from tests.support.asking import hint, rejections

from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import unresolvable
from kubesched.core.plugins.node_name import NodeName
from kubesched.testing import a_cluster, a_node, a_pod


@pytest.mark.parametrize(
    ("wanted", "rejected"),
    [
        pytest.param("", set(), id="no name, no rejection"),
        pytest.param("b", {"a", "c"}, id="all but the named node"),
        pytest.param("nowhere", {"a", "b", "c"}, id="a node that does not exist"),
    ],
)
def test_only_the_named_node_will_do(wanted: str, rejected: set[str]) -> None:
    cluster = a_cluster(*map(a_node, "abc"))
    found = rejections(NodeName(), cluster, a_pod(node=wanted))
    assert found == dict.fromkeys(rejected, unresolvable("node(s) didn't match the requested node name"))


def test_pods_of_a_template_have_keys_of_their_own() -> None:
    cluster = a_cluster()
    keys = {NodeName().key(cluster.reader.read(a_pod(node=name))) for name in ("", "a", "b")}
    assert len(keys) == 3


def test_new_nodes_help_without_further_question() -> None:
    assert hint(NodeName(), a_cluster(), a_pod(), (Resource.NODE, Action.ADD), None, a_node()) is Hint.QUEUE
    assert hint(NodeName(), a_cluster(), a_pod(), (Resource.NODE, Action.UPDATE_NODE_LABEL)) is None
