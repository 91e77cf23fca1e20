"""What a model cannot know is among its gaps: extenders, and what plugins look up outside."""

from typing import Any

import pytest
from tests.support.models import a_model

from kubesched import Background, Cluster, ScorePlugin
from kubesched.model.cluster_model import UnknownObjectError, name_of_object
from kubesched.testing import a_namespace, a_node, a_pod

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
        ("data that plugin Prices reads from outside", "it is not read here"),
    ]


def test_an_object_that_cannot_be_understood_is_a_gap_and_others_are_there() -> None:
    model = a_model(a_node("a"), a_node("odd", cpu="plenty"), a_pod("p"), a_pod("q", cpu="some"))
    assert model.node_names() == ["a"]
    assert list(model.pods) == ["default/p"]
    assert [(gap.what, gap.why.partition(": quantities")[0]) for gap in model.gaps] == [
        ("Node odd", "status.capacity.cpu, status.allocatable.cpu: quantity 'plenty'"),
        ("Pod default/q", "spec.containers[0].resources.requests.cpu: quantity 'some'"),
    ]
    odd = a_node("odd")
    assert model.set_if_valid(name_of_object(odd), odd)
    assert model.node_names() == ["a", "odd"]
    assert [gap.what for gap in model.gaps] == ["Pod default/q"]


def test_of_many_objects_that_cannot_be_understood_some_are_named() -> None:
    model = a_model(*(a_node(f"n{number:02}", cpu="plenty") for number in range(30)))
    assert [gap.what for gap in model.gaps][-2:] == ["Node n09", "20 more objects"]


def test_a_pod_whose_quantity_is_none_is_a_gap_with_its_field() -> None:
    pod = a_pod("p", namespace="shop", cpu="1 core")
    answer = Cluster.of([a_node("n1"), pod]).explain()
    assert [(gap.what, gap.why.partition(": quantities")[0]) for gap in answer.gaps] == [
        ("Pod shop/p", "spec.containers[0].resources.requests.cpu: quantity '1 core'")
    ]


LIKELY: dict[str, tuple[str, str]] = {
    "a name without what its controllers append": ("shop/wbe", "did you mean shop/web-7d9f-b2c4d?"),
    "another ending": ("shop/web-7d9f-xxxxx", "did you mean shop/web-7d9f-x7k2p or shop/web-7d9f-b2c4d?"),
    "the name of another namespace": ("shop/train-0", "did you mean ml/train-0?"),
    "a name like none": ("shop/zzz", "there are 4, such as ml/train-0, shop/api-5c8d-j9h8g, shop/web-7d9f-b2c4d"),
    "a namespace of the default without pods": ("default/web", "did you mean shop/web-7d9f-b2c4d?"),
}


@pytest.mark.parametrize(("name", "hint"), LIKELY.values(), ids=LIKELY)
def test_an_unknown_pod_gets_the_pods_that_may_be_meant(name: str, hint: str) -> None:
    names = ("shop/web-7d9f-b2c4d", "shop/web-7d9f-x7k2p", "shop/api-5c8d-j9h8g", "ml/train-0")
    pods = [a_pod(each.partition("/")[2], namespace=each.partition("/")[0]) for each in names]
    model = a_model(a_node("n"), a_namespace("shop"), a_namespace("ml"), *pods)
    with pytest.raises(UnknownObjectError) as error:
        model.pod(name)
    assert str(error.value) == f"there is no pod {name}; {hint}"
