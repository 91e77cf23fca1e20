"""The strategy of each kind, by the name of its store, and of subresources with a strategy of their own."""

from kubesched.controlplane.kinds.admission.policies import (
    MutatingAdmissionPolicies,
    PolicyBindings,
    ValidatingAdmissionPolicies,
)
from kubesched.controlplane.kinds.admission.webhooks import WebhookConfigurations
from kubesched.controlplane.kinds.api_services import API_SERVICES, APIServices
from kubesched.controlplane.kinds.certificates import REQUESTS, CertificateSigningRequests
from kubesched.controlplane.kinds.configuration import ConfigMaps, Secrets, ServiceAccounts
from kubesched.controlplane.kinds.device.claims import ResourceClaims, ResourceClaimTemplates
from kubesched.controlplane.kinds.device.slices import DeviceClasses, DeviceTaintRules, ResourceSlices
from kubesched.controlplane.kinds.events import Events
from kubesched.controlplane.kinds.flow_control import LEVELS, SCHEMAS, FlowSchemas, PriorityLevels
from kubesched.controlplane.kinds.job.strategy import CronJobs, Jobs
from kubesched.controlplane.kinds.leases import LeaseCandidates, Leases
from kubesched.controlplane.kinds.namespaces import Namespaces
from kubesched.controlplane.kinds.network.endpoint_slices import EndpointSlices
from kubesched.controlplane.kinds.network.ingresses import IngressClasses, Ingresses, NetworkPolicies
from kubesched.controlplane.kinds.network.service_cidrs import IPAddresses, ServiceCIDRs
from kubesched.controlplane.kinds.network.services import Endpoints, Services
from kubesched.controlplane.kinds.nodes import Nodes
from kubesched.controlplane.kinds.pod.strategy import Pods
from kubesched.controlplane.kinds.pod.subresources import PodEphemeralContainers, PodResize
from kubesched.controlplane.kinds.quota.limit_ranges import LimitRanges
from kubesched.controlplane.kinds.quota.strategy import ResourceQuotas
from kubesched.controlplane.kinds.rbac import STRATEGIES as ROLE_STRATEGIES
from kubesched.controlplane.kinds.volume.claims import PersistentVolumeClaims
from kubesched.controlplane.kinds.volume.classes import (
    CSIDrivers,
    CSINodes,
    CSIStorageCapacities,
    StorageClasses,
    VolumeAttachments,
    VolumeAttributesClasses,
)
from kubesched.controlplane.kinds.volume.volumes import PersistentVolumes
from kubesched.controlplane.kinds.workload.autoscalers import HorizontalPodAutoscalers, RuntimeClasses
from kubesched.controlplane.kinds.workload.disruption_budgets import PodDisruptionBudgets, PriorityClasses
from kubesched.controlplane.kinds.workload.pod_groups import PodGroups, Workloads
from kubesched.controlplane.kinds.workload.replicas import ReplicaSets, ReplicationControllers, StatefulSets
from kubesched.controlplane.kinds.workload.rollouts import ControllerRevisions, DaemonSets, Deployments, PodTemplates
from kubesched.controlplane.registry.strategy import Strategy

_OTHERS: dict[str, Strategy] = {
    "pods": Pods(),
    "pods/resize": PodResize(),
    "pods/ephemeralcontainers": PodEphemeralContainers(),
    "nodes": Nodes(),
    "namespaces": Namespaces(),
    "services": Services(),
    "endpoints": Endpoints(),
    "configmaps": ConfigMaps(),
    "secrets": Secrets(),
    "serviceaccounts": ServiceAccounts(),
    "events": Events(),
    "replicationcontrollers": ReplicationControllers(),
    "replicasets.apps": ReplicaSets(),
    "statefulsets.apps": StatefulSets(),
    "deployments.apps": Deployments(),
    "daemonsets.apps": DaemonSets(),
    "controllerrevisions.apps": ControllerRevisions(),
    "podtemplates": PodTemplates(),
    "jobs.batch": Jobs(),
    "cronjobs.batch": CronJobs(),
    "resourcequotas": ResourceQuotas(),
    "limitranges": LimitRanges(),
    "horizontalpodautoscalers.autoscaling": HorizontalPodAutoscalers(),
    "runtimeclasses.node.k8s.io": RuntimeClasses(),
    "ingresses.networking.k8s.io": Ingresses(),
    "ingressclasses.networking.k8s.io": IngressClasses(),
    "networkpolicies.networking.k8s.io": NetworkPolicies(),
    "endpointslices.discovery.k8s.io": EndpointSlices(),
    "poddisruptionbudgets.policy": PodDisruptionBudgets(),
    "priorityclasses.scheduling.k8s.io": PriorityClasses(),
    "podgroups.scheduling.k8s.io": PodGroups(),
    "workloads.scheduling.k8s.io": Workloads(),
    "leases.coordination.k8s.io": Leases(),
    "leasecandidates.coordination.k8s.io": LeaseCandidates(),
    "persistentvolumes": PersistentVolumes(),
    "persistentvolumeclaims": PersistentVolumeClaims(),
    "storageclasses.storage.k8s.io": StorageClasses(),
    "volumeattributesclasses.storage.k8s.io": VolumeAttributesClasses(),
    "csidrivers.storage.k8s.io": CSIDrivers(),
    "csinodes.storage.k8s.io": CSINodes(),
    "csistoragecapacities.storage.k8s.io": CSIStorageCapacities(),
    "volumeattachments.storage.k8s.io": VolumeAttachments(),
    "deviceclasses.resource.k8s.io": DeviceClasses(),
    "resourceslices.resource.k8s.io": ResourceSlices(),
    "devicetaintrules.resource.k8s.io": DeviceTaintRules(),
    "resourceclaims.resource.k8s.io": ResourceClaims(),
    "resourceclaimtemplates.resource.k8s.io": ResourceClaimTemplates(),
    "validatingwebhookconfigurations.admissionregistration.k8s.io": WebhookConfigurations(mutating=False),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": WebhookConfigurations(mutating=True),
    "validatingadmissionpolicies.admissionregistration.k8s.io": ValidatingAdmissionPolicies(),
    "mutatingadmissionpolicies.admissionregistration.k8s.io": MutatingAdmissionPolicies(),
    **{
        f"{name}admissionpolicybindings.admissionregistration.k8s.io": PolicyBindings(validating=name == "validating")
        for name in ("validating", "mutating")
    },
    API_SERVICES: APIServices(),
    REQUESTS: CertificateSigningRequests(),
    SCHEMAS: FlowSchemas(),
    LEVELS: PriorityLevels(),
    "servicecidrs.networking.k8s.io": ServiceCIDRs(),
    "ipaddresses.networking.k8s.io": IPAddresses(),
}

STRATEGIES: dict[str, Strategy] = {**_OTHERS, **ROLE_STRATEGIES}
