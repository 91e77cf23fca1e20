"""The fields of documents, for anonymising: words of the API, or texts of users.

From the name of a field to the treatment of its texts. A field that is not listed here holds names, which become
codes.
"""

from typing import Final

# texts that are words of the API, keys, quantities and times
KEPT_TEXTS: Final = frozenset(
    [
        "apiVersion",
        "kind",
        "apiGroup",
        "operator",
        "scopeName",
        "scopes",
        "step",
        "validValues",
        "effect",
        "key",
        "topologyKey",
        "topologyKeys",
        "matchLabelKeys",
        "mismatchLabelKeys",
        "whenUnsatisfiable",
        "nodeAffinityPolicy",
        "nodeTaintsPolicy",
        "protocol",
        "restartPolicy",
        "schedulerName",
        "preemptionPolicy",
        "source",
        "phase",
        "type",
        "status",
        "reason",
        "resize",
        "accessModes",
        "volumeMode",
        "persistentVolumeReclaimPolicy",
        "reclaimPolicy",
        "volumeBindingMode",
        "provisioner",
        "driver",
        "driverName",
        "attacher",
        "fsType",
        "resourceName",
        "extendedResourceName",
        "resource",
        "allocationMode",
        "matchAttribute",
        "distinctAttribute",
        "bindingConditions",
        "bindingFailureConditions",
        "unhealthyPodEvictionPolicy",
        "minAvailable",
        "maxUnavailable",
        "disruptionMode",
        "declaredFeatures",
        "kernelVersion",
        "containerRuntimeVersion",
        "kubeletVersion",
        "operatingSystem",
        "architecture",
        "pullPolicy",
        "volumeLifecycleModes",
        "fsGroupPolicy",
        "completionMode",
        "podManagementPolicy",
        "concurrencyPolicy",
        "maximumVolumeSize",
        "creationTimestamp",
        "deletionTimestamp",
        "lastTransitionTime",
        "lastProbeTime",
        "lastHeartbeatTime",
        "startTime",
        "timeAdded",
        "allocationTimestamp",
        "lastPhaseTransitionTime",
    ]
)
# fields that stay with their whole content
KEPT_WHOLE: Final = frozenset(
    [
        "restartPolicyRules",
        "schedulingGates",
        "os",
        "allocatedResourceStatuses",
        "nodeAllocatableResourceMappings",
        "strategy",
        "updateStrategy",
    ]
)
# texts that neither plugins nor answers read
DROPPED_FIELDS: Final = frozenset(
    [
        "message",
        "description",
        "resourceVersion",
        "generateName",
        "providerID",
        "podCIDR",
        "podCIDRs",
        "addresses",
        "nodeID",
        "machineID",
        "osImage",
        "mountOptions",
        "tokenRequests",
        "attachError",
        "detachError",
        "schedule",
        "keyring",
        "secretRef",
        "initiatorName",
    ]
)
LABEL_FIELDS: Final = frozenset({"labels", "matchLabels", "selector", "nodeSelector"})
# amounts by the name of a resource; `requests` may also be a list of the requests of a claim
AMOUNT_FIELDS: Final = frozenset(
    [
        "requests",
        "limits",
        "capacity",
        "allocatable",
        "overhead",
        "allocatedResources",
        "consumedCapacity",
        "counters",
        "resources",
        "hard",
        "used",
        "podFixed",
        "min",
        "max",
        "default",
        "defaultRequest",
        "maxLimitRequestRatio",
    ]
)
# `resources` of a container
RESOURCE_FIELDS: Final = frozenset({"requests", "limits", "claims"})
IMAGE_FIELDS: Final = frozenset({"image", "reference", "names"})
DRIVER_FIELDS: Final = ("driver", "driverName", "provisioner", "attacher")
# labels whose values are words of Kubernetes
KEPT_LABELS: Final = frozenset(
    {
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "node.kubernetes.io/windows-build",
    }
)
KEPT_ANNOTATION_VALUES: Final = frozenset(
    {
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
        "resource.kubernetes.io/extended-resource-claim",
        "controller.kubernetes.io/pod-deletion-cost",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "deployment.kubernetes.io/revision",
    }
)
# names and values that every cluster has
KEPT_VALUES: Final = (
    "",
    "true",
    "false",
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "system-cluster-critical",
    "system-node-critical",
    "<extended-resources>",
    "0.0.0.0",
    "::",
    "127.0.0.1",
)
