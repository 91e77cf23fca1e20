"""Which nodes a text means."""

import pytest
from tests.support.models import a_model

from kubesched.asking.whatif.node_choice import chosen_nodes
from kubesched.errors import KubeschedError
from kubesched.testing import a_node

MODEL = a_model(
    a_node("a", labels={"pool": "old", "gpu": ""}),
    a_node("b", labels={"pool": "new"}),
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
        ("", "no node is named: ''; write names (a,b) or a label selector (zone=a)"),
        (",", "no node is named: ','; write names (a,b) or a label selector (zone=a)"),
        ("d", "there is no node d; there are 3, such as a, b, c"),
        ("pool=odl", "no node matches pool=odl; nodes have pool new, old"),
        ("pol=old", "no node matches pol=old; did you mean pool?"),
        ("pool=(", "unable to parse requirement"),
    ],
)
def test_what_means_no_node_is_an_error(text: str, message: str) -> None:
    with pytest.raises(KubeschedError) as raised:
        chosen_nodes(MODEL, text)
    assert message in str(raised.value)
