"""How answers are printed: a table for people, JSON and YAML for programs, Markdown and HTML for tickets.

In: an answer and its report. Out: text on standard output.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec
import yaml
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from kubesched.asking.answers import Answer
from kubesched.asking.reports.blocks import Bars, Block, Commands, Facts, Paragraph, Report, Table, Tone
from kubesched.asking.reports.markdown import as_markdown

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("table", "json", "yaml", "markdown")
_STYLES = {Tone.PLAIN: "", Tone.GOOD: "green", Tone.BAD: "red", Tone.MUTED: "dim"}


def output_option(command: F) -> F:
    """Give a command `-o`, as its parameter `output`."""
    return click.option(
        "-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="How to print."
    )(command)


def print_answer(answer: Answer, report: Report, output: str) -> None:
    """Print an answer in a format."""
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(answer.to_dict()), indent=2))
    elif output == "yaml":
        click.echo(yaml.safe_dump(answer.to_dict(), sort_keys=False), nl=False)
    elif output == "markdown":
        click.echo(as_markdown(report), nl=False)
    else:
        _show(report)


def _show(report: Report) -> None:
    console = Console(highlight=False)
    for block in report.lead:
        _show_block(console, block)
    for section in report.sections:
        console.print()
        console.print(Text(section.heading, "bold"))
        for block in section.blocks:
            _show_block(console, block)


def _show_block(console: Console, block: Block) -> None:
    match block:
        case Paragraph():
            console.print(Text(block.text, _STYLES[block.tone]))
        case Facts():
            facts = RichTable(box=None, show_header=False, padding=(0, 2, 0, 0))
            for label, value in block.rows:
                facts.add_row(Text(label), Text(value))
            console.print(facts)
        case Table():
            table = RichTable(box=None, padding=(0, 2, 0, 0), title=block.title or None, title_justify="left")
            for column in block.columns:
                table.add_column(column, justify="right" if column in block.numeric else "left", overflow="fold")
            for row in block.rows:
                table.add_row(*(Text(cell) for cell in row))
            console.print(table)
        case Bars():
            for label, amount, text in block.rows:
                filled = round(20 * amount / block.whole) if block.whole else 0
                console.print(Text(f"{label}  {'█' * filled}{'·' * (20 - filled)}  {text}"))
        case Commands():
            for line in block.lines:
                console.print(Text(line), soft_wrap=True)
