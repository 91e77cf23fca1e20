"""Keyword builders for storage: `a_claim("c", size="5Gi")`, `a_volume("v", nodes="kubernetes.io/hostname=n1")`.

From the few arguments that matter to a test to API structs, with all other fields as an API server and the persistent
volume controller would set them.
"""

from collections.abc import Iterable, Mapping

from kubesched.api.meta import LabelSelector, ObjectMeta, ObjectReference, OwnerReference, RawQuantity
from kubesched.api.pods import NodeSelector, NodeSelectorTerm, Pod
from kubesched.api.storage import (
    CSIDriver,
    CSIDriverSpec,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    CSIPersistentVolumeSource,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    TopologySelectorLabelRequirement,
    TopologySelectorTerm,
    VolumeAttachment,
    VolumeAttachmentSource,
    VolumeAttachmentSpec,
    VolumeNodeAffinity,
    VolumeNodeResources,
)
from kubesched.api.volumes import EphemeralVolumeSource, PersistentVolumeClaimSpec, Volume, VolumeResourceRequirements
from kubesched.core.cluster.storage.csi_translation import MIGRATED_PLUGINS_ANNOTATION
from kubesched.testing.builders import DELETED_AT
from kubesched.testing.shorthand import SelectorText, label_selector, node_term, several, topology_key

READ_WRITE_ONCE = ("ReadWriteOnce",)


def a_claim(
    name: str = "claim",
    *,
    namespace: str = "default",
    size: RawQuantity | None = "1Gi",
    storage_class: str | None = "local",
    modes: Iterable[str] = READ_WRITE_ONCE,
    selector: SelectorText | None = None,
    volume_mode: str | None = None,
    attributes_class: str | None = None,
    bound_to: str = "",
    selected_node: str | None = None,
    phase: str = "",
    owner: Pod | None = None,
    terminating: bool = False,
    annotations: Mapping[str, str] | None = None,
    version: str = "",
) -> PersistentVolumeClaim:
    """Return a claim; `bound_to` names the volume of a claim whose binding is completed."""
    noted = dict(annotations or {})
    if bound_to:
        noted["pv.kubernetes.io/bind-completed"] = "yes"
    if selected_node is not None:
        noted["volume.kubernetes.io/selected-node"] = selected_node
    requests = {} if size is None else {"storage": size}
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            uid=f"{namespace}-{name}",
            annotations=noted,
            owner_references=(_owner(owner),) if owner is not None else (),
            deletion_timestamp=DELETED_AT if terminating else None,
            resource_version=version,
        ),
        spec=PersistentVolumeClaimSpec(
            access_modes=tuple(modes),
            selector=None if selector is None else a_label_selector(selector),
            resources=VolumeResourceRequirements(requests=requests),
            volume_name=bound_to,
            storage_class_name=storage_class,
            volume_mode=volume_mode,
            volume_attributes_class_name=attributes_class,
        ),
        status=PersistentVolumeClaimStatus(phase=phase or ("Bound" if bound_to else "Pending")),
    )


def a_volume(
    name: str = "volume",
    *,
    size: RawQuantity = "10Gi",
    storage_class: str = "local",
    modes: Iterable[str] = READ_WRITE_ONCE,
    nodes: str | NodeSelectorTerm | Iterable[str | NodeSelectorTerm] | None = None,
    labels: Mapping[str, str] | None = None,
    volume_mode: str | None = None,
    attributes_class: str | None = None,
    claimed_by: str = "",
    claim_uid: str = "",
    phase: str = "Available",
    terminating: bool = False,
    csi: str = "",
    version: str = "",
) -> PersistentVolume:
    """Return a volume.

    `nodes` are the alternative terms of its node affinity, `claimed_by` is `namespace/name`, `csi` is `driver/handle`.
    """
    driver, _, handle = csi.partition("/")
    namespace, _, claim_name = claimed_by.partition("/")
    return PersistentVolume(
        metadata=ObjectMeta(
            name=name,
            uid=name,
            labels=dict(labels or {}),
            deletion_timestamp=DELETED_AT if terminating else None,
            resource_version=version,
        ),
        spec=PersistentVolumeSpec(
            capacity={"storage": size},
            access_modes=tuple(modes),
            storage_class_name=storage_class,
            volume_mode=volume_mode,
            volume_attributes_class_name=attributes_class,
            node_affinity=None if nodes is None else _affinity(nodes),
            csi=CSIPersistentVolumeSource(driver=driver, volume_handle=handle) if csi else None,
            claim_ref=ObjectReference(namespace=namespace, name=claim_name, uid=claim_uid) if claimed_by else None,
        ),
        status=PersistentVolumeStatus(phase=phase),
    )


