"""In: command lines. Out: text for people or JSON, and exit code 0; or 1, with the reasons on standard error.
Never: logic of scheduling; each command is a module that calls the rooms below.
"""

import click

from kubesched import __version__
from kubesched.cli.command_group import CommandGroup

COMMANDS = {
    "config": "kubesched.cli.config:config_group",
    "controlplane": "kubesched.cli.controlplane:controlplane",
    "evaluate": "kubesched.cli.evaluate:evaluate",
    "run": "kubesched.cli.run:run",
    "up": "kubesched.cli.up:up",
}


@click.group(cls=CommandGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kubesched", message="%(prog)s %(version)s")
def main() -> None:
    """The Kubernetes scheduler in Python."""
