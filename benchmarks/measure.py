"""Measuring one workload in a process of its own, so that its peak memory is its own.

From a workload and a number of nodes to pods a second. The loop is the engine's: read the pod, evaluate it on all
nodes, decide, assume, reserve.
"""

import gc
import random
import resource
import time
from typing import NamedTuple

from benchmarks.workloads import WORKLOADS, Workload, filler, node
from kubesched.scheduling.decision import decide
from kubesched.scheduling.diagnosis import diagnose
from kubesched.scheduling.engine import Engine, build_engine
from kubesched.scheduling.post_filter import run_post_filter

# so that large clusters fit into memory
MOST_PLACED = 300_000


class Measurement(NamedTuple):
    """What one run gave."""

    workload: str
    nodes: int
    pods: int
    seconds: float
    peak_mib: float
    placed: int

    @property
    def microseconds(self) -> float:
        """Return the time a pod took."""
        return 1e6 * self.seconds / self.pods

    @property
    def rate(self) -> float:
        """Return the pods decided in a second."""
        return self.pods / self.seconds


def measure(name: str, nodes: int, pods: int, seed: int) -> Measurement:
    """Return how long `pods` pods of a workload take on `nodes` nodes."""
    workload = next(workload for workload in WORKLOADS if workload.name == name)
    engine = _prepared(workload, nodes)
    pick = random.Random(seed).randrange
    warm, incoming = 20, [workload.pod(number) for number in range(pods + 20)]
    placed = 0
    gc.collect()
    gc.freeze()
    for number, pod in enumerate(incoming):
        if number == warm:
            started = time.perf_counter()
            placed = 0
        for obj in workload.objects_of_pod(number) if workload.objects_of_pod is not None else ():
            engine.cluster.add(obj)
        placed += _schedule(engine, pod, pick, workload)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measurement(name, nodes, pods, seconds, peak, placed)


def _prepared(workload: Workload, nodes: int) -> Engine:
    engine = build_engine()
    cluster = engine.cluster
    for number in range(nodes):
        cluster.add(node(number))
        for obj in workload.objects_of_node(number) if workload.objects_of_node is not None else ():
            cluster.add(obj)
    for obj in workload.objects:
        cluster.add(obj)
    per_node = min(workload.placed_per_node, MOST_PLACED // nodes)
    for number in range(nodes):
        for turn in range(per_node):
            cluster.add(filler(turn, f"node-{number:05}", 1000 * workload.placed_cpus // per_node))
    return engine


def _schedule(engine: Engine, pod: object, pick: object, workload: Workload) -> int:
    """Decide one pod and carry the decision out in the table; return 1 if it got a node."""
    cluster = engine.cluster
    info = cluster.reader.read(pod)  # type: ignore[arg-type]
    evaluation = engine.evaluate(info)
    decision = decide(evaluation, pick)  # type: ignore[arg-type]
    if decision.node_name:
        placed = cluster.assume(info, decision.node_name)
        for plugin in engine.profiles["default-scheduler"].reserve:
            plugin.reserve(evaluation.cycle, placed, decision.node_name)
        return 1
    verdicts = evaluation.verdicts()
    profile = engine.profiles["default-scheduler"]
    found = run_post_filter(profile.post_filter, evaluation.cycle, info, verdicts)
    diagnose(evaluation, verdicts).message(found.message)
    for outcome in found.by_plugin.values():
        if workload.preempts and outcome.candidates and outcome.status.ok:
            chosen = next(c for c in outcome.candidates if c.node_name == outcome.nominated_node_name)
            for victim in chosen.victims:
                cluster.remove_pod(victim.uid)
            cluster.assume(info, chosen.node_name)
            return 1
    return 0
