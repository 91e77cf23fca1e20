"""The page of the command line: what `--help` prints, for each command.

From all commands to Markdown.
"""

import click

from kubesched.cli import main
from kubesched.cli.command_tree import all_commands

INTRODUCTION = """\
# Commands

What `--help` prints. `kubectl kubesched COMMAND` is the same as `kubesched COMMAND`, and `kube-scheduler` the same as
`kubesched run`. This page is written by `make docs`.
"""
# a page of the site shows as many characters without scrolling
WIDTH = 80


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for path, command in all_commands(("kubesched",), main):
        name = " ".join(path)
        parts.append(f"{'#' * min(len(path) + 1, 4)} {name}\n\n```text\n{_help(name, command)}\n```\n")
    return "\n".join(parts)


def _help(name: str, command: click.Command) -> str:
    names = main.context_settings["help_option_names"]
    context = click.Context(
        command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=names
    )
    return command.get_help(context).rstrip()
