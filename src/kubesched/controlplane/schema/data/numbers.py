"""The numbers of fields in Protocol Buffers, where fields were added out of order or have gone.

Each line has the numbers of a type's fields in the order in which the fields stand in its shape; a type that is
embedded counts as one. All other types number their fields from one on.
"""

# upstream: api/*/*/generated.proto, apimachinery/pkg/apis/meta/v1/generated.proto (v1.36)

NUMBERS: tuple[tuple[str, str], ...] = (
    (
        "meta.k8s.io/v1",
        """
ObjectMeta: 1-14 17
OwnerReference: 5 1 3 4 6 7
ManagedFieldsEntry: 1-4 6-8
StatusDetails: 1-3 6 4 5
""",
    ),
    (
        "v1",
        """
PodSpec: 1 20 2 34 3-9 21 10-13 27 14-19 22-26 28-33 35-41 43
PodSecurityContext: 1 8 2 6 3 4 12 5 7 9-11 13
PodResourceClaim: 1 3 4
PodStatus: 17 1-4 11 5 16 6 12 7 10 8 9 13-15 18-21
PodCondition: 1 7 2-6
ResourceHealth: 1 2 6
Container: 1-6 19 7 8 23-25 9 21 10 11 22 12 13 20 14-18
EphemeralContainerCommon: 1-6 19 7 8 23-25 9 21 10 11 22 12 13 20 14-18
VolumeMount: 1 2 7 3-6
SecurityContext: 1-3 10 4 8 5-7 9 11 12
VolumeSource: 1-23 26 24 25 27-30
ISCSIVolumeSource: 1-8 11 10 12
ISCSIPersistentVolumeSource: 1-8 11 10 12
SecretProjection: 1 2 4
ConfigMapProjection: 1 2 4
ClusterTrustBundleProjection: 1-3 5 4
PersistentVolumeClaimSpec: 1 4 2 3 5-9
PersistentVolumeClaimStatus: 1-5 7-9
NodeSpec: 1 7 3-6 2
NodeConfigSource: 2
NamespaceCondition: 1 2 4-6
ServiceSpec: 1-3 18 4 5 7-14 19 17 20-23
ServicePort: 1 2 6 3-5
EndpointAddress: 1 3 4 2
ReplicationControllerSpec: 1 4 2 3
ReplicationControllerStatus: 1 2 4 5 3 6
ConfigMap: 1 4 2 3
Secret: 1 5 2 4 3
""",
    ),
    (
        "apps/v1",
        """
ReplicaSetSpec: 1 4 2 3
ReplicaSetStatus: 1 2 4 5 7 3 6
StatefulSetStatus: 1-7 9-11
DeploymentSpec: 1-7 9
DeploymentStatus: 1-3 7 4 5 9 6 8
DeploymentCondition: 1 2 6 7 4 5
DaemonSetSpec: 1-4 6
""",
    ),
    (
        "autoscaling/v2",
        """
HPAScalingRules: 3 1 2 4
MetricSpec: 1-4 7 5
MetricStatus: 1-4 7 5
""",
    ),
    (
        "batch/v1",
        """
JobSpec: 1-3 11 16 7 12 13 4-6 8-10 14 15
JobStatus: 1-6 11 7 10 8 9
CronJobSpec: 1 8 2-7
CronJobStatus: 1 4 5
""",
    ),
    (
        "networking.k8s.io/v1",
        """
IngressSpec: 4 1-3
HTTPIngressPath: 1 3 2
IngressBackend: 4 3
IngressLoadBalancerIngress: 1 2 4
""",
    ),
    (
        "resource.k8s.io/v1",
        """
DeviceClassSpec: 1 2 4
ResourceClaimStatus: 1 2 4
AllocationResult: 1 3 5
ResourceClaimConsumerReference: 1 3-5
AllocatedDeviceStatus: 1-3 7 4-6
DeviceAttribute: 2-9
CapacityRequestPolicy: 1 3 4
""",
    ),
    ("resource.k8s.io/v1beta2", "DeviceTaintSelector: 2-4"),
    ("discovery.k8s.io/v1", "EndpointSlice: 1 4 2 3"),
    (
        "admissionregistration.k8s.io/v1",
        """
ValidatingWebhook: 1-4 9 5 10 6-8 11
MutatingWebhook: 1-4 9 5 11 6-8 10 12
WebhookClientConfig: 3 1 2
ExpressionWarning: 2 3
MatchResources: 1-4 7
Mutation: 2-4
""",
    ),
    ("apiregistration.k8s.io/v1", "APIServiceSpec: 1-5 7 8"),
    (
        "certificates.k8s.io/v1",
        """
CertificateSigningRequestSpec: 1 7 8 5 2-4 6
CertificateSigningRequestCondition: 1 6 2-5
""",
    ),
    ("flowcontrol.apiserver.k8s.io/v1", "NonResourcePolicyRule: 1 6"),
    (
        "apiextensions.k8s.io/v1",
        """
CustomResourceDefinitionSpec: 1 3 4 7 9 10
CustomResourceDefinitionVersion: 1-3 7 8 4-6 9
WebhookConversion: 2 3
WebhookClientConfig: 3 1 2
""",
    ),
    ("authentication.k8s.io/v1", "TokenReviewStatus: 1 2 4 3\nTokenRequestSpec: 1 4 3"),
    ("authorization.k8s.io/v1", "SubjectAccessReviewStatus: 1 4 2 3"),
)
