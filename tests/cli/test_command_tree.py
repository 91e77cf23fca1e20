"""All commands, as documents walk over them."""

import click

from kubesched.cli import COMMANDS, main
from kubesched.cli.command_group import CommandWithSubcommands
from kubesched.cli.command_tree import all_commands, subcommands


def test_subcommands_come_below_their_command() -> None:
    whole = CommandWithSubcommands("up", subcommands={"down": click.Command("down")})
    assert [path for path, _ in all_commands(("kubesched", "up"), whole)] == [
        ("kubesched", "up"),
        ("kubesched", "up", "down"),
    ]


def test_all_commands_are_below_kubesched_but_hidden_ones() -> None:
    assert set(subcommands(main)) == set(COMMANDS)
    group = click.Group(commands=[click.Command("shown"), click.Command("secret", hidden=True)])
    assert list(subcommands(group)) == ["shown"]
