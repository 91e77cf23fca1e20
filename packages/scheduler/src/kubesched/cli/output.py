"""How answers are printed: a table for people, JSON and YAML for programs, Markdown and HTML for tickets.

In: an answer and its report. Out: text on standard output.
"""

import functools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click
import msgspec
import yaml

from kubesched.common.printable import printable
from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer
from kubesched.reports.blocks import Report
from kubesched.reports.html import as_page
from kubesched.reports.markdown import as_markdown
from kubesched.reports.terminal import as_terminal_text

F = TypeVar("F", bound=Callable[..., Any])

TABLE, JSON, YAML, MARKDOWN, HTML = FORMATS = ("table", "json", "yaml", "markdown", "html")
# characters that JSON leaves unescaped though terminals obey them: DEL, C1, overrides of direction
_UNESCAPED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """How to print an answer."""

    format: str = TABLE
    quiet: bool = False
    colour: bool = True


def _quiet_is_a_table(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """Refuse --quiet with a format for programs, before a command reads a cluster (a callback of click)."""
    given = {**ctx.params, str(option.name): value}
    if given.get("quiet") and (format_ := given.get("format_", TABLE)) != TABLE:
        raise click.UsageError(f"--quiet prints the verdict alone: it cannot be combined with -o {format_}")
    return value


def output_option(command: F) -> F:
    """Give a command `-o`, `--quiet` and `--no-color`, as its parameter `output`."""

    @click.option(
        "-o",
        "--output",
        "format_",
        type=click.Choice(FORMATS),
        default=TABLE,
        show_default=True,
        callback=_quiet_is_a_table,
        help="Output format.",
    )
    @click.option(
        "-q",
        "--quiet",
        is_flag=True,
        callback=_quiet_is_a_table,
        help="Print the verdict alone; kinds that could not be read go to standard error.",
    )
    @click.option("--no-color", is_flag=True, help="Print without colours, like NO_COLOR in the environment.")
    @functools.wraps(command)
    def with_output(*args: Any, format_: str, quiet: bool, no_color: bool, **kwargs: Any) -> Any:
        return command(*args, output=OutputOptions(format_, quiet, not no_color), **kwargs)

    return with_output  # type: ignore[return-value]


def print_answer(answer: Answer, report: Report, output: OutputOptions) -> None:
    """Print an answer."""
    if output.format == JSON:
        _write(_json(answer))
    elif output.format == YAML:
        _write(yaml.dump(answer.to_dict(), Dumper=_YamlDumper, sort_keys=False, width=120))
    elif output.format == MARKDOWN:
        _write(as_markdown(report))
    elif output.format == HTML:
        _write(as_page(report))
    else:
        _write(as_terminal_text(report, quiet=output.quiet, colour=output.colour))
        if output.quiet:
            _count_gaps(getattr(answer, "gaps", ()))


def _count_gaps(gaps: Sequence[Gap]) -> None:
    """Report on standard error how much the verdict leaves out; without `--quiet` the report has the details."""
    if gaps:
        first = f"{gaps[0].what}: {gaps[0].why}"
        more = f", and {len(gaps) - 1} more" if len(gaps) > 1 else ""
        click.echo(printable(f"not in this verdict: {first}{more}"), err=True)


def _json(answer: Answer) -> str:
    text = msgspec.json.format(msgspec.json.encode(answer.to_dict()), indent=2).decode()
    return _UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


class _YamlDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes repeated values in full: readers of answers know no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write(text: str) -> None:
    """Write to standard output; characters that its encoding lacks are replaced."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "replace").decode(encoding), nl=False)
