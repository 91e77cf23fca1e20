"""Completions for zsh and fish, with whole and accurate descriptions.

From the possible next words to click's answers for zsh and fish.
"""

from click.shell_completion import CompletionItem, FishComplete, ShellComplete, ZshComplete, add_completion_class

NEGATIVE = "--no-"


class _Describing(ShellComplete):
    """Describes the second option of a pair (`--tls/--no-tls`) as the opposite: click repeats the help of the
    first.
    """

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return the possible next words."""
        found = super().get_completions(args, incomplete)
        negative = [item for item in found if item.value.startswith(NEGATIVE)]
        if negative:
            options = {item.value for item in super().get_completions(args, "--")}
            for item in negative:
                other = f"--{item.value.removeprefix(NEGATIVE)}"
                if other in options:
                    item.help = f"The opposite of {other}."
        return found


class Zsh(_Describing, ZshComplete):
    """Completion in zsh."""


class Fish(_Describing, FishComplete):
    """Completion in fish; descriptions may contain commas."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split --max 1 ","')


def register() -> None:
    """Register these classes with click."""
    add_completion_class(Zsh)
    add_completion_class(Fish)
