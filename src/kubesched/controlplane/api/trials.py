"""Requests that have to wait for others: they are tried, and tried again when the others have answered.

    request ──▶ verb ──▶ a question without an answer ──▶ nothing has been stored ──▶ whoever waits asks it
       ▲                                                                                     │
       └──────────────────────── the same request, with the answers so far ◀─────────────────┘

A verb is a function that runs through, so it cannot wait. Until it stores something it has changed nothing, so it can
be broken off where it needs an answer and run again from its beginning. An answer belongs to a question, and a question
is what is asked word for word: if the object has changed meanwhile, the question is another one and is asked anew.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kubesched.errors import KubeschedError

# what is made up for a new object, and has to be the same every time it is tried
_MADE_UP = ("uid", "creationTimestamp", "name")


class Question(msgspec.Struct, frozen=True):
    """What a webhook is asked, and where: a URL, or a service in a namespace."""

    key: bytes
    uid: str
    body: bytes
    url: str
    ca_bundle: bytes = b""
    seconds: float = 10.0
    service: str = ""


class Reply(msgspec.Struct, frozen=True):
    """What came back: a document, or why there is none."""

    document: Any = None
    error: str = ""


class Trial:
    """What is known of a request that is tried again: replies, the time it began, what was made up."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.replies: dict[bytes, Reply] = {}
        self._made: dict[str, Any] = {}

    def keep(self, meta: dict[str, Any]) -> None:
        """Give a new object what was made up for it before, or remember it."""
        if self._made:
            meta.update(self._made)
        else:
            self._made = {field: meta[field] for field in _MADE_UP if field in meta}


class UnansweredError(KubeschedError):
    """A request that needs replies before it can be carried out."""

    def __init__(self, questions: list[Question]) -> None:
        super().__init__("questions have to be answered first")
        self.questions = questions


class Unanswered(msgspec.Struct, frozen=True):
    """A request that was broken off, with what has to be asked."""

    trial: Trial
    questions: list[Question]
