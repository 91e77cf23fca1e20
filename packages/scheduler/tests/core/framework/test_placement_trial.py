"""Trials of placements: the engine judges, and everything is as before."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched import Engine, PluginError, PodInfo, build_engine
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content, differences
from kubesched.core.framework.services.placement_trial import PlacementTrials
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.testing import a_budget, a_node, a_pod


def an_engine(*objects: Any) -> Engine:
    engine = build_engine()
    for obj in objects:
        engine.cluster.add(obj)
    return engine


def pod_of(engine: Engine, name: str) -> PodInfo:
    cluster = engine.cluster
    return next(pod for pod in (*cluster.placed.values(), *cluster.pending.values()) if pod.name == name)


NODES = (a_node("n1", cpu="4"), a_node("n2", cpu="2"))
SMALL = a_pod("small", cpu="1", node="n1", phase="Running")
LARGE = a_pod("large", cpu="4")


def test_a_pod_fits_where_another_was() -> None:
    engine = an_engine(*NODES, SMALL, LARGE)
    small, large = pod_of(engine, "small"), pod_of(engine, "large")
    with engine.services.trials.open() as trial:
        assert trial.feasible_nodes(large) == []
        trial.remove(small)
        assert trial.feasible_nodes(large) == ["n1"]
        assert trial.feasible_nodes(small) == ["n1", "n2"]
        assert trial.feasible_nodes(small, ["n2", "gone"]) == ["n2"]
        trial.place(large, "n1")
        assert not trial.fits(small, "n1")
        assert trial.fits(small, "n2")
        assert trial.chosen_node(small) == "n2"
        trial.place(small, "n2")
        assert trial.chosen_node(large) == "", "its place is taken, by itself"
    assert engine.feasible_nodes(large) == []
    assert pod_of(engine, "small") is small
    assert large.uid in engine.cluster.pending


def test_a_pod_is_judged_as_its_controller_creates_it_again() -> None:
    engine = an_engine(*NODES, SMALL)
    small = pod_of(engine, "small")
    with engine.services.trials.open() as trial:
        trial.remove(small)
        trial.place(small, "n2")
        (placed,) = engine.cluster.placed.values()
        assert (placed.spec.node_name, placed.status.phase, placed.uid) == ("n2", "Pending", small.uid)


def test_the_cluster_says_that_it_is_tried() -> None:
    engine = an_engine(*NODES)
    view = ClusterView(engine.cluster)
    assert not view.in_trial
    with engine.services.trials.open():
        assert view.in_trial
    assert not view.in_trial


def test_pods_of_other_schedulers_have_no_profile() -> None:
    engine = an_engine(*NODES, SMALL, a_pod("other", scheduler="mine"))
    assert engine.services.trials.has_profile(pod_of(engine, "small"))
    assert not engine.services.trials.has_profile(pod_of(engine, "other"))


def test_a_trial_in_a_constructor_is_an_error() -> None:
    with pytest.raises(PluginError, match="there is no engine yet"), PlacementTrials(ClusterState()).open():
        pass


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["remove", "n1", "n2"])), max_size=8))
def test_after_a_trial_everything_is_as_before(steps: list[tuple[int, str]]) -> None:
    objects = [*NODES, *(a_pod(f"p{n}", cpu="1", node=("n1", "n2", "", "")[n], labels={"app": "a"}) for n in range(4))]
    engine, fresh = an_engine(*objects), an_engine(*objects)
    pods, out = [pod_of(engine, f"p{n}") for n in range(4)], {"p2", "p3"}
    with engine.services.trials.open() as trial:
        for number, step in steps:
            pod = pods[number]
            if step == "remove" and pod.uid in engine.cluster.placed and pod.spec.node_name and pod.name not in out:
                trial.remove(pod)
                out.add(pod.name)
            elif step != "remove" and pod.name in out and pod.uid not in engine.cluster.placed:
                trial.place(pod, step)
    assert not list(differences(content(engine.cluster), content(fresh.cluster)))


def test_budgets_of_a_pod_are_those_that_select_it() -> None:
    cluster = ClusterState()
    for budget in (a_budget("web", "app=web"), a_budget("db", "app=db"), a_budget("far", "app=web", namespace="far")):
        cluster.add(budget)
    cluster.add(a_pod("p", node="n1", labels={"app": "web"}))
    view = ClusterView(cluster)
    assert [budget.name for budget in view.budgets_of(next(iter(view.pods.values())))] == ["web"]
