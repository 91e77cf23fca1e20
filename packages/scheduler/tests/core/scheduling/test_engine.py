"""Engines: what they hold is freed with them."""

import gc
import weakref

from kubesched.core.assembly import build_engine
from kubesched.core.scheduling.decision import decide
from kubesched.testing import a_node, a_pod


def test_an_engine_that_is_not_used_any_more_is_freed_with_its_cluster() -> None:
    engine = build_engine()
    for number in range(3):
        engine.cluster.add(a_node(f"n{number}", cpu="4"))
        engine.cluster.add(a_pod(f"placed-{number}", cpu="1", node=f"n{number}"))
    pod = engine.cluster.reader.read(a_pod("waiting", cpu="1"))
    assert decide(engine.evaluation_of(pod), pick=lambda nodes: 0).node_name
    cluster, table = weakref.ref(engine.cluster), weakref.ref(engine.cluster.table)
    del engine, pod
    gc.collect()
    assert cluster() is None
    assert table() is None
