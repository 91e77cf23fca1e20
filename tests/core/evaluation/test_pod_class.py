"""Combined columns of a class of pods while rows come and go."""

from kubesched.core.assembly import build_engine
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_node, a_pod


def feasible(engine: Engine) -> list[str]:
    evaluation = engine.evaluate(engine.cluster.reader.read(a_pod("p", cpu="1")))
    names = engine.cluster.table.names
    return [name for name, passes in zip(names, evaluation.feasible().mask.tolist(), strict=True) if passes]


def test_a_pod_on_a_node_that_is_not_known_yet_adds_a_row_that_nobody_passes() -> None:
    """It changes nothing that a taint column reads, and yet the column must grow."""
    engine = build_engine()
    engine.cluster.add(a_node("tainted", taints=["a=b:NoSchedule"]))
    engine.cluster.add(a_node("free"))
    assert feasible(engine) == ["free"]
    engine.cluster.add(a_pod("early", node="late", cpu="1"))
    assert feasible(engine) == ["free"]
    engine.cluster.add(a_node("late", cpu="2"))
    assert feasible(engine) == ["free", "late"]
