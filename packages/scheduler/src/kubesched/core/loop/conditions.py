"""Conditions of pods as patches.

From a pod and a condition to the fields of a strategic merge patch of the pod's status. `lastTransitionTime` is when
the condition's status changed, not its message; conditions keep their order, new ones come last.
"""

# upstream: pkg/api/v1/pod/util.go (UpdatePodCondition), scheduler/util/utils.go (PatchPodStatus) (v1.36)

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kubesched.core.cluster.pod_info import PodInfo


def condition_patch(pod: PodInfo, new: Mapping[str, str], date: datetime) -> dict[str, Any]:
    """Return the fields of a status patch that set a condition of a pod."""
    by_type = {condition.type: condition for condition in pod.status.conditions if condition.type}
    known = by_type.get(new["type"])
    condition: dict[str, Any] = {**new, "observedGeneration": pod.metadata.generation}
    if known is None or known.status != new["status"]:
        condition["lastTransitionTime"] = date.strftime("%Y-%m-%dT%H:%M:%SZ")
    fields: dict[str, Any] = {"conditions": [condition]}
    if by_type.keys() - {new["type"]}:
        # without it the API server puts a new condition before the others
        fields["$setElementOrder/conditions"] = [{"type": name} for name in {**by_type, new["type"]: None}]
    return fields
