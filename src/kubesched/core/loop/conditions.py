"""Conditions of pods: what a patch of a pod's status has to hold so that the pod says something of itself.

From a pod as it was reported to fields of a strategic merge patch. The time of a condition is when its status changed,
not when its words did; conditions keep their places, and new ones come last.
"""

# upstream: pkg/api/v1/pod/util.go (UpdatePodCondition), scheduler/util/utils.go (PatchPodStatus) (v1.36)

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kubesched.core.cluster.pod_info import PodInfo


def said_in_status(pod: PodInfo, said: Mapping[str, str], date: datetime) -> dict[str, Any]:
    """Return the fields of a status patch that add or change a condition of a pod."""
    by_type = {condition.type: condition for condition in pod.status.conditions if condition.type}
    known = by_type.get(said["type"])
    condition: dict[str, Any] = {**said, "observedGeneration": pod.metadata.generation}
    if known is None or known.status != said["status"]:
        condition["lastTransitionTime"] = date.strftime("%Y-%m-%dT%H:%M:%SZ")
    fields: dict[str, Any] = {"conditions": [condition]}
    if by_type.keys() - {said["type"]}:
        # without it the API server puts a new condition before the others
        fields["$setElementOrder/conditions"] = [{"type": name} for name in {**by_type, said["type"]: None}]
    return fields
