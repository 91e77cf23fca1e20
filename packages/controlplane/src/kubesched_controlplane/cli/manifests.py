"""Manifests from a command line, loaded into a server.

In: files, folders, `-` for standard input. Out: the number of objects; or exit code 1, with a line for each problem.
"""

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import track

from kubesched.manifests import Manifest
from kubesched_controlplane.loading.loader import IGNORE, STRICT, WARN, LoadReport, Others, load
from kubesched_controlplane.server.server import ApiServer

F = TypeVar("F", bound=Callable[..., Any])

# from this number of objects on, progress is printed
MANY_OBJECTS = 500
MOST_PROBLEMS = 100
MOST_WARNINGS = 20
# kubectl's values; it also accepts true and false
_VALIDATIONS = {"strict": STRICT, "true": STRICT, "warn": WARN, "ignore": IGNORE, "false": IGNORE}


def validate_option(command: F) -> F:
    """Give a command `--validate`, as its parameter `validation`."""
    return click.option(
        "--validate",
        "validation",
        type=click.Choice(tuple(_VALIDATIONS)),
        default="strict",
        show_default=True,
        metavar="strict|warn|ignore",
        callback=lambda context, option, text: _VALIDATIONS[text],
        help="Refuse fields in FILES that do not exist, or load them all the same. Objects that come from a cluster "
        "(they have a UID) are never refused for that.",
    )(command)


def load_manifests(
    server: ApiServer,
    files: Sequence[str],
    others: Others = lambda manifests: (),
    validation: str = STRICT,
) -> int:
    """Load manifests, after the added ones; return the number of objects. Exit with 1 and all problems if some
    failed.
    """
    report = load(server, files, _with_bar, others, validation)
    if report.problems:
        _complain(report)
        sys.exit(1)
    _print_warnings(report.warnings)
    for line in _notes(report):
        click.echo(line, err=True)
    # loaded objects stay: the collector need not visit them again
    gc.collect()
    gc.freeze()
    return report.loaded


def _complain(report: LoadReport) -> None:
    """Print why objects could not be loaded."""
    for problem in report.problems[:MOST_PROBLEMS]:
        click.echo(" ".join(problem.split("\n")), err=True)
    if len(report.problems) > MOST_PROBLEMS:
        click.echo(f"... and {_counted(len(report.problems) - MOST_PROBLEMS, 'line')} more", err=True)
    if any('unknown field "' in problem for problem in report.problems):
        click.echo("To load objects with unknown fields, use --validate warn.", err=True)
    if report.given:
        click.echo(
            f"{_counted(report.loaded, 'object')} could be loaded, {_counted(report.refused, 'problem')}",
            err=True,
        )


def _notes(report: LoadReport) -> Iterator[str]:
    """Yield a line for each outcome other than loaded or refused."""
    if report.kept:
        were, stay = ("was", "stays unchanged") if report.kept == 1 else ("were", "stay unchanged")
        yield f"{_counted(report.kept, 'object')} {were} there already and {stay}."
    if report.namespaces:
        were = "was" if report.namespaces == 1 else "were"
        yield f"{_counted(report.namespaces, 'namespace')} {were} made for objects that came without."
    if report.skipped:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(report.skipped.items()))
        number = sum(report.skipped.values())
        were = "was" if number == 1 else "were"
        yield f"{_counted(number, 'object')} of kinds that are not served here {were} left out: {kinds}."


def _print_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings[:MOST_WARNINGS]:
        click.echo(f"Warning: {warning}", err=True)
    if len(warnings) > MOST_WARNINGS:
        click.echo(f"Warning: ... and {_counted(len(warnings) - MOST_WARNINGS, 'other warning')}", err=True)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _with_bar(manifests: Sequence[Manifest]) -> Iterable[Manifest]:
    if len(manifests) <= MANY_OBJECTS:
        return manifests
    if not sys.stderr.isatty():
        click.echo(f"Loading {len(manifests)} objects.", err=True)
        return manifests
    return track(manifests, "Loading", console=Console(stderr=True), transient=True)
