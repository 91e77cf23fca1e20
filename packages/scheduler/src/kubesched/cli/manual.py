"""Manual pages: the text of `--help` in roff.

From commands to texts in roff, by file name. Commands write their help into a formatter; this one writes roff instead
of columns, so a page always equals `--help`, or `--help-all`.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from kubesched import __version__
from kubesched.cli import main
from kubesched.cli.command_group import summary
from kubesched.cli.command_tree import all_commands, subcommands
from kubesched.cli.help_all import COMPLETE
from kubesched.common.distributions import imported, is_installed

SECTION = "1"
RUN, KUBE_SCHEDULER, KUBECTL_PLUGIN = ("kubesched", "run"), ("kube-scheduler",), ("kubectl-kubesched",)
_PLUGIN_MODULE = "kubesched_answers.cli.kubectl"
# click's mark of a paragraph whose lines are not wrapped
AS_IT_IS = "\b"
# an empty line or a mark separates paragraphs
_PARAGRAPHS = re.compile(rf"\n[ \t]*\n|\n(?=[ \t]*{AS_IT_IS}[ \t]*\n)")


class ManualFormatter(click.HelpFormatter):
    """Formats the help of a command as roff; `getvalue` returns the text."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the synopsis, and the heading of the next section, the description."""
        self.write(f".SH SYNOPSIS\n.B {roff(prog)}\n{roff(args)}\n.SH DESCRIPTION\n")

    def write_heading(self, heading: str) -> None:
        """Write a heading."""
        self.write(f".SH {roff(heading.upper())}\n")

    def write_paragraph(self) -> None:
        """Do nothing: `write_text` begins paragraphs."""

    def write_text(self, text: str) -> None:
        """Write paragraphs; the lines of an indented paragraph, or of one marked with \b, are not wrapped."""
        for paragraph in _PARAGRAPHS.split(text.strip("\n")):
            lines = paragraph.strip("\n").split("\n")
            marked = lines[0].strip() == AS_IT_IS
            as_it_is = marked or all(line.startswith("  ") for line in lines)
            begin, end = (".PP\n.nf\n", ".fi\n") if as_it_is else (".PP\n", "")
            self.write(begin + "".join(f"{roff(line)}\n" for line in lines[marked:]) + end)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write terms with their definitions."""
        for name, text in rows:
            self.write(f".TP\n.B {roff(name)}\n{roff(' '.join(text.split()))}\n")

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Write a heading for the block's content."""
        self.write_heading(name)
        yield


def roff(text: str) -> str:
    """Return a line of text in roff, with backslashes, hyphens and a leading dot escaped."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("~", r"\(ti").replace("^", r"\(ha")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped


def pages() -> dict[str, str]:
    """Return all manual pages by the names of their files."""
    commands = dict(all_commands(("kubesched",), main))
    commands[KUBE_SCHEDULER] = commands[RUN]
    if is_installed(_PLUGIN_MODULE):
        commands[KUBECTL_PLUGIN] = imported(_PLUGIN_MODULE, "kubectl_kubesched", "a manual page")
    return {f"{'-'.join(path)}.{SECTION}": _page(path, command) for path, command in commands.items()}


def _page(path: tuple[str, ...], command: click.Command) -> str:
    name = "-".join(path)
    formatter = ManualFormatter()
    names = main.context_settings["help_option_names"]
    context = click.Context(command, info_name=" ".join(path), help_option_names=names)
    context.meta[COMPLETE] = True
    command.format_help(context, formatter)
    return (
        f'.TH {roff(name.upper())} {SECTION} "" "kubesched {__version__}" "kubesched"\n'
        f".SH NAME\n{roff(name)} \\- {roff(_sentence(command))}\n"
        f"{formatter.getvalue()}"
        f".SH SEE ALSO\n{_others(path, command)}\n"
    )


def _sentence(command: click.Command) -> str:
    return summary(command).rstrip(".")


def _others(path: tuple[str, ...], command: click.Command) -> str:
    """Return the pages above and below this one."""
    if path in (KUBE_SCHEDULER, KUBECTL_PLUGIN):
        above: list[tuple[str, ...]] = [("kubesched",), RUN] if path == KUBE_SCHEDULER else [("kubesched",)]
        names = above if path == KUBE_SCHEDULER else [*above, *(("kubesched", name) for name in subcommands(command))]
    else:
        below = [(*path, name) for name in subcommands(command)]
        names = [*([path[:-1]] if len(path) > 1 else []), *below, *([KUBE_SCHEDULER] if path == RUN else [])]
    return ",\n".join(rf"\fB{roff('-'.join(name))}\fP({SECTION})" for name in names)
