"""Effects that are carried out on the cluster's own objects, without an API server.

From effects to the objects, at once, by the rules of `object_store`.
"""

from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.values.effects import Effect, EffectError
from kubesched.core.object_store import ObjectStore

T = TypeVar("T")

# the deletion timestamp of all objects here: there is no clock
DELETION = datetime(2030, 1, 1, tzinfo=UTC)


class ClusterEffects(ObjectStore):
    """Carries effects out on a cluster, and records them in order."""

    def __init__(self, cluster: ClusterState) -> None:
        super().__init__()
        self._cluster = cluster
        self.performed: list[Effect] = []

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
        return super()._carry_out(effect)

    # -- objects

    def _find(self, kind: str, full_name: str) -> ApiObject | None:
        if kind == Pod.__name__:
            pods = (*self._cluster.table.pods.values(), *self._cluster.pending.values())
            named = next((pod for pod in pods if pod.full_name == full_name), None)
            return self._cluster.as_reported(named).pod if named is not None else None
        if kind == Node.__name__:
            row = self._cluster.table.row_of.get(full_name)
            return self._cluster.table.nodes[row] if row is not None else None
        return self._cluster.objects.get(KINDS[kind], full_name)

    def _keep(self, obj: ApiObject) -> None:
        self._cluster.add(obj)

    def _drop(self, obj: ApiObject) -> None:
        self._cluster.remove(obj)

    def _now(self) -> datetime:
        return DELETION


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, without an event loop; return its result."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    coroutine.close()
    raise RuntimeError("a coroutine waits for something, and nobody can make it happen")
