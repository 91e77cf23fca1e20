"""What a model cannot know is among its gaps: extenders, and what plugins look up outside."""

from typing import Any

from tests.support.models import a_model

from kubesched import Background, Cluster, ScorePlugin
from kubesched.asking.model import name_of_object
from kubesched.testing import a_node, a_pod

CONFIG: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Prices"}]}}}],
    "extenders": [{"urlPrefix": "http://127.0.0.1:1/", "filterVerb": "filter"}],
}


class Prices(ScorePlugin):
    """Scores nodes by prices from outside."""

    name = "Prices"

    def __init__(self, background: Background) -> None:
        background.every(30, self.fetch)

    async def fetch(self) -> None:
        raise AssertionError("nobody fetches here")

    def score(self, cycle: Any, pod: Any, node: Any) -> int:
        return 0


def test_extenders_and_look_ups_of_plugins_are_gaps() -> None:
    answer = Cluster.of([a_node("n1"), a_pod("p")], config=CONFIG, plugins=[Prices]).explain("p")
    assert [(gap.what, gap.why) for gap in answer.gaps] == [
        ("extenders http://127.0.0.1:1/", "they are not called"),
        ("what plugin Prices looks up outside", "it is not looked up here"),
    ]


def test_an_object_that_cannot_be_understood_is_a_gap_and_others_are_there() -> None:
    model = a_model(a_node("a"), a_node("odd", cpu="plenty"), a_pod("p"), a_pod("q", cpu="some"))
    assert model.node_names() == ["a"]
    assert list(model.pods) == ["default/p"]
    assert [(gap.what, gap.why.partition(":")[0]) for gap in model.gaps] == [
        ("Node odd", "quantity 'plenty'"),
        ("Pod q", "quantity 'some'"),
    ]
    odd = a_node("odd")
    assert model.take(name_of_object(odd), odd)
    assert model.node_names() == ["a", "odd"]
    assert [gap.what for gap in model.gaps] == ["Pod q"]


def test_of_many_objects_that_cannot_be_understood_some_are_named() -> None:
    model = a_model(*(a_node(f"n{number:02}", cpu="plenty") for number in range(30)))
    assert [gap.what for gap in model.gaps][-2:] == ["Node n09", "20 more objects"]
