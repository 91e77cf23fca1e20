"""Lines to people, on standard error: fit for terminals, whatever names and messages of servers they quote."""

import click

from kubesched.common.printable import printable


def note(line: object) -> None:
    """Write a line to standard error."""
    click.echo(printable(line), err=True)
