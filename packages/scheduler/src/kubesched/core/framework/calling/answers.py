"""Checks of the values that plugins' hooks return: an invalid value becomes an error that names the expected value.

From the value that a hook returned to the same value, its texts tidied, or to a PluginError, which `hooks` turns into
a failure of the attempt that names the plugin and the hook; the engine continues.
"""

import math
from collections.abc import Callable, Sequence, Set
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.results.outcomes import PostFilterResult, PreFilterResult
from kubesched.core.framework.values.effects import Effect
from kubesched.core.framework.values.events import ClusterEvent, Hint, Registration
from kubesched.core.framework.values.permission import Permission
from kubesched.core.framework.values.placements import Placement
from kubesched.core.framework.values.preemption import Candidate, Candidates, PodGroupPostFilterResult
from kubesched.core.framework.values.status import SKIP, Code, Status
from kubesched.core.framework.values.texts import MOST_CHARACTERS, tidy
from kubesched.core.framework.values.verdict import Verdict
from kubesched.errors import PluginError

T = TypeVar("T")
# The largest raw score that fits into a column; normalisation brings raw scores into the range from 0 to 100.
_LARGEST_SCORE = int(np.iinfo(np.int64).max)
R = TypeVar("R", PostFilterResult, PodGroupPostFilterResult)
_TEXTS = frozenset((str,))


def checked_status(status: Any, hook: str) -> Status | None:
    """Return a status or None unchanged, except for tidied reasons."""
    if status is None or status is SKIP:
        return status
    if isinstance(status, Status):
        return _told(status, hook)
    raise PluginError(f"{hook} returned {_shown(status)}; return None or a status: unschedulable('why')")


def _told(status: Status, hook: str) -> Status:
    """Return a status with a valid code, its reasons tidied."""
    if type(status.code) is not Code or type(status.reasons) is not tuple:
        raise PluginError(f"{hook} returned {_shown(status)}; make statuses by unschedulable('why') or error('why')")
    if _can_be_written(status.reasons):
        return status
    if not all(isinstance(reason, str) for reason in status.reasons):
        raise PluginError(f"{hook} returned a status whose reasons are {_shown(status.reasons)}; reasons are texts")
    return Status(status.code, tuple(map(tidy, status.reasons)), status.plugin)


def _can_be_written(reasons: tuple[Any, ...]) -> bool:
    """Return whether all reasons are short, printable texts; there may be thousands, on each of many nodes."""
    if len(reasons) == 1:
        # as it mostly is
        reason = reasons[0]
        return type(reason) is str and len(reason) <= MOST_CHARACTERS and reason.isprintable()
    if not set(map(type, reasons)) <= _TEXTS:
        return False
    return max(map(len, reasons), default=0) <= MOST_CHARACTERS and "".join(reasons).isprintable()


def checked_permission(permission: Any, hook: str) -> Permission:
    """Return a permission unchanged."""
    if not isinstance(permission, Permission):
        raise PluginError(
            f"{hook} returned {_shown(permission)}; return a permission: Permission(SUCCESS), "
            "Permission(Status(Code.WAIT), seconds) or Permission(unschedulable('why'))"
        )
    status, seconds = permission
    if not isinstance(status, Status):
        raise PluginError(f"{hook} returned a permission with {_shown(status)} in place of a status")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or math.isnan(seconds):
        raise PluginError(f"{hook} lets the pod wait for {_shown(seconds)}; give a number of seconds")
    return Permission(_told(status, hook), seconds)


def checked_post_filter_result(answer: Any, hook: str) -> PostFilterResult:
    """Return PostFilter's result; a status alone is a result, too."""
    result = _checked_result(PostFilterResult, answer, hook)
    if result.nominated_node_name is not None and not isinstance(result.nominated_node_name, str):
        raise PluginError(f"{hook} nominated {_shown(result.nominated_node_name)}; give the name of a node")
    if type(result.candidates) is not Candidates:
        # `Candidates` has columns, which need no check of each candidate
        _all_of(Candidate, result.candidates, f"{hook} returned a result whose candidates are")
        for candidate in result.candidates:
            _all_of(PodInfo, candidate.victims, f"{hook} returned a candidate whose victims are")
    _all_of(Effect, result.effects, f"{hook} returned a result whose effects are")
    return result


def checked_pod_group_post_filter_result(answer: Any, hook: str) -> PodGroupPostFilterResult:
    """Return PodGroupPostFilter's result; a status alone is a result, too."""
    result = _checked_result(PodGroupPostFilterResult, answer, hook)
    _all_of(PodInfo, result.victims, f"{hook} returned a result whose victims are")
    return result


def _checked_result(kind: type[R], answer: Any, hook: str) -> R:
    """Return a result whose status is one."""
    if isinstance(answer, Status):
        return kind(_told(answer, hook))
    if not isinstance(answer, kind):
        raise PluginError(f"{hook} returned {_shown(answer)}; return a {kind.__name__}")
    if not isinstance(answer.status, Status):
        raise PluginError(f"{hook} returned a result with {_shown(answer.status)} in place of a status")
    status = _told(answer.status, hook)
    return answer if status is answer.status else msgspec.structs.replace(answer, status=status)


