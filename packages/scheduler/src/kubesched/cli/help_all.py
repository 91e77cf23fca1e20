"""Commands with many options: `--help` shows the common ones, and `--help-all` shows all.

In: the names of the rare options, and a longer description. Out: a help of two screens at most, or a complete one.
"""

from collections.abc import Collection
from typing import Any

import click

from kubesched.cli.command_group import CommandWithSubcommands

# in the `meta` of a context whose help is complete, as in manual pages
COMPLETE = "kubesched.complete-help"


class CommandWithRareOptions(CommandWithSubcommands):
    """A command whose `--help` leaves out the `rare` options (names of parameters) and the text `more`."""

    def __init__(self, *args: Any, rare: Collection[str] = (), more: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rare = frozenset(rare)
        self._more = more
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show,
                help="Show all options, such as delays and pools of nodes, and exit.",
            )
        )

    def shown(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters that the help describes."""
        complete = ctx.meta.get(COMPLETE, False)
        return [each for each in self.get_params(ctx) if complete or each.name not in self._rare]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description."""
        super().format_help_text(ctx, formatter)
        if self._more and ctx.meta.get(COMPLETE, False):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(self._more)


def _show(ctx: click.Context, option: click.Parameter, given: bool) -> None:
    """Print the complete help (a callback of click)."""
    if given and not ctx.resilient_parsing:
        ctx.meta[COMPLETE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
