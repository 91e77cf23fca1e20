"""Calling plugins: whatever a hook does, the attempt that it was called for fails under its name, and nothing else.

From a plugin and the name of a hook to an answer that was checked, or to the failure. A hook may raise anything, what
ends processes elsewhere included; that a process ends is for signal handlers to decide. Coroutines are awaited in
`binding.hooks`, everything else is called here, or (row by row) in the loops that ask `failed` what a failure means.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kubesched.core.framework.observer import (
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
from kubesched.core.framework.status import Status, error
from kubesched.core.framework.texts import described, tidy
from kubesched.errors import PluginError

if TYPE_CHECKING:
    from kubesched.core.framework.plugin import Plugin

T = TypeVar("T")

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
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


def ask(
    plugin: "Plugin", hook: str, stopwatch: Stopwatch, checked: Callable[[Any, str], T], *arguments: Any
) -> T | Status:
    """Return what a hook answers, checked by `checked`, or the failure; timed."""
    since = stopwatch.now()
    try:
        answer: T | Status = checked(getattr(plugin, hook)(*arguments), hook)
    except BaseException as raised:
        answer = failed(plugin, hook, raised)
    stopwatch.plugin(plugin.name, POINT_OF_HOOK[hook], answer, since)
    return answer


def named_failure(plugin: "Plugin", point: str, status: Status) -> Status:
    """Return a plugin's rejection under its name, or its error with plugin and extension point in the message."""
    return (
        status.by(plugin.name)
        if status.rejected
        else error(f'running {point} plugin "{plugin.name}": {status.message}')
    )


def guarded(plugin: "Plugin", hook: str, call: Callable[[], T]) -> T | Status:
    """Return what a call of a hook returns, or the failure if it raises."""
    try:
        return call()
    except BaseException as raised:
        return failed(plugin, hook, raised)


def failed(plugin: "Plugin", hook: str, raised: BaseException) -> Status:
    """Return the status of an attempt in which a plugin's hook raised; Ctrl-C of a person is raised again."""
    if is_interrupt(raised):
        raise raised
    plugin = plugin.stands_in_for or plugin
    plugin.observed_by.plugin_failed(plugin.name, hook, raised)
    what = tidy(str(raised)) if isinstance(raised, PluginError) else described(raised)
    return error(f'plugin "{tidy(plugin.name)}" failed in {hook}: {what}{place_of(plugin, raised)}').by(plugin.name)


def is_interrupt(raised: BaseException) -> bool:
    """Return whether a person has pressed Ctrl-C, in a process that has no handler of its own for it."""
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
