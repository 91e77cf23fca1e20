"""The hooks of a plugin other than Filter and Score, called as in an attempt that places a pod.

From an engine and a pod to problems of the answers, hook by hook: PreEnqueue, Reserve, Permit, PreBind, Bind and
PostBind. Coroutines run in virtual time.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from kubesched.api.pods import Pod
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.calling.answers import checked_permission, checked_status, unchecked
from kubesched.core.framework.calling.hooks import failed
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.services.http_client import HttpError
from kubesched.core.framework.services.waiting import TimedOut
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import EffectError
from kubesched.core.framework.values.permission import Permission
from kubesched.core.framework.values.status import REJECTIONS, Code, Status
from kubesched.core.scheduling.engine import Engine
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin
from kubesched.testing.plugin_checks.plugin_answers import PASSES, answers_in

HOOKS_OF_POINT = {
    "reserve": ("reserve",),
    "permit": ("permit",),
    "preBind": ("pre_bind_pre_flight", "pre_bind"),
    "bind": ("bind",),
    "postBind": ("post_bind",),
}
COROUTINES = frozenset(("pre_bind", "bind", "post_bind"))
# errors of the outside world are not the plugin's fault
_OUTSIDE = (HttpError, EffectError, TimedOut)
_STATUSES = REJECTIONS | {Code.SUCCESS, Code.ERROR}
# any other code makes an attempt fail
_CODES: Mapping[str, frozenset[Code]] = {
    "pre_enqueue": _STATUSES,
    "reserve": _STATUSES,
    "permit": _STATUSES | {Code.WAIT},
    "pre_bind_pre_flight": _STATUSES | {Code.SKIP},
    "pre_bind": _STATUSES,
    "bind": _STATUSES | {Code.SKIP},
}
Guard = Callable[[], AbstractContextManager[Any]]


class PlacedPod(NamedTuple):
    """A pod on a node that the plugin accepts, with the state of its cycle; assumed, as when Reserve runs."""

    cycle: CycleState
    pod: PodInfo
    node_name: str


def has_attempt_hooks(plugin: CheckedPlugin) -> bool:
    """Return whether a plugin has hooks of an attempt other than Filter and Score."""
    return "preEnqueue" in plugin.points or not plugin.points.isdisjoint(HOOKS_OF_POINT)


def plugin_in(engine: Engine, name: str) -> Plugin:
    """Return the plugin instance of an engine."""
    return next(iter(engine.profiles.values())).plugins[name]


def placed(engine: Engine, pod: Pod) -> PlacedPod | str:
    """Assume a pod on the first node that the plugin accepts; return the answer if there is none."""
    evaluation = engine.evaluation_of(engine.cluster.reader.read(pod))
    answers = answers_in(evaluation)
    node = next((name for name, verdict in answers.verdicts.items() if verdict == PASSES), "")
    if answers.failure or not node:
        return answers.failure or answers.pre_filter or str(answers.verdicts)
    return PlacedPod(evaluation.cycle, engine.cluster.assume(evaluation.pod, node), node)


def attempt_problems(
    plugin: CheckedPlugin, engine: Engine, pod: Pod, guard: Guard = nullcontext
) -> Iterator[tuple[str, str]]:
    """Call the hooks of an attempt, each guarded; yield the hooks with wrong answers, and the problem."""
    built = plugin_in(engine, plugin.name)
    if "preEnqueue" in plugin.points:
        with guard():
            yield from _problems(built, "pre_enqueue", engine.cluster.reader.read(pod))
    if plugin.points.isdisjoint(HOOKS_OF_POINT):
        return
    place = placed(engine, pod)
    if isinstance(place, str):
        return
    for point, hooks in HOOKS_OF_POINT.items():
        for hook in hooks if point in plugin.points else ():
            with guard():
                yield from _problems(built, hook, *place)


def _problems(plugin: Plugin, hook: str, *arguments: Any) -> Iterator[tuple[str, str]]:
    checked: Callable[[Any, str], Any] = checked_permission if hook == "permit" else checked_status
    try:
        answer = getattr(plugin, hook)(*arguments)
        if hook in COROUTINES:
            answer = run_in_virtual_time(answer)
        answer = (unchecked if hook == "post_bind" else checked)(answer, hook)
    except BaseException as raised:
        if not (hook in COROUTINES and isinstance(raised, _OUTSIDE)):
            yield hook, failed(plugin, hook, raised).message
        return
    problem = _permission_problem(answer) if isinstance(answer, Permission) else _status_problem(hook, answer)
    if problem:
        yield hook, problem


def _permission_problem(permission: Permission) -> str:
    status, seconds = permission
    if status.code is Code.WAIT and seconds <= 0:
        return (
            f"permit lets the pod wait for {seconds:g} seconds, after which it is rejected; "
            "say how long: Permission(Status(Code.WAIT), 60)"
        )
    return _status_problem("permit", status)


def _status_problem(hook: str, status: Status | None) -> str:
    if status is None or status.code in _CODES[hook]:
        return ""
    right = "Permission(SUCCESS)" if hook == "permit" else "None"
    return f"{hook} returned {status.code.text}, which makes the attempt fail; return {right} or a rejection"
