"""Log lines, written by a thread, so that logging never blocks.

From lines to a stream: logging only appends to a queue, and a blocked terminal or pipe blocks only the writer's
thread. If the queue is full, further lines are dropped and counted.
"""

import threading
from collections import deque
from typing import TextIO

MOST_LINES = 50_000


class LogWriter:
    """Writes lines to a stream in the order in which they came; call `close` at the end."""

    def __init__(self, stream: TextIO, most_lines: int = MOST_LINES) -> None:
        self._stream = stream
        self._most_lines = most_lines
        # lines, and events to set once everything before them is written
        self._waiting: deque[str | threading.Event] = deque()
        self._left_out = 0
        self._wake = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        """Queue a line; never waits."""
        if len(self._waiting) >= self._most_lines:
            self._left_out += 1
            return
        self._waiting.append(line)
        if not self._wake.is_set():
            self._wake.set()

    def flush(self, seconds: float) -> bool:
        """Return whether everything that was put so far was written within some time."""
        reached = threading.Event()
        self._waiting.append(reached)
        self._wake.set()
        return reached.wait(seconds)

    def close(self, seconds: float) -> None:
        """Write the queued lines and end the thread, within some time."""
        self._closing = True
        self._wake.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._closing or self._waiting:
            self._wake.wait()
            self._wake.clear()
            while self._waiting:
                self._write([self._waiting.popleft() for _ in range(len(self._waiting))])

    def _write(self, taken: list[str | threading.Event]) -> None:
        lines = [line for line in taken if isinstance(line, str)]
        if self._left_out:
            lines.append(f"{self._left_out} log lines were dropped, since the output was too slow\n")
            self._left_out = 0
        try:
            self._stream.write("".join(lines))
            self._stream.flush()
        except (OSError, ValueError):
            # the stream's reader has closed it; the scheduler continues
            pass
        for reached in taken:
            if isinstance(reached, threading.Event):
                reached.set()
