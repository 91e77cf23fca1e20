"""What an attack is, and all of them by target."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar

# modules with attacks, in the order in which they are run
MODULES = (
    "page_requests",
    "page_floods",
    "page_files",
    "server_requests",
    "server_objects",
    "tenants",
    "scheduler",
    "commands",
)


class FellError(Exception):
    """The target did what it must not do."""


class Target(Protocol):
    """What is attacked."""

    def check(self) -> None:
        """Raise FellError if the target is no longer well."""

    def rss(self) -> float:
        """Return the memory of its process in MiB."""


Run = Callable[[Any], str]


@dataclass(frozen=True)
class Attack:
    """An attack: its name, its sentence, its target, and what it does."""

    name: str
    sentence: str
    target: "type[AbstractContextManager[Target]]"
    run: Run


ATTACKS: list[Attack] = []
T = TypeVar("T", bound=Run)


def attack(target: Any) -> Callable[[T], T]:
    """Register an attack on a target; its docstring is its sentence. It returns what was seen."""

    def register(run: T) -> T:
        module = run.__module__.rpartition(".")[2]
        sentence = " ".join((run.__doc__ or "").split())
        ATTACKS.append(Attack(f"{module}.{run.__name__}", sentence, target, run))
        return run

    return register


def all_attacks() -> list[Attack]:
    """Return all attacks, those on the same target side by side."""
    if not ATTACKS:
        for name in MODULES:
            import_module(f"attack.{name}")
    order = list(dict.fromkeys(each.target for each in ATTACKS))
    return sorted(ATTACKS, key=lambda each: order.index(each.target))


def expect(condition: object, what: str) -> None:
    """Raise FellError with what was seen, unless a condition holds."""
    if not condition:
        raise FellError(what)
