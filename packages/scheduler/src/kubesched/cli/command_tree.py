"""All commands: from a command to itself and the commands below it, with their names.

The generated documents walk over them: the reference page, the manual pages.
"""

from collections.abc import Iterator, Mapping

import click

from kubesched.cli.command_group import CommandWithSubcommands


def all_commands(path: tuple[str, ...], command: click.Command) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield a command and all commands below it."""
    yield path, command
    for name, each in subcommands(command).items():
        yield from all_commands((*path, name), each)


def subcommands(command: click.Command) -> Mapping[str, click.Command]:
    """Return the commands directly below a command, by name."""
    if isinstance(command, CommandWithSubcommands):
        return command.subcommands
    if not isinstance(command, click.Group):
        return {}
    context = click.Context(command)
    found = ((name, command.get_command(context, name)) for name in command.list_commands(context))
    return {name: each for name, each in found if each is not None and not each.hidden}
