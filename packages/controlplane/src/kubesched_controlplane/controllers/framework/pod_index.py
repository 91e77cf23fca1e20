"""An index of pods by node, whether the node exists or not.

From events of pods to the index. It is started before the controllers that read it.
"""

from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.storage.store import DELETED, Change, Changed


class PodIndex(Controller):
    """The pods that are bound to each node."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._pods: dict[str, dict[Key, None]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {PODS: self._changed}

    def on(self, node: str) -> list[Key]:
        """Return the pods on a node, in the order in which they were bound."""
        return list(self._pods.get(node, ()))

    def nodes(self) -> list[str]:
        """Return the nodes that have pods."""
        return list(self._pods)

    def _changed(self, change: Change) -> None:
        node = change.new.fields.get("spec.nodeName")
        if not node:
            return
        key = (change.new.namespace, change.new.name)
        if change.type != DELETED:
            self._pods.setdefault(node, {})[key] = None
        elif node in self._pods:
            self._pods[node].pop(key, None)
            if not self._pods[node]:
                del self._pods[node]
