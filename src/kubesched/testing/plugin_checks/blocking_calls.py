"""Calls that block: a hook that sleeps, connects or starts a process holds up all pods.

From a plugin to the calls that its hooks make, stopped before they are carried out.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from kubesched.core.framework.answers import unchecked
from kubesched.core.framework.hooks import ask
from kubesched.errors import PluginError
from kubesched.testing.builders import a_node, a_pod
from kubesched.testing.plugin_checks.attempt_hooks import attempt_problems, plugin_in
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin
from kubesched.testing.plugin_checks.plugin_answers import answers_of

# functions in C that wait, by module and name
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
    """Return the calls in hooks that block, each in a sentence."""
    # one node: the interpreter drops the look-out that stopped a call, and the next one would be carried out
    objects = [a_node("n0"), a_pod("p0", node="n0")]
    found: list[tuple[str, str]] = []
    with _stopped(found):
        answers_of(plugin.engine(objects), a_pod("asked"))
    engine = plugin.engine(objects)
    for _ in attempt_problems(plugin, engine, a_pod("asked"), lambda: _stopped(found)):
        # a stopped call is a problem, but no other check's
        pass
    if "queueSort" in plugin.points:
        with _stopped(found):
            ask(plugin_in(engine, plugin.name), "sort_key", unchecked, engine.cluster.reader.read(a_pod("asked")), 1.0)
    return [
        f"{call} is called in {hook}, which holds up all pods: fetch with background.every and apply what was found"
        for call, hook in dict.fromkeys(found)
    ]


@contextmanager
def _stopped(found: list[tuple[str, str]]) -> Iterator[None]:
    """Let calls that block fail in this thread; add them with the function that they are in."""

    def look(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
            call = _BLOCKING.get(name)
            if call is not None:
                found.append((call, _hook(frame)))
                raise PluginError(f"{call} was stopped")

    if sys.getprofile() is not None:
        # somebody else profiles; they come first
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
    """Return whether a file is of those that call hooks, or run their coroutines."""
    return any(part in file for part in ("kubesched/core/", "kubesched/testing/", "/asyncio/"))
