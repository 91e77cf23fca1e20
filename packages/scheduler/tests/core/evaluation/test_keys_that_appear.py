"""Terms with keys that no node has cost no counts, and count as soon as a node gets the label, as in a new engine."""

import numpy as np
import pytest

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.assembly import build_engine
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_node, a_pod, a_spread, an_affinity

RACK = {"rack": "r1"}
ASKING: dict[str, Pod] = {
    "near, in a rack": a_pod("p", affinity=an_affinity(near=["app=web@rack"])),
    "near, in a rack, the first of its kind": a_pod(
        "p", labels={"app": "new"}, affinity=an_affinity(near=["app=new@rack"])
    ),
    "apart, in a rack": a_pod("p", affinity=an_affinity(apart=["app=web@rack"])),
    "rather near, in a rack": a_pod("p", affinity=an_affinity(prefer_near=[(10, "app=web@rack")])),
    "kept away by a pod in the rack": a_pod("p", labels={"app": "noisy"}),
    "spread over racks": a_pod("p", spread=[a_spread("zone", "app=web"), a_spread("rack", "app=web")]),
    "rather spread over racks": a_pod("p", spread=[a_spread("rack", "app=web", soft=True)]),
    "selects a rack": a_pod("p", node_selector=RACK),
    "needs a rack": a_pod("p", affinity=an_affinity(nodes=["rack=r1", "other=x"])),
    "rather in a rack": a_pod("p", affinity=an_affinity(prefer_nodes=[(7, "rack=r1"), (3, "other!=x")])),
}


def a_world(*racks: int) -> list[ApiObject]:
    """Return three nodes, of which some have the label of a rack, and pods on the first two."""
    nodes = [a_node(f"n{i}", zone=f"z{i % 2}", labels=RACK if i in racks else {}) for i in range(3)]
    quiet = a_pod("quiet", node="n0", affinity=an_affinity(apart=["app=noisy@rack"]))
    return [*nodes, quiet, a_pod("web", node="n1", labels={"app": "web"})]


def an_engine(*racks: int) -> Engine:
    engine = build_engine()
    for obj in a_world(*racks):
        engine.cluster.add(obj)
    return engine


def evaluated(engine: Engine, pod: Pod) -> Evaluation:
    return engine.evaluation_of(engine.cluster.reader.read(pod))


def answers(engine: Engine, pod: Pod) -> list[tuple[str, int | None]]:
    """Return for each node why it is rejected, or its score."""
    evaluation = evaluated(engine, pod)
    feasible, reasons = evaluation.feasible(), evaluation.first_objectors()
    totals = evaluation.score().totals if feasible.count else np.zeros(3, np.int64)
    return [
        (evaluation.statuses[int(reasons[row])].message, int(totals[row]) if feasible.mask[row] else None)
        for row in range(3)
    ]


@pytest.mark.parametrize("racks", [pytest.param((0, 1, 2), id="all nodes"), pytest.param((1,), id="one node")])
@pytest.mark.parametrize("pod", [pytest.param(pod, id=name) for name, pod in ASKING.items()])
def test_a_key_counts_from_when_a_node_has_it_until_none_has(pod: Pod, racks: tuple[int, ...]) -> None:
    engine = an_engine()
    without, with_racks = answers(an_engine(), pod), answers(an_engine(*racks), pod)
    for _ in range(2):
        assert answers(engine, pod) == without
        for obj in a_world(*racks)[:3]:
            engine.cluster.add(obj)
        assert answers(engine, pod) == with_racks
        for obj in a_world()[:3]:
            engine.cluster.add(obj)


MANY = [f"k{number}" for number in range(300)]
UNKNOWN: dict[str, Pod] = {
    "apart": a_pod("p", affinity=an_affinity(apart=[f"app={key}@{key}" for key in MANY])),
    "near": a_pod("p", affinity=an_affinity(near=[f"app={key}@{key}" for key in MANY])),
    "rather near": a_pod("p", affinity=an_affinity(prefer_near=[(1, f"app={key}@{key}") for key in MANY])),
    "soft constraints": a_pod("p", spread=[a_spread(key, f"app={key}", soft=True) for key in MANY]),
    "node selector": a_pod("p", node_selector=dict.fromkeys(MANY, "x")),
    "node affinity": a_pod("p", affinity=an_affinity(nodes=[f"{key}=x" for key in MANY])),
    "rather on nodes": a_pod("p", affinity=an_affinity(prefer_nodes=[(1, f"{key}=x") for key in MANY])),
}


@pytest.mark.parametrize("pod", [pytest.param(pod, id=name) for name, pod in UNKNOWN.items()])
def test_keys_that_no_node_has_make_no_columns_and_no_counts(pod: Pod) -> None:
    engine = an_engine()
    evaluation = evaluated(engine, pod)
    if evaluation.feasible().count:
        evaluation.score()
    table = engine.cluster.table
    assert len(table.label_columns()) < 10
    assert len(table.counts._matches._by_key) < 10


def test_hard_constraints_are_counted_up_to_the_first_key_that_no_node_has() -> None:
    engine = an_engine()
    pod = a_pod("p", spread=[a_spread("zone", "app=web"), *(a_spread(key, f"app={key}") for key in MANY)])
    assert evaluated(engine, pod).feasible().count == 0
    assert len(engine.cluster.table.counts._matches._by_key) <= 2
