"""Which nodes a text means."""

import pytest
from tests.support.models import a_model

from kubesched.errors import KubeschedError
from kubesched.testing import a_node
from kubesched_answers.whatif.node_choice import chosen_nodes

MODEL = a_model(
    a_node("a", labels={"pool": "old", "gpu": ""}, zone="a"),
    a_node("b", labels={"pool": "new"}, zone="b"),
    a_node("c", labels={"pool": "old"}),
)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("b", "b"),
        ("c,a", "c a"),
        ("a,,a", "a"),
        ("pool=old", "a c"),
        ("pool!=old", "b"),
        ("pool in (old,new),!gpu", "b c"),
        ("gpu", "a"),
    ],
)
def test_names_keep_their_order_and_selectors_that_of_names(text: str, nodes: str) -> None:
    assert " ".join(chosen_nodes(MODEL, text)) == nodes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' names no node; write names (a,b) or a label selector (zone=a)"),
        (",", "',' names no node; write names (a,b) or a label selector (zone=a)"),
        ("d", "there is no node d; there are 3, such as a, b, c"),
        ("pool=odl", "no node matches the label selector pool=odl; nodes have pool old, new"),
        ("pol=old", "no node matches the label selector pol=old; no node has label pol; did you mean pool (old, new)?"),
        (
            "zone=nowhere",
            "no node matches the label selector zone=nowhere; no node has label zone; "
            "did you mean topology.kubernetes.io/zone (a, b)?",
        ),
        ("gpu=yes", "no node matches the label selector gpu=yes; nodes have gpu without a value"),
        (
            "colour",
            "there is no node colour; there are 3, such as a, b, c",
        ),
        (
            "colour=red",
            "no node matches the label selector colour=red; no node has label colour; "
            "there are 4, such as gpu, kubernetes.io/hostname, pool",
        ),
        (
            "pool=new,gpu",
            "no node matches the label selector pool=new,gpu; "
            "every part of it matches some node, but no node all of them",
        ),
        ("pool=(", "unable to parse requirement"),
    ],
)
def test_what_means_no_node_is_an_error(text: str, message: str) -> None:
    with pytest.raises(KubeschedError) as raised:
        chosen_nodes(MODEL, text)
    assert message in str(raised.value)
