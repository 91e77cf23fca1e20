"""Calls that block: a hook that sleeps, connects or starts a process holds up all pods.

From a plugin to the calls that its hooks make, stopped before they are carried out.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from kubesched.errors import PluginError
from kubesched.testing.builders import a_node, a_pod
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
    """Return the calls in hooks of filters and scores that block, each in a sentence."""
    # one node: the interpreter drops the look-out that stopped a call, and the next one would be carried out
    objects = [a_node("n0"), a_pod("p0", node="n0")]
    with _stopped() as found:
        answers_of(plugin.engine(objects), a_pod("asked"))
    return [
        f"{call} is called in {hook}, which holds up all pods: fetch with background.every and apply what was found"
        for call, hook in dict.fromkeys(found)
    ]


@contextmanager
def _stopped() -> Iterator[list[tuple[str, str]]]:
    """Let calls that block fail in this thread; yield them with the function that they are in."""
    found: list[tuple[str, str]] = []

    def look(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
            call = _BLOCKING.get(name)
            if call is not None:
                found.append((call, _hook(frame)))
                raise PluginError(f"{call} was stopped")

    if sys.getprofile() is not None:
        # somebody else profiles; they come first
        yield found
        return
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)


def _hook(frame: FrameType | None) -> str:
    """Return the name of the hook that a frame was called by."""
    names = []
    while frame is not None and "kubesched/core" not in frame.f_code.co_filename.replace("\\", "/"):
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names[-1] if names else "a hook"
