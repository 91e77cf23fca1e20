"""The nodes on which a daemon set runs pods, and the node affinity of such pods.

From a template and a node to whether a pod should run there, and to a spec whose pods can be placed only there.
"""

# upstream: pkg/controller/daemon/{daemon_controller.go (NodeShouldRunDaemonPod),util/daemonset_util.go} (v1.36)

from typing import Final

import msgspec

from kubesched.api.node_selectors import NAME_FIELD, RequiredNodeAffinity, required_node_affinity
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod as FullPod
from kubesched.api.pods import Taint, Toleration
from kubesched.api.tolerations import NO_EXECUTE, first_untolerated, forbids_scheduling
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.storage.store import Stored

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_NODE: Final = "node.kubernetes.io"
# the tolerations of all daemon pods: key and effect
_TOLERATED: Final = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_decode_node = msgspec.json.Decoder(Node).decode


class DaemonNode(msgspec.Struct, frozen=True, gc=False):
    """The fields of a node that daemon sets read."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...]


def node_of(stored: Stored) -> DaemonNode:
    """Return the fields of a stored node that daemon sets read."""
    taints = _decode_node(stored.body).spec.taints if b'"taints"' in stored.body else ()
    return DaemonNode(stored.name, stored.labels, taints)


class NodeFitness:
    """Decides on which nodes the pods of a template should run."""

    def __init__(self, template: Document) -> None:
        spec = msgspec.convert({"spec": daemon_spec(template["spec"])}, FullPod).spec
        self._node_name = spec.node_name
        self._affinity: RequiredNodeAffinity = required_node_affinity(spec)
        self._tolerations: tuple[Toleration, ...] = spec.tolerations

    def judge(self, node: DaemonNode) -> tuple[bool, bool]:
        """Return whether a pod should be started on a node, and whether an existing pod may stay there."""
        if self._node_name and self._node_name != node.name:
            return False, False
        if not self._affinity.matches(node.labels, node.name):
            return False, False
        if first_untolerated(node.taints, self._tolerations, forbids_scheduling) is None:
            return True, True
        expelling = first_untolerated(node.taints, self._tolerations, lambda taint: taint.effect == NO_EXECUTE)
        return False, expelling is None


def daemon_spec(spec: Document) -> Document:
    """Return the pod spec of a template with the tolerations of daemon pods."""
    tolerations = list(spec.get("tolerations") or ())
    wanted = [*_TOLERATED, *((("network-unavailable", "NoSchedule"),) if spec.get("hostNetwork") else ())]
    for key, effect in wanted:
        toleration = {"key": f"{_NODE}/{key}", "operator": "Exists", "effect": effect}
        same = [number for number, each in enumerate(tolerations) if _is_alike(each, toleration)]
        if same:
            tolerations[same[0]] = toleration
        else:
            tolerations.append(toleration)
    return {**spec, "tolerations": tolerations}


def _is_alike(one: Document, other: Document) -> bool:
    fields = ("key", "effect", "operator", "value")
    return all((one.get(field) or "") == (other.get(field) or "") for field in fields)


def bound_to(spec: Document, node: str) -> Document:
    """Return a spec whose required node affinity is replaced by the name of a node."""
    affinity = dict(spec.get("affinity") or {})
    term = {"matchFields": [{"key": NAME_FIELD, "operator": "In", "values": [node]}]}
    affinity["nodeAffinity"] = {**(affinity.get("nodeAffinity") or {}), _REQUIRED: {"nodeSelectorTerms": [term]}}
    return {**spec, "affinity": affinity}


def target_of(pod: Document) -> str:
    """Return the node of a pod, or the node that its required affinity names; an empty text for none."""
    spec = pod.get("spec") or {}
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED) or {}
    name: str = spec.get("nodeName") or ""
    for term in required.get("nodeSelectorTerms") or () if not name else ():
        for field in term.get("matchFields") or ():
            values: list[str] = field.get("values") or []
            if field.get("key") == NAME_FIELD and field.get("operator") == "In" and len(values) == 1:
                return values[0]
    return name
