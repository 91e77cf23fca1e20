"""`python -m attack`: all attacks, or some, each for a bounded time."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import click

from attack.attacks import Attack, FellError, all_attacks

# by how many MiB a target's memory may have grown when an attack is over
MOST_GROWTH = 300.0


class Outcome(NamedTuple):
    """What became of an attack."""

    attack: Attack
    held: bool
    seen: str
    seconds: float


class TooLongError(BaseException):
    """An attack took longer than it may; no part of it may catch that."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Break off what takes longer."""

    def break_off(number: int, frame: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, break_off)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def carried_out(attack: Attack, target: Any, seconds: float) -> Outcome:
    """Carry out an attack, and judge its target."""
    began, before = time.monotonic(), target.rss()
    try:
        with at_most(seconds):
            seen, held = attack.run(target), True
            target.check()
        grown = target.rss() - before
        if grown > MOST_GROWTH:
            seen, held = f"+{grown:.0f} MiB of memory", False
    except FellError as error:
        seen, held = str(error), False
    except TooLongError:
        seen, held = f"not over within {seconds:g} s", False
    except Exception as error:  # a server that cuts, hangs or answers nonsense
        seen, held = f"{type(error).__name__}: {error}", False
    return Outcome(attack, held, " ".join(seen.split()), time.monotonic() - began)


def all_outcomes(attacks: list[Attack], seconds: float, tell: Callable[[Outcome], None]) -> list[Outcome]:
    """Carry out attacks; a target that fell is replaced by a new one."""
    found: list[Outcome] = []
    with ExitStack() as stack:
        target: Any = None
        for attack in attacks:
            if target is None or type(target) is not attack.target or not found[-1].held:
                stack.close()
                target = stack.enter_context(attack.target())
            found.append(carried_out(attack, target, seconds))
            tell(found[-1])
    return found


def _line(outcome: Outcome) -> str:
    verdict = "held" if outcome.held else "FELL"
    return f"{verdict}  {outcome.attack.name:<46}{outcome.seconds:6.1f} s  {outcome.seen[:200]}"


@click.command()
@click.argument("names", metavar="[ATTACK]...", nargs=-1)
@click.option("--seconds", default=300.0, show_default=True, help="Time for each attack.")
@click.option("--list", "only_list", is_flag=True, help="Print the attacks.")
def main(names: tuple[str, ...], seconds: float, only_list: bool) -> None:
    """Attack processes of kubesched on this machine's loopback.

    ATTACK is the name of an attack, or how names begin, such as page_files. Exit code 1: at least one fell.
    """
    attacks = [each for each in all_attacks() if not names or each.name.startswith(names)]
    if not attacks:
        raise click.UsageError(f"no attack begins with {' or '.join(names)}; --list prints them")
    if only_list:
        for each in attacks:
            click.echo(f"{each.name:<46}{each.sentence}")
        return
    began = time.monotonic()
    found = all_outcomes(attacks, seconds, lambda outcome: click.echo(_line(outcome)))
    fallen = [outcome for outcome in found if not outcome.held]
    for outcome in fallen:
        click.echo(f"\n{outcome.attack.name}: {outcome.attack.sentence}\n  {outcome.seen}")
    took = time.monotonic() - began
    click.echo(f"\n{len(found)} attacks in {took:.0f} s: {len(found) - len(fallen)} held, {len(fallen)} fell")
    sys.exit(1 if fallen else 0)


if __name__ == "__main__":
    main()
