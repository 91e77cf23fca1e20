"""The scores behind a choice add up to the totals by which it was made."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.pods import NodeSelectorRequirement, NodeSelectorTerm
from kubesched.core.assembly import build_engine
from kubesched.core.evaluation.score_details import EXTENDERS, score_details
from kubesched.core.framework.observing.decision_details import rejected_nodes
from kubesched.core.scheduling.decision import decide
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_node, a_pod, a_spread, an_affinity

KINDS: dict[str, Any] = {
    "plain": {},
    "prefers nodes": {"affinity": an_affinity(prefer_nodes=(10, "disk=ssd"))},
    "prefers to be apart": {"labels": {"app": "a"}, "affinity": an_affinity(prefer_apart=(10, "app=a@hostname"))},
    "spreads softly": {"labels": {"app": "a"}, "spread": a_spread("zone", "app=a", soft=True)},
    "spreads": {"labels": {"app": "a"}, "spread": a_spread("zone", "app=a")},
}


def an_engine(nodes: int, cpus: list[int]) -> Engine:
    engine = build_engine()
    for number in range(nodes):
        labels = {"disk": "ssd" if number % 3 else "hdd"}
        engine.cluster.add(
            a_node(f"n{number}", cpu=str(cpus[number % len(cpus)]), zone=f"z{number % 2}", labels=labels)
        )
    return engine


@given(
    nodes=st.integers(2, 12),
    cpus=st.lists(st.integers(1, 8), min_size=1, max_size=5),
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=6),
    seed=st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_scores_by_plugin_add_up_and_nobody_is_better_than_the_chosen_node(
    nodes: int, cpus: list[int], kinds: list[str], seed: int
) -> None:
    engine, draw = an_engine(nodes, cpus), random.Random(seed)
    for number, kind in enumerate(kinds):
        pod = engine.cluster.reader.read(a_pod(f"p{number}", cpu="1", **KINDS[kind]))
        evaluation = engine.evaluation_of(pod)
        decision = decide(evaluation, draw.randrange)
        if not decision.node_name:
            continue
        found = score_details(evaluation, decision.node_name, 3)
        if decision.feasible_nodes == 1:
            assert found is None
        else:
            assert found is not None
            assert found.nodes[0].node == decision.node_name
            assert len(found.nodes) == min(4, decision.feasible_nodes)
            assert EXTENDERS not in found.plugins
            totals = [each.total for each in found.nodes]
            assert totals == sorted(totals, reverse=True)
            assert all(each.total == sum(each.scores) for each in found.nodes)
            best = evaluation.best_rows()
            assert found.ties == len(best)  # type: ignore[arg-type]
        engine.cluster.assume(pod, decision.node_name)


def test_what_extenders_add_is_theirs() -> None:
    engine = an_engine(3, [4])
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu="1")))
    evaluation.best_rows(None, np.array([0, 0, 70], np.int64))
    found = score_details(evaluation, "n2", 3)
    assert found is not None
    assert found.plugins[-1] == EXTENDERS
    assert [(each.node, each.scores[-1]) for each in found.nodes] == [("n2", 70), ("n0", 0), ("n1", 0)]
    assert found.ties == 1


@pytest.mark.parametrize("node", ["n0", "nobody"])
def test_without_scores_there_are_none(node: str) -> None:
    engine = an_engine(1, [4])
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu="1")))
    decide(evaluation, lambda count: 0)
    assert score_details(evaluation, node, 3) is None


# -- rejected nodes


def test_rejected_nodes_are_counted_by_plugin_and_reason_with_a_few_names() -> None:
    engine = build_engine()
    for number in range(5):
        engine.cluster.add(a_node(f"small{number}", cpu="1", memory="1Gi" if number else "64Gi"))
    engine.cluster.add(a_node("closed", cpu="8", memory="64Gi", unschedulable=True))
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu="4", memory="8Gi")))
    decide(evaluation, lambda count: 0)
    found = rejected_nodes(evaluation.verdicts(), engine.cluster.table)
    assert [(each.plugin, each.message, each.count) for each in found] == [
        ("NodeResourcesFit", "Insufficient cpu", 5),
        ("NodeResourcesFit", "Insufficient memory", 4),
        ("NodeUnschedulable", "node(s) were unschedulable", 1),
    ]
    assert [each.sample for each in found] == [
        ("small1", "small2", "small3"),
        ("small1", "small2", "small3"),
        ("closed",),
    ]


def test_a_rejection_by_pre_filter_is_of_all_nodes() -> None:
    engine = an_engine(4, [4])
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", volumes=["nowhere"])))
    (found,) = rejected_nodes(evaluation.verdicts(), engine.cluster.table)
    assert (found.count, found.sample) == (4, ("n0", "n1", "n2"))
    assert 'persistentvolumeclaim "nowhere" not found' in found.message


def test_nodes_that_pre_filter_leaves_out_have_a_reason_too() -> None:
    engine = an_engine(4, [4])
    named = NodeSelectorRequirement(key="metadata.name", operator="In", values=("n1",))
    pod = a_pod("p", cpu="8", affinity=an_affinity(nodes=NodeSelectorTerm(match_fields=(named,))))
    evaluation = engine.evaluation_of(engine.cluster.reader.read(pod))
    found = rejected_nodes(evaluation.verdicts(), engine.cluster.table)
    assert [(each.message, each.count, each.sample) for each in found] == [
        ("node(s) didn't satisfy plugin(s) [NodeAffinity]", 3, ("n0", "n2", "n3")),
        ("Insufficient cpu", 1, ("n1",)),
    ]
