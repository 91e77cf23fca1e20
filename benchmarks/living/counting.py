"""Counts what the engine does: columns that are made or brought up to date, pods that are read, digests.

Functions of the engine are replaced while something is counted. The counts cost time, so that nothing is timed
meanwhile.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kubesched.core.cluster.following import DerivedColumn
from kubesched.core.cluster.pod_info import Digest, PodReader

EVALUATED = "evaluate"
CAUGHT_UP = "catch_up"
READ = "read"
DIGESTS = "__init__"


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count calls, by the name of the method, until the block ends."""
    counts: Counter[str] = Counter()
    places: list[tuple[type[Any], str]] = [(PodReader, READ), (Digest, DIGESTS)]
    for column in _subclasses(DerivedColumn):
        places += [(column, name) for name in (EVALUATED, CAUGHT_UP) if name in vars(column)]
    before = [(owner, name, vars(owner)[name]) for owner, name in places]
    for owner, name, function in before:
        setattr(owner, name, _counted(function, name, counts))
    try:
        yield counts
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


def _subclasses(of: type[Any]) -> Iterator[type[Any]]:
    """Yield the subclasses of a class, each once."""
    found: dict[type[Any], None] = {}
    waiting = [of]
    while waiting:
        for each in waiting.pop().__subclasses__():
            if each not in found:
                found[each] = None
                waiting.append(each)
    yield from found


def _counted(function: Callable[..., Any], name: str, counts: Counter[str]) -> Callable[..., Any]:
    def called(*args: Any) -> Any:
        counts[name] += 1
        return function(*args)

    return called
