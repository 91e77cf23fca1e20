"""What becomes of objects of each kind, and what is left out with the reason, in one place.

From API versions and kinds, subresources and behaviours to sentences; they stand in tables, so none has a bar in it.
"""

_KEPT = "kept"

# (API version, kind) -> what happens; of every kind that is served
ACTIONS: dict[tuple[str, str], str] = {
    ("v1", "Pod"): "is scheduled, and run by simulated nodes: it becomes ready, ends, is evicted by taints",
    ("v1", "Binding"): "binds a pod to a node",
    ("v1", "Node"): "is simulated: it becomes ready, is tainted by its conditions and runs pods",
    ("v1", "Namespace"): "takes its objects along when it is deleted",
    ("v1", "Service"): "gets an address and node ports; there is no network behind them",
    ("v1", "Endpoints"): "filled with the pods of a service; those that people write are mirrored as slices",
    ("v1", "ReplicationController"): "keeps up its number of pods",
    ("v1", "PersistentVolume"): "is bound to a claim, released, reclaimed; protected while in use",
    ("v1", "PersistentVolumeClaim"): "is bound, or provisioned by its storage class; protected while in use",
    ("v1", "ConfigMap"): _KEPT,
    ("v1", "Secret"): "kept; one that asks for the token of an account gets it",
    ("v1", "ServiceAccount"): "every namespace has `default`; pods get a token volume of it, and its tokens are known",
    ("v1", "PodTemplate"): _KEPT,
    ("v1", "ResourceQuota"): "is counted, and applied at admission",
    ("v1", "LimitRange"): "is applied at admission",
    ("v1", "Event"): "kept; does not expire",
    ("events.k8s.io/v1", "Event"): "the same objects as the Events of v1",
    ("apps/v1", "Deployment"): "rolls out ReplicaSets: surge, pause, history, undo, progress deadline",
    ("apps/v1", "ReplicaSet"): "keeps up its number of pods, adopts and releases them",
    ("apps/v1", "StatefulSet"): "creates pods in order with their claims; partitions, retention of claims",
    ("apps/v1", "DaemonSet"): "has a pod on every node that it may run on; rolling update with surge",
    ("apps/v1", "ControllerRevision"): "made by StatefulSets and DaemonSets, and cleaned up",
    ("batch/v1", "Job"): "runs pods to completion: indexes, back-off, failure and success policies, suspension, TTL",
    ("batch/v1", "CronJob"): "creates Jobs by its schedule: time zones, concurrency, history",
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
    ): "scales what it names, by what annotations of pods say that they use",
    ("autoscaling/v1", "HorizontalPodAutoscaler"): "the same objects as those of autoscaling/v2",
    ("node.k8s.io/v1", "RuntimeClass"): "gives pods overhead, tolerations and node selectors",
    ("networking.k8s.io/v1", "Ingress"): "kept; no controller gives it an address",
    ("networking.k8s.io/v1", "IngressClass"): "kept; one that is marked so is the default of Ingresses",
    ("networking.k8s.io/v1", "NetworkPolicy"): "kept; there is no network",
    ("discovery.k8s.io/v1", "EndpointSlice"): "filled with the pods of a service, a hundred in each",
    ("policy/v1", "PodDisruptionBudget"): "is counted, and asked by evictions and preemption",
    ("scheduling.k8s.io/v1", "PriorityClass"): "gives pods their priority",
    ("scheduling.k8s.io/v1alpha2", "PodGroup"): "kept, for schedulers that have the gates open",
    ("scheduling.k8s.io/v1alpha2", "Workload"): "kept, for schedulers that have the gates open",
    ("metrics.k8s.io/v1beta1", "NodeMetrics"): "the sum over the pods of a node",
    ("metrics.k8s.io/v1beta1", "PodMetrics"): (
        "what a running pod requests, or what its annotations `kubesched.io/cpu-usage` and "
        "`kubesched.io/memory-usage` say"
    ),
    ("coordination.k8s.io/v1", "Lease"): "kept, for leader election; simulated nodes renew theirs in kube-node-lease",
    ("coordination.k8s.io/v1beta1", "LeaseCandidate"): "kept; no controller chooses a leader",
    ("storage.k8s.io/v1", "StorageClass"): "provisions volumes, at once or when a pod is scheduled",
    ("storage.k8s.io/v1", "CSINode"): "kept; the scheduler counts by it",
    ("storage.k8s.io/v1", "CSIDriver"): "kept; the scheduler reads it",
    ("storage.k8s.io/v1", "CSIStorageCapacity"): "kept; the scheduler reads it",
    ("storage.k8s.io/v1", "VolumeAttachment"): "kept; nothing is attached",
    ("storage.k8s.io/v1", "VolumeAttributesClass"): _KEPT,
    ("resource.k8s.io/v1", "DeviceClass"): "selects devices for claims",
    ("resource.k8s.io/v1", "ResourceClaim"): "is allocated by the scheduler, reserved for pods and released",
    ("resource.k8s.io/v1", "ResourceClaimTemplate"): "claims are made from it for pods",
    ("resource.k8s.io/v1", "ResourceSlice"): "kept; the scheduler allocates its devices",
    ("resource.k8s.io/v1beta2", "DeviceTaintRule"): "kept; the scheduler heeds it if its gates say so",
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
    ): "webhooks with a URL are called; services are not reached",
    (
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
    ): "webhooks with a URL are called; services are not reached",
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"): "is evaluated for every write that it matches",
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"): (
        "puts a policy to work: Deny and Warn; there is no audit log for Audit"
    ),
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"): "changes objects before they are stored",
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"): "puts a policy to work",
    ("apiregistration.k8s.io/v1", "APIService"): (
        "one for each version that is served here; those of other servers are kept, and requests for them get 503"
    ),
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): "is approved or denied; nobody signs",
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): "kept, with those of a new cluster; no request waits",
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): (
        "kept, with those of a new cluster; no request waits"
    ),
    ("networking.k8s.io/v1", "ServiceCIDR"): "kept; addresses come out of the default network",
    ("networking.k8s.io/v1", "IPAddress"): "one for each address of a service",
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): "its kinds are served",
    ("rbac.authorization.k8s.io/v1", "Role"): "decides who may do what",
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): "decides who may do what",
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): "decides who may do what; aggregation rules are kept",
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): "decides who may do what",
    ("authentication.k8s.io/v1", "TokenReview"): "is answered",
    ("authentication.k8s.io/v1", "SelfSubjectReview"): "is answered (`kubectl auth whoami`)",
    ("authorization.k8s.io/v1", "SubjectAccessReview"): "is answered",
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"): "is answered (`kubectl auth can-i`)",
    ("authorization.k8s.io/v1", "SelfSubjectRulesReview"): "is answered (`kubectl auth can-i --list`)",
    ("authorization.k8s.io/v1", "LocalSubjectAccessReview"): "is answered",
}

