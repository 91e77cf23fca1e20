"""The pages of the command line: the help of each command, and an index.

From all commands to Markdown.
"""

from collections.abc import Callable, Mapping
from functools import partial

import click

from kubesched.cli import COMMANDS, main
from kubesched.cli.command_tree import all_commands
from kubesched.cli.help_all import COMPLETE

FOLDER = "commands"
INDEX = """\
# Commands

`kubectl kubesched COMMAND` is the same as `kubesched COMMAND`, and `kube-scheduler` the same as `kubesched run`.
`make docs` writes these pages from `kubesched COMMAND --help`, or `--help-all` where a command has it.

"""
# a page of the site shows this number of characters without scrolling
WIDTH = 80


def pages() -> Mapping[str, Callable[[], str]]:
    """Return what writes the page of each command, by file, and the index."""
    return {
        f"{FOLDER}/index.md": index,
        **{f"{FOLDER}/{name}.md": partial(page, name) for name in COMMANDS},
    }


def index() -> str:
    """Return the page that lists all commands."""
    return (
        INDEX
        + _section(("kubesched",), main, 2)
        + "".join(f"\n* [kubesched {name}]({name}.md)" for name in COMMANDS)
        + "\n"
    )


def page(name: str) -> str:
    """Return the page of a command with its subcommands."""
    found = [(path, command) for path, command in all_commands(("kubesched",), main) if path[1:2] == (name,)]
    return "\n".join(_section(path, command, min(len(path) - 1, 2)) for path, command in found)


def _section(path: tuple[str, ...], command: click.Command, level: int) -> str:
    name = " ".join(path)
    return f"{'#' * level} {name}\n\n```text\n{_help(name, command)}\n```\n"


def _help(name: str, command: click.Command) -> str:
    names = main.context_settings["help_option_names"]
    context = click.Context(
        command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=names
    )
    context.meta[COMPLETE] = True
    return command.get_help(context).rstrip()
