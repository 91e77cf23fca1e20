"""The events of a trace at their times, each by its own timer: a coroutine would sleep once for each event.

From events to calls of a function, on the running loop, until the last event or an error of the trace.
"""

import asyncio
from collections.abc import Callable, Iterator

from kubesched_lab.simulate.traces.trace import TraceEvent


class TraceFeed:
    """Calls a function with each event at its time; `ended` gets the first error."""

    def __init__(self, events: Iterator[TraceEvent], carry_out: Callable[[TraceEvent], None]) -> None:
        self._events = events
        self._carry_out = carry_out
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self.ended: asyncio.Future[None] = self._loop.create_future()
        first = next(events, None)
        if first is None:
            self.ended.set_result(None)
        else:
            self._timer = self._loop.call_at(first.at, self._due, first)

    def _due(self, event: TraceEvent) -> None:
        try:
            while event.at <= self._loop.time():
                self._carry_out(event)
                event = next(self._events)
            self._timer = self._loop.call_at(event.at, self._due, event)
        except StopIteration:
            self.ended.set_result(None)
        except Exception as error:
            self.ended.set_exception(error)

    def stop(self) -> None:
        """Stop: apply no more events."""
        if self._timer is not None:
            self._timer.cancel()