# subresources that are there to say why there is nothing
_NOTHING = "BadRequest: nothing runs in pods of simulated nodes"
REFUSED: dict[str, str] = {
    "pods/log": f"{_NOTHING}; the log of a pod that is not bound is empty",
    "pods/exec": f"{_NOTHING} (`kubectl exec`, `kubectl cp`)",
    "pods/attach": _NOTHING,
    "pods/portforward": _NOTHING,
    "pods/proxy": _NOTHING,
    "nodes/proxy": "BadRequest: the node is simulated",
    "services/proxy": "ServiceUnavailable: no endpoints are available",
}

SPOKEN: dict[str, str] = {
    "discovery": (
        "`/api`, `/apis` plain and aggregated (v2, v2beta1); `/version`; `/healthz`, `/livez`, `/readyz`, also by "
        "check; `/.well-known/openid-configuration`, `/openid/v1/jwks`"
    ),
    "OpenAPI": "v2 as JSON and as protocol buffers; v3 with an index and hashes",
    "bodies": "JSON, YAML, protocol buffers",
    "answers": "JSON; tables; metadata alone",
    "lists": "`limit` and `continue`, `resourceVersion` and `resourceVersionMatch`, label and field selectors",
    "watches": "from any version in the history, bookmarks, `sendInitialEvents`; 410 past the history",
    "patches": "JSON patch, merge patch, strategic merge patch, server-side apply with `force`",
    "writes": "`dryRun`, `fieldManager`, `fieldValidation`, `resourceVersion` and UID preconditions, warnings",
    "deletion": "grace periods, finalizers, background, foreground and orphan propagation, collections",
    "who asks": "bearer tokens, those of accounts among them, impersonation; RBAC with the default roles of a cluster",
}

# "API version" and kind -> why; what kube-apiserver serves by default and this server does not
KINDS_LEFT_OUT: dict[str, str] = {
    "v1 ComponentStatus": "deprecated; there are no components to ask",
}

SUBRESOURCES_LEFT_OUT: dict[str, str] = {}

BEHAVIOURS: dict[str, str] = {
    "answers in protocol buffers and CBOR": "clients that ask for them get JSON, since they all take it",
    "admission webhooks behind services": "there is no network to services: the call fails, and failurePolicy decides",
    "accounts that pods name": "need not be there; such pods get no token volume",
    "`kubernetes.io/enforce-mountable-secrets` of accounts": "deprecated; not applied",
    "the PodSecurity and NodeRestriction admission plugins": "not applied",
    "certificates of clients": "tokens",
    "expiry of Events": "they stay; the history of watches is bounded",
    "nodes that miss their heartbeats": "nodes are as ready as their status says; their leases are renewed",
    "audit, tracing, flow control, encryption at rest": "not there",
    "`/metrics`, `/logs`, `/debug` of the server": "not there",
}
