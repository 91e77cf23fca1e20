"""What a session knows of the replay of a trace, which a room above carries out."""

from typing import Protocol


class TraceReplay(Protocol):
    """A trace, replayed on a server."""

    def begin(self) -> int:
        """Load what is there at the beginning; return how many objects."""

    async def run(self) -> None:
        """Write the later events at their times."""
