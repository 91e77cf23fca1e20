"""Pending pods where the scheduler would place them: which get a node, and what stays as it was."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_node, a_pod
from kubesched_answers.explain.placing_pending import with_pods_placed


def nodes_of(objects: ClusterObjects) -> dict[str, str]:
    return {obj.name: obj.spec.node_name for obj in objects.objects if isinstance(obj, Pod)}


def placed(*objects: ApiObject) -> dict[str, str]:
    return nodes_of(with_pods_placed(a_model(*objects)))


def test_pods_that_fit_get_a_node_and_others_wait() -> None:
    found = placed(a_node("n", cpu="4"), a_pod("small", cpu="1"), a_pod("giant", cpu="9"), a_pod("held", gates=["g"]))
    assert found == {"small": "n", "giant": "", "held": ""}


def test_more_important_pods_come_first_and_nobody_is_evicted() -> None:
    found = placed(
        a_node("n", cpu="4"),
        a_pod("there", cpu="2", node="n"),
        a_pod("low", cpu="2"),
        a_pod("high", cpu="2", priority=5),
        a_pod("highest", cpu="4", priority=9),
    )
    assert found == {"there": "n", "low": "", "high": "n", "highest": ""}


def test_pods_of_other_schedulers_wait() -> None:
    assert placed(a_node("n"), a_pod("p", scheduler="another"))["p"] == ""


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 5), max_size=12))
def test_the_model_is_as_before_and_no_node_has_more_than_it_offers(sizes: list[int]) -> None:
    pods = [a_pod(f"p{number}", cpu=str(size)) for number, size in enumerate(sizes)]
    model = a_model(a_node("n", cpu="6"), a_node("m", cpu="4"), *pods)
    found = nodes_of(with_pods_placed(model))
    assert not any(pod.spec.node_name for pod in model.pods.values())
    assert not model.cluster.table.pods
    for node, most in (("n", 6), ("m", 4)):
        assert sum(size for number, size in enumerate(sizes) if found[f"p{number}"] == node) <= most
