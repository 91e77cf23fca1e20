"""Objects in memory with the promises of an API server, for effects that are carried out in this process.

From effects to stored objects and errors. Every write sets a new resource version; a write that is based on an old one
is a conflict; a UID protects objects that were created again under a name; a pod is bound once; and a deleted object
stays while it has finalizers or a grace period. Subclasses keep the objects, and report changes.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.patching import patched
from kubesched.api.pods import Pod, PodStatus
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

T = TypeVar("T", bound=ApiObject)
replace = msgspec.structs.replace
# metadata in a patch that is a precondition
_PRECONDITIONS = frozenset({"uid", "resourceVersion"})


class ObjectStore(ABC):
    """Carries effects out on the objects that a subclass keeps."""

    def __init__(self) -> None:
        self._version = 0
        # termination time of a deleted pod
        self.grace_seconds = 0.0
        # UIDs of the pods whose grace period is not over
        self._in_grace: set[str] = set()

    def _carry_out(self, effect: Effect) -> ApiObject | None:
        """Carry out an effect; return the written object where there is one; raises EffectError if it is refused."""
        return _RULES[type(effect)](self, effect)

    # -- the objects of a subclass

    @abstractmethod
    def _find(self, kind: str, full_name: str) -> ApiObject | None:
        """Return an object, None if it does not exist."""

    @abstractmethod
    def _keep(self, obj: ApiObject) -> None:
        """Add an object, or replace the one under its name."""

    @abstractmethod
    def _drop(self, obj: ApiObject) -> None:
        """Remove an object whose deletion nothing delays."""

    @abstractmethod
    def _now(self) -> datetime:
        """Return the date, for deletion timestamps."""

    # -- differences on purpose

    def _timers(self) -> asyncio.AbstractEventLoop:
        """Return the loop that ends grace periods."""
        return asyncio.get_running_loop()

    def _is_held(self, obj: ApiObject) -> bool:
        """Return whether finalizers delay the deletion of an object."""
        return bool(obj.metadata.finalizers)

    def _bound_status(self, pod: Pod) -> PodStatus:
        """Return the status of a pod with its binding."""
        return replace(pod.status, nominated_node_name="")

    def _pod_bound(self, pod: Pod) -> None:
        """Handle a pod that was bound."""

    def _record(self, emit: Emit) -> None:
        """Record an event; without a recorder it is dropped."""

    # -- rules

    def _put(self, obj: T, **metadata: Any) -> T:
        """Store an object with the next version and with other metadata; return it as stored."""
        self._version += 1
        stored = replace(obj, metadata=replace(obj.metadata, resource_version=str(self._version), **metadata))
        self._keep(stored)
        return stored

    def _settle(self, old: ApiObject, new: ApiObject) -> ApiObject:
        """Store a changed object; if it is terminating and lost its last finalizer, remove it."""
        held = new.metadata.deletion_timestamp is None or not self._is_held(old) or self._is_held(new)
        if held or new.uid in self._in_grace:
            return self._put(new)
        self._drop(new)
        return new

    def _existing(self, kind: str, namespace: str, name: str) -> ApiObject:
        found = self._find(kind, _full_name(namespace, name))
        if found is None:
            raise NotFoundError(f'{kind.lower()}s "{name}" not found')
        return found

    def _bind(self, bind: Bind) -> None:
        pod = cast(Pod, self._existing(Pod.__name__, bind.namespace, bind.name))
        if pod.uid != bind.uid:
            raise _conflict(pod, f"Precondition failed: UID in precondition: {bind.uid}, UID in object meta: {pod.uid}")
        if pod.terminating:
            raise _conflict(pod, f"pod {pod.name} is being deleted, cannot be assigned to a host")
        if pod.spec.node_name:
            raise _conflict(pod, f'pod {pod.name} is already assigned to node "{pod.spec.node_name}"')
        if pod.spec.scheduling_gates:
            raise _conflict(pod, f"pod {pod.name} has non-empty .spec.schedulingGates")
        spec = replace(pod.spec, node_name=bind.node_name)
        self._pod_bound(self._put(replace(pod, spec=spec, status=self._bound_status(pod))))

    def _patch(self, patch: Patch) -> ApiObject:
        old = self._existing(patch.kind, patch.namespace, patch.name)
        metadata = patch.body.get("metadata", {})
        _check_unchanged(old, metadata.get("uid"), metadata.get("resourceVersion"))
        body = {key: value for key, value in patch.body.items() if key != "metadata"}
        rest = {key: value for key, value in metadata.items() if key not in _PRECONDITIONS}
        return self._settle(old, patched(old, {**body, "metadata": rest} if rest else body))

    def _write(self, write: Write) -> ApiObject:
        return self._create(write.obj) if write.create else self._replace(write)

    def _create(self, obj: ApiObject) -> ApiObject:
        kind, meta, name = type(obj).__name__, obj.metadata, obj.name
        if name and self._find(kind, obj.full_name) is not None:
            raise ConflictError(f'{kind.lower()}s "{name}" already exists', final=True)
        number = self._version
        while not name or self._find(kind, _full_name(meta.namespace, name)) is not None:
            name = f"{meta.generate_name}{number}"
            number += 1
        uid = f"uid-of-{_full_name(meta.namespace, name)}-{self._version}"
        return self._put(obj, name=name, uid=uid)

    def _replace(self, write: Write) -> ApiObject:
        obj, meta = write.obj, write.obj.metadata
        old = self._existing(type(obj).__name__, meta.namespace, meta.name)
        _check_unchanged(old, meta.uid, (write.base or obj).metadata.resource_version)
        # the status is written only through its subresource, which writes nothing else
        kept, taken = (old, obj) if write.subresource == "status" else (obj, old)
        return self._settle(old, replace(kept, status=taken.status) if hasattr(taken, "status") else kept)

    def _delete(self, delete: Delete) -> None:
        found = self._existing(delete.kind, delete.namespace, delete.name)
        if found.uid != delete.uid:
            raise NotFoundError(f'{delete.kind.lower()}s "{delete.name}" with the UID {delete.uid} not found')
        self._end(found)

    def _end(self, obj: ApiObject) -> None:
        """Delete an object; if finalizers or a grace period delay that, it gets a deletion timestamp."""
        if obj.metadata.deletion_timestamp is not None:
            return
        grace = self.grace_seconds if isinstance(obj, Pod) else 0.0
        if not grace and not self._is_held(obj):
            self._drop(obj)
            return
        self._put(obj, deletion_timestamp=self._now())
        if grace:
            self._in_grace.add(obj.uid)
            self._timers().call_later(grace, self._grace_ended, obj)

    def _grace_ended(self, obj: ApiObject) -> None:
        self._in_grace.discard(obj.uid)
        found = self._find(type(obj).__name__, obj.full_name)
        if found is not None and found.uid == obj.uid and not self._is_held(found):
            self._drop(found)

    def _evict(self, evict: Evict) -> None:
        self._delete(Delete(Pod.__name__, evict.namespace, evict.name, evict.uid))

    def _read(self, read: Read) -> ApiObject | None:
        return self._find(read.kind, _full_name(read.namespace, read.name))

    def _emit(self, emit: Emit) -> None:
        self._record(emit)


_RULES: Mapping[type[Effect], Callable[[ObjectStore, Any], ApiObject | None]] = {
    Bind: ObjectStore._bind,
    Patch: ObjectStore._patch,
    Write: ObjectStore._write,
    Delete: ObjectStore._delete,
    Evict: ObjectStore._evict,
    Read: ObjectStore._read,
    Emit: ObjectStore._emit,
}


def _full_name(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _conflict(obj: ApiObject, why: str) -> ConflictError:
    text = f'Operation cannot be fulfilled on {type(obj).__name__.lower()}s "{obj.name}": {why}'
    return ConflictError(text, final=True)


def _check_unchanged(obj: ApiObject, uid: str | None, version: str | None) -> None:
    """Raise EffectError unless an object has the UID and the version that a write is based on, if it names them."""
    if version and version != obj.metadata.resource_version:
        why = "the object has been modified; please apply your changes to the latest version and try again"
        raise _conflict(obj, why)
    if uid and uid != obj.uid:
        kind = type(obj).__name__
        why = f'{kind} "{obj.name}" is invalid: metadata.uid: Invalid value: "{uid}": field is immutable'
        raise EffectError(why, final=True)
