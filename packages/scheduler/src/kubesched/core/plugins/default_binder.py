"""DefaultBinder: binds a pod through the API server.

From a decision to a `Bind` effect; a refusal of the server becomes an error status.
"""

# upstream: defaultbinder/default_binder.go (v1.36)

from collections.abc import Sequence

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import BindPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, EffectError, Effects
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import Status, error


class DefaultBinder(BindPlugin):
    """Binds pods by writing their binding."""

    name = "DefaultBinder"

    def __init__(self, effects: Effects) -> None:
        self._effects = effects

    async def bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Bind the pod; return an error if the server refused."""
        try:
            await self._effects.perform(Bind(pod.namespace, pod.name, pod.uid, node_name))
        except EffectError as refused:
            return error(str(refused))
        return None

    def events_to_register(self) -> Sequence[Registration]:
        """Return nothing: it rejects no pod."""
        return ()
