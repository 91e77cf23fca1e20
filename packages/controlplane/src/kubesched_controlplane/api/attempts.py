"""Attempts: a request that needs webhook replies is interrupted, and attempted again with the replies.

    request ──▶ verb ──▶ a webhook without a reply ──▶ interrupted, nothing stored ──▶ the webhook is called
       ▲                                                                                     │
       └──────────────────────── the same request, with the replies so far ◀─────────────────┘

A verb is synchronous, so it cannot wait. Until it stores an object it has changed nothing, so it can be interrupted
where it needs a reply and run again from its beginning. A reply belongs to a call, and a call is known by the bytes of
its review: if the object has changed meanwhile, it is another call and the webhook is called again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kubesched.errors import KubeschedError

# generated for a new object; the same in every attempt
_MADE_UP = ("uid", "creationTimestamp", "name")


class WebhookCall(msgspec.Struct, frozen=True):
    """A call of a webhook: the review, and a URL or a service in a namespace."""

    key: bytes
    uid: str
    body: bytes
    url: str
    ca_bundle: bytes = b""
    seconds: float = 10.0
    service: str = ""


class WebhookReply(msgspec.Struct, frozen=True):
    """The reply of a webhook: a document, or the error."""

    document: Any = None
    error: str = ""


class Attempt:
    """The state of a request between attempts: replies, the time of the first attempt, generated metadata."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.replies: dict[bytes, WebhookReply] = {}
        self._made: dict[str, Any] = {}

    def keep(self, meta: dict[str, Any]) -> None:
        """Set the metadata generated in the first attempt in a new object; in the first attempt, remember it."""
        if self._made:
            meta.update(self._made)
        else:
            self._made = {field: meta[field] for field in _MADE_UP if field in meta}


class WebhookCallsNeededError(KubeschedError):
    """A request that needs webhook replies before it can be carried out."""

    def __init__(self, calls: list[WebhookCall]) -> None:
        super().__init__("questions have to be answered first")
        self.calls = calls


class Interrupted(msgspec.Struct, frozen=True):
    """An interrupted request, with the webhooks to call."""

    attempt: Attempt
    calls: list[WebhookCall]
