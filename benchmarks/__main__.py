"""`python -m benchmarks`: how fast the engine decides, without any I/O.

Runs every workload on every cluster size, each in a process of its own, one after the other, and prints a table; the
figures are written as JSON too. The reference's figures were measured on a machine like CI's, deciding only and
sampling a tenth of 5000 nodes; kubesched looks at all nodes.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.measure import Measurement, measure
from benchmarks.workloads import WORKLOADS

REFERENCE_NODES = 5000
SLOW = {"unschedulable", "preemption", "preemption, all nodes tried"}


@click.command()
@click.option("--nodes", default="500,5000,50000", show_default=True, help="Cluster sizes.")
@click.option("--pods", default=2000, show_default=True, help="Pods decided per workload (a tenth where it is slow).")
@click.option("--only", default="", help="Only workloads whose name contains this.")
@click.option("--seed", default=1, show_default=True, help="Seed of the choice between equally good nodes.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), default=Path("benchmarks/results/engine.json"))
@click.option("--child", nargs=2, type=(str, int), hidden=True)
def main(nodes: str, pods: int, only: str, seed: int, json_file: Path, child: tuple[str, int] | None) -> None:
    """Measure how many pods a second the engine decides."""
    if child is not None:
        print(json.dumps(measure(child[0], child[1], pods, seed)))
        return
    console = Console(width=None if sys.stdout.isatty() else 120)
    runs = [(w, int(n)) for w in WORKLOADS if only in w.name for n in nodes.split(",")]
    measurements = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("measuring", total=len(runs))
        for workload, size in runs:
            progress.update(task, description=f"{workload.name}, {size} nodes")
            count = max(20, pods // 10) if workload.name in SLOW else pods
            measurements.append(_in_child(workload.name, size, count, seed))
            progress.advance(task)
    console.print(_table(measurements))
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}")
    json_file.parent.mkdir(parents=True, exist_ok=True)
    rows = [{**m._asdict(), "pods_per_second": m.rate, "microseconds_per_pod": m.microseconds} for m in measurements]
    json_file.write_text(json.dumps(rows, indent=1) + "\n")


def _in_child(name: str, nodes: int, pods: int, seed: int) -> Measurement:
    command = [
        sys.executable,
        "-m",
        "benchmarks",
        "--pods",
        str(pods),
        "--seed",
        str(seed),
        "--child",
        name,
        str(nodes),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"{name} on {nodes} nodes failed:\n{done.stderr}")
    return Measurement(*json.loads(done.stdout))


def _table(measurements: list[Measurement]) -> Table:
    table = Table(title="Deciding, all nodes looked at")
    for heading in (
        "workload",
        "nodes",
        "pods/s",
        "µs/pod",
        "peak MiB",
        "placed",
        "reference pods/s",
        "ratio (wanted)",
    ):
        table.add_column(heading, justify="left" if heading == "workload" else "right")
    for m in measurements:
        workload = next(w for w in WORKLOADS if w.name == m.workload)
        compared = workload.reference and m.nodes == REFERENCE_NODES
        table.add_row(
            m.workload,
            str(m.nodes),
            f"{m.rate:.0f}",
            f"{m.microseconds:.0f}",
            f"{m.peak_mib:.0f}",
            f"{m.placed}/{m.pods}",
            f"{workload.reference:.0f}" if compared else "",
            f"{m.rate / workload.reference:.1f} ({workload.factor})" if compared else "",
        )
    return table


if __name__ == "__main__":
    main()
