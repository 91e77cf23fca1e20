"""What plugins may answer, checked where their hooks are called: nonsense becomes a sentence that says what to return.

From whatever a hook returned to the same value, or a PluginError, which `guarded` makes the failure of the attempt: it
names the plugin and the hook, and never takes the engine down.
"""

from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.errors import PluginError
from kubesched.framework.status import Status, error
from kubesched.framework.verdict import Verdict

if TYPE_CHECKING:
    from kubesched.framework.plugin import Plugin

T = TypeVar("T")


def failed(plugin: "Plugin", hook: str, raised: Exception) -> Status:
    """Return the status of an attempt in which a plugin's hook raised."""
    what = str(raised) if isinstance(raised, PluginError) else f"{type(raised).__name__}: {raised}"
    return error(f'plugin "{plugin.name}" failed in {hook}: {what}').by(plugin.name)


def guarded(plugin: "Plugin", hook: str, call: Callable[[], T]) -> T | Status:
    """Return what a hook returns, or the failure if it raises."""
    try:
        return call()
    except Exception as raised:
        return failed(plugin, hook, raised)


def checked_status(status: Any, hook: str) -> Status | None:
    """Return a status or None as it is."""
    if status is None or isinstance(status, Status):
        return status
    raise PluginError(f"{hook} returned {_shown(status)}; return None or a status: unschedulable('why')")


def checked_verdict(verdict: Any, count: int) -> Verdict:
    """Return a verdict about `count` nodes as it is."""
    if not isinstance(verdict, Verdict):
        raise PluginError(
            f"filter_nodes returned {_shown(verdict)}; return a verdict: Verdict.rejecting(mask, unschedulable('why'))"
        )
    for status in verdict.statuses:
        checked_status(status, "filter_nodes")
    which = _numbers(verdict.which, count, "the `which` of a verdict holds")
    if count and (which.min() < 0 or which.max() >= len(verdict.statuses)):
        raise PluginError(
            f"the `which` of a verdict points outside its {len(verdict.statuses)} statuses, the first of which is None"
        )
    return verdict


def checked_score(score: Any) -> int | Status:
    """Return one node's score as a Python integer, or a status as it is."""
    if isinstance(score, int | np.integer) and not isinstance(score, bool):
        return int(score)
    if isinstance(score, Status):
        return score
    raise PluginError(f"score returned {_shown(score)}; return an integer from 0 to 100")


def checked_scores(scores: Any, count: int, hook: str) -> NDArray[Any] | Status:
    """Return the scores of `count` nodes as integers, or a status as it is."""
    return scores if isinstance(scores, Status) else _numbers(scores, count, f"{hook} returned")


def checked_names(names: Any) -> frozenset[str] | None:
    """Return the node names that PreFilter narrows the search to."""
    if names is None:
        return None
    if not isinstance(names, Set | list | tuple) or not all(isinstance(name, str) for name in names):
        raise PluginError(f"pre_filter narrowed the search to {_shown(names)}; give a frozenset of node names")
    return frozenset(names)


def _numbers(values: Any, count: int, what: str) -> NDArray[Any]:
    """Return `count` integers."""
    numbers = np.asarray(values)
    if numbers.ndim == 1 and len(numbers) != count:
        raise PluginError(f"answered for {len(numbers)} nodes, was asked about {count}")
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and count):
        raise PluginError(f"{what} {_shown(values)}; expected an array of {count} integers")
    return numbers


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
