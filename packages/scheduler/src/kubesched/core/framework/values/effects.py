"""Effects: the writes of the scheduler, as values and protocols.

From plugins and cycles to the client that carries them out. PreBind, Bind and PostBind are coroutines over `Effects`;
an in-memory one is here, so that everything runs without an API server.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from kubesched.api.meta import ApiObject


class Bind(msgspec.Struct, frozen=True, gc=False):
    """Bind a pod to a node; the UID is a precondition, since a pod may be re-created under the same name."""

    namespace: str
    name: str
    uid: str
    node_name: str


class Patch(msgspec.Struct, frozen=True):
    """Change part of an object (or of its status): a strategic merge patch, of custom objects a merge patch."""

    kind: str
    namespace: str
    name: str
    body: Mapping[str, Any]
    subresource: str = ""


class Write(msgspec.Struct, frozen=True):
    """Create an object, or change it under its resource version; `base` is the object that the change is based on.

    Objects here hold only the fields that scheduling reads: only differences from the base are written.
    """

    obj: ApiObject
    create: bool = False
    subresource: str = ""
    base: ApiObject | None = None


class Delete(msgspec.Struct, frozen=True, gc=False):
    """Delete an object; the UID is a precondition."""

    kind: str
    namespace: str
    name: str
    uid: str


class Evict(msgspec.Struct, frozen=True, gc=False):
    """Evict a pod through the Eviction API, which refuses it if a PodDisruptionBudget does not allow it now."""

    namespace: str
    name: str
    uid: str


class Read(msgspec.Struct, frozen=True, gc=False):
    """Read an object from the API server, not from a cache."""

    kind: str
    namespace: str
    name: str


class Emit(msgspec.Struct, frozen=True):
    """Record an event that regards an object; `reporter` is a scheduler name if it is not that of the pod."""

    regarding: ApiObject
    type: str
    reason: str
    action: str
    note: str
    reporter: str = ""


Effect = Bind | Patch | Write | Delete | Evict | Read | Emit


class Effects(Protocol):
    """Carries out effects, for the coroutines of plugins."""

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Carry out an effect; return the written object where there is one; raises EffectError if it was refused."""

    def submit(self, *effects: Effect) -> None:
        """Carry out effects one after the other in the background; the rest is dropped once one is refused."""


class EffectError(Exception):
    """An effect that was refused; `final` means that a retry cannot help."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class ConflictError(EffectError):
    """A write that was based on an old resource version of its object; with a new one it may succeed."""


class NotFoundError(EffectError):
    """An effect on an object that does not exist, or was replaced by another one under its name."""

    def __init__(self, message: str) -> None:
        super().__init__(message, final=True)


class RecordingEffects:
    """Effects that are only recorded, in order."""

    def __init__(self) -> None:
        self.performed: list[Effect] = []

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Record the effect; return a written object unchanged."""
        self.performed.append(effect)
        return effect.obj if isinstance(effect, Write) else None

    def submit(self, *effects: Effect) -> None:
        """Record the effects."""
        self.performed.extend(effects)
