"""Answers of extenders for observers.

From a call and its result to an `ExtenderAnswer`, if an observer listens.
"""

from collections.abc import Awaitable, Callable

from kubesched.config.types import Extender
from kubesched.core.framework.observing.observer import Observers
from kubesched.core.framework.values.effects import Bind
from kubesched.core.framework.values.extenders import (
    ExtenderAnswer,
    ExtenderArgs,
    ExtenderFilterResult,
    ExtenderPreemptionArgs,
    ExtenderPrioritizeResult,
    ExtenderResult,
)

FILTER_CALL, PRIORITIZE_CALL, PREEMPT_CALL, BIND_CALL = "filter", "prioritize", "preempt", "bind"


def told(observers: Observers, asked: ExtenderArgs, result: ExtenderResult, seconds: float) -> ExtenderResult:
    """Report an extender's answer to observers; return the answer."""
    if "extender_answered" in observers.heard:
        observers.extender_answered(_answer(asked, result, seconds))
    return result


def _answer(asked: ExtenderArgs, result: ExtenderResult, seconds: float) -> ExtenderAnswer:
    nodes = asked.victims if isinstance(asked, ExtenderPreemptionArgs) else asked.node_names
    subject = asked.pod.uid, asked.extender.shown_url
    if isinstance(result, ExtenderFilterResult):
        rejected = {**result.failed, **result.failed_and_unresolvable}
        left = len(result.node_names)
        return ExtenderAnswer(*subject, FILTER_CALL, len(nodes), left, seconds, rejected, error=result.error)
    if isinstance(result, ExtenderPrioritizeResult):
        scores = result.scores
        return ExtenderAnswer(*subject, PRIORITIZE_CALL, len(nodes), len(scores), seconds, {}, scores, result.error)
    return ExtenderAnswer(*subject, PREEMPT_CALL, len(nodes), len(result.victims), seconds, error=result.error)


async def told_bind(
    observers: Observers, extender: Extender, bind: Bind, call: Callable[[Extender, Bind], Awaitable[str]]
) -> str:
    """Have an extender bind a pod; return the error, or an empty text."""
    began = observers.clock()
    refused = await call(extender, bind)
    if "extender_answered" in observers.heard:
        url, seconds = extender.shown_url, observers.clock() - began
        observers.extender_answered(
            ExtenderAnswer(bind.uid, url, BIND_CALL, 1, int(not refused), seconds, error=refused)
        )
    return refused
