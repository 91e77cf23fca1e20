"""Lines for users, on standard error. Control characters in quoted names and messages are escaped."""

import click

from kubesched.common.printable import printable


def note(line: object) -> None:
    """Write a line to standard error."""
    click.echo(printable(line), err=True)
