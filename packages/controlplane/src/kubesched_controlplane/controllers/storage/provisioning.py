"""Dynamic provisioning of volumes, as external provisioners do it.

From a claim and its class to a volume in the topology of the node that was selected for the claim's pod. If the node
cannot have such a volume, its annotation is removed from the claim, so that the scheduler selects another node.
"""

# upstream: pkg/controller/volume/persistentvolume/pv_controller.go (provisionClaim);
# github.com/kubernetes-csi/external-provisioner (topology)

from typing import Any

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import NODES
from kubesched_controlplane.controllers.framework.controller import ControllerContext
from kubesched_controlplane.kinds.checks import part

VOLUMES = "persistentvolumes"
CLAIMS = "persistentvolumeclaims"
CSI_NODES = "csinodes.storage.k8s.io"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
_OLD_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
_Topology = dict[str, list[str]]


class Provisioner:
    """Creates volumes for claims, each after the provisioning delay."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        # when a claim's volume is ready, by the claim's UID and selected node
        self._ready: dict[tuple[str, str], float] = {}

    def provide(self, claim: Document, storage_class: Document) -> float | None:
        """Create the volume of a claim, or return the seconds after which to requeue the claim."""
        meta = claim["metadata"]
        annotations = part(meta, "annotations")
        driver = storage_class["provisioner"]
        if annotations.get(STORAGE_PROVISIONER) != driver:
            annotations[STORAGE_PROVISIONER] = annotations[_OLD_STORAGE_PROVISIONER] = driver
            self._context.update(CLAIMS, claim)
            return None
        node = annotations.get(SELECTED_NODE) or ""
        now = self._context.loop.time()
        ready = self._ready.setdefault((meta["uid"], node), now + self._context.options.provision_seconds)
        if now < ready:
            return ready - now
        del self._ready[meta["uid"], node]
        topology = self._topology(node, storage_class)
        if topology is None:
            del annotations[SELECTED_NODE]
            self._context.update(CLAIMS, claim)
            return None
        if self._context.get(VOLUMES, "", f"pvc-{meta['uid']}") is None:
            self._context.create(VOLUMES, _volume(claim, storage_class, topology))
        return None

    def _topology(self, node_name: str, storage_class: Document) -> list[_Topology] | None:
        """Return the topology terms of a volume, an empty list for any topology; None if the node cannot have it."""
        allowed = [
            {each["key"]: list(each["values"]) for each in term.get("matchLabelExpressions") or ()}
            for term in storage_class.get("allowedTopologies") or ()
        ]
        if not node_name:
            return allowed
        node = self._context.find(NODES, "", node_name)
        if node is None:
            return None
        labels = node["metadata"].get("labels") or {}
        if allowed:
            fitting = [term for term in allowed if all(labels.get(key) in values for key, values in term.items())]
            if not fitting:
                return None
            return [{key: [labels[key]] for key in fitting[0]}]
        keys = [key for key in self._topology_keys(node_name, storage_class["provisioner"]) if key in labels]
        return [{key: [labels[key]] for key in keys}] if keys else []

    def _topology_keys(self, node_name: str, driver: str) -> list[str]:
        """Return the topology keys of a driver on a node."""
        csi_node = self._context.find(CSI_NODES, "", node_name) or {}
        for each in (csi_node.get("spec") or {}).get("drivers") or ():
            if each.get("name") == driver:
                return list(each.get("topologyKeys") or ())
        return []


def _volume(claim: Document, storage_class: Document, topology: list[_Topology]) -> Document:
    meta, wanted = claim["metadata"], claim["spec"]
    name, driver = f"pvc-{meta['uid']}", storage_class["provisioner"]
    spec: Document = {
        "capacity": {"storage": wanted["resources"]["requests"]["storage"]},
        "accessModes": wanted["accessModes"],
        "volumeMode": wanted.get("volumeMode") or "Filesystem",
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
        "storageClassName": storage_class["metadata"]["name"],
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
        },
        # names of provisioners that are not CSI drivers may have a slash
        "csi": {"driver": driver.replace("/", ".")[:63], "volumeHandle": name},
    }
    if wanted.get("volumeAttributesClassName"):
        spec["volumeAttributesClassName"] = wanted["volumeAttributesClassName"]
    if storage_class.get("mountOptions"):
        spec["mountOptions"] = storage_class["mountOptions"]
    if topology:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [_term(each) for each in topology]}}
    return {"metadata": {"name": name, "annotations": {PROVISIONED_BY: driver}}, "spec": spec}


def _term(topology: _Topology) -> dict[str, Any]:
    expressions = [{"key": key, "operator": "In", "values": values} for key, values in topology.items()]
    return {"matchExpressions": expressions}
