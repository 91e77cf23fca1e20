"""`kubesched plugins`: for authors of plugins.

In: plugins, by name or source. Out: what there is, what a plugin is like, whether it is right, and new ones.
"""

import click

from kubesched.cli.command_group import CommandGroup, LazyCommand


@click.group(
    "plugins",
    cls=CommandGroup,
    lazy={
        "check": LazyCommand(
            "kubesched.testing.check_command:check",
            "Hold plugins to the contract: each finding with a minimal example.",
        ),
    },
    short_help="List, describe, check and begin plugins.",
)
def plugins_group() -> None:
    """List, describe, check and begin plugins."""
