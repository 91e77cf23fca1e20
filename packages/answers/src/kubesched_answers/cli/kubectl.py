"""`kubectl kubesched`: the commands that ask about a cluster, as a plugin of kubectl.

In: a command line, with kubectl's own flags for context, cluster, user and namespace. Out: the output of `kubesched`;
or the completions of a command line, in the format that kubectl reads.
"""

import sys
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import ShellComplete

from kubesched import __version__
from kubesched.cli import COMMANDS
from kubesched.cli.command_group import CommandGroup
from kubesched.cli.kubectl_flags import KUBECTL_KUBESCHED, with_kubectl_hint

ASKING = ("capacity", "explain", "snapshot", "whatif")
# directives of cobra, kubectl's library for completion
FILES, NO_FILES = 0, 4


class KubectlPlugin(CommandGroup):
    """The commands as a plugin of kubectl; errors about options that only kubectl has say what to do instead."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; report errors that the user can fix."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise with_kubectl_hint(error) from None


@click.group(
    cls=KubectlPlugin,
    lazy={name: COMMANDS[name] for name in ASKING},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name=KUBECTL_KUBESCHED, message="%(prog)s %(version)s")
def kubectl_kubesched() -> None:
    """Ask the scheduler: why is a pod pending, what would help, how many more pods fit, what if?

    The cluster is the one of kubectl. --kubeconfig, --context, --cluster, --user, -n, --as, --as-group, --as-uid,
    --request-timeout, --server, --token, --certificate-authority, --insecure-skip-tls-verify, --tls-server-name,
    --client-certificate and --client-key have kubectl's meaning, and come after the command. --from asks about a
    snapshot or manifests instead.
    """


def complete(words: Sequence[str]) -> None:
    """Print the completions of the last word, in the format that kubectl expects from a plugin."""
    *before, incomplete = words or [""]
    completing = ShellComplete(kubectl_kubesched, {}, KUBECTL_KUBESCHED, "_KUBECTL_KUBESCHED_COMPLETE")
    items = completing.get_completions(list(before), incomplete)
    if any(item.type != "plain" for item in items):
        click.echo(f":{FILES}")
        return
    for item in items:
        click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    click.echo(f":{NO_FILES}")


def complete_command_line() -> None:
    """Run `kubectl_complete-kubesched`."""
    complete(sys.argv[1:])
    sys.exit(0)
