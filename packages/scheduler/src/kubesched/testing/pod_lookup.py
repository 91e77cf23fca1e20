"""The state of pods, for tests: the node of a pod, why it has none, and the events about it.

From the pods and events of any kind of cluster to texts.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

from kubesched.api.pods import Pod


class PodEvent(NamedTuple):
    """An event about a pod: its reason, such as FailedScheduling, and its message."""

    reason: str
    message: str


class PodLookup(ABC):
    """Pods by name; names are of the namespace `default` unless another one is given."""

    @abstractmethod
    def pods(self) -> list[Pod]:
        """Return all pods."""

    @abstractmethod
    def pod(self, name: str, namespace: str = "default") -> Pod | None:
        """Return the current state of a pod, None if it does not exist."""

    @abstractmethod
    def events_of(self, name: str, namespace: str = "default") -> list[PodEvent]:
        """Return the events about a pod, the oldest first."""

    def node_of(self, name: str, namespace: str = "default") -> str:
        """Return the node that a pod is bound to; an empty text if there is none."""
        pod = self.pod(name, namespace)
        return pod.spec.node_name if pod is not None else ""

    def bound_pods(self, namespace: str = "default") -> list[str]:
        """Return the names of a namespace's pods that have a node, in alphabetical order."""
        return sorted(pod.name for pod in self.pods() if pod.namespace == namespace and pod.spec.node_name)

    def message_of(self, name: str, namespace: str = "default") -> str:
        """Return why a pod has no node, from its condition PodScheduled; an empty text if it has one."""
        pod = self.pod(name, namespace)
        conditions = pod.status.conditions if pod is not None and not pod.spec.node_name else ()
        return next((each.message for each in conditions if each.type == "PodScheduled" and each.status == "False"), "")
