"""The objects that `kubesched up` adds to the manifests: the nodes of pools, and a default StorageClass.

From manifests, and the objects in the store, to more manifests. Existing objects take precedence: beside existing nodes
the added ones get no zones without --zones, and an exported cluster gets no default StorageClass.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubesched.manifests import Manifest
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.volume.claims import DEFAULT_CLASS, OLD_DEFAULT_CLASS
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.up.node_pools import POOL, NodePool

# the name in kind and minikube
STANDARD = "standard"
PROVISIONER = "kubesched.io/simulated"
NODES, CSI_NODES = "nodes", "csinodes.storage.k8s.io"


class AddedObjects:
    """Adds the nodes of pools and a StorageClass; `store` holds the objects of an earlier run."""

    def __init__(self, pools: Sequence[NodePool], store: Store | None = None) -> None:
        self._pools = pools
        self._store = store
        # whether nodes were added without a zone, since --zones is not given
        self.without_zones = False

    def __call__(self, manifests: Sequence[Manifest]) -> list[Manifest]:
        """Return the manifests to load before the given ones."""
        nodes = self._nodes(manifests)
        self.without_zones = any(bool(nodes) and not (pool.zones or pool.like) for pool in self._pools)
        added = [(pool, manifest) for pool in self._pools for manifest in pool.manifests(nodes)]
        return [
            *_storage_classes(manifests, self._store),
            *(manifest for _, manifest in added),
            *_csi_nodes(added, self._found(CSI_NODES, "CSINode", manifests)),
        ]

    def _nodes(self, manifests: Sequence[Manifest]) -> dict[str, Document]:
        """Return the nodes outside of all pools, by name: a pool can be given again with another size."""
        return {
            name: node
            for name, node in self._found(NODES, "Node", manifests).items()
            if POOL not in ((node.get("metadata") or {}).get("labels") or {})
        }

    def _found(self, prefix: str, kind: str, manifests: Iterable[Manifest]) -> dict[str, Document]:
        """Return the objects of a kind in the store and in the manifests, by name."""
        kept = {} if self._store is None else {stored.name: stored.document() for stored in self._store.set_of(prefix)}
        return {**kept, **{each.name: each.document for each in manifests if each.kind == kind}}


def _csi_nodes(added: Iterable[tuple[NodePool, Manifest]], known: Mapping[str, Document]) -> Iterator[Manifest]:
    """Yield the CSINodes of nodes that are copies (--like), with the drivers' volume limits."""
    for pool, manifest in added:
        spec = (known.get(pool.like) or {}).get("spec")
        if isinstance(spec, dict):
            drivers = [{**driver, "nodeID": manifest.name} for driver in spec.get("drivers") or ()]
            document = {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSINode",
                "metadata": {"name": manifest.name},
                "spec": {"drivers": drivers},
            }
            yield Manifest(f"{manifest.place}: CSINode", document)


def _storage_classes(manifests: Sequence[Manifest], store: Store | None) -> Iterator[Manifest]:
    """Yield a default StorageClass, unless there is one, or the objects come from a cluster without one."""
    if any(each.exported for each in manifests) or any(map(_is_default_class, manifests)):
        return
    if store is not None and store.recalled:
        # an earlier run created it; if it does not exist, a user has deleted it
        return
    if any(each.kind == "StorageClass" and each.name == STANDARD for each in manifests):
        return
    document = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": STANDARD, "annotations": {DEFAULT_CLASS: "true"}},
        "provisioner": PROVISIONER,
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    yield Manifest("default storage class", document)


def _is_default_class(manifest: Manifest) -> bool:
    meta = manifest.document.get("metadata")
    annotations = meta.get("annotations") if isinstance(meta, dict) else None
    return (
        manifest.kind == "StorageClass"
        and isinstance(annotations, dict)
        and "true" in (annotations.get(DEFAULT_CLASS), annotations.get(OLD_DEFAULT_CLASS))
    )
