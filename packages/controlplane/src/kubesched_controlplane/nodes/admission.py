"""Admission of pods by the kubelet of a node: resources, host ports, affinity and taints.

From pods and nodes to the reason why a kubelet refuses a pod, as it does when a scheduler overcommits the node.
"""

# upstream: pkg/kubelet/lifecycle/predicate.go, pkg/scheduler/eventhandlers.go (AdmissionCheck) (v1.36)

from collections import Counter
from collections.abc import Iterator

import msgspec

from kubesched.api.node_selectors import required_node_affinity
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.api.quantity import milli_value_of, value_of
from kubesched.api.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, is_extended_resource, pod_resources
from kubesched.api.tolerations import NO_EXECUTE, first_untolerated

_NO_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
_NO_PORTS = "node(s) didn't have free ports for the requested pod ports"
_NOT_TOLERATED = "node(s) had taints that the pod didn't tolerate"
_ANYWHERE = "0.0.0.0"
# address, protocol, number
Port = tuple[str, str, int]


class Refusal(msgspec.Struct, frozen=True):
    """Why a node refuses a pod: reason and message of the pod's status."""

    reason: str
    message: str
    # whether the pod requests more than an empty node has
    beyond_capacity: bool = False


class _AdmittedPod(msgspec.Struct, frozen=True):
    amounts: dict[str, int]
    ports: tuple[Port, ...]


class NodeAdmission:
    """The resources and host ports that pods use on one node."""

    def __init__(self) -> None:
        self._admitted: dict[str, _AdmittedPod] = {}
        self._used: Counter[str] = Counter()
        self._ports: Counter[Port] = Counter()

    def leave(self, uid: str) -> None:
        """Free the resources and ports of a pod."""
        admitted = self._admitted.pop(uid, None)
        if admitted is not None:
            self._used.subtract(admitted.amounts)
            self._ports.subtract(admitted.ports)

    def take(self, pod: Pod, node: Node | None) -> Refusal | None:
        """Admit a pod, or return why the node refuses it; without a node, admit it unchecked."""
        self.leave(pod.metadata.uid)
        admitted = _AdmittedPod(_amounts(pod), tuple(_ports(pod)))
        if node is not None and (refusal := self._refusal(pod, node, admitted)):
            return refusal
        self._enter(pod.metadata.uid, admitted)
        return None

    def resize(self, pod: Pod, node: Node) -> Refusal | None:
        """Change the resources of an admitted pod, or return which resource the node lacks."""
        before = self._admitted[pod.metadata.uid]
        self.leave(pod.metadata.uid)
        after = _AdmittedPod(_amounts(pod), before.ports)
        refusal = self._shortage(node, after)
        self._enter(pod.metadata.uid, before if refusal else after)
        return refusal

    def _enter(self, uid: str, admitted: _AdmittedPod) -> None:
        self._admitted[uid] = admitted
        self._used.update(admitted.amounts)
        self._ports.update(admitted.ports)

    def _shortage(self, node: Node, admitted: _AdmittedPod) -> Refusal | None:
        allocatable = node.status.allocatable
        for name, requested in admitted.amounts.items():
            # a kubelet ignores extended resources that its node does not have
            if not requested or (is_extended_resource(name) and name not in allocatable):
                continue
            raw, used = allocatable.get(name, 0), self._used[name]
            capacity = milli_value_of(raw) if name == CPU else value_of(raw)
            if requested > capacity - used:
                text = f"requested: {requested}, used: {used}, capacity: {capacity}"
                message = f"Node didn't have enough resource: {name}, {text}"
                return Refusal(f"OutOf{name}", message, beyond_capacity=requested > capacity)
        return None

    def _refusal(self, pod: Pod, node: Node, admitted: _AdmittedPod) -> Refusal | None:
        if shortage := self._shortage(node, admitted):
            return shortage
        if not required_node_affinity(pod.spec).matches(node.metadata.labels, node.metadata.name):
            return Refusal("NodeAffinity", f"Predicate NodeAffinity failed: {_NO_AFFINITY}")
        taken = [port for port, count in self._ports.items() if count > 0] if admitted.ports else ()
        if any(_clash(mine, theirs) for mine in admitted.ports for theirs in taken):
            return Refusal("NodePorts", f"Predicate NodePorts failed: {_NO_PORTS}")
        taints = [taint for taint in node.spec.taints if taint.effect == NO_EXECUTE]
        if first_untolerated(taints, pod.spec.tolerations) is not None:
            return Refusal("TaintToleration", f"Predicate TaintToleration failed: {_NOT_TOLERATED}")
        return None


def _amounts(pod: Pod) -> dict[str, int]:
    """Return the requests of a pod, in the order in which they are checked."""
    resources = pod_resources(pod)
    return {
        PODS: 1,
        CPU: resources.milli_cpu,
        MEMORY: resources.memory,
        EPHEMERAL_STORAGE: resources.ephemeral_storage,
        **resources.scalar,
    }


def _ports(pod: Pod) -> Iterator[Port]:
    """Yield the host ports of a pod."""
    sidecars = [container for container in pod.spec.init_containers if container.restart_policy == "Always"]
    for container in (*pod.spec.containers, *sidecars):
        for port in container.ports:
            if port.host_port:
                yield port.host_ip or _ANYWHERE, port.protocol or "TCP", port.host_port


def _clash(mine: Port, theirs: Port) -> bool:
    return mine[1:] == theirs[1:] and (mine[0] == theirs[0] or _ANYWHERE in (mine[0], theirs[0]))
