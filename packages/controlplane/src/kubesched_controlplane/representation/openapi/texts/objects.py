"""What all other kinds and their parts are for."""

TEXTS = """
ObjectMeta: What every object has: names, labels, owners, times.
ObjectMeta.name: The name, unique among objects of the kind in a namespace. It cannot be changed.
ObjectMeta.generateName: The beginning of a name whose end is made up; used when no name is given.
ObjectMeta.namespace: The namespace that the object is in; default if none is given. It cannot be changed.
ObjectMeta.uid: What tells this object from all others, those of the same name at other times included.
ObjectMeta.resourceVersion: Which state of the object this is; a write that names it is refused if there is a newer
    one.
ObjectMeta.generation: Counts the changes of what is wanted of the object.
ObjectMeta.creationTimestamp: CreationTimestamp is a timestamp of when the object was created.
ObjectMeta.deletionTimestamp: When the object goes. It is there while something is still to be done before that.
ObjectMeta.deletionGracePeriodSeconds: How many seconds the object has before it goes.
ObjectMeta.labels: Names and values by which objects are selected.
ObjectMeta.annotations: Names and values for tools and people to keep what they like.
ObjectMeta.ownerReferences: Objects that this one depends on. When all of them are gone, it goes, too.
ObjectMeta.finalizers: What is still to be done before the object may go; each is removed by whoever does it.
ObjectMeta.managedFields: Who owns which fields, for those who apply.
OwnerReference.controller: Whether the owner is the one that controls the object.
OwnerReference.blockOwnerDeletion: Whether the owner waits for this object when it is deleted in the foreground.
LabelSelector: Selects objects by their labels; all requirements must be met.
LabelSelector.matchLabels: Labels and the values they must have.
LabelSelector.matchExpressions: Requirements on labels.
LabelSelectorRequirement.operator: In, NotIn, Exists or DoesNotExist.
DeleteOptions: How something is deleted.
DeleteOptions.gracePeriodSeconds: How many seconds the object goes on; 0 removes it at once.
DeleteOptions.propagationPolicy: What becomes of those it owns: Orphan, Background or Foreground.
Status: What the server says of a request that it could not, or need not, answer with an object.

Node: A Node is a machine that runs pods.
NodeSpec.unschedulable: Keeps new pods away. kubectl cordon sets it.
NodeSpec.taints: Keep pods away that do not bear them.
NodeSpec.podCIDR: The addresses of the node's pods.
NodeSpec.providerID: What the cloud calls the machine.
Taint.effect: NoSchedule, PreferNoSchedule, or NoExecute, which also makes pods leave.
NodeStatus.capacity: All that the node has.
NodeStatus.allocatable: What of it pods can have.
NodeStatus.addresses: Where the node is reached.
NodeStatus.nodeInfo: The versions of what runs on the node.
NodeStatus.images: Images that are on the node.
Namespace: A Namespace is a room for names: objects in one do not meet those in others.
NamespaceStatus.phase: Active or Terminating.
Service: A Service is an address under which pods are reached, whichever they are at the moment.
ServiceSpec.selector: The labels of the pods that are meant.
ServiceSpec.ports: The ports of the service, and those of the pods behind them.
ServiceSpec.clusterIP: The address in the cluster; None for a service without one.
ServiceSpec.type: ClusterIP (the default), NodePort, LoadBalancer or ExternalName.
ServicePort.port: The port of the service.
ServicePort.targetPort: The port of the pods, by number or by name.
ServicePort.nodePort: The port on every node, for types NodePort and LoadBalancer.
Endpoints: Endpoints are the addresses behind a service.
EndpointSlice: An EndpointSlice is a part of the addresses behind a service.
EndpointSlice.addressType: IPv4, IPv6 or FQDN. It cannot be changed.
EndpointSlice.endpoints: The addresses, with what is known of those who are there.
EndpointSlice.ports: The ports that all of them have.
Endpoint.addresses: Where the endpoint is reached; each of them leads to the same.
Endpoint.nodeName: The node that the endpoint is on.
Endpoint.zone: The zone that the endpoint is in.
Endpoint.hints: For whom the endpoint is meant first.
ValidatingWebhookConfiguration: A ValidatingWebhookConfiguration names those who are asked whether a request may
    change something.
MutatingWebhookConfiguration: A MutatingWebhookConfiguration names those who may change what a request brings.
ValidatingWebhookConfiguration.webhooks: Who is asked about what.
MutatingWebhookConfiguration.webhooks: Who is asked about what.
WebhookClientConfig.service: The service that is asked.
WebhookClientConfig.url: Where to ask, if it is no service of the cluster.
WebhookClientConfig.caBundle: Who has to have signed the certificate of whoever is asked.
Rule.scope: Cluster, Namespaced, or * for both.
ConfigMap: A ConfigMap keeps configuration for pods.
ConfigMap.data: Names and texts.
ConfigMap.binaryData: Names and bytes.
ConfigMap.immutable: Whether it can never be changed again.
Secret: A Secret keeps what not everybody should see.
Secret.data: Names and bytes, in base64.
Secret.stringData: Names and texts, which are written into data. It is never shown.
Secret.type: What kind of secret it is, for programs.
ServiceAccount: A ServiceAccount is a name under which pods speak to the API.
Event: An Event tells of something that happened to an object. Events do not last.
LimitRange: A LimitRange says what pods of a namespace may request and get by default.
ResourceQuota: A ResourceQuota limits what all of a namespace may use.
ResourceQuotaSpec.hard: The limits, by resource.
ResourceQuotaStatus.used: What is used of them.
PodTemplate: A PodTemplate is a pod to make copies of.
ReplicationController: A ReplicationController keeps a number of pods; a ReplicaSet is its successor.
PersistentVolume: A PersistentVolume is storage that outlives pods.
PersistentVolumeSpec.capacity: How much there is.
PersistentVolumeSpec.accessModes: How it can be mounted.
PersistentVolumeSpec.claimRef: The claim that has it.
PersistentVolumeSpec.persistentVolumeReclaimPolicy: What becomes of it when its claim is gone: Retain, Delete or
    Recycle.
PersistentVolumeSpec.storageClassName: Its storage class.
PersistentVolumeSpec.nodeAffinity: The nodes from which it can be reached.
PersistentVolumeClaim: A PersistentVolumeClaim asks for storage.
PersistentVolumeClaimSpec.accessModes: How it is to be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or
    ReadWriteOncePod.
PersistentVolumeClaimSpec.resources: How much is needed, under requests.storage.
PersistentVolumeClaimSpec.storageClassName: The class of storage; that of the cluster by default.
PersistentVolumeClaimSpec.volumeName: The volume that it is bound to.
PersistentVolumeClaimSpec.volumeMode: Filesystem (the default) or Block.
PersistentVolumeClaimStatus.phase: Pending, Bound or Lost.

Deployment: A Deployment keeps a number of pods, and replaces them step by step when their template changes.
DeploymentSpec.replicas: How many pods there should be; 1 by default.
DeploymentSpec.selector: The labels of its pods. It cannot be changed.
DeploymentSpec.template: The pod that it makes copies of.
DeploymentSpec.strategy: How pods are replaced.
DeploymentSpec.minReadySeconds: How long a pod must be ready before it counts as available.
DeploymentSpec.revisionHistoryLimit: How many old revisions are kept to go back to; 10 by default.
DeploymentSpec.paused: Whether changes of the template wait.
DeploymentSpec.progressDeadlineSeconds: After how many seconds without progress it counts as failed; 600 by default.
DeploymentStrategy.type: RollingUpdate (the default) or Recreate.
RollingUpdateDeployment.maxSurge: How many pods more than wanted there may be meanwhile; 25% by default.
RollingUpdateDeployment.maxUnavailable: How many pods may be missing meanwhile; 25% by default.
ReplicaSet: A ReplicaSet keeps a number of pods.
ReplicaSetSpec.replicas: How many pods there should be; 1 by default.
ReplicaSetSpec.selector: The labels of its pods.
ReplicaSetSpec.template: The pod that it makes copies of.
StatefulSet: A StatefulSet keeps pods that are told apart: each has a name, a number and storage of its own.
StatefulSetSpec.serviceName: The service under which its pods have names.
StatefulSetSpec.replicas: How many pods there should be; 1 by default.
StatefulSetSpec.volumeClaimTemplates: Claims that every pod gets one of.
StatefulSetSpec.podManagementPolicy: OrderedReady (the default), one after the other, or Parallel.
StatefulSetSpec.updateStrategy: How pods are replaced when the template changes.
DaemonSet: A DaemonSet runs a pod on every node that suits.
DaemonSetSpec.template: The pod that it makes copies of.
DaemonSetSpec.updateStrategy: How pods are replaced when the template changes.
ControllerRevision: A ControllerRevision keeps an earlier state of a controller, to go back to.
Job: A Job runs pods until enough of them have succeeded.
JobSpec.parallelism: How many pods may run at a time; 1 by default.
JobSpec.completions: How many pods must succeed.
JobSpec.backoffLimit: How many pods may fail before the job does; 6 by default.
JobSpec.activeDeadlineSeconds: How many seconds the job may take.
JobSpec.ttlSecondsAfterFinished: How many seconds after its end the job is deleted.
JobSpec.completionMode: NonIndexed (the default), or Indexed, where every pod has a number.
JobSpec.suspend: Whether the job waits, without pods.
JobSpec.template: The pod that it makes copies of.
CronJob: A CronJob starts jobs by the clock.
CronJobSpec.schedule: When: minute, hour, day of the month, month, day of the week.
CronJobSpec.timeZone: The time zone of the schedule.
CronJobSpec.concurrencyPolicy: What happens while an earlier job runs: Allow (the default), Forbid or Replace.
CronJobSpec.suspend: Whether no further jobs are started.
CronJobSpec.jobTemplate: The job that is started.
HorizontalPodAutoscaler: A HorizontalPodAutoscaler changes the number of pods by what is measured.
Scale: A Scale is the number of pods of a controller.
ScaleSpec.replicas: How many pods there should be.
PodDisruptionBudget: A PodDisruptionBudget limits how many pods may be taken away at a time by evictions.
PodDisruptionBudgetSpec.selector: The labels of the pods that are meant.
PodDisruptionBudgetSpec.minAvailable: How many pods must stay, as a number or a percentage.
PodDisruptionBudgetSpec.maxUnavailable: How many pods may be missing, as a number or a percentage.
PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy: Which pods that are not ready may go: IfHealthyBudget (the
    default) or AlwaysAllow.
PodDisruptionBudgetStatus.disruptionsAllowed: How many pods may go right now.
Eviction: An Eviction asks a pod to go, if its disruption budget can bear it.

PriorityClass: A PriorityClass gives a name to how important pods are.
PriorityClass.value: How important: the higher, the more.
PriorityClass.globalDefault: Whether pods without a class have this one.
PriorityClass.preemptionPolicy: Whether pods of the class may have less important ones removed: PreemptLowerPriority
    or Never.
PodGroup: A PodGroup is pods that are scheduled together or not at all.
Workload: A Workload says which groups of pods belong together.
NodeMetrics: NodeMetrics say what the pods of a node use.
PodMetrics: PodMetrics say what the containers of a pod use.
Lease: A Lease is held by one at a time, for as long as he renews it.
LeaseCandidate: A LeaseCandidate stands for election to a lease.
LeaseSpec.holderIdentity: Who holds it.
LeaseSpec.leaseDurationSeconds: After how many seconds without a renewal others may take it.
LeaseSpec.renewTime: When it was last renewed.
StorageClass: A StorageClass says how volumes are made for claims.
StorageClass.provisioner: Who makes the volumes.
StorageClass.volumeBindingMode: When claims are bound: Immediate (the default) or WaitForFirstConsumer.
StorageClass.allowVolumeExpansion: Whether claims can grow.
CSINode: A CSINode lists the CSI drivers on a node.
CSIDriver: A CSIDriver says what a driver of storage can do.
CSIStorageCapacity: A CSIStorageCapacity says how much storage there is where.
VolumeAttachment: A VolumeAttachment ties a volume to a node.
VolumeAttributesClass: A VolumeAttributesClass gives a name to properties of volumes that can be changed.
DeviceClass: A DeviceClass gives a name to a kind of devices.
ResourceClaim: A ResourceClaim asks for devices.
ResourceClaimSpec.devices: Which devices, how many, and with which properties.
ResourceClaimStatus.allocation: The devices that it got.
ResourceClaimStatus.reservedFor: The pods that may use them.
ResourceClaimTemplate: A ResourceClaimTemplate is a claim that every pod gets one of.
ResourceSlice: A ResourceSlice lists devices that a driver offers.
DeviceTaintRule: A DeviceTaintRule puts a taint on devices.
Role: A Role allows things to be done in a namespace.
ClusterRole: A ClusterRole allows things to be done anywhere.
RoleBinding: A RoleBinding gives a role to users, groups or service accounts in a namespace.
ClusterRoleBinding: A ClusterRoleBinding gives a role to users, groups or service accounts everywhere.
PolicyRule.verbs: What may be done; * is everything.
PolicyRule.resources: With which resources.
PolicyRule.apiGroups: In which groups; the empty text is the core group.
PolicyRule.resourceNames: With which objects only.
TokenReview: A TokenReview asks whose token something is.
SubjectAccessReview: A SubjectAccessReview asks whether somebody may do something.
SelfSubjectAccessReview: A SelfSubjectAccessReview asks whether one may do something oneself.
SelfSubjectRulesReview: A SelfSubjectRulesReview asks what one may do in a namespace.
LocalSubjectAccessReview: A LocalSubjectAccessReview asks whether somebody may do something in a namespace.
SelfSubjectReview: A SelfSubjectReview asks who one is.
Ingress: An Ingress leads requests from outside to services.
IngressClass: An IngressClass says who sees to ingresses.
NetworkPolicy: A NetworkPolicy says who may speak to which pods.
CustomResourceDefinition: A CustomResourceDefinition defines a kind of objects, which is then served like any other.
CustomResourceDefinitionSpec.group: The group of the kind.
CustomResourceDefinitionSpec.names: What the kind is called.
CustomResourceDefinitionSpec.scope: Namespaced or Cluster.
CustomResourceDefinitionSpec.versions: The versions of the kind; objects are stored in one of them.
CustomResourceDefinitionSpec.conversion: How objects get from one version to another.
CustomResourceDefinitionNames.plural: The name in paths.
CustomResourceDefinitionNames.singular: The name of one.
CustomResourceDefinitionNames.shortNames: Shorter names for people to type.
CustomResourceDefinitionNames.kind: What objects say they are.
CustomResourceDefinitionNames.listKind: What lists of them say they are.
CustomResourceDefinitionNames.categories: Names under which objects of several kinds are listed together.
CustomResourceDefinitionVersion.served: Whether the version is served.
CustomResourceDefinitionVersion.storage: Whether objects are stored in the version.
CustomResourceDefinitionVersion.schema: What objects consist of.
CustomResourceDefinitionVersion.subresources: Whether the status, and the scale, have a path of their own.
CustomResourceDefinitionVersion.additionalPrinterColumns: What is shown in tables besides the name.
CustomResourceDefinitionVersion.selectableFields: The fields that selectors may ask about.
CustomResourceValidation.openAPIV3Schema: The schema of objects, a structural one.
RuntimeClass: A RuntimeClass gives a name to a way of running containers.

ValidatingAdmissionPolicy: A ValidatingAdmissionPolicy says in expressions which objects are accepted.
ValidatingAdmissionPolicySpec.paramKind: The kind of the objects that hold its parameters.
ValidatingAdmissionPolicySpec.matchConstraints: The requests that it is about.
ValidatingAdmissionPolicySpec.matchConditions: Expressions that must all be true for a request to be looked at.
ValidatingAdmissionPolicySpec.variables: Expressions with names, for use in those behind them.
ValidatingAdmissionPolicySpec.validations: Expressions that must be true of an object.
ValidatingAdmissionPolicySpec.auditAnnotations: Expressions for the audit log.
ValidatingAdmissionPolicySpec.failurePolicy: Fail or Ignore, for expressions that cannot be evaluated.
Validation.expression: What must be true. It may name object, oldObject, request, params, namespaceObject, variables
    and authorizer.
Validation.message: What is said of an object for which it is not.
Validation.messageExpression: The same, as an expression.
ValidatingAdmissionPolicyBinding: A ValidatingAdmissionPolicyBinding puts a policy to work.
ValidatingAdmissionPolicyBindingSpec.policyName: The policy.
ValidatingAdmissionPolicyBindingSpec.paramRef: The objects with its parameters.
ValidatingAdmissionPolicyBindingSpec.matchResources: The requests that it is put to work for, among those of the policy.
ValidatingAdmissionPolicyBindingSpec.validationActions: What follows for objects that fail: Deny, Warn or Audit.
MutatingAdmissionPolicy: A MutatingAdmissionPolicy says in expressions how objects are changed.
MutatingAdmissionPolicySpec.mutations: The changes.
MutatingAdmissionPolicyBinding: A MutatingAdmissionPolicyBinding puts a policy to work.
APIService: An APIService says who serves a version of a group.
APIServiceSpec.service: The server behind this one; none for what is served here.
CertificateSigningRequest: A CertificateSigningRequest asks for a certificate.
CertificateSigningRequestSpec.request: What is asked for, in PEM.
CertificateSigningRequestSpec.signerName: Who shall sign it.
CertificateSigningRequestSpec.usages: What the certificate is for.
FlowSchema: A FlowSchema says which requests belong to which priority level.
PriorityLevelConfiguration: A PriorityLevelConfiguration says how many requests are served at a time, and how others
    wait.
ServiceCIDR: A ServiceCIDR is a network that addresses of services come from.
ServiceCIDRSpec.cidrs: The network, or one of each family.
IPAddress: An IPAddress is an address that is taken.
IPAddressSpec.parentRef: Who has it.
"""
