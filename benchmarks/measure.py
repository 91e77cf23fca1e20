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
from kubesched.api.pods import Pod
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.cycle import CycleContext, schedule
from kubesched.core.scheduling.engine import Engine
from kubesched.core.scheduling.outcomes import Failed, Placed, PodAttempt

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
    context = CycleContext(engine, random.Random(seed).randrange)
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
        placed += _schedule(context, pod)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measurement(name, nodes, pods, seconds, peak, placed)


def _prepared(workload: Workload, nodes: int) -> Engine:
    engine = build_engine(workload.config or None)
    fill(engine.cluster, workload, nodes)
    return engine


def fill(cluster: ClusterState, workload: Workload, nodes: int) -> None:
    """Put the objects of a workload into a cluster."""
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


def _schedule(context: CycleContext, pod: Pod) -> int:
    """Run the scheduling cycle of one pod, evicting whom it preempts at once; return 1 if it got a node."""
    cluster = context.cluster
    queued = QueuedPod(cluster.reader.read(pod), 0.0)
    try:
        next(schedule(context, PodAttempt(queued)))
    except StopIteration as finished:
        outcome = finished.value
    if isinstance(outcome, Placed):
        return 1
    if isinstance(outcome, Failed) and outcome.preemption is not None:
        for victim in outcome.preemption.victims:
            cluster.remove_pod(victim.uid)
        cluster.assume(queued.pod, outcome.preemption.node_name)
        return 1
    return 0
