"""What an attempt leaves behind: nothing that waits for the garbage collector."""

import gc
import sys
from weakref import ref

from kubesched import build_engine, decide
from kubesched.testing import a_node, a_pod


def test_an_evaluation_and_its_cycle_state_are_freed_with_the_last_reference() -> None:
    engine = build_engine()
    engine.cluster.add(a_node("n1", cpu="4"))
    engine.cluster.add(a_node("n2", cpu="4"))
    gc.disable()
    try:
        evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("web", cpu="1")))
        assert decide(evaluation, pick=lambda n: 0).node_name
        watched = ref(evaluation)
        del evaluation
        assert watched() is None
    finally:
        gc.enable()


def test_a_class_does_not_keep_the_pod_for_which_it_was_made() -> None:
    engine = build_engine()
    engine.cluster.add(a_node("n1", cpu="4"))
    engine.cluster.add(a_node("n2", cpu="4"))
    pod = engine.cluster.reader.read(a_pod("web", cpu="1"))
    evaluation = engine.evaluation_of(pod)
    assert decide(evaluation, pick=lambda n: 0).node_name
    pod_class, cycle = evaluation.pod_class, evaluation.cycle
    del evaluation
    # the variable and the argument
    assert sys.getrefcount(cycle) == 2
    assert pod_class.scores
