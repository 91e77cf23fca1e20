"""Actions of users as requests, and the fields that each action needs.

From JSON to a checked value. A request without a needed field, or with an unknown object, is refused with a sentence.
"""

from typing import Final

import msgspec

from kubesched.api.paths import CLUSTER_SCOPED
from kubesched.config.document import rough_values
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest, parsed
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.owners import Owners
from kubesched_answers.whatif.node_choice import chosen_nodes
from kubesched_answers.whatif.workloads import REPLICAS_FIELDS, NamedObject, parse_name
from kubesched_controlplane.up.node_pools import NodePool, parse_pool

CORDON, UNCORDON, DRAIN, REMOVE = "cordon", "uncordon", "drain", "remove-nodes"
ADD_NODES, SCALE, CREATE, DELETE = "add-nodes", "scale", "create", "delete"
DEEDS: Final = (CORDON, UNCORDON, DRAIN, REMOVE, ADD_NODES, SCALE, CREATE, DELETE)
# nodes or pods that one action makes
MOST_NEW: Final = 10_000
# parsing takes a few microseconds for each, and the page waits
MOST_VALUES: Final = 50_000
TEXT: Final = "the text"


class ActionError(KubeschedError):
    """An action is refused; the message gives the reason and names the field."""


class ActionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action on nodes, a workload, a pod or manifests.

    `nodes` are names or a label selector. New nodes are `count` copies of the node `like`, or the nodes of a `pool` in
    the notation of `kubesched up --pool`. A `workload` is KIND/NAMESPACE/NAME, a `pod` NAMESPACE/NAME. `yaml` has the
    objects to create, in `namespace` unless they name one. With `force` a drain also deletes pods without a controller.
    """

    do: str
    nodes: str = ""
    like: str = ""
    count: int = 1
    pool: str = ""
    workload: str = ""
    replicas: int = 0
    pod: str = ""
    yaml: str = ""
    namespace: str = ""
    force: bool = False

    def check(self) -> None:
        """Raise ActionError if the action or its numbers are not possible for any user."""
        if self.do not in DEEDS:
            raise ActionError(f"do: {self.do[:100]!r} is not known; expected one of {', '.join(DEEDS)}")
        if not 1 <= self.count <= MOST_NEW:
            raise ActionError(f"count: {self.count} nodes cannot be added; expected 1 to {MOST_NEW}")
        if not 0 <= self.replicas <= MOST_NEW:
            raise ActionError(f"replicas: {self.replicas} is not possible; expected 0 to {MOST_NEW}")

    def named_nodes(self, model: ClusterModel) -> tuple[str, ...]:
        """Return the nodes of the action; raises UnknownObjectError."""
        if not self.nodes:
            raise ActionError("nodes: no node is named; write names (a,b) or a label selector (zone=a)")
        return chosen_nodes(model, self.nodes)

    def named_workload(self, model: ClusterModel) -> NamedObject:
        """Return the workload of the action, which has replicas; for a ReplicaSet of a Deployment return the
        Deployment.
        """
        if not self.workload:
            raise ActionError("workload: none is named; write KIND/NAMESPACE/NAME, such as deploy/default/web")
        found = parse_name(self.workload)
        if found.kind not in REPLICAS_FIELDS:
            raise ActionError(f"workload: a {found.kind} has no replicas; {', '.join(REPLICAS_FIELDS)} have")
        return _top_of(model, found)

    def named_pod(self, model: ClusterModel) -> str:
        """Return `namespace/name` of the pod of the action."""
        if not self.pod:
            raise ActionError("pod: none is named; write NAMESPACE/NAME")
        return model.pod(self.pod).full_name

    def node_pool(self) -> NodePool:
        """Return the pool of new nodes; raises PoolError."""
        return parse_pool(self.pool, {})

    def manifests(self) -> list[Manifest]:
        """Return the objects in the text, in their namespace."""
        if not self.yaml.strip():
            raise ActionError("yaml: the text has no objects")
        text = self.yaml.encode()
        if rough_values(text) > MOST_VALUES:
            raise ActionError(f"yaml: more than {MOST_VALUES} values are too many for one action; create them in parts")
        found, problems = parsed(TEXT, text)
        if problems:
            raise ActionError(problems[0])
        if not found:
            raise ActionError("yaml: the text has no objects")
        if len(found) > MOST_NEW:
            raise ActionError(f"yaml: {len(found)} objects are more than one action creates; {MOST_NEW} can be")
        for each in found:
            _check_replicas(each)
        return [_in_namespace(each, self.namespace) for each in found] if self.namespace else found


def _top_of(model: ClusterModel, workload: NamedObject) -> NamedObject:
    """Return the top-level owner of a workload, as the owner references of its pods say."""
    owners = Owners(model)
    for pod in model.pods.values():
        controller = pod.metadata.controller
        if controller is None or (controller.kind, controller.name) != (workload.kind, workload.name):
            continue
        top = owners.of(pod)
        if workload.namespace in ("", pod.namespace) and top is not None and top.kind in REPLICAS_FIELDS:
            return NamedObject(top.kind, pod.namespace, top.name)
    return workload


def _check_replicas(manifest: Manifest) -> None:
    """Raise ActionError if a workload has more pods than one action may create."""
    spec, field = manifest.document.get("spec"), REPLICAS_FIELDS.get(manifest.kind, "")
    wanted = spec.get(field) if isinstance(spec, dict) else None
    if isinstance(wanted, int) and wanted > MOST_NEW:
        raise ActionError(f"yaml: {manifest.named}: spec.{field}: {wanted} is not possible; expected 0 to {MOST_NEW}")


def _in_namespace(manifest: Manifest, namespace: str) -> Manifest:
    metadata = manifest.document.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("namespace") or manifest.kind in CLUSTER_SCOPED:
        return manifest
    return manifest._replace(document={**manifest.document, "metadata": {**metadata, "namespace": namespace}})
