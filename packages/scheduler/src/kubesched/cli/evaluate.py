"""`kubesched evaluate`: from lines of the conformance formats to the computed verdicts.

Reads one JSON object a line from files (.gz too) or standard input, and writes the computed `expected` object of each
line, in order. With --check it compares it to the `expected` of the line instead.
"""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import click
import msgspec

from kubesched.cli.plugin_options import plugin_option
from kubesched.cli.scenario_files import whole_document
from kubesched.conformance.corpus import answer, differences
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError

# an input without line breaks could be endless
LONGEST_LINE = 1 << 28


class NumberedLine(NamedTuple):
    """A line and its place in the input."""

    source: str
    number: int
    text: bytes


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True, readable=False))
@click.option("--check", is_flag=True, help="Compare with the `expected` of each line instead of printing the answers.")
@click.option("--only", metavar="TEXT", default="", help="Evaluate only lines whose name contains TEXT.")
@click.option(
    "--most",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Largest number of differences to print for each line, with --check.",
)
@plugin_option
def evaluate(files: tuple[Path, ...], check: bool, only: str, most: int, registry: Registry) -> None:
    """Evaluate scenarios: what would the scheduler say?

    Each line of FILES (or of standard input; .gz is unpacked) is a JSON object: a cluster with pods to judge, a
    configuration, a quantity, ... A field `expected` is ignored, unless --check compares with it. For each line the
    computed answer is written as one line of JSON. For a line that cannot be read the command writes a line with an
    `error`, and continues with the next line.

    A cluster with pods to judge has `objects` (Kubernetes objects, or lists of them), `pods` (namespace/name of the
    pods to judge, each alone on the given cluster; with `sequence: true` one after the other), `config` (a
    KubeSchedulerConfiguration, as an object or as a text) and `featureGates`. Objects of kinds that scheduling does
    not read, such as Deployments, are counted as `ignored`, unless a plugin looks them up.

    A file that ends in .yaml or .yml, or in .json with more than a line, is one such object; or it has manifests, as
    `kubectl get -o yaml` writes them, and all pods in it without a node are judged. `kubesched try` places
    them.

    \b
    Examples:
      kubesched evaluate examples/scenarios/three-zones.jsonl
      kubesched evaluate --check packages/scheduler/tests/conformance/data/taints.jsonl.gz
      kubesched evaluate --plugin my_plugins.py scenario.jsonl
      kubesched evaluate cluster.yaml

    Exit code: 0; 1 if a line could not be read or, with --check, differs.
    """
    lines = _selected(_lines(files), only)
    failed = _check(lines, registry, most) if check else _answer(lines, registry)
    sys.exit(1 if failed else 0)


def _answer(lines: Iterable[NumberedLine], registry: Registry) -> int:
    """Print the answer to every line; return the number of lines that could not be answered."""
    failed = 0
    encoder = msgspec.json.Encoder(order="sorted")
    for line in lines:
        try:
            computed = answer(_parse(line), registry)
        except KubeschedError as error:
            failed += 1
            click.echo(f"{_place(line)}: {error}", err=True)
            computed = {"error": f"line {line.number}: {error}"}
        sys.stdout.buffer.write(encoder.encode(computed) + b"\n")
    sys.stdout.buffer.flush()
    return failed


def _check(lines: Iterable[NumberedLine], registry: Registry, most: int) -> int:
    """Print the differences between the answers and the lines' `expected`; return the number of lines that differ."""
    passed = failed = 0
    for line in lines:
        try:
            parsed = _parse(line)
            if "expected" not in parsed:
                raise KubeschedError("the line has no `expected` to compare with")
            computed = answer(parsed, registry, steered=True)
            found = list(differences(parsed["expected"], computed))
            name = parsed.get("name") or parsed.get("input") or parsed.get("table") or ""
        except KubeschedError as error:
            found, name = [str(error)], ""
        place = f"{_place(line)}: {name}" if name else _place(line)
        if not found:
            passed += 1
            continue
        failed += 1
        for difference in found[:most]:
            click.echo(f"{place}: {difference}")
        if len(found) > most:
            click.echo(f"{place}: ... and {len(found) - most} more differences")
    click.echo(f"{passed} passed, {failed} failed")
    return failed


def _parse(line: NumberedLine) -> dict[str, Any]:
    try:
        parsed = msgspec.json.decode(line.text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KubeschedError(f"not a line of JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise KubeschedError("expected a JSON object")
    return parsed


def _place(line: NumberedLine) -> str:
    return f"{line.source}:{line.number}"


def _selected(lines: Iterable[NumberedLine], only: str) -> Iterator[NumberedLine]:
    """Yield the lines whose name contains a text, and the unreadable ones, whose name is unknown. Raise if there
    is none.
    """
    found = False
    for line in lines:
        if not only or (only.encode() in line.text and only in _name(line, default=only)):
            found = True
            yield line
    if only and not found:
        raise KubeschedError(f"--only {only}: no line has a name that contains it")


def _name(line: NumberedLine, default: str) -> str:
    try:
        return str(_parse(line).get("name", ""))
    except KubeschedError:
        return default


def _lines(files: tuple[Path, ...]) -> Iterator[NumberedLine]:
    """Yield the non-empty lines of all files."""
    for path in files or (Path("-"),):
        source = "<stdin>" if str(path) == "-" else str(path)
        document = whole_document(path)
        if document is not None:
            yield NumberedLine(source, 1, document)
            continue
        try:
            with _opened(path) as stream:
                for number, text in enumerate(iter(lambda: stream.readline(LONGEST_LINE), b""), 1):
                    if len(text) == LONGEST_LINE:
                        raise KubeschedError(f"{source}:{number}: longer than {LONGEST_LINE >> 20} MiB")
                    if text.strip():
                        yield NumberedLine(source, number, text)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise KubeschedError(f"{source}: cannot be read: {reason}") from None


def _opened(path: Path) -> BinaryIO | gzip.GzipFile:
    if str(path) == "-":
        return sys.stdin.buffer
    if path.suffix == ".gz":
        return gzip.open(path)
    return path.open("rb")
