"""A cluster that lives while a scheduler works in it: what the scheduler takes, and how long pods wait.

    python -m benchmarks.living --targets cluster --kubeconfig ADMIN --scheduler-kubeconfig SCHEDULER \\
        --subject 'kubesched run --config {config}' --subject 'kube-scheduler --config {config}'
    python -m benchmarks.living --targets embedded --rates 0,50
    python -m benchmarks.living --targets engine --rates 0,50

Pretended kubelets start pods and report that they are ready; pods flap, restart and are resized; nodes report and renew
their Leases, arrive and leave; Deployments roll, Jobs come in bursts; some pods fit nowhere.
See docs/verification/performance.md.
"""

import argparse
import asyncio
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Callable
from contextlib import aclosing
from itertools import takewhile
from pathlib import Path

import msgspec
import uvloop

from benchmarks.living import report
from benchmarks.living.cluster_target import Place, measure_subject
from benchmarks.living.engine_target import measure_engine
from benchmarks.living.errors import LivingError
from benchmarks.living.figures import Row
from benchmarks.living.options import LifeOptions
from benchmarks.living.stretches import Stretches
from kubesched.common.loop_errors import quiet_closed_connections
from kubesched.errors import KubeschedError

TARGETS = ("engine", "embedded", "cluster")
OURS = f"{shlex.quote(sys.executable)} -m kubesched run --config {{config}} --secure-port=0"
EMBEDDED = (
    f"{shlex.quote(sys.executable)} -m kubesched controlplane --no-simulate --kubeconfig {{kubeconfig}} "
    "--scheduler-kubeconfig {scheduler_kubeconfig}"
)


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.living", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--targets", default="embedded", help=f"{', '.join(TARGETS)}; several with commas")
    made.add_argument("--rates", "--rate", default="0,10,50", help="new pods a second, a stretch for each; 0,10,50")
    made.add_argument("--warm", type=float, default=10.0, metavar="S", help="seconds before each stretch")
    made.add_argument("--seconds", type=float, default=30.0, metavar="S", help="seconds of each stretch")
    made.add_argument("--virtual-hours", type=float, default=0.0, metavar="H", help="of each stretch; engine only")
    made.add_argument("--patience", type=float, default=30.0, metavar="S", help="how long pods may wait at the end")
    made.add_argument("--memory-every", type=float, default=0.0, metavar="S", help="print the memory every S seconds")
    made.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    cluster = made.add_argument_group("embedded and cluster")
    cluster.add_argument("--kubeconfig", type=Path, metavar="FILE", help="of an administrator")
    cluster.add_argument("--scheduler-kubeconfig", type=Path, metavar="FILE", help="of the subjects; else the same")
    cluster.add_argument(
        "--subject",
        action="append",
        default=[],
        metavar="CMD",
        help="a scheduler, several in turns; {config} is its configuration; embedded: by default kubesched run",
    )
    cluster.add_argument(
        "--control-plane",
        default="",
        metavar="CMD",
        help="is started before each subject and ended after it; {kubeconfig} and {scheduler_kubeconfig} are files",
    )
    life = made.add_argument_group(
        "life", "rates are a second, times in seconds; benchmarks/living/options.py says more"
    )
    defaults = LifeOptions()
    for name in LifeOptions.__struct_fields__:
        value = getattr(defaults, name)
        flag = f"--{name.replace('_', '-')}"
        life.add_argument(flag, type=type(value), default=value, metavar="N", help=f"default: {value:g}")
    return made


def rows_of(target: str, asked: argparse.Namespace, life: LifeOptions, emit: Callable[[Row], None]) -> None:
    """Call `emit` with the rows of a target."""
    if target == "engine":
        measure_engine(life, stretches_of(asked, virtual=True), emit)
        return
    embedded = target == "embedded"
    subjects = asked.subject or ([OURS] if embedded else [])
    command = EMBEDDED if embedded else asked.control_plane
    kubeconfig = None if embedded else asked.kubeconfig
    if not subjects:
        raise LivingError("--targets cluster needs a --subject")
    if kubeconfig is None and not command:
        raise LivingError("--targets cluster needs --kubeconfig, or --control-plane with {kubeconfig}")

    async def work() -> None:
        quiet_closed_connections(asyncio.get_running_loop())
        for number, subject in enumerate(subjects):
            with tempfile.TemporaryDirectory(prefix="living-") as folder:
                place = place_of(Path(folder), kubeconfig, asked.scheduler_kubeconfig, command)
                name = named(number, subject, len(subjects))
                async with aclosing(measure_subject(place, name, subject, life, stretches_of(asked))) as rows:
                    async for row in rows:
                        emit(row)

    uvloop.run(work())


def place_of(folder: Path, kubeconfig: Path | None, scheduler: Path | None, command: str) -> Place:
    """Return where the kubeconfigs of a control plane are; those it writes for itself are in a folder of this run."""
    admin = kubeconfig or folder / "kubeconfig"
    if scheduler is None:
        scheduler = folder / "scheduler-kubeconfig" if "{scheduler_kubeconfig}" in command else admin
    return Place(folder=folder, kubeconfig=admin, scheduler_kubeconfig=scheduler, command=command)


def named(number: int, command: str, count: int) -> str:
    """Return the name of a subject: its program, its arguments before the options, and its number among several."""
    words = takewhile(lambda word: not word.startswith(("--", "{")), command.split())
    name = " ".join(word.rpartition("/")[2] for word in words)
    return f"{number + 1} {name}" if count > 1 else name


def stretches_of(asked: argparse.Namespace, *, virtual: bool = False) -> Stretches:
    """Return how long is measured."""
    try:
        rates = tuple(float(rate) for rate in asked.rates.split(","))
    except ValueError:
        raise LivingError(f"--rates: {asked.rates!r} is no list of numbers") from None
    if min(rates) < 0 or asked.seconds <= 0:
        raise LivingError("--rates must not be negative, and --seconds must be positive")
    seconds, every = asked.seconds, asked.memory_every
    if virtual and asked.virtual_hours:
        seconds = 3600 * asked.virtual_hours
        every = every or seconds / 20
    return Stretches(rates=rates, warm=asked.warm, seconds=seconds, patience=asked.patience, memory_every=every)


def run(asked: argparse.Namespace) -> int:
    """Measure and print; return the exit code."""
    life = LifeOptions(**{name: getattr(asked, name) for name in LifeOptions.__struct_fields__})
    targets = asked.targets.split(",")
    if unknown := [target for target in targets if target not in TARGETS]:
        raise LivingError(f"--targets: there is no target {unknown[0]!r}, only {', '.join(TARGETS)}")
    found: dict[str, list[Row]] = {}

    def emit(row: Row) -> None:
        if not any(found.values()):
            print(f"Python {platform.python_version()}, {os.cpu_count()} cores ({platform.machine()})")
            print(report.header())
        found[target].append(row)
        for text in (report.line(row), *report.notes(row)):
            print(text, flush=True)

    for target in targets:
        found[target] = []
        rows_of(target, asked, life, emit)
        rows, rates = found[target], len(asked.rates.split(","))
        if len(rows) > rates:
            for text in report.ratios(rows[:rates], rows[-rates:]):
                print(text, flush=True)
        if asked.json:
            asked.json.write_bytes(msgspec.json.format(msgspec.json.encode({"life": life, "rows": found})))
    return 1 if any(row.unbound for rows in found.values() for row in rows) else 0


def main() -> None:
    """Run the benchmark."""
    asked = parser().parse_args()
    try:
        code = run(asked)
    except KubeschedError as error:
        sys.exit(str(error))
    sys.exit(code)


if __name__ == "__main__":
    main()
