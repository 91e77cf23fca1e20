"""The scheduler's effects, carried out on an API server.

From effects to requests, and from responses to outcomes: done, refused for good, conflict, not found, or unknown.
Requests that the server throttles (429, or 503 with Retry-After) are sent again; other errors go to the caller.
"""

# upstream: plugins/defaultbinder/default_binder.go, framework/api_calls, client-go/rest/with_retry.go (v1.36)

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from kubesched.api import tolerant_json
from kubesched.api.codec import decode_json, encode, to_builtins
from kubesched.api.custom import custom_kind
from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject
from kubesched.api.paths import path_of
from kubesched.client.rest import Refused, Rest, Unreachable
from kubesched.core.framework.values.effects import (
    Bind,
    ConflictError,
    Delete,
    Effect,
    EffectError,
    Emit,
    Evict,
    NotFoundError,
    Patch,
    Read,
    Write,
)
from kubesched.errors import InvalidObjectError

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
# how often a request is sent that the server throttles
MOST_PATIENCE = 10
# status codes of requests that would be refused again
FINAL = (400, 404, 405, 409, 413, 415, 422)


class EventSink(Protocol):
    """Records events."""

    def record(self, emit: Emit) -> None:
        """Record an event later, or drop it if there are too many."""


class ApiEffects:
    """Carries effects out on an API server; at most `most_at_once` requests are under way."""

    def __init__(
        self,
        rest: Rest,
        recorder: EventSink,
        note: Callable[[str], None] = lambda line: None,
        *,
        most_at_once: int = 100,
    ) -> None:
        self._rest = rest
        self._recorder = recorder
        self._note = note
        self._turns = asyncio.Semaphore(most_at_once)
        self._submitted: set[asyncio.Task[None]] = set()

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Carry out an effect; return the written object where there is one; raises EffectError if it was refused."""
        if isinstance(effect, Emit):
            self._recorder.record(effect)
            return None
        async with self._turns:
            return await self._carry_out(effect)

    def submit(self, *effects: Effect) -> None:
        """Carry out effects one after the other in the background; the rest is dropped once one is refused."""

        async def work() -> None:
            try:
                for effect in effects:
                    await self.perform(effect)
            except EffectError as refused:
                self._note(str(refused))

        task = asyncio.get_running_loop().create_task(work())
        self._submitted.add(task)
        task.add_done_callback(self._submitted.discard)

    async def _carry_out(self, effect: Effect) -> ApiObject | None:
        if isinstance(effect, Bind):
            await self._bind(effect)
            return None
        if isinstance(effect, Patch):
            return await self._patch(effect)
        if isinstance(effect, Delete):
            await self._delete(effect)
            return None
        if isinstance(effect, Evict):
            await self._evict(effect)
            return None
        if isinstance(effect, Read):
            return await self._read(effect)
        assert isinstance(effect, Write)
        return await self._write(effect)

    async def _bind(self, bind: Bind) -> None:
        body = tolerant_json.encode(
            {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"namespace": bind.namespace, "name": bind.name, "uid": bind.uid},
                "target": {"kind": "Node", "name": bind.node_name},
            }
        )
        path = path_of("Pod", bind.namespace, bind.name, "binding")
        await self._ask(lambda: self._rest.send("POST", path, body))

    async def _patch(self, patch: Patch) -> ApiObject:
        path = path_of(patch.kind, patch.namespace, patch.name, patch.subresource)
        body = tolerant_json.encode(patch.body)
        # servers know no strategic merge patches of custom objects
        content_type = STRATEGIC_MERGE_PATCH if patch.kind in KINDS else MERGE_PATCH
        answer = await self._ask(lambda: self._rest.send("PATCH", path, body, content_type=content_type))
        return _read_answer(patch.kind, answer)

    async def _evict(self, evict: Evict) -> None:
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"namespace": evict.namespace, "name": evict.name},
            "deleteOptions": {"preconditions": {"uid": evict.uid}},
        }
        path = path_of("Pod", evict.namespace, evict.name, "eviction")
        try:
            await self._rest.send("POST", path, tolerant_json.encode(eviction))
        except Refused as refused:
            # 429 is not the server's throttling here, but a budget
            raise _meaning(refused) from None
        except Unreachable as error:
            raise EffectError(str(error)) from None

    async def _delete(self, delete: Delete) -> None:
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": delete.uid}}
        path = path_of(delete.kind, delete.namespace, delete.name)
        try:
            await self._ask(lambda: self._rest.send("DELETE", path, tolerant_json.encode(options)))
        except ConflictError as conflict:
            found = await self._read(Read(delete.kind, delete.namespace, delete.name))
            if found is not None and found.uid == delete.uid:
                raise
            # the name belongs to another object now: the one that was meant is deleted
            raise NotFoundError(str(conflict)) from None

    async def _read(self, read: Read) -> ApiObject | None:
        try:
            answer = await self._ask(lambda: self._rest.get(path_of(read.kind, read.namespace, read.name)))
        except NotFoundError:
            return None
        return _read_answer(read.kind, answer)

    async def _write(self, write: Write) -> ApiObject:
        obj = write.obj
        kind = type(obj).__name__
        if write.create:
            path, body = path_of(kind, obj.namespace), encode(obj)
            answer = await self._ask(lambda: self._rest.send("POST", path, body))
            return _read_answer(kind, answer)
        path = path_of(kind, obj.namespace, obj.name, write.subresource)
        # structs hold only the fields that scheduling reads: only changed fields are sent, the server keeps the others
        base = write.base if write.base is not None else type(obj)(metadata=obj.metadata)
        change = changes(to_builtins(base), to_builtins(obj))
        change.setdefault("metadata", {}).update(uid=obj.uid, resourceVersion=base.metadata.resource_version)
        body = tolerant_json.encode(change)
        answer = await self._ask(lambda: self._rest.send("PATCH", path, body, content_type=MERGE_PATCH))
        return _read_answer(kind, answer)

    async def _ask(self, send: Callable[[], Awaitable[bytes]]) -> bytes:
        """Send a request, again while the server throttles it; raise the EffectError for a refusal."""
        for attempt in range(MOST_PATIENCE):
            try:
                return await send()
            except Refused as refused:
                patience = refused.retry_after_seconds
                if attempt < MOST_PATIENCE - 1 and (refused.code == 429 or (refused.code >= 500 and patience)):
                    await asyncio.sleep(patience or 1.0)
                    continue
                raise _meaning(refused) from None
            except Unreachable as error:
                raise EffectError(str(error)) from None
        raise AssertionError("the last attempt returns or raises")


def _meaning(refused: Refused) -> EffectError:
    """Return the EffectError for a refusal."""
    if refused.code == 404:
        return NotFoundError(str(refused))
    if refused.code == 409:
        return ConflictError(str(refused), final=True)
    return EffectError(str(refused), final=refused.code in FINAL)


def _read_answer(kind: str, answer: bytes) -> ApiObject:
    try:
        return decode_json(KINDS[kind] if kind in KINDS else custom_kind(kind), answer)
    except InvalidObjectError as error:
        raise EffectError(f"the server's answer cannot be read: {error}") from None


def changes(old: Any, new: dict[str, Any]) -> dict[str, Any]:
    """Return the merge patch that leads from one document to another."""
    patch: dict[str, Any] = {field: None for field in old if field not in new}
    for field, value in new.items():
        before = old.get(field)
        if isinstance(value, dict) and isinstance(before, dict):
            inner = changes(before, value)
            if inner:
                patch[field] = inner
        elif value != before:
            patch[field] = value
    return patch
