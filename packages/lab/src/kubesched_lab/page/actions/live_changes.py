"""Actions on a live cluster: requests to its API server, undone by the opposite requests.

From requests of users to requests of the API. An error repeats the message of the API server. A drain continues in the
background, as `kubectl drain` does: it retries evictions that a disruption budget forbids. Actions are serialised: a
second action waits for the first.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched.errors import KubeschedError
from kubesched_lab.page.actions.live_requests import LiveAction, LiveRequest, deletion_of, live_action
from kubesched_lab.page.actions.requests import ActionError, ActionRequest
from kubesched_lab.page.actions.simulated_changes import NOTHING_TO_REDO, NOTHING_TO_UNDO
from kubesched_lab.page.actions.trace_events import drained
from kubesched_lab.page.shown.shown_cluster import ShownCluster

# as kubectl waits between two tries
AGAIN_SECONDS: Final = 5.0
TOO_MANY, NOT_FOUND, CONFLICT = 429, 404, 409


class RunningDrain(NamedTuple):
    """A drain that is under way: the pods that it still has to evict, and why the last eviction failed."""

    title: str
    waiting: int
    why: str = ""


class LiveChanges:
    """Carries out the actions of users on a live cluster."""

    def __init__(self, shown: ShownCluster, rest: RestClient, again_seconds: float = AGAIN_SECONDS) -> None:
        self._shown = shown
        self._rest = rest
        self._again_seconds = again_seconds
        self._done: list[LiveAction] = []
        self._undone: list[LiveAction] = []
        self._running: RunningDrain | None = None
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        # whether pods are evicted for the first time, and whether that is to end
        self._evicting = self._stopped = False

    def done(self) -> list[dict[str, Any]]:
        """Return the actions that were done, the latest last."""
        return [{"title": each.title} for each in self._done]

    def undone(self) -> list[dict[str, Any]]:
        """Return the actions that were undone and can be done again, the next one last."""
        return [{"title": each.title} for each in self._undone]

    def running(self) -> dict[str, Any] | None:
        """Return the drain that is under way, if any."""
        return None if self._running is None else self._running._asdict()

    async def do(self, asked: ActionRequest) -> str:
        """Carry out an action; return a sentence about it."""
        async with self._turn:
            action = await live_action(self._shown.model, asked, self._rest)
            title = await self._perform(action)
            self._undone.clear()
            return title

    async def undo(self) -> str:
        """Undo the last action with the opposite requests; a drain stops evicting pods."""
        self._stopped = self._evicting
        async with self._turn:
            if not self._done:
                raise ActionError(NOTHING_TO_UNDO)
            action = self._done[-1]
            if action.cannot_undo:
                raise ActionError(f"{action.title}: {action.cannot_undo}")
            if action.drained:
                self.close()
            await self._send_all(action.undo)
            self._done.pop()
            self._undone.append(action)
            return f"Undone: {action.title}"

    async def redo(self) -> str:
        """Send the requests of the last undone action again."""
        async with self._turn:
            if not self._undone:
                raise ActionError(NOTHING_TO_REDO)
            title = await self._perform(self._undone[-1])
            self._undone.pop()
            return f"Done again: {title}"

    async def configure(self, configuration: object) -> str:
        """Refuse: the scheduler of a live cluster has its own configuration."""
        raise ActionError("the page cannot change the configuration of a live cluster's scheduler")

    def close(self) -> None:
        """Stop a drain that is under way."""
        if self._task is not None:
            self._task.cancel()
        self._task = self._running = None

    async def _perform(self, action: LiveAction) -> str:
        if action.evicted and self._running is not None and self._task is not None and not self._task.done():
            raise ActionError(f"{self._running.title} is still under way: wait until it is done, or undo it")
        if action.creates:
            action = action._replace(undo=await self._create_all(action.requests))
        else:
            await self._send_all(action.requests)
        self._done.append(action)
        return await self._drain(action) if action.drained else action.title

    async def _create_all(self, creations: Sequence[LiveRequest]) -> tuple[LiveRequest, ...]:
        """Create objects; return the requests that delete them, the last object first. After a failure, delete the
        created ones.
        """
        deletions: list[LiveRequest] = []
        try:
            for creation in creations:
                try:
                    deletions.insert(0, deletion_of(creation, await self._send(creation)))
                except Refused as refused:
                    raise _refusal(creation, refused) from None
        except KubeschedError:
            for deletion in deletions:
                with suppress(Refused, Unreachable):
                    await self._send(deletion)
            raise
        return tuple(deletions)

    async def _send_all(self, requests: Sequence[LiveRequest]) -> None:
        """Send requests until one is refused; ignore deletions of objects that no longer exist or whose name was
        reused.
        """
        for request in requests:
            try:
                await self._send(request)
            except Refused as refused:
                if request.method != "DELETE" or refused.code not in (NOT_FOUND, CONFLICT):
                    raise _refusal(request, refused) from None

    async def _send(self, request: LiveRequest) -> bytes:
        body = None if request.body is None else msgspec.json.encode(request.body)
        return await self._rest.send(request.method, request.path, body, content_type=request.content_type)

    # -- drains

    async def _drain(self, action: LiveAction) -> str:
        """Evict the pods of a drain once; retry in the background the pods that a disruption budget protects."""
        self._running, self._evicting, self._stopped = None, True, False
        try:
            held_up, why = await self._evict(action.evicted)
        finally:
            self._evicting = False
        if self._stopped:
            raise ActionError(f"{action.title}: taken back, before all of its pods were evicted")
        if held_up:
            self._running = RunningDrain(action.title, len(held_up), why)
            self._task = asyncio.create_task(self._evict_on(action, held_up))
        evicted = len(action.evicted) - len(held_up)
        return drained(action.drained, evicted, action.left, [why] * len(held_up), goes_on=True)

    async def _evict_on(self, action: LiveAction, waiting: Sequence[LiveRequest]) -> None:
        while waiting:
            await asyncio.sleep(self._again_seconds)
            try:
                waiting, why = await self._evict(waiting)
            except Unreachable as error:
                # pods that were evicted meanwhile are not found the next time
                why = str(error)
            except ActionError as error:
                self._running = RunningDrain(action.title, len(waiting), f"it has ended: {error}")
                return
            self._running = RunningDrain(action.title, len(waiting), why)
        self._running = None

    async def _evict(self, evictions: Sequence[LiveRequest]) -> tuple[list[LiveRequest], str]:
        """Send evictions; return the evictions that a budget forbids now, and the last reason."""
        held_up, why = [], ""
        for eviction in evictions:
            if self._stopped:
                break
            try:
                await self._send(eviction)
            except Refused as refused:
                if refused.code == TOO_MANY:
                    held_up.append(eviction)
                    why = str(refused)
                elif refused.code not in (NOT_FOUND, CONFLICT):
                    # deleted, or another pod has its name
                    raise _refusal(eviction, refused) from None
        return held_up, why


def _refusal(request: LiveRequest, refused: Refused) -> ActionError:
    return ActionError(f"{request.what}: the API server refuses: {refused}")
