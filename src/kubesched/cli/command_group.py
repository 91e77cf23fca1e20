"""How commands are found and how their errors are told.

A command's module is imported when the command is called for. An error that a person can act on goes to standard
error, one problem a line, with exit code 1; a traceback is always a bug.
"""

import importlib
from collections.abc import Mapping
from typing import Any

import click

from kubesched.config.errors import ConfigError
from kubesched.errors import KubeschedError


class CommandGroup(click.Group):
    """A group that reports KubeschedErrors; `lazy` maps a command's name to `module:attribute`."""

    def __init__(self, *args: Any, lazy: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *self._lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, importing its module if need be."""
        reference = self._lazy.get(cmd_name)
        if reference is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = reference.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; report what a person can act on."""
        try:
            return super().invoke(ctx)
        except KubeschedError as error:
            for problem in problems(error):
                click.echo(problem, err=True)
            ctx.exit(1)


def problems(error: KubeschedError) -> list[str]:
    """Return the problems that an error tells of, each in one line."""
    texts = error.errors if isinstance(error, ConfigError) else (str(error),)
    # Problems quote what they complain about, but a parser's own words may hold line breaks.
    return [" ".join(text.split("\n")) for text in texts]
