"""How far a process has come, for whoever asks from another thread.

From the process to its health checks: single values, which any thread may read.
"""

from collections.abc import Callable


class State:
    """What health checks look at."""

    def __init__(self) -> None:
        self.stopping = False
        self.synced = False
        self.active = False
        self.lease_problem: Callable[[], str | None] = lambda: None
        self.loop_problem: Callable[[], str | None] = lambda: None
