"""Blocking calls: a hook that sleeps, connects or starts a process delays all pods.

From a plugin to the calls that its hooks make, stopped before they are carried out.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from kubesched.core.framework.calling.answers import unchecked
from kubesched.core.framework.calling.hooks import ask
from kubesched.errors import PluginError
from kubesched.testing.builders import a_node, a_pod
from kubesched.testing.plugin_checks.attempt_hooks import attempt_problems, plugin_in
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin
from kubesched.testing.plugin_checks.plugin_answers import answers_of

# blocking functions in C, by module and name
_BLOCKING = {
    ("time", "sleep"): "time.sleep",
    (None, "socket.connect"): "socket.connect",
    (None, "socket.connect_ex"): "socket.connect",
    ("_socket", "getaddrinfo"): "socket.getaddrinfo",
    ("_posixsubprocess", "fork_exec"): "subprocess",
    ("posix", "system"): "os.system",
    ("builtins", "input"): "input",
}


def blocking_calls(plugin: CheckedPlugin) -> list[str]:
    """Return the blocking calls in hooks, each in a sentence."""
    # one node: the interpreter removes the profiler that stopped a call, so the next one would be carried out
    objects = [a_node("n0"), a_pod("p0", node="n0")]
    found: list[tuple[str, str]] = []
    with _stopped(found):
        answers_of(plugin.engine(objects), a_pod("asked"))
    engine = plugin.engine(objects)
    for _ in attempt_problems(plugin, engine, a_pod("asked"), lambda: _stopped(found)):
        # a stopped call is a problem, but not for another check
        pass
    if "queueSort" in plugin.points:
        with _stopped(found):
            ask(plugin_in(engine, plugin.name), "sort_key", unchecked, engine.cluster.reader.read(a_pod("asked")), 1.0)
    return [
        f"{call} is called in {hook}, which delays all pods: fetch with background.every, and use the result"
        for call, hook in dict.fromkeys(found)
    ]


@contextmanager
def _stopped(found: list[tuple[str, str]]) -> Iterator[None]:
    """Make blocking calls fail in this thread; record them with their function."""

    def look(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
            call = _BLOCKING.get(name)
            if call is not None:
                found.append((call, _hook(frame)))
                raise PluginError(f"{call} was stopped")

    if sys.getprofile() is not None:
        # another profiler is active; it takes precedence
        yield
        return
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)


def _hook(frame: FrameType | None) -> str:
    """Return the name of the hook that a frame was called by."""
    names = []
    while frame is not None and not _is_ours(frame.f_code.co_filename.replace("\\", "/")):
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names[-1] if names else "a hook"


def _is_ours(file: str) -> bool:
    """Return whether a file belongs to the callers of hooks, or runs their coroutines."""
    return any(part in file for part in ("kubesched/core/", "kubesched/testing/", "/asyncio/"))
