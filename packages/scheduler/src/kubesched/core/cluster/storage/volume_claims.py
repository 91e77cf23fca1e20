"""Persistent volume claims, for several plugins: their class, their owner, and the message for a missing one.

Functions over reported objects; the texts are the reference's.
"""

from kubesched.api.storage import BETA_STORAGE_CLASS_ANNOTATION, PersistentVolumeClaim
from kubesched.core.cluster.objects import Objects, full_name
from kubesched.core.cluster.pod_info import PodInfo

READ_WRITE_ONCE_POD = "ReadWriteOncePod"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"

# kinds in the API server's "not found" messages
CLAIM = "persistentvolumeclaim"
VOLUME = "persistentvolume"
STORAGE_CLASS = "storageclass.storage.k8s.io"


def not_found(kind: str, name: str) -> str:
    """Return the text for an object that does not exist."""
    return f'{kind} "{name}" not found'


def claim_of(objects: Objects, pod: PodInfo, name: str) -> PersistentVolumeClaim | None:
    """Return the claim of a name in a pod's namespace."""
    return objects.get(PersistentVolumeClaim, full_name(pod.namespace, name))


# upstream: component-helpers/storage/volume/helpers.go, GetPersistentVolumeClaimClass (v1.36)
def storage_class_name(claim: PersistentVolumeClaim) -> str:
    """Return the name of a claim's storage class, empty if it has none."""
    annotated = claim.metadata.annotations.get(BETA_STORAGE_CLASS_ANNOTATION)
    if annotated is not None:
        return annotated
    return claim.spec.storage_class_name or ""


# upstream: component-helpers/storage/ephemeral/ephemeral.go (v1.36)
def ephemeral_claim_name(pod_name: str, volume_name: str) -> str:
    """Return the name of the claim that is created for a generic ephemeral volume."""
    return f"{pod_name}-{volume_name}"


def ownership_problem(pod: PodInfo, claim: PersistentVolumeClaim) -> str:
    """Return why a claim does not belong to the pod's ephemeral volume, empty if it does."""
    controller = claim.metadata.controller
    if claim.namespace == pod.namespace and controller is not None and controller.uid == pod.uid:
        return ""
    return f"PVC {claim.full_name} was not created for pod {pod.full_name} (pod is not owner)"
