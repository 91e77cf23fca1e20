"""Calling plugins: a hook that misbehaves fails the attempt that it was called for, under its name, and nothing else.

From a plugin and the name of a hook to an answer that was checked, or to the failure, a status under the plugin's name.
Every hook is called here: by `ask`, or by its twins for coroutines and generators, or by the functions for single rows
and columns, which are called most often. Keys alone are asked for where they are looked up (`evaluation.evaluator`). A
hook may raise anything, SystemExit included; only signal handlers end the process.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.calling.answers import (
    checked_column,
    checked_score,
    checked_scores,
    checked_status,
    checked_verdict,
)
from kubesched.core.framework.observing.observer import (
    BIND,
    PERMIT,
    POST_BIND,
    POST_FILTER,
    PRE_BIND,
    PRE_BIND_PRE_FLIGHT,
    PRE_ENQUEUE,
    RESERVE,
    UNRESERVE,
    Stopwatch,
)
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import SKIP, Status, error
from kubesched.core.framework.values.texts import described, tidy
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.errors import PluginError

if TYPE_CHECKING:
    from kubesched.core.framework.plugin import FilterPlugin, Plugin, ScorePlugin

T = TypeVar("T")

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
# the extension point that a hook is measured under
POINT_OF_HOOK = {
    "pre_enqueue": PRE_ENQUEUE,
    "post_filter": POST_FILTER,
    "reserve": RESERVE,
    "unreserve": UNRESERVE,
    "permit": PERMIT,
    "pre_bind_pre_flight": PRE_BIND_PRE_FLIGHT,
    "pre_bind": PRE_BIND,
    "bind": BIND,
    "post_bind": POST_BIND,
}


# -- any hook


def ask(plugin: "Plugin", hook: str, checked: Callable[[Any, str], T], *arguments: Any) -> T | Status:
    """Return a hook's answer, checked by `checked`, or the failure."""
    try:
        answer = checked(getattr(plugin, hook)(*arguments), hook)
    except BaseException as raised:
        return failed(plugin, hook, raised)
    # most statuses are Skip, and no code reads the plugin of a Skip
    return answer.by(plugin.name) if isinstance(answer, Status) and answer is not SKIP else answer


def ask_timed(
    stopwatch: Stopwatch, plugin: "Plugin", hook: str, checked: Callable[[Any, str], T], *arguments: Any
) -> T | Status:
    """Return a hook's answer, as `ask` does, and keep how long it took."""
    since = stopwatch.now()
    answer = ask(plugin, hook, checked, *arguments)
    stopwatch.plugin(plugin.name, POINT_OF_HOOK[hook], answer, since)
    return answer


async def ask_coroutine(
    is_called_off: Callable[[BaseException], bool],
    stopwatch: Stopwatch,
    plugin: "Plugin",
    hook: str,
    checked: Callable[[Any, str], T],
    *arguments: Any,
) -> T | Status:
    """Return a coroutine hook's answer, as `ask_timed` does.

    Cancellation of the task itself (a preemption, the end of the process) is no failure of the plugin: it is raised
    again.
    """
    since = stopwatch.now()
    try:
        answer: T | Status = checked(await getattr(plugin, hook)(*arguments), hook)
    except BaseException as raised:
        if is_called_off(raised):
            raise
        answer = failed(plugin, hook, raised)
    answer = answer.by(plugin.name) if isinstance(answer, Status) else answer
    stopwatch.plugin(plugin.name, POINT_OF_HOOK[hook], answer, since)
    return answer


def ask_generator(
    plugin: "Plugin", hook: str, checked: Callable[[Any, str], T], *arguments: Any
) -> Generator[Any, Any, T | Status]:
    """Return a generator hook's answer, as `ask` does; the cycle gets the values that it yields."""
    try:
        return checked((yield from getattr(plugin, hook)(*arguments)), hook)
    except BaseException as raised:
        if isinstance(raised, GeneratorExit) and raised.__traceback__ and raised.__traceback__.tb_next is None:
            # raised here and not by the plugin: the cycle is closed
            raise
        return failed(plugin, hook, raised)


class Raised(NamedTuple):
    """The exception that a callback raised."""

    exception: BaseException


def call_back(checked: Callable[[Any, str], T], name: str, callback: Callable[..., Any], *arguments: Any) -> T | Raised:
    """Return the checked answer of a plugin's callback, or its exception; no attempt fails because of it."""
    try:
        return checked(callback(*arguments), name)
    except BaseException as raised:
        if is_interrupt(raised):
            raise
        return Raised(raised)


