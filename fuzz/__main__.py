"""`python -m fuzz`: all targets, or some, for a while."""

import importlib.util
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from fuzz.targets import all_targets

# what an engine may take beyond its time: to start, to stop, to shrink a finding
GRACE_SECONDS = 600


@click.command()
@click.argument("names", metavar="[TARGET]...", nargs=-1)
@click.option("--seconds", default=3600.0, show_default=True, help="Time for all targets together.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Targets at a time.")
@click.option("--engine", "wanted", type=click.Choice(("atheris", "hypothesis")), help="One engine only.  [both]")
@click.option("--findings", default="fuzz/findings", show_default=True, help="Where inputs are kept that are findings.")
@click.option("--replay", type=click.Path(exists=True, dir_okay=False), help="Run the target on this file, once.")
@click.option("--list", "only_list", is_flag=True, help="Tell which targets there are.")
def main(
    names: tuple[str, ...],
    seconds: float,
    jobs: int,
    wanted: str | None,
    findings: str,
    replay: str | None,
    only_list: bool,
) -> None:
    """Run fuzz targets on hostile inputs until the time is over.

    Each target runs in a process of its own under each engine: Hypothesis, which makes changes to seeds and shrinks
    what it finds; and atheris, which follows coverage, where it is installed (pip install atheris). Exit code 1: there
    are findings; each is a file, which `python -m fuzz --replay FILE TARGET` runs again.
    """
    targets = all_targets()
    if only_list:
        for name, target in targets.items():
            click.echo(f"{name:<22}{(target.__doc__ or '').strip()}")
        return
    unknown = sorted(set(names) - targets.keys())
    if unknown:
        raise click.UsageError(f"no such target: {', '.join(unknown)}; there are {', '.join(targets)}")
    if replay is not None:
        if len(names) != 1:
            raise click.UsageError("--replay needs the name of one target")
        targets[names[0]](Path(replay).read_bytes())
        return
    engines = [wanted] if wanted else ["hypothesis"]
    if not wanted and importlib.util.find_spec("atheris"):
        engines.append("atheris")
    runs = [(engine, name) for name in names or targets for engine in engines]
    each = seconds * jobs / len(runs)
    click.echo(f"{len(runs)} runs of {each:.0f} s, {jobs} at a time, with {' and '.join(engines)}")
    began = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        failed = sum(pool.map(lambda run: _run(*run, each, Path(findings)), runs))
    click.echo(f"{len(runs)} runs in {time.monotonic() - began:.0f} s, {failed} with findings")
    sys.exit(1 if failed else 0)


def _run(engine: str, name: str, seconds: float, findings: Path) -> bool:
    """Run one target under one engine; return whether there is a finding."""
    command = [sys.executable, "-m", "fuzz.one", engine, name, str(seconds), str(findings)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + GRACE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        click.echo(f"FINDING {name} ({engine}): it does not end")
        return True
    if done.returncode == 0:
        lines = [
            line for line in (done.stdout + done.stderr).splitlines() if "inputs" in line or "executed_units" in line
        ]
        click.echo(
            f"ok      {name} ({engine}): {(lines or ['?'])[-1].replace('stat::number_of_executed_units:', 'inputs')}"
        )
        return False
    tail = "\n        ".join((done.stdout + done.stderr).strip().splitlines()[-12:])
    click.echo(f"FINDING {name} ({engine}):\n        {tail}")
    return True


if __name__ == "__main__":
    main()
