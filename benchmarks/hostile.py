"""`python -m benchmarks.hostile`: what pods that a tenant makes up to be expensive cost the scheduler.

Each case is a few pods (and objects of their own) on 5000 nodes, in a process of its own. The table says how much CPU
time the worst scheduling cycle took, and how much memory is kept when the pods and their objects are gone.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from benchmarks.hostile_kinds import KINDS, Kind, Size
from benchmarks.hostile_memory import resident_mib
from benchmarks.workloads import filler, node
from kubesched.api.codec import decode_json
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.assembly import build_engine
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.cycle import CycleContext, schedule
from kubesched.core.scheduling.engine import Engine
from kubesched.core.scheduling.outcomes import Placed, PodAttempt
from kubesched.testing import a_claim, a_node, a_pod, an_affinity
from kubesched.testing.devices import (
    a_claiming_pod,
    a_device,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
)

TEXT = "'aaaaaaaaaa'" + ".replace('a', 'aaaaaaaaaa')" * 4
DRIVER = "gpu.example.com"


class Case(NamedTuple):
    """The pods of a case by number, and what is in the cluster for them."""

    name: str
    pod: Callable[[int], Pod]
    pods: int = 3
    objects: Callable[[int], Iterable[ApiObject]] | None = None
    nodes: Callable[[int], Iterable[ApiObject]] | None = None


class Cost(NamedTuple):
    """What a case cost."""

    name: str
    worst_seconds: float
    kept_mib: float
    peak_mib: float
    placed: int
    pods: int


def _keys(number: int, count: int) -> list[str]:
    return [f"example.com/k{number}-{each}" for each in range(count)]


def _claims(*selectors: str, count: int = 1, requests: int = 1, **more: object) -> Callable[[int], Iterable[ApiObject]]:
    asked = [a_device_request(f"r{each}", *selectors, count=count) for each in range(requests)]
    return lambda number: (a_resource_claim(f"claim-{number}", *asked, **more),)  # type: ignore[arg-type]


def _claiming(number: int) -> Pod:
    return a_claiming_pod(f"pod-{number}", f"claim-{number}")


def _gpus(number: int) -> Iterable[ApiObject]:
    """Yield the devices of a node; no two devices of the cluster are alike."""
    if number == 0:
        yield a_device_class("gpu", f"device.driver == '{DRIVER}'")
    devices = [a_device(f"gpu-{each}", attributes={"uuid": f"u-{number}-{each}"}) for each in range(8)]
    yield a_slice(f"node-{number:05}-gpus", *devices, node=f"node-{number:05}", driver=DRIVER)


def _apart(number: int, count: int) -> Pod:
    return a_pod(
        f"pod-{number}", labels={"a": "b"}, affinity=an_affinity(apart=[f"a=b@{k}" for k in _keys(number, count)])
    )


def _sent(kind: Kind) -> Callable[[int], Pod]:
    """Return the pods of a kind as they are read."""
    return lambda number: decode_json(Pod, json.dumps(kind(number, Size(1))))


OF_KINDS = tuple(Case(name, _sent(kind)) for name, kind in KINDS.items())

WITH_OBJECTS = (
    Case("50 extended resources each", lambda n: a_pod(f"pod-{n}", requests=dict.fromkeys(_keys(n, 50), 1)), pods=400),
    Case(
        "2000 extended resources, each on a node",
        lambda n: a_pod(f"pod-{n}", requests={f"example.com/own-{each}": 1 for each in range(2000)}),
        nodes=lambda n: [a_node(f"own-{n}", allocatable={f"example.com/own-{n}": 1})] if n < 2000 else [],
    ),
    Case(
        "2000 extended resources, all on one node",
        lambda n: a_pod(f"pod-{n}", requests={f"example.com/own-{each}": 1 for each in range(2000)}),
        nodes=lambda n: [a_node("rich", allocatable={f"example.com/own-{k}": 9 for k in range(2000)})] if not n else [],
    ),
    Case(
        "5000 node affinity terms of many values",
        lambda n: a_pod(
            f"pod-{n}", affinity=an_affinity(nodes=[f"rack in (rack-{n}-{k}, rack-{k % 100})" for k in range(5000)])
        ),
    ),
    Case("200 anti-affinity terms each", lambda n: _apart(n, 200), pods=50),
    Case(
        "5000 affinity terms over zones",
        lambda n: a_pod(f"pod-{n}", affinity=an_affinity(near=[f"a=b{k}-{n}@zone" for k in range(5000)])),
    ),
    Case(
        "5000 preferred affinity terms over zones",
        lambda n: a_pod(
            f"pod-{n}", affinity=an_affinity(prefer_near=[(1, f"filler={k % 7}@zone") for k in range(5000)])
        ),
    ),
    Case(
        "5000 volumes",
        lambda n: a_pod(f"pod-{n}", volumes=[f"pvc-{n}-{k}" for k in range(5000)]),
        objects=lambda n: [a_claim(f"pvc-{n}-{k}") for k in range(5000)],
    ),
    Case("a selector that finds", _claiming, objects=_claims(f"{TEXT}.find('a*b') == 'x'"), nodes=_gpus),
    Case("a selector at its limit", _claiming, objects=_claims("lists.range(90000).all(i, true)"), nodes=_gpus),
    Case(
        "30 selectors of 10 KiB",
        _claiming,
        objects=lambda n: _claims(*[" || ".join([f"device.driver == '{n}-{k}'"] * 300) for k in range(30)])(n),
        nodes=_gpus,
    ),
    Case(
        "devices that never match",
        _claiming,
        objects=_claims(count=2, requests=16, match="uuid"),
        nodes=_gpus,
    ),
    Case("more devices than there are", _claiming, objects=_claims(count=1, requests=9), nodes=_gpus),
)
CASES = (*OF_KINDS, *WITH_OBJECTS)


def measure(name: str, nodes: int) -> Cost:
    """Return what a case costs on so many nodes."""
    case = next(case for case in CASES if case.name == name)
    engine = build_engine()
    cluster = engine.cluster
    for number in range(nodes):
        cluster.add(node(number))
        cluster.add(filler(number, f"node-{number:05}", 1000))
        for obj in case.nodes(number) if case.nodes is not None else ():
            cluster.add(obj)
    context = CycleContext(engine, random.Random(1).randrange)
    _cycle(context, a_pod("warm"))
    before = resident_mib()
    worst = 0.0
    placed = 0
    for number in range(case.pods):
        objects = tuple(case.objects(number)) if case.objects is not None else ()
        pod = case.pod(number)
        started = time.process_time()
        for obj in objects:
            cluster.add(obj)
        placed += _cycle(context, pod)
        worst = max(worst, time.process_time() - started)
        cluster.remove_pod(pod.uid)
        for obj in objects:
            cluster.remove(obj)
        del pod, objects
    _ordinary_pods(engine, context)
    return Cost(name, worst, resident_mib() - before, _peak_mib() - before, placed, case.pods)


def _ordinary_pods(engine: Engine, context: CycleContext) -> None:
    """Schedule ordinary pods."""
    for number in range(20):
        pod = a_pod(f"ordinary-{number}", cpu="1")
        _cycle(context, pod)
        engine.cluster.remove_pod(pod.uid)


def _cycle(context: CycleContext, pod: Pod) -> int:
    try:
        next(schedule(context, PodAttempt(QueuedPod(context.cluster.reader.read(pod), 0.0))))
    except StopIteration as finished:
        return int(isinstance(finished.value, Placed))
    return 0


def _peak_mib() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


@click.command()
@click.option("--nodes", default=5000, show_default=True, help="Size of the cluster.")
@click.option("--only", default="", help="Only cases whose name contains this.")
@click.option("--child", hidden=True, default="")
def main(nodes: int, only: str, child: str) -> None:
    """Measure what hostile pods cost."""
    if child:
        print(json.dumps(measure(child, nodes)))
        return
    table = Table(title=f"Hostile pods, {nodes} nodes")
    for heading in ("case", "worst cycle, CPU s", "kept MiB", "peak MiB", "placed"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in CASES:
        if only not in case.name:
            continue
        command = [sys.executable, "-m", "benchmarks.hostile", "--nodes", str(nodes), "--child", case.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            table.add_row(case.name, done.stderr.strip().splitlines()[-1])
            continue
        cost = Cost(*json.loads(done.stdout))
        figures = (f"{cost.worst_seconds:.2f}", f"{cost.kept_mib:.0f}", f"{cost.peak_mib:.0f}")
        table.add_row(cost.name, *figures, f"{cost.placed}/{cost.pods}")
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    main()
