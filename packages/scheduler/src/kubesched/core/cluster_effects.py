"""Effects that are carried out on the cluster's own objects, without an API server.

From effects to the objects, at once, with the rules of an API server that plugins rely on: names are generated, every
write sets a new resource version, a write based on an old one is a conflict, and a deleted object with finalizers only
gets a deletion timestamp.
"""

from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import msgspec

from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.nodes import Node
from kubesched.api.patching import patched
from kubesched.api.pods import Pod
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.effects import (
    Bind,
    ConflictError,
    Delete,
    Effect,
    EffectError,
    Evict,
    NotFoundError,
    Patch,
    Read,
    Write,
)

T = TypeVar("T")

# the deletion timestamp of all objects here: there is no clock
DELETION = datetime(2030, 1, 1, tzinfo=UTC)


class ClusterEffects:
    """Carries effects out on a cluster, and records them in order."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self.performed: list[Effect] = []
        self._version = 0

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Carry out an effect; return the written object; raises EffectError if it is refused."""
        return self._carry_out(effect)

    def submit(self, *effects: Effect) -> None:
        """Carry out effects one after the other, up to the first that is refused."""
        try:
            for effect in effects:
                self._carry_out(effect)
        except EffectError:
            return

    def _carry_out(self, effect: Effect) -> ApiObject | None:
        self.performed.append(effect)
        if isinstance(effect, Write):
            return self._create(effect.obj) if effect.create else self._replace(effect)
        if isinstance(effect, Patch):
            return self._patch(effect)
        if isinstance(effect, Delete):
            return self._delete(effect)
        if isinstance(effect, Evict):
            return self._delete(Delete(Pod.__name__, effect.namespace, effect.name, effect.uid))
        if isinstance(effect, Bind):
            return self._bind(effect)
        return self._existing(effect.kind, effect.namespace, effect.name) if isinstance(effect, Read) else None

    # -- objects

    def _existing(self, kind: str, namespace: str, name: str) -> ApiObject:
        """Return an object; raises EffectError if it does not exist."""
        found: ApiObject | None
        full_name = f"{namespace}/{name}" if namespace else name
        if kind == Pod.__name__:
            pods = (*self._cluster.table.pods.values(), *self._cluster.pending.values())
            named = next((pod for pod in pods if pod.full_name == full_name), None)
            found = self._cluster.as_reported(named).pod if named is not None else None
        elif kind == Node.__name__:
            row = self._cluster.table.row_of.get(name)
            found = self._cluster.table.nodes[row] if row is not None else None
        else:
            found = self._cluster.objects.get(KINDS[kind], full_name)
        if found is None:
            raise NotFoundError(f'{kind.lower()}s "{name}" not found')
        return found

    def _store(self, obj: ApiObject, **changed: Any) -> ApiObject:
        self._version += 1
        meta = msgspec.structs.replace(obj.metadata, resource_version=str(self._version), **changed)
        stored = msgspec.structs.replace(obj, metadata=meta)
        self._cluster.add(stored)
        return stored

    def _create(self, obj: ApiObject) -> ApiObject:
        meta = obj.metadata
        kind = type(obj).__name__
        name = meta.name or self._free_name(kind, meta)
        if meta.name and self._is_taken(kind, meta.namespace, meta.name):
            raise EffectError(f'{kind.lower()}s "{name}" already exists', final=True)
        uid = meta.uid or f"{kind.lower()}-{meta.namespace}-{name}-{self._version + 1}"
        return self._store(obj, name=name, uid=uid)

    def _free_name(self, kind: str, meta: ObjectMeta) -> str:
        """Return the first name made from `generateName` that is not in use."""
        name = meta.generate_name + "x"
        number = 1
        while self._is_taken(kind, meta.namespace, name):
            number += 1
            name = f"{meta.generate_name}x{number}"
        return name

    def _is_taken(self, kind: str, namespace: str, name: str) -> bool:
        try:
            self._existing(kind, namespace, name)
        except EffectError:
            return False
        return True

    def _replace(self, write: Write) -> ApiObject:
        obj, meta = write.obj, write.obj.metadata
        old = self._existing(type(obj).__name__, meta.namespace, meta.name)
        stale = meta.resource_version and meta.resource_version != old.metadata.resource_version
        if stale or (meta.uid and meta.uid != old.uid):
            raise ConflictError(
                f'Operation cannot be fulfilled on {type(obj).__name__.lower()}s "{meta.name}": the object has been '
                "modified; please apply your changes to the latest version and try again"
            )
        kept, taken = (old, obj) if write.subresource == "status" else (obj, old)
        if hasattr(taken, "status"):
            # the status is written through its subresource only
            kept = msgspec.structs.replace(kept, status=taken.status)
        return self._settle(kept)

    def _patch(self, patch: Patch) -> ApiObject:
        old = self._existing(patch.kind, patch.namespace, patch.name)
        uid = patch.body.get("metadata", {}).get("uid", old.uid)
        if uid != old.uid:
            raise ConflictError(f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.uid}")
        return self._settle(patched(old, patch.body))

    def _delete(self, delete: Delete) -> ApiObject:
        old = self._existing(delete.kind, delete.namespace, delete.name)
        if old.uid != delete.uid:
            raise ConflictError(
                f"Precondition failed: UID in precondition: {delete.uid}, UID in object meta: {old.uid}"
            )
        return self._settle(old, deletion_timestamp=old.metadata.deletion_timestamp or DELETION)

    def _settle(self, obj: ApiObject, **changed: Any) -> ApiObject:
        """Store an object, or remove it if it has a deletion timestamp and no finalizers."""
        marked = changed.get("deletion_timestamp") or obj.metadata.deletion_timestamp
        if marked and not obj.metadata.finalizers:
            self._cluster.remove(obj)
            return obj
        return self._store(obj, **changed)

    def _bind(self, bind: Bind) -> ApiObject:
        pod = cast(Pod, self._existing(Pod.__name__, bind.namespace, bind.name))
        if pod.uid != bind.uid:
            raise ConflictError(f"Precondition failed: UID in precondition: {bind.uid}, UID in object meta: {pod.uid}")
        spec = msgspec.structs.replace(pod.spec, node_name=bind.node_name)
        return self._store(msgspec.structs.replace(pod, spec=spec))


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, without an event loop; return its result."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    coroutine.close()
    raise RuntimeError("a coroutine waits for something, and nobody can make it happen")
