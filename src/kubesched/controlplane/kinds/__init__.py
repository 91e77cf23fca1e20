"""The strategy of each kind, by the name of its store, and of subresources with a strategy of their own."""

from kubesched.controlplane.kinds.admission.policies import (
    MutatingAdmissionPolicyStrategy,
    PolicyBindingStrategy,
    ValidatingAdmissionPolicyStrategy,
)
from kubesched.controlplane.kinds.admission.webhooks import WebhookConfigurationStrategy
from kubesched.controlplane.kinds.api_services import API_SERVICES, APIServiceStrategy
from kubesched.controlplane.kinds.certificates import REQUESTS, CertificateSigningRequestStrategy
from kubesched.controlplane.kinds.configuration import ConfigMapStrategy, SecretStrategy, ServiceAccountStrategy
from kubesched.controlplane.kinds.device.claims import ResourceClaimStrategy, ResourceClaimTemplateStrategy
from kubesched.controlplane.kinds.device.slices import (
    DeviceClassStrategy,
    DeviceTaintRuleStrategy,
    ResourceSliceStrategy,
)
from kubesched.controlplane.kinds.events import EventStrategy
from kubesched.controlplane.kinds.flow_control import LEVELS, SCHEMAS, FlowSchemaStrategy, PriorityLevelStrategy
from kubesched.controlplane.kinds.job.strategy import CronJobStrategy, JobStrategy
from kubesched.controlplane.kinds.leases import LeaseCandidateStrategy, LeaseStrategy
from kubesched.controlplane.kinds.namespaces import NamespaceStrategy
from kubesched.controlplane.kinds.network.endpoint_slices import EndpointSliceStrategy
from kubesched.controlplane.kinds.network.ingresses import IngressClassStrategy, IngressStrategy, NetworkPolicyStrategy
from kubesched.controlplane.kinds.network.service_cidrs import IPAddressStrategy, ServiceCIDRStrategy
from kubesched.controlplane.kinds.network.services import EndpointsStrategy, ServiceStrategy
from kubesched.controlplane.kinds.nodes import NodeStrategy
from kubesched.controlplane.kinds.pod.strategy import PodStrategy
from kubesched.controlplane.kinds.pod.subresources import PodEphemeralContainersStrategy, PodResizeStrategy
from kubesched.controlplane.kinds.priority_classes import PriorityClassStrategy
from kubesched.controlplane.kinds.quota.limit_ranges import LimitRangeStrategy
from kubesched.controlplane.kinds.quota.strategy import ResourceQuotaStrategy
from kubesched.controlplane.kinds.rbac import STRATEGIES as ROLE_STRATEGIES
from kubesched.controlplane.kinds.runtime_classes import RuntimeClassStrategy
from kubesched.controlplane.kinds.volume.claims import PersistentVolumeClaimStrategy
from kubesched.controlplane.kinds.volume.classes import (
    CSIDriverStrategy,
    CSINodeStrategy,
    CSIStorageCapacityStrategy,
    StorageClassStrategy,
    VolumeAttachmentStrategy,
    VolumeAttributesClassStrategy,
)
from kubesched.controlplane.kinds.volume.volumes import PersistentVolumeStrategy
from kubesched.controlplane.kinds.workload.autoscalers import HorizontalPodAutoscalerStrategy
from kubesched.controlplane.kinds.workload.disruption_budgets import PodDisruptionBudgetStrategy
from kubesched.controlplane.kinds.workload.pod_groups import PodGroupStrategy, WorkloadStrategy
from kubesched.controlplane.kinds.workload.pod_templates import PodTemplateStrategy
from kubesched.controlplane.kinds.workload.replicas import (
    ReplicaSetStrategy,
    ReplicationControllerStrategy,
    StatefulSetStrategy,
)
from kubesched.controlplane.kinds.workload.rollouts import (
    ControllerRevisionStrategy,
    DaemonSetStrategy,
    DeploymentStrategy,
)
from kubesched.controlplane.registry.strategy import Strategy

