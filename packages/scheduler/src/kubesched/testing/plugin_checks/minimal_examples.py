"""The smallest examples with findings.

From a strategy and checks to the findings of each check, by Hypothesis. All runs try the same examples, and all
checks get each example.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
Check = Callable[[T], list[str] | None]


def smallest_findings(
    strategy: SearchStrategy[T],
    checks: Mapping[str, Check[T]],
    examples: int,
    first: Iterable[T] = (),
    *,
    one: bool = False,
) -> dict[str, list[str]]:
    """Return the findings of checks, by name, each for the smallest example with a finding.

    Examples in `first` are small already. With `one` the first finding is enough.
    """
    findings: dict[str, list[str]] = {}
    pending = dict(checks)
    for example in first:
        for title, check in list(pending.items()):
            found = check(example)
            if found:
                findings[title] = found
                del pending[title]
                if one:
                    return findings
    while pending and not (one and findings):
        search = _Search(pending)
        try:
            find(strategy, search.finds, settings=_settings(examples))
        except _EnoughError:
            pass
        except NoSuchExample:
            if not search.found:
                break
        except Flaky:
            # an unstable answer may not occur again for the same example
            search.found.sort(key=lambda lines: -sum(map(len, lines)))
        findings[search.title] = search.found[-1]
        del pending[search.title]
    return findings


def drawn_examples(strategy: SearchStrategy[T], examples: int, first: Iterable[T] = ()) -> list[T]:
    """Return the examples for the checks."""
    drawn: list[T] = []

    def keep(example: T) -> list[str] | None:
        drawn.append(example)
        return None

    smallest_findings(strategy, {"": keep}, examples, first)
    return drawn


# limit on the smaller examples that are tried
MOST_ATTEMPTS = 150


class _EnoughError(BaseException):
    """Ends the search: the example is small enough. It is no Exception, which Hypothesis would take for a finding."""


class _Search(Generic[T]):
    """The first check with a finding; from then on it runs alone, while its example is reduced."""

    def __init__(self, checks: Mapping[str, Check[T]]) -> None:
        self._checks = dict(checks)
        self._attempts = 0
        self.title = ""
        self.found: list[list[str]] = []

    def finds(self, example: T) -> bool:
        """Return whether the check has a finding."""
        self._attempts += bool(self.found)
        if self._attempts > MOST_ATTEMPTS:
            raise _EnoughError
        for title, check in self._checks.items():
            found = check(example)
            if found:
                self._checks = {title: check}
                self.title = title
                self.found.append(found)
                return True
        return False


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
