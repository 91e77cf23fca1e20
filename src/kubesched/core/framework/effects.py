"""What the scheduler does to the world, as values and protocols.

From plugins and cycles to the shell that carries it out. PreBind, Bind and PostBind are coroutines over `Effects`; an
in-memory one is here, so that everything runs without an API server.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from kubesched.api.meta import ApiObject


class Bind(msgspec.Struct, frozen=True, gc=False):
    """Put a pod on a node; the UID guards against a pod re-created under the same name."""

    namespace: str
    name: str
    uid: str
    node_name: str


class Patch(msgspec.Struct, frozen=True):
    """Change part of an object (or of its status): a strategic merge patch."""

    kind: str
    namespace: str
    name: str
    body: Mapping[str, Any]
    subresource: str = ""


class Write(msgspec.Struct, frozen=True):
    """Create an object, or change it under its resource version; `base` is the object that the change is based on.

    Objects here hold only what scheduling reads: what differs from the base is written, the rest stays as it is.
    """

    obj: ApiObject
    create: bool = False
    subresource: str = ""
    base: ApiObject | None = None


class Delete(msgspec.Struct, frozen=True, gc=False):
    """Delete an object; never another one that took its name."""

    kind: str
    namespace: str
    name: str
    uid: str


class Read(msgspec.Struct, frozen=True, gc=False):
    """Fetch an object anew, past everything that is cached."""

    kind: str
    namespace: str
    name: str


class Emit(msgspec.Struct, frozen=True):
    """Record an event about an object; `reporter` is a scheduler name if it is not that of the pod."""

    regarding: ApiObject
    type: str
    reason: str
    action: str
    note: str
    reporter: str = ""


Effect = Bind | Patch | Write | Delete | Read | Emit


class Effects(Protocol):
    """The outside world, as a plugin's coroutines see it."""

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Carry out an effect; return the written object where there is one; raises EffectError if it was refused."""

    def submit(self, *effects: Effect) -> None:
        """Have effects carried out one after the other, and do not wait; the first that is refused ends it."""


class EffectError(Exception):
    """An effect that was refused; `final` tells that trying again cannot help."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class ConflictError(EffectError):
    """A write that was based on an old version of its object; with a fresh one it may work."""


class NotFoundError(EffectError):
    """An effect on an object that is gone, or that was replaced by another one under its name."""

    def __init__(self, message: str) -> None:
        super().__init__(message, final=True)


class RecordingEffects:
    """Effects that are only remembered, in order."""

    def __init__(self) -> None:
        self.performed: list[Effect] = []

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Remember the effect; a written object comes back as it went in."""
        self.performed.append(effect)
        return effect.obj if isinstance(effect, Write) else None

    def submit(self, *effects: Effect) -> None:
        """Remember the effects."""
        self.performed.extend(effects)
