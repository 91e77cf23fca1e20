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


def load_manifests(server: ApiServer, files: Sequence[str], others: Sequence[Manifest] = ()) -> int:
    """Load manifests, others first; return how many objects; exit with 1 and all reasons if some could not be."""
    report = load(server, files, _with_bar, others)
    for problem in report.problems:
        click.echo(" ".join(problem.split("\n")), err=True)
    if report.problems:
        click.echo(f"{report.loaded} objects could be loaded, {len(report.problems)} problems", err=True)
        sys.exit(1)
    if report.kept:
        click.echo(f"{report.kept} objects were there already and stay as they are.", err=True)
    # what was loaded stays: the collector need not look at it again
    gc.collect()
    gc.freeze()
    return report.loaded


def _with_bar(manifests: Sequence[Manifest]) -> Iterable[Manifest]:
    if len(manifests) <= MANY_OBJECTS or not sys.stderr.isatty():
        return manifests
    return track(manifests, "Loading", console=Console(stderr=True), transient=True)