def a_storage_class(
    name: str = "local",
    *,
    provisioner: str = "kubernetes.io/no-provisioner",
    binding_mode: str | None = "WaitForFirstConsumer",
    allowed: Mapping[str, Iterable[str]] | None = None,
) -> StorageClass:
    """Return a StorageClass; `allowed` maps a topology to the values in which volumes may be provisioned."""
    expressions = tuple(
        TopologySelectorLabelRequirement(key=topology_key(key), values=tuple(values))
        for key, values in (allowed or {}).items()
    )
    return StorageClass(
        metadata=ObjectMeta(name=name),
        provisioner=provisioner,
        volume_binding_mode=binding_mode,
        allowed_topologies=(TopologySelectorTerm(match_label_expressions=expressions),) if expressions else (),
    )


def a_csi_driver(
    name: str = "csi.example.com", *, storage_capacity: bool | None = True, required: bool | None = None
) -> CSIDriver:
    """Return a CSIDriver, by default with capacity tracking; `required` keeps pods off nodes without the driver."""
    spec = CSIDriverSpec(storage_capacity=storage_capacity, prevent_pod_scheduling_if_missing=required)
    return CSIDriver(metadata=ObjectMeta(name=name), spec=spec)


def a_csi_node(name: str, drivers: Mapping[str, int | None] | None = None, *, migrated: Iterable[str] = ()) -> CSINode:
    """Return a CSINode; `drivers` maps a driver to its volume limit or None, `migrated` names in-tree plugins."""
    return CSINode(
        metadata=ObjectMeta(
            name=name, annotations={MIGRATED_PLUGINS_ANNOTATION: ",".join(migrated)} if migrated else {}
        ),
        spec=CSINodeSpec(
            drivers=tuple(
                CSINodeDriver(
                    name=driver, node_id=name, allocatable=None if limit is None else VolumeNodeResources(count=limit)
                )
                for driver, limit in (drivers or {}).items()
            )
        ),
    )


def an_attachment(name: str, *, node: str, volume: str | None, attacher: str = "csi.example.com") -> VolumeAttachment:
    """Return the VolumeAttachment of a persistent volume, or of an inline volume, to a node."""
    return VolumeAttachment(
        metadata=ObjectMeta(name=name),
        spec=VolumeAttachmentSpec(
            attacher=attacher, node_name=node, source=VolumeAttachmentSource(persistent_volume_name=volume)
        ),
    )


def a_storage_pool(
    name: str = "pool",
    *,
    namespace: str = "default",
    storage_class: str = "csi",
    capacity: RawQuantity | None = "100Gi",
    largest: RawQuantity | None = None,
    nodes: SelectorText | None = "",
) -> CSIStorageCapacity:
    """Return the CSIStorageCapacity of a class for the nodes of a selector; an empty text selects all nodes."""
    return CSIStorageCapacity(
        metadata=ObjectMeta(name=name, namespace=namespace),
        storage_class_name=storage_class,
        capacity=capacity,
        maximum_volume_size=largest,
        node_topology=None if nodes is None else a_label_selector(nodes),
    )


def an_ephemeral_volume(name: str = "scratch") -> Volume:
    """Return an ephemeral volume, whose claim is created for the pod."""
    return Volume(name=name, ephemeral=EphemeralVolumeSource())


def a_label_selector(selector: SelectorText) -> LabelSelector:
    """Return the selector; an empty text selects everything."""
    return label_selector(selector) if selector else LabelSelector()


def _affinity(nodes: str | NodeSelectorTerm | Iterable[str | NodeSelectorTerm]) -> VolumeNodeAffinity:
    each: Iterable[str | NodeSelectorTerm] = several(nodes)
    terms = tuple(node_term(term) for term in each)
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))


def _owner(pod: Pod) -> OwnerReference:
    return OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
