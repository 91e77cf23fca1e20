"""What shells are told when they complete a line.

From what a line may go on with to click's answers for zsh and fish, with whole and fitting descriptions.
"""

from click.shell_completion import CompletionItem, FishComplete, ShellComplete, ZshComplete, add_completion_class

NEGATIVE = "--no-"


class _Describing(ShellComplete):
    """Has the second option of a pair (`--tls/--no-tls`) described as such: click gives it the words of the first."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return what may come next."""
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
    """Completion in fish; a comma in a description does not end it."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split --max 1 ","')


def register() -> None:
    """Have click answer with these."""
    add_completion_class(Zsh)
    add_completion_class(Fish)
