"""Work of plugins beside scheduling: look-ups on an interval, and pods to be tried again.

From a plugin's constructor (parameter `background`) to the loop. Data from outside is fetched while pods are
scheduled, and applied between two scheduling cycles: a hook never waits for it, and no cycle sees half of it.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, Protocol

# The default timeout of one fetch, in seconds.
TIMEOUT_SECONDS: Final = 60.0


class Background(Protocol):
    """Runs work beside the scheduling cycles."""

    def every(
        self,
        seconds: float,
        fetch: Callable[[], Awaitable[Any] | Any],
        apply: Callable[[Any], None] | None = None,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        wait_seconds: float = 0.0,
    ) -> None:
        """Fetch data now and then at an interval, and apply each result between two cycles.

        `fetch` is a coroutine function, or a plain function, which runs in a thread. If it fails, or takes longer than
        `timeout_seconds`, the failure is logged and the last applied result stays. A coroutine is then cancelled; a
        thread keeps running, and the next one starts after it ends. Fetching starts with the scheduler; without a
        scheduling loop it never runs. With `wait_seconds` no pod is scheduled until the first fetch has ended, or that
        many seconds have passed.
        """

    def timer(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call a function now and then at an interval in seconds, between two cycles, if there is a loop."""

    def activate(self, uids: Iterable[str]) -> None:
        """Try pods again, by UID, whether or not an event could help them."""


class NoBackground:
    """Background work of engines without a loop: nothing runs; `idle` are the plugins that wanted some."""

    def __init__(self) -> None:
        self.idle: list[str] = []

    def of(self, plugin: str) -> "Background":
        """Return the background of a plugin."""
        return _Idle(plugin, self.idle)


class _Idle:
    def __init__(self, plugin: str, idle: list[str]) -> None:
        self._plugin = plugin
        self._idle = idle

    def every(
        self,
        seconds: float,
        fetch: Callable[[], Awaitable[Any] | Any],
        apply: Callable[[Any], None] | None = None,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        wait_seconds: float = 0.0,
    ) -> None:
        """Note that the plugin wanted something to be fetched."""
        if self._plugin not in self._idle:
            self._idle.append(self._plugin)

    def timer(self, seconds: float, callback: Callable[[], None]) -> None:
        """Do nothing: without a loop no time passes."""

    def activate(self, uids: Iterable[str]) -> None:
        """Do nothing: there is no queue."""


class Backgrounds(Protocol):
    """The background work of all plugins."""

    def of(self, plugin: str) -> Background:
        """Return the background of a plugin."""
