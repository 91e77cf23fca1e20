"""Clients in the same process that cannot wait: they are told to come again while webhooks are asked for them.

From a request that needs replies to a refusal that says so, and, when the same request comes again, to what was
replied. Controllers try again by themselves; nothing here ever holds up the loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import datetime

from kubesched.controlplane.admission.webhook_calls import Ask
from kubesched.controlplane.api.requests import Request
from kubesched.controlplane.api.statuses import ApiError
from kubesched.controlplane.api.trials import Reply, Trial, Unanswered

# how long replies are kept for whoever comes again
KEPT_SECONDS = 60.0
# of different requests
MOST_KEPT = 10_000
NO_LOOP = "there is no network while nothing runs"

_Key = tuple[str, str, str, bytes, str]


class ComingAgain:
    """Keeps what was replied until its client comes again."""

    def __init__(self, ask: Callable[[], Ask], clock: Callable[[], datetime]) -> None:
        self._ask = ask
        self._clock = clock
        self._kept: dict[_Key, deque[Trial]] = {}
        self._under_way: dict[_Key, asyncio.Task[None]] = {}

    def trial_of(self, request: Request) -> Trial | None:
        """Return what is known of a request that has come again, once; None if it is new."""
        if not self._kept:
            return None
        key = _key(request)
        found = self._kept.get(key)
        if found is None:
            return None
        trial = found.popleft()
        if not found:
            del self._kept[key]
        return trial

    def begin(self, request: Request, unanswered: Unanswered) -> ApiError | Trial:
        """Have questions asked; return what the client is told, or replies if there is no way to ask."""
        key, trial = _key(request), unanswered.trial
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            trial.replies |= {each.key: Reply(error=NO_LOOP) for each in unanswered.questions}
            return trial
        if key not in self._under_way:
            task = self._under_way[key] = loop.create_task(self._asked(key, unanswered))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return ApiError(503, "ServiceUnavailable", "admission webhooks are being asked; try again", retry_after=1)

    async def _asked(self, key: _Key, unanswered: Unanswered) -> None:
        await answered(unanswered, self._ask())
        if len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        kept = self._kept.setdefault(key, deque())
        kept.append(unanswered.trial)
        asyncio.get_running_loop().call_later(KEPT_SECONDS, self._forget, key, unanswered.trial)

    def _forget(self, key: _Key, trial: Trial) -> None:
        found = self._kept.get(key)
        if found is not None and trial in found:
            found.remove(trial)
            if not found:
                del self._kept[key]


async def answered(unanswered: Unanswered, ask: Ask) -> Trial:
    """Return what is known of a request once its questions have been asked."""
    replies = await ask(unanswered.questions)
    for question, reply in zip(unanswered.questions, replies, strict=True):
        unanswered.trial.replies[question.key] = reply
    return unanswered.trial


def _key(request: Request) -> _Key:
    form = request.headers.get("content-type", "")
    return request.method, f"{request.path}?{sorted(request.query.items())}", form, request.body, request.user.name
