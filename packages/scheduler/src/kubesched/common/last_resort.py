"""The last resort: a finished process exits, even if threads of plugins are still running.

From the end of a command to the end of its process. Python waits for ever for every thread that is no daemon and for
threads of executors, and plugins may have left some running.
"""

import os
import sys
from contextlib import suppress
from threading import Event, Thread, current_thread, main_thread
from threading import enumerate as all_threads
from types import TracebackType

# time limit for running threads to end
PATIENCE_SECONDS = 3.0


class LastResort:
    """Ends the process with an exit code after a while, unless the `with` block ends before."""

    def __init__(self, code: object, seconds: float = PATIENCE_SECONDS) -> None:
        self._code = 0 if code is None else code if isinstance(code, int) else 1
        self._seconds = seconds
        self._in_time = Event()

    def start(self) -> None:
        """Start the thread that waits."""
        Thread(target=self._wait, name="last-resort", daemon=True).start()

    def __enter__(self) -> None:
        self.start()

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._in_time.set()

    def _wait(self) -> None:
        if self._in_time.wait(self._seconds):
            return
        ours = (main_thread(), current_thread())
        names = sorted(thread.name for thread in all_threads() if not thread.daemon and thread not in ours)
        with suppress(OSError, ValueError):
            print(f"ended without waiting longer for threads: {', '.join(names)}", file=sys.stderr)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(self._code)
