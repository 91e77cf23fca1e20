"""The interface of a trace's replay, which a room above implements."""

from typing import Protocol


class TraceReplay(Protocol):
    """A trace, replayed on a server."""

    def begin(self) -> int:
        """Load the initial objects; return their number."""

    async def run(self) -> None:
        """Write the later events at their times."""
