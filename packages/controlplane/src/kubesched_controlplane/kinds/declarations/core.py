"""The kinds of the core group, and events.k8s.io."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.conversion import EventConversion
from kubesched_controlplane.kinds.configuration import ConfigMapStrategy, SecretStrategy, ServiceAccountStrategy
from kubesched_controlplane.kinds.events import EventStrategy
from kubesched_controlplane.kinds.namespaces import NamespaceStrategy
from kubesched_controlplane.kinds.network.endpoints import EndpointsStrategy
from kubesched_controlplane.kinds.network.services import ServiceStrategy
from kubesched_controlplane.kinds.nodes import NodeStrategy
from kubesched_controlplane.kinds.pod.strategy import PodStrategy
from kubesched_controlplane.kinds.pod.subresources import PodEphemeralContainersStrategy, PodResizeStrategy
from kubesched_controlplane.kinds.quota.limit_ranges import LimitRangeStrategy
from kubesched_controlplane.kinds.quota.strategy import ResourceQuotaStrategy
from kubesched_controlplane.kinds.volume.claims import PersistentVolumeClaimStrategy
from kubesched_controlplane.kinds.volume.volumes import PersistentVolumeStrategy
from kubesched_controlplane.kinds.workload.pod_templates import PodTemplateStrategy
from kubesched_controlplane.kinds.workload.replicas import ReplicationControllerStrategy
from kubesched_controlplane.registry.declaration import (
    ALL_BUT_DELETE_COLLECTION,
    CREATE_ONLY,
    PROXY,
    SCALABLE,
    STATUS,
    STREAM,
    Declaration,
    LoadOrder,
)
from kubesched_controlplane.representation.tables.cluster import (
    CONFIG_MAP_PRINTER,
    EVENT_PRINTER,
    NAMESPACE_PRINTER,
    NODE_PRINTER,
    RESOURCE_QUOTA_PRINTER,
    SECRET_PRINTER,
)
from kubesched_controlplane.representation.tables.controllers import REPLICATION_CONTROLLER_PRINTER
from kubesched_controlplane.representation.tables.pods import POD_PRINTER, POD_TEMPLATE_PRINTER
from kubesched_controlplane.representation.tables.printing import aged
from kubesched_controlplane.representation.tables.services import ENDPOINTS_PRINTER, SERVICE_PRINTER
from kubesched_controlplane.representation.tables.storage import (
    PERSISTENT_VOLUME_CLAIM_PRINTER,
    PERSISTENT_VOLUME_PRINTER,
)

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource(
            "",
            "v1",
            "pods",
            "Pod",
            short_names=("po",),
            categories=("all",),
            subresources={
                **STATUS,
                **PROXY,
                "attach": STREAM,
                "binding": ("create",),
                "ephemeralcontainers": ("get", "patch", "update"),
                "eviction": ("create",),
                "exec": STREAM,
                "log": ("get",),
                "portforward": STREAM,
                "resize": ("get", "patch", "update"),
            },
            printer=POD_PRINTER,
        ),
        "is scheduled, and run by simulated nodes: it becomes ready, ends, is evicted by taints",
        PodStrategy(),
        subresource_strategies={"resize": PodResizeStrategy(), "ephemeralcontainers": PodEphemeralContainersStrategy()},
        load_order=LoadOrder.PODS,
    ),
    Declaration(
        Resource("", "v1", "bindings", "Binding", verbs=CREATE_ONLY),
        "binds a pod to a node",
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "nodes",
            "Node",
            namespaced=False,
            short_names=("no",),
            subresources={**STATUS, **PROXY},
            printer=NODE_PRINTER,
        ),
        "is simulated: it becomes ready, is tainted by its conditions and runs pods",
        NodeStrategy(),
        load_order=LoadOrder.NODES,
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "namespaces",
            "Namespace",
            namespaced=False,
            short_names=("ns",),
            verbs=ALL_BUT_DELETE_COLLECTION,
            subresources={**STATUS, "finalize": ("update",)},
            printer=NAMESPACE_PRINTER,
        ),
        "is deleted with its objects",
        NamespaceStrategy(),
        load_order=LoadOrder.NAMESPACES,
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "services",
            "Service",
            short_names=("svc",),
            categories=("all",),
            subresources={**STATUS, **PROXY},
            printer=SERVICE_PRINTER,
        ),
        "gets an address and node ports; there is no network behind them",
        ServiceStrategy(),
        load_order=LoadOrder.SERVICES,
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "endpoints",
            "Endpoints",
            short_names=("ep",),
            printer=ENDPOINTS_PRINTER,
            warnings=("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",),
        ),
        "has the pods of a service; Endpoints written by users are mirrored as slices",
        EndpointsStrategy(),
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "replicationcontrollers",
            "ReplicationController",
            short_names=("rc",),
            categories=("all",),
            subresources=SCALABLE,
            printer=REPLICATION_CONTROLLER_PRINTER,
        ),
        "keeps up its number of pods",
        ReplicationControllerStrategy(),
        load_order=LoadOrder.POD_OWNERS,
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "persistentvolumes",
            "PersistentVolume",
            namespaced=False,
            short_names=("pv",),
            subresources=STATUS,
            printer=PERSISTENT_VOLUME_PRINTER,
        ),
        "is bound to a claim, released, reclaimed; protected while in use",
        PersistentVolumeStrategy(),
        load_order=LoadOrder.VOLUMES,
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            short_names=("pvc",),
            subresources=STATUS,
            printer=PERSISTENT_VOLUME_CLAIM_PRINTER,
        ),
        "is bound, or provisioned by its storage class; protected while in use",
        PersistentVolumeClaimStrategy(),
        load_order=LoadOrder.CLAIMS,
    ),
    Declaration(
        Resource("", "v1", "configmaps", "ConfigMap", short_names=("cm",), printer=CONFIG_MAP_PRINTER),
        "kept",
        ConfigMapStrategy(),
        load_order=LoadOrder.CONFIGURATION,
    ),
    Declaration(
        Resource("", "v1", "secrets", "Secret", printer=SECRET_PRINTER),
        "kept; a Secret that requests the token of an account gets it",
        SecretStrategy(),
        load_order=LoadOrder.CONFIGURATION,
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "serviceaccounts",
            "ServiceAccount",
            short_names=("sa",),
            subresources={"token": ("create",)},
            printer=aged,
        ),
        "every namespace has `default`; pods get its token volume, and the server accepts its tokens",
        ServiceAccountStrategy(),
        load_order=LoadOrder.CONFIGURATION,
    ),
    Declaration(
        Resource("", "v1", "podtemplates", "PodTemplate", printer=POD_TEMPLATE_PRINTER),
        "kept",
        PodTemplateStrategy(),
    ),
    Declaration(
        Resource(
            "",
            "v1",
            "resourcequotas",
            "ResourceQuota",
            short_names=("quota",),
            subresources=STATUS,
            printer=RESOURCE_QUOTA_PRINTER,
        ),
        "is counted, and applied at admission",
        ResourceQuotaStrategy(),
    ),
    Declaration(
        Resource("", "v1", "limitranges", "LimitRange", short_names=("limits",)),
        "is applied at admission",
        LimitRangeStrategy(),
        load_order=LoadOrder.CONFIGURATION,
    ),
    Declaration(
        Resource("", "v1", "events", "Event", short_names=("ev",), printer=EVENT_PRINTER),
        "kept; does not expire",
        EventStrategy(),
    ),
    Declaration(
        Resource(
            "events.k8s.io",
            "v1",
            "events",
            "Event",
            short_names=("ev",),
            same_prefix_as="events",
            conversion=EventConversion(),
            printer=EVENT_PRINTER,
        ),
        "the same objects as the Events of v1",
    ),
)