def named_failure(plugin: "Plugin", point: str, status: Status) -> Status:
    """Return a plugin's rejection as it is, or its error with plugin and extension point in the message."""
    return status if status.rejected else error(f'running {point} plugin "{plugin.name}": {status.message}')


# -- Filter and Score, timed as a whole (`evaluation.timing`)


def filter_node(plugin: "FilterPlugin", cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
    """Return why a filter rejects one node, or None."""
    try:
        status = plugin.filter(cycle, pod, node)
        return None if status is None else checked_status(status, "filter")
    except BaseException as raised:
        return failed(plugin, "filter", raised)


def filter_each_node(
    plugin: "FilterPlugin", cycle: CycleState, pod: PodInfo, nodes: Iterable[tuple[int, NodeRow]]
) -> Iterator[tuple[int, Status]]:
    """Yield the place and the status of each node for which a filter returns one.

    A failure concerns its node alone, which another filter may reject.
    """
    judge = plugin.filter
    for index, node in nodes:
        try:
            answer = judge(cycle, pod, node)
            if answer is None:
                continue
            status = checked_status(answer, "filter")
        except BaseException as raised:
            status = failed(plugin, "filter", raised)
        if status is not None:
            yield index, status


def filter_nodes(plugin: "FilterPlugin", cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
    """Return the verdict of a filter on many nodes."""
    try:
        return checked_verdict(plugin.filter_nodes(cycle, pod, nodes), len(nodes))
    except BaseException as raised:
        return Verdict.uniform(len(nodes), failed(plugin, "filter_nodes", raised))


def score_node(plugin: "ScorePlugin", cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
    """Return the score of one node, or the failure."""
    try:
        return checked_score(plugin.score(cycle, pod, node), "score")
    except BaseException as raised:
        return failed(plugin, "score", raised)


def score_each_node(
    plugin: "ScorePlugin", cycle: CycleState, pod: PodInfo, nodes: Iterable[tuple[int, NodeRow]], count: int
) -> NDArray[np.int64] | Status:
    """Return the scores of many nodes, asked for one by one, or the first failure; nodes that are left out have 0."""
    rate = plugin.score
    scores = [0] * count
    try:
        for index, node in nodes:
            score: Any = rate(cycle, pod, node)
            # an integer that is too large for a column is found below
            if type(score) is not int:
                score = checked_score(score, "score")
                if isinstance(score, Status):
                    return score
            scores[index] = score
        return checked_column(scores, "score")
    except BaseException as raised:
        return failed(plugin, "score", raised)


def score_nodes(plugin: "ScorePlugin", cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[Any] | Status:
    """Return the scores of many nodes, or the failure."""
    try:
        return checked_scores(plugin.score_nodes(cycle, pod, nodes), "score_nodes", len(nodes))
    except BaseException as raised:
        return failed(plugin, "score_nodes", raised)


# -- failures


def failed(plugin: "Plugin", hook: str, raised: BaseException) -> Status:
    """Return the status of an attempt in which a plugin's hook raised; Ctrl-C of a person is raised again."""
    if is_interrupt(raised):
        raise raised
    plugin = plugin.stands_in_for or plugin
    plugin.observed_by.plugin_failed(plugin.name, hook, raised)
    what = tidy(str(raised)) if isinstance(raised, PluginError) else described(raised)
    return error(f'plugin "{tidy(plugin.name)}" failed in {hook}: {what}{place_of(plugin, raised)}').by(plugin.name)


def is_interrupt(raised: BaseException) -> bool:
    """Return whether a user pressed Ctrl-C in a process without a custom handler for it."""
    return isinstance(raised, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def place_of(plugin: "Plugin", raised: BaseException) -> str:
    """Return where in a plugin something was raised, as ` (file.py:12)`; nothing where that is not known."""
    module = sys.modules.get(type(plugin).__module__)
    own = getattr(module, "__file__", None)
    found: tuple[str, int] | None = None
    for frame, line in traceback.walk_tb(raised.__traceback__):
        file = frame.f_code.co_filename
        if file == own or ((found is None or found[0] != own) and not file.startswith(_PACKAGE)):
            found = file, line
    return tidy(f" ({os.path.basename(found[0])}:{found[1]})") if found is not None else ""
