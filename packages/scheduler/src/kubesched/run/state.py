"""The state of the process for its health checks.

Single values, which the threads that serve pages may read at any time.
"""

from collections.abc import Callable


class State:
    """The values that health checks read."""

    def __init__(self) -> None:
        self.stopping = False
        self.synced = False
        self.active = False
        self.lease_problem: Callable[[], str | None] = lambda: None
        self.loop_problem: Callable[[], str | None] = lambda: None
