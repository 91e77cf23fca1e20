"""How commands are found and how their errors are reported.

A command's module is imported when the user calls the command. A command of a distribution that is not installed is
not listed, and calling it is an error that names the distribution to install. An error that a user can fix goes to
standard error, one problem a line, with exit code 1; a traceback is always a bug.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from kubesched.cli.notes import note
from kubesched.common.distributions import imported, is_installed
from kubesched.errors import KubeschedError

# characters
LONGEST_SUMMARY = 1000


class LazyCommand(NamedTuple):
    """A command that is imported when it is called: its `module:attribute` and a sentence of help."""

    reference: str
    short_help: str


def summary(command: click.Command) -> str:
    """Return the first sentence of a command's help, not shortened."""
    return command.get_short_help_str(limit=LONGEST_SUMMARY)


class CommandGroup(click.Group):
    """A group that reports KubeschedErrors; `lazy` are the commands by name, imported when they are called."""

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands that are installed."""
        installed = (name for name, lazy in self._lazy.items() if is_installed(lazy.reference))
        return sorted({*super().list_commands(ctx), *installed})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, after importing its module if necessary; raises MissingDistributionError."""
        lazy = self._lazy.get(cmd_name)
        if lazy is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = lazy.reference.partition(":")
        command: click.Command = imported(module, attribute, f"{ctx.command_path} {cmd_name}")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments; an unknown one is an error that suggests the nearest name."""
        names = {*self.list_commands(ctx), *self._lazy}
        if args[0] not in names and (meant := _nearest(args[0], names)):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(self._described(ctx))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands, or the options if the word begins with a hyphen, without importing a command."""
        commands = [
            CompletionItem(name, help=text) for name, text in self._described(ctx) if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def _described(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return the commands with their descriptions, without importing any."""
        rows = []
        for name in self.list_commands(ctx):
            lazy, command = self._lazy.get(name), super().get_command(ctx, name)
            rows.append((name, lazy.short_help if lazy is not None else summary(command) if command else ""))
        return rows

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; report errors that the user can fix."""
        try:
            return super().invoke(ctx)
        except KubeschedError as error:
            for problem in problems(error):
                note(problem)
            ctx.exit(1)


class CommandWithSubcommands(click.Command):
    """A command with subcommands that also takes arguments: a first argument that names a subcommand calls it.

    For a file with the name of a subcommand, users write ./name. With `takes_command`, the words after `--` are a
    command to run; both parts of the line are in the context's `meta`. With `needs_command` the command is required.
    """

    ARGUMENTS, COMMAND = "kubesched.arguments", "kubesched.command"

    def __init__(
        self,
        *args: Any,
        subcommands: Mapping[str, click.Command] | None = None,
        takes_command: bool = False,
        needs_command: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.subcommands = dict(subcommands or {})
        self._takes_command = takes_command or needs_command
        self._needs_command = needs_command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of this command, or that of the subcommand, which `invoke` then runs instead."""
        if args and args[0] in self.subcommands:
            return self.subcommands[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        if args and (meant := _nearest(args[0], self.subcommands)) and not Path(args[0]).exists():
            hint = f"did you mean `kubesched {info_name} {meant}`?"
            raise click.UsageError(f"{args[0]!r} is neither a command nor a file; {hint}")
        command: tuple[str, ...] = ()
        if self._takes_command and "--" in args:
            number = args.index("--")
            args, command = args[:number], tuple(args[number + 1 :])
            if not command:
                raise click.UsageError("missing command after --, such as -- pytest")
        kept = list(args)
        context = super().make_context(info_name, args, parent, **extra)
        context.meta.update({self.ARGUMENTS: kept, self.COMMAND: command})
        return context

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the subcommands where one is possible, or the options if the word begins with a hyphen."""
        found = self.subcommands.items() if not ctx.meta.get(self.ARGUMENTS) else ()
        names = [CompletionItem(name, help=summary(each)) for name, each in found if name.startswith(incomplete)]
        return [*names, *super().shell_complete(ctx, incomplete)]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the usage line."""
        return [*super().collect_usage_pieces(ctx), *(["-- COMMAND..."] if self._needs_command else [])]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the subcommands."""
        records = [each.get_help_record(ctx) for each in self.shown(ctx) if isinstance(each, click.Option)]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
        if self.subcommands:
            with formatter.section("Commands"):
                formatter.write_dl([(name, summary(each)) for name, each in self.subcommands.items()])

    def shown(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters that the help describes."""
        return self.get_params(ctx)


def _nearest(word: str, names: Iterable[str]) -> str:
    """Return the most similar name, empty if no name is similar."""
    return next(iter(get_close_matches(word, tuple(names), 1, 0.75)), "")


def problems(error: KubeschedError) -> list[str]:
    """Return the problems of an error, each in one line."""
    # a ConfigError has several; its class is not imported, which keeps --help fast
    texts: Sequence[str] = getattr(error, "errors", ()) or (str(error),)
    # Problems quote the input on one line, but messages of parsers may contain line breaks.
    return [" ".join(text.split("\n")) for text in texts]
