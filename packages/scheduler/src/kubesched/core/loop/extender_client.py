"""The client of extenders, as the loop uses it: calls for scheduling cycles, and bindings.

From arguments to results; what goes over the network is up to the implementation.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from kubesched.config.types import Extender
from kubesched.core.framework.values.effects import Bind
from kubesched.core.framework.values.extenders import ExtenderArgs, ExtenderResult
from kubesched.core.scheduling.extender_calls import Asking

T = TypeVar("T")


class ExtenderClient(Protocol):
    """Calls extenders."""

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        """Return the result of a call; a result with an error if the extender did not answer."""

    async def bind(self, extender: Extender, bind: Bind) -> str:
        """Call an extender to bind a pod; return the error, or an empty text."""


async def answered(cycle: Asking[T], ask: Callable[[ExtenderArgs], Awaitable[ExtenderResult]]) -> T:
    """Run a cycle to its end; `ask` answers its questions to extenders."""
    try:
        question = next(cycle)
        while True:
            question = cycle.send(await ask(question))
    except StopIteration as finished:
        outcome: T = finished.value
        return outcome
