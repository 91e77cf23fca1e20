"""Mutants: subclasses of a plugin that are broken on purpose, with typical bugs.

From a plugin class to broken ones. `mutation.py` finds out which of them the checks notice.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from kubesched.core.framework.plugin import (
    FilterPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    QuestionFilterPlugin,
    QuestionScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from kubesched.core.framework.values.events import Hint
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.values.verdict import Verdict


class Mutant(NamedTuple):
    """A typical bug: the plugins that can have it, and the members that a broken subclass replaces."""

    # the bug in words, after "a plugin that"
    what: str
    concerns: Callable[[type[Plugin]], bool]
    members: Callable[[type[Plugin]], dict[str, Any]]

    def broken(self, plugin: type[Plugin]) -> type[Plugin]:
        """Return the broken subclass, under the plugin's name."""
        members = {"__module__": plugin.__module__, **self.members(plugin)}
        return cast(type[Plugin], type(plugin.__name__, (plugin,), members))


def mutants_of(plugin: type[Plugin]) -> Iterator[Mutant]:
    """Yield the typical bugs for a plugin."""
    return (mutant for mutant in _MUTANTS if mutant.concerns(plugin))


# -- members


def _raising(hooks: Sequence[str]) -> Callable[[type[Plugin]], dict[str, Any]]:
    def fails(self: Any, *_: Any) -> Any:
        raise RuntimeError("broken on purpose")

    return lambda plugin: {hook: fails for hook in hooks if hasattr(plugin, hook)}


def _passing(plugin: type[Plugin]) -> dict[str, Any]:
    def filter_nodes(self: Any, cycle: Any, pod: Any, nodes: Any) -> Verdict:
        return Verdict.uniform(len(nodes), None)

    return {"filter": lambda self, cycle, pod, node: None, "filter_nodes": filter_nodes}


def _shifted_filter(plugin: type[Plugin]) -> dict[str, Any]:
    original: Any = plugin

    def filter_nodes(self: Any, cycle: Any, pod: Any, nodes: Any) -> Verdict:
        found: Verdict = original.filter_nodes(self, cycle, pod, nodes)
        return Verdict(np.roll(found.which, 1), found.statuses)

    return {"filter": original.filter, "filter_nodes": filter_nodes}


def _equal_scores(plugin: type[Plugin]) -> dict[str, Any]:
    return {
        "score": lambda self, cycle, pod, node: 0,
        "score_nodes": lambda self, cycle, pod, nodes: np.zeros(len(nodes), np.int64),
    }


def _shifted_scores(plugin: type[Plugin]) -> dict[str, Any]:
    original: Any = plugin

    def score_nodes(self: Any, cycle: Any, pod: Any, nodes: Any) -> Any:
        found = original.score_nodes(self, cycle, pod, nodes)
        return found if isinstance(found, Status) else np.roll(found, 1)

    return {"score": original.score, "score_nodes": score_nodes}


def _asleep(plugin: type[Plugin]) -> dict[str, Any]:
    original: Any = plugin

    def events_to_register(self: Any) -> list[Any]:
        registered = original.events_to_register(self)
        return [each._replace(hint=lambda pod, old, new: Hint.QUEUE_SKIP) for each in registered]

    return {"events_to_register": events_to_register}


def _nothing(*_: Any) -> None:
    return None


# -- which plugins


def _own(plugin: type[Plugin], base: type[Plugin], hook: str) -> bool:
    """Return whether a plugin of an extension point defines a hook."""
    return issubclass(plugin, base) and getattr(plugin, hook) is not getattr(base, hook)


def _filters(plugin: type[Plugin]) -> bool:
    return issubclass(plugin, FilterPlugin) and not issubclass(plugin, QuestionFilterPlugin)


def _scores(plugin: type[Plugin]) -> bool:
    return issubclass(plugin, ScorePlugin) and not issubclass(plugin, QuestionScorePlugin)


def _rejects(plugin: type[Plugin]) -> bool:
    return issubclass(plugin, FilterPlugin | PreFilterPlugin | PreEnqueuePlugin)


_MUTANTS = (
    Mutant("raises in filter", _filters, _raising(("filter", "filter_nodes"))),
    Mutant("passes every node in filter", _filters, _passing),
    Mutant("gives each node the verdict of its neighbour", _filters, _shifted_filter),
    Mutant(
        "skips in pre_filter",
        lambda plugin: issubclass(plugin, PreFilterPlugin),
        lambda plugin: {"pre_filter": lambda self, cycle, pod: Status(Code.SKIP)},
    ),
    Mutant("raises in score", _scores, _raising(("score", "score_nodes"))),
    Mutant("gives all nodes one score", _scores, _equal_scores),
    Mutant("gives each node the score of its neighbour", _scores, _shifted_scores),
    Mutant(
        "keeps one verdict for all pods (key is constant)",
        lambda plugin: _own(plugin, FilterPlugin, "key"),
        lambda plugin: {"key": lambda self, pod: 0, "key_of_template": False},
    ),
    Mutant(
        "keeps one score for all pods (score_key is constant)",
        lambda plugin: _own(plugin, ScorePlugin, "score_key"),
        lambda plugin: {"score_key": lambda self, pod: 0, "score_key_of_template": False},
    ),
    Mutant("returns QUEUE_SKIP in every hint", _rejects, _asleep),
    Mutant("registers for no event", _rejects, lambda plugin: {"events_to_register": lambda self: []}),
    Mutant(
        "opens every gate",
        lambda plugin: issubclass(plugin, PreEnqueuePlugin),
        lambda plugin: {"pre_enqueue": _nothing},
    ),
    Mutant(
        "releases nothing in unreserve",
        lambda plugin: _own(plugin, ReservePlugin, "unreserve"),
        lambda plugin: {"unreserve": _nothing},
    ),
)
