"""PodGroups of scheduling.x-k8s.io: the fields that the Coscheduling plugin reads.

From custom objects to `GangSpec`; a field of the wrong type is a PluginError that names the group and the field.
"""

from datetime import datetime
from typing import Any, NamedTuple

from kubesched import InvalidObjectError, PluginError, PodInfo, resource_amounts

KIND = "podgroups.v1alpha1.scheduling.x-k8s.io"
LABEL = "scheduling.x-k8s.io/pod-group"


class GangSpec(NamedTuple):
    """A PodGroup: the number of pods that start together, the resources they need, and how long they wait."""

    full_name: str
    created: datetime | None
    min_member: int
    # by resource; cpu in thousandths
    min_resources: dict[str, int] | None
    # None: the value of the plugin's arguments
    timeout_seconds: int | None


def group_name(pod: PodInfo) -> str:
    """Return `namespace/name` of the PodGroup in a pod's label; an empty text without the label."""
    name = pod.labels.get(LABEL, "")
    return f"{pod.namespace}/{name}" if name else ""


def gang_spec(group: Any) -> GangSpec:
    """Return the parsed fields of a PodGroup."""
    spec = group.spec or {}
    resources = spec.get("minResources")
    try:
        amounts = None if resources is None else resource_amounts(resources)
    except InvalidObjectError as error:
        raise PluginError(f"PodGroup {group.full_name}: spec.minResources: {error}; write them as {{cpu: 4}}") from None
    return GangSpec(
        group.full_name,
        group.metadata.creation_timestamp,
        _whole(group, "minMember") or 0,
        amounts,
        _whole(group, "scheduleTimeoutSeconds"),
    )


def _whole(group: Any, field: str) -> int | None:
    value = (group.spec or {}).get(field)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise PluginError(f"PodGroup {group.full_name}: spec.{field}: expected a whole number, got {value!r}")
    return value
