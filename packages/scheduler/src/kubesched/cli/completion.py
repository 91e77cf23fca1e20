"""`kubesched completion`: the completion script of a shell.

From the name of a shell to its script, which asks kubesched for the possible next words.
"""

import click
from click.shell_completion import get_completion_class

PROGRAM = "kubesched"
# the environment variable that marks a call of the script
VARIABLE = "_KUBESCHED_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
HELP = """Print the script that lets SHELL complete commands, options and their values.

\b
Bash 4.4 or later, in this shell and in all later ones:
  source <(kubesched completion bash)
  mkdir -p ~/.local/share/bash-completion/completions
  kubesched completion bash > ~/.local/share/bash-completion/completions/kubesched

\b
Zsh; the line goes into ~/.zshrc, below compinit:
  source <(kubesched completion zsh)

\b
Fish:
  kubesched completion fish > ~/.config/fish/completions/kubesched.fish

kubectl completes `kubectl kubesched` once its own completion is set up (kubectl completion --help).
"""


@click.command("completion", help=HELP, short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(context.find_root().command, {}, PROGRAM, VARIABLE).source())
