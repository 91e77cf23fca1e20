"""Manifests that are named on a command line, loaded into a server.

In: files, folders, `-` for standard input. Out: how many objects; or exit code 1, with a line for each problem.
"""

import gc
import sys
from collections.abc import Iterable, Sequence

import click
from rich.console import Console
from rich.progress import track

from kubesched.controlplane.loading import Manifest, load
from kubesched.controlplane.server import ApiServer

# from here on a bar shows how far loading has got
MANY_OBJECTS = 500
MOST_WARNINGS = 20


def load_manifests(server: ApiServer, files: Sequence[str], others: Sequence[Manifest] = ()) -> int:
    """Load manifests, others first; return how many objects; exit with 1 and all reasons if some could not be."""
    report = load(server, files, _with_bar, others)
    for problem in report.problems:
        click.echo(" ".join(problem.split("\n")), err=True)
    if report.problems:
        click.echo(
            f"{_counted(report.loaded, 'object')} could be loaded, {_counted(len(report.problems), 'problem')}",
            err=True,
        )
        sys.exit(1)
    _tell(report.warnings)
    if report.kept:
        were, stay = ("was", "stays as it is") if report.kept == 1 else ("were", "stay as they are")
        click.echo(f"{_counted(report.kept, 'object')} {were} there already and {stay}.", err=True)
    # what was loaded stays: the collector need not look at it again
    gc.collect()
    gc.freeze()
    return report.loaded


def _tell(warnings: Sequence[str]) -> None:
    for warning in warnings[:MOST_WARNINGS]:
        click.echo(f"Warning: {warning}", err=True)
    if len(warnings) > MOST_WARNINGS:
        click.echo(f"Warning: ... and {_counted(len(warnings) - MOST_WARNINGS, 'other warning')}", err=True)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _with_bar(manifests: Sequence[Manifest]) -> Iterable[Manifest]:
    if len(manifests) <= MANY_OBJECTS or not sys.stderr.isatty():
        return manifests
    return track(manifests, "Loading", console=Console(stderr=True), transient=True)
