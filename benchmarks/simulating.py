"""`python -m benchmarks.simulating`: how long simulations take, and how much memory.

Pods of four sizes arrive at random during an hour and run for ten minutes on average. `--long` simulates longer at the
same load, and prints the memory ten times on the way: it must not grow.
"""

import os
import platform
import resource
import time
from collections.abc import Iterator
from itertools import takewhile
from random import Random

import click
import msgspec

from kubesched.api.meta import ApiObject
from kubesched.common.garbage_collection import collect_seldom, resident_pages
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_node, a_pod
from kubesched_lab.simulate.simulation import Run, SimulationProgress, simulate
from kubesched_lab.simulate.traces.admission import renamed
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival, Trace, TraceEvent

HOUR = 3600.0
MEAN_SECONDS = 600.0
SIZES = (("500m", "1Gi"), ("1", "2Gi"), ("2", "8Gi"), ("4", "8Gi"))
replace = msgspec.structs.replace


def nodes(count: int) -> Iterator[TraceEvent]:
    """Yield nodes in three zones."""
    model = a_node("node", cpu="32", memory="128Gi", zone="a")
    for number in range(count):
        node: ApiObject = renamed(model, f"node-{number}")
        labels = {**node.metadata.labels, "topology.kubernetes.io/zone": f"zone-{number % 3}"}
        yield ObjectPut(0.0, replace(node, metadata=replace(node.metadata, labels=labels)))


def arrivals(seed: int, rate: float) -> Iterator[PodArrival]:
    """Yield pods that arrive at random, without an end."""
    chance, at, number = Random(seed), 0.0, 0
    templates = [a_pod("pod", cpu=cpu, memory=memory) for cpu, memory in SIZES]
    while True:
        at += round(chance.expovariate(rate), 3)
        template = chance.choice(templates)
        pod = replace(template, metadata=replace(template.metadata, name=f"pod-{number}", uid=""))
        yield PodArrival(at, pod, round(chance.expovariate(1 / MEAN_SECONDS), 3))
        number += 1


def trace(node_count: int, rate: float, until: float) -> Trace:
    """Return nodes, and pods that arrive until a time."""

    def events(seed: int) -> Iterator[TraceEvent]:
        yield from nodes(node_count)
        yield from takewhile(lambda event: event.at <= until, arrivals(seed, rate))

    return Trace(f"{node_count} nodes", events)


@click.command()
@click.option("--nodes", "node_count", default=1000, show_default=True)
@click.option("--pods", default=10_000, show_default=True, help="Pods that arrive within an hour, on average.")
@click.option("--long", "seconds", default=0.0, help="Simulate so many seconds at constant load; 1e7 is the aim.")
def main(node_count: int, pods: int, seconds: float) -> None:
    """Measure simulations."""
    collect_seldom()
    began, processor = time.monotonic(), time.process_time()
    until = seconds or HOUR
    told = [0.0]

    def progress(now: SimulationProgress) -> None:
        if seconds and now.seconds > told[0] + seconds / 10:
            told[0] = now.seconds
            mebibytes = resident_pages() * os.sysconf("SC_PAGE_SIZE") / 2**20
            print(f"{now.seconds:.0f} s simulated, {now.bound} pods bound, {mebibytes:.0f} MiB", flush=True)

    figures = simulate(Run(trace(node_count, pods / HOUR, until), load_config(), Registry()), progress=progress)
    took, used = time.monotonic() - began, time.process_time() - processor
    bound = figures.pods["bound"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    share = figures.resources["cpu"].share
    print(f"{node_count} nodes, {bound} pods bound, {figures.seconds:.0f} s simulated, mean CPU {share:.0%}")
    print(f"{took:.1f} s, {used:.1f} s of processor time, {1e6 * used / bound:.0f} µs a pod, {peak:.0f} MiB at most")
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}")


if __name__ == "__main__":
    main()