_OTHERS: dict[str, Strategy] = {
    "pods": PodStrategy(),
    "pods/resize": PodResizeStrategy(),
    "pods/ephemeralcontainers": PodEphemeralContainersStrategy(),
    "nodes": NodeStrategy(),
    "namespaces": NamespaceStrategy(),
    "services": ServiceStrategy(),
    "endpoints": EndpointsStrategy(),
    "configmaps": ConfigMapStrategy(),
    "secrets": SecretStrategy(),
    "serviceaccounts": ServiceAccountStrategy(),
    "events": EventStrategy(),
    "replicationcontrollers": ReplicationControllerStrategy(),
    "replicasets.apps": ReplicaSetStrategy(),
    "statefulsets.apps": StatefulSetStrategy(),
    "deployments.apps": DeploymentStrategy(),
    "daemonsets.apps": DaemonSetStrategy(),
    "controllerrevisions.apps": ControllerRevisionStrategy(),
    "podtemplates": PodTemplateStrategy(),
    "jobs.batch": JobStrategy(),
    "cronjobs.batch": CronJobStrategy(),
    "resourcequotas": ResourceQuotaStrategy(),
    "limitranges": LimitRangeStrategy(),
    "horizontalpodautoscalers.autoscaling": HorizontalPodAutoscalerStrategy(),
    "runtimeclasses.node.k8s.io": RuntimeClassStrategy(),
    "ingresses.networking.k8s.io": IngressStrategy(),
    "ingressclasses.networking.k8s.io": IngressClassStrategy(),
    "networkpolicies.networking.k8s.io": NetworkPolicyStrategy(),
    "endpointslices.discovery.k8s.io": EndpointSliceStrategy(),
    "poddisruptionbudgets.policy": PodDisruptionBudgetStrategy(),
    "priorityclasses.scheduling.k8s.io": PriorityClassStrategy(),
    "podgroups.scheduling.k8s.io": PodGroupStrategy(),
    "workloads.scheduling.k8s.io": WorkloadStrategy(),
    "leases.coordination.k8s.io": LeaseStrategy(),
    "leasecandidates.coordination.k8s.io": LeaseCandidateStrategy(),
    "persistentvolumes": PersistentVolumeStrategy(),
    "persistentvolumeclaims": PersistentVolumeClaimStrategy(),
    "storageclasses.storage.k8s.io": StorageClassStrategy(),
    "volumeattributesclasses.storage.k8s.io": VolumeAttributesClassStrategy(),
    "csidrivers.storage.k8s.io": CSIDriverStrategy(),
    "csinodes.storage.k8s.io": CSINodeStrategy(),
    "csistoragecapacities.storage.k8s.io": CSIStorageCapacityStrategy(),
    "volumeattachments.storage.k8s.io": VolumeAttachmentStrategy(),
    "deviceclasses.resource.k8s.io": DeviceClassStrategy(),
    "resourceslices.resource.k8s.io": ResourceSliceStrategy(),
    "devicetaintrules.resource.k8s.io": DeviceTaintRuleStrategy(),
    "resourceclaims.resource.k8s.io": ResourceClaimStrategy(),
    "resourceclaimtemplates.resource.k8s.io": ResourceClaimTemplateStrategy(),
    "validatingwebhookconfigurations.admissionregistration.k8s.io": WebhookConfigurationStrategy(mutating=False),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": WebhookConfigurationStrategy(mutating=True),
    "validatingadmissionpolicies.admissionregistration.k8s.io": ValidatingAdmissionPolicyStrategy(),
    "mutatingadmissionpolicies.admissionregistration.k8s.io": MutatingAdmissionPolicyStrategy(),
    **{
        f"{name}admissionpolicybindings.admissionregistration.k8s.io": PolicyBindingStrategy(
            validating=name == "validating"
        )
        for name in ("validating", "mutating")
    },
    API_SERVICES: APIServiceStrategy(),
    REQUESTS: CertificateSigningRequestStrategy(),
    SCHEMAS: FlowSchemaStrategy(),
    LEVELS: PriorityLevelStrategy(),
    "servicecidrs.networking.k8s.io": ServiceCIDRStrategy(),
    "ipaddresses.networking.k8s.io": IPAddressStrategy(),
}

STRATEGIES: dict[str, Strategy] = {**_OTHERS, **ROLE_STRATEGIES}
