"""Webhook replies for clients in the same process, which cannot wait: they get 503 and retry.

From a request that needs replies to a 503, and, when the same request is retried, to the replies. Controllers retry by
themselves; the loop never waits here.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import datetime

from kubesched_controlplane.admission.webhook_calls import Ask
from kubesched_controlplane.api.attempts import Attempt, Interrupted, WebhookReply
from kubesched_controlplane.api.requests import Request
from kubesched_controlplane.api.statuses import ApiError

# seconds for which replies are kept for a retry
KEPT_SECONDS = 60.0
# requests whose replies are kept
MOST_KEPT = 10_000
NO_LOOP = "there is no network while nothing runs"

_Key = tuple[str, str, str, bytes, str]


class ReplyCache:
    """Keeps webhook replies until the client retries its request."""

    def __init__(self, ask: Callable[[], Ask], clock: Callable[[], datetime]) -> None:
        self._ask = ask
        self._clock = clock
        self._kept: dict[_Key, deque[Attempt]] = {}
        self._under_way: dict[_Key, asyncio.Task[None]] = {}

    def attempt_of(self, request: Request) -> Attempt | None:
        """Remove and return the attempt of a retried request; None if the request is new."""
        if not self._kept:
            return None
        key = _key(request)
        found = self._kept.get(key)
        if found is None:
            return None
        attempt = found.popleft()
        if not found:
            del self._kept[key]
        return attempt

    def begin(self, request: Request, interrupted: Interrupted) -> ApiError | Attempt:
        """Start the webhook calls; return the 503 for the client, or error replies if no loop runs."""
        key, attempt = _key(request), interrupted.attempt
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            attempt.replies |= {each.key: WebhookReply(error=NO_LOOP) for each in interrupted.calls}
            return attempt
        if key not in self._under_way:
            task = self._under_way[key] = loop.create_task(self._asked(key, interrupted))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return ApiError(503, "ServiceUnavailable", "admission webhooks are being asked; try again", retry_after=1)

    async def _asked(self, key: _Key, interrupted: Interrupted) -> None:
        await answered(interrupted, self._ask())
        if len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        kept = self._kept.setdefault(key, deque())
        kept.append(interrupted.attempt)
        asyncio.get_running_loop().call_later(KEPT_SECONDS, self._forget, key, interrupted.attempt)

    def _forget(self, key: _Key, attempt: Attempt) -> None:
        found = self._kept.get(key)
        if found is not None and attempt in found:
            found.remove(attempt)
            if not found:
                del self._kept[key]


async def answered(interrupted: Interrupted, ask: Ask) -> Attempt:
    """Call the webhooks; return the attempt with their replies."""
    replies = await ask(interrupted.calls)
    for call, reply in zip(interrupted.calls, replies, strict=True):
        interrupted.attempt.replies[call.key] = reply
    return interrupted.attempt


def _key(request: Request) -> _Key:
    form = request.headers.get("content-type", "")
    return request.method, f"{request.path}?{sorted(request.query.items())}", form, request.body, request.user.name
