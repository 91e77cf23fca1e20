"""Tracebacks of plugins that fail, for their authors.

From failures of hooks to texts for the log, each at most once a minute, since a filter may fail on each of many nodes.
"""

import time
import traceback
from collections.abc import Callable

from kubesched.common.notes import OncePerMinute
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.values.texts import tidy
from kubesched.errors import PluginError
from kubesched.run.klog.secrets import without_secrets

MOST_CHARACTERS = 100_000

Write = Callable[[str, str, str], None]


class PluginFailures(Observer):
    """Calls `write` for each failure, with the plugin, the hook and the traceback."""

    def __init__(
        self, write: Write, clock: Callable[[], float] = time.monotonic, wanted: Callable[[], bool] = lambda: True
    ) -> None:
        self._write = write
        self._wanted = wanted
        self._repetition = OncePerMinute(clock)

    def hears(self, hook: str) -> bool:
        """Return whether tracebacks are written."""
        return self._wanted()

    def plugin_failed(self, plugin: str, hook: str, raised: BaseException) -> None:
        """Write the traceback, unless the plugin did not raise the error or it was written within the last minute."""
        if isinstance(raised, PluginError):
            # the hook returned a wrong value; the message names the expected type
            return
        last = list(traceback.walk_tb(raised.__traceback__))[-1:]
        key = (plugin, hook, type(raised), *((frame.f_code, line) for frame, line in last))
        if not self._repetition.due(key):
            return
        text = "".join(traceback.format_exception(raised))
        self._write(plugin, hook, without_secrets(tidy(text, MOST_CHARACTERS).rstrip()))