def _all_of(kind: Any, values: Any, what: str) -> None:
    if type(values) is tuple and not values:
        # as it mostly is
        return
    if not isinstance(values, Sequence) or not all(isinstance(value, kind) for value in values):
        raise PluginError(f"{what} {_shown(values)}; expected a list")


def checked_sort_key(key: Any, hook: str) -> tuple[float, ...]:
    """Return a sort key unchanged: numbers that can be compared with any other pod's key."""
    if type(key) is tuple:
        for number in key:
            # only NaN is not equal to itself
            if not isinstance(number, int | float) or number != number:
                break
        else:
            return key
    raise PluginError(f"{hook} returned {_shown(key)}; return a tuple of numbers, the smallest is popped first")


def checked_hint(hint: Any, hook: str) -> Hint:
    """Return a hint unchanged."""
    if isinstance(hint, Hint):
        return hint
    raise PluginError(f"{hook} returned {_shown(hint)}; return Hint.QUEUE or Hint.QUEUE_SKIP")


def checked_subject_names(names: Any, hook: str) -> set[str] | None:
    """Return the names of a subject; None if it has none."""
    return None if names is None else set(names)


def checked_registrations(registrations: Any, hook: str) -> tuple[Registration, ...]:
    """Return the registrations of a plugin."""
    found = tuple(registrations)
    for registration in found:
        if not isinstance(registration, Registration) or not isinstance(registration.event, ClusterEvent):
            raise PluginError(
                f"{hook} returned {_shown(registration)}; return Registration(ClusterEvent(Resource.NODE, Action.ADD))"
            )
    return found


def unchecked(answer: Any, hook: str) -> None:
    """Return None: the value of such a hook is ignored."""


def instance_of(kind: type[T]) -> Callable[[Any, str], T]:
    """Return a check that a value is of some class."""

    def checked(answer: Any, hook: str) -> T:
        if isinstance(answer, kind):
            return answer
        raise PluginError(f"{hook} returned {_shown(answer)}; return a {kind.__name__}")

    return checked


def checked_placements(placements: Any, hook: str) -> Sequence[Placement] | Status:
    """Return the placements of a group unchanged, or a status."""
    return _list_of(Placement, placements)


def checked_placement_scores(scores: Any, hook: str) -> Sequence[int] | Status:
    """Return the scores of placements unchanged, or a status."""
    return _list_of(int, scores)


def _list_of(kind: type[T], answer: Any) -> Sequence[T] | Status:
    if isinstance(answer, Status) or (
        isinstance(answer, list | tuple) and all(isinstance(each, kind) for each in answer)
    ):
        return answer
    raise PluginError(f"returned {answer!r}; return a list of {kind.__name__}, or an error")


def checked_verdict(verdict: Any, count: int) -> Verdict:
    """Return a verdict about `count` nodes unchanged."""
    if not isinstance(verdict, Verdict):
        raise PluginError(
            f"filter_nodes returned {_shown(verdict)}; return a verdict: Verdict.rejecting(mask, unschedulable('why'))"
        )
    statuses = tuple([checked_status(status, "filter_nodes") for status in verdict.statuses])
    which = _numbers(verdict.which, count, "the `which` of a verdict holds")
    if count and (which.min() < 0 or which.max() >= len(verdict.statuses)):
        raise PluginError(
            f"the `which` of a verdict points outside its {len(verdict.statuses)} statuses, the first of which is None"
        )
    return Verdict(verdict.which, statuses)


def checked_score(score: Any, hook: str) -> int | Status:
    """Return one node's score as a Python integer, or a status unchanged."""
    # runs for every node and pod
    if type(score) is int and -_LARGEST_SCORE <= score <= _LARGEST_SCORE:
        return score
    if isinstance(score, int | np.integer) and not isinstance(score, bool) and abs(int(score)) <= _LARGEST_SCORE:
        return int(score)
    if isinstance(score, Status):
        return _told(score, hook)
    raise PluginError(f"{hook} returned {_shown(score)}; return an integer from 0 to 100")


def checked_column(scores: list[int], hook: str) -> NDArray[np.int64]:
    """Return integers as a column."""
    if scores and not -_LARGEST_SCORE <= min(scores) <= max(scores) <= _LARGEST_SCORE:
        for score in scores:
            checked_score(score, hook)
    return np.array(scores, np.int64)


def checked_scores(scores: Any, hook: str, count: int) -> NDArray[Any] | Status:
    """Return the scores of `count` nodes as integers, or a status unchanged."""
    return _told(scores, hook) if isinstance(scores, Status) else _numbers(scores, count, f"{hook} returned")


def checked_pre_filter_result(result: Any, hook: str) -> PreFilterResult | Status | None:
    """Return PreFilter's result unchanged, except that the names of nodes become a frozenset."""
    if not isinstance(result, PreFilterResult):
        return checked_status(result, hook)
    names: Any = result.node_names
    if names is None:
        return result
    if not isinstance(names, Set | list | tuple) or not all(isinstance(name, str) for name in names):
        raise PluginError(f"{hook} narrowed the search to {_shown(names)}; give a frozenset of node names")
    return PreFilterResult(frozenset(names))


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
    try:
        text = tidy(repr(value))
    except BaseException as broken:
        text = f"a {type(value).__name__} (its repr failed with {type(broken).__name__})"
    return text if len(text) <= 80 else f"{text[:77]}..."
