"""The resource claims of a pod, and the consumers they are reserved for.

From a pod's spec and status to its claims, or to the reason why it must wait: a claim that does not exist, is not
generated yet, terminating, or of another owner.
"""

# upstream: dynamic-resource-allocation/resourceclaim/resourceclaim.go, dynamicresources.go (v1.36)

from collections.abc import Iterator
from typing import Final

from kubesched.api.devices import ResourceClaim, ResourceClaimConsumerReference
from kubesched.api.pods import PodResourceClaim
from kubesched.api.scheduling import PodGroup, PodGroupResourceClaim
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.errors import KubeschedError

PODS: Final = "pods"
POD_GROUPS: Final = "podgroups"
SCHEDULING_GROUP: Final = "scheduling.k8s.io"

NONE_SET = "none of the supported fields are set"
NOT_CREATED = "ResourceClaim not created yet"


class NotReadyError(KubeschedError):
    """A claim that the pod needs cannot be used, for the reason given."""


class PodClaimFinder:
    """Finds claims of pods; `of_groups` is the DRAWorkloadResourceClaims gate."""

    def __init__(self, cluster: ClusterState, *, of_groups: bool) -> None:
        self._claims = cluster.claims
        self._objects = cluster.objects
        self.of_groups = of_groups

    def named_claims(self, pod: PodInfo) -> Iterator[tuple[str, ResourceClaim]]:
        """Yield each claim with its name in the pod's spec; raises NotReadyError at the first unready claim."""
        for entry in pod.spec.resource_claims:
            name, generated = _claim_name(pod, entry)
            if name is None:
                # the controller decided that no claim is needed
                continue
            full_name = f"{pod.namespace}/{name}"
            claim = self._claims.get(full_name)
            if claim is None:
                raise NotReadyError(f'could not find ResourceClaim "{full_name}"')
            if claim.metadata.deletion_timestamp is not None:
                raise NotReadyError(f'resourceclaim "{claim.name}" is being deleted')
            if generated:
                self._check_owner(pod, claim)
            yield entry.name, claim

    def claims(self, pod: PodInfo) -> list[ResourceClaim]:
        """Return the pod's claims in the order of its spec; raises NotReadyError."""
        return [claim for _, claim in self.named_claims(pod)]

    def _check_owner(self, pod: PodInfo, claim: ResourceClaim) -> None:
        """Raise NotReadyError if a generated claim was not generated for this pod (or its group)."""
        if is_controlled_by(claim, pod.uid):
            return
        what = f"ResourceClaim {claim.full_name} was not created for Pod {pod.full_name}"
        if not self.of_groups:
            raise NotReadyError(f"{what} (Pod is not owner)")
        group = group_name_of(pod)
        owner = next((ref for ref in claim.metadata.owner_references if ref.controller), None)
        if (
            owner is None
            or not group
            or (owner.name, owner.kind) != (group, "PodGroup")
            or not owner.api_version.startswith(SCHEDULING_GROUP + "/")
        ):
            raise NotReadyError(f"{what} (neither Pod nor PodGroup {group} is the owner)")

    # -- reservations

    def is_reserved_for(self, pod: PodInfo, claim: ResourceClaim) -> bool:
        """Return whether a claim is reserved for the pod, or for its group if its gate is enabled."""
        group = group_name_of(pod) if self.of_groups else ""
        return any(
            consumer.uid == pod.uid
            or (
                group
                and (consumer.api_group, consumer.resource, consumer.name) == (SCHEDULING_GROUP, POD_GROUPS, group)
            )
            for consumer in claim.status.reserved_for
        )

    def consumers(self, pod: PodInfo) -> dict[str, ResourceClaimConsumerReference]:
        """Return the consumer to reserve each entry of the pod's claims for, by its name; raises NotReadyError."""
        group = self.pod_group(pod)
        if group is None:
            own = consumer_of(pod)
            return {entry.name: own for entry in pod.spec.resource_claims}
        return {entry.name: self._consumer(pod, group, entry) for entry in pod.spec.resource_claims}

    def pod_group(self, pod: PodInfo) -> PodGroup | None:
        """Return the group whose claims count for the pod, or None; raises NotReadyError if it does not exist."""
        name = group_name_of(pod)
        if not self.of_groups or not name:
            return None
        group = self._objects.get(PodGroup, f"{pod.namespace}/{name}")
        if group is None:
            raise NotReadyError(f'podgroup.scheduling.k8s.io "{name}" not found')
        return group

    def _consumer(self, pod: PodInfo, group: PodGroup, entry: PodResourceClaim) -> ResourceClaimConsumerReference:
        for shared in group.spec.resource_claims:
            if shared.resource_claim_name is None and shared.resource_claim_template_name is None:
                raise NotReadyError(f"PodGroup {group.full_name} claim {shared.name}: {NONE_SET}")
            if _same_reference(shared, entry):
                return ResourceClaimConsumerReference(
                    api_group=SCHEDULING_GROUP, resource=POD_GROUPS, name=group.name, uid=group.uid
                )
        return consumer_of(pod)

    def group_claims(self, group: PodGroup) -> Iterator[ResourceClaim]:
        """Yield the claims that a group shares; raises NotReadyError at the first that does not exist."""
        for entry in group.spec.resource_claims:
            name, generated = _group_claim_name(group, entry)
            if name is None:
                continue
            claim = self._claims.get(f"{group.namespace}/{name}")
            if claim is None:
                raise NotReadyError(f'could not find ResourceClaim "{group.namespace}/{name}"')
            if not generated or is_controlled_by(claim, group.uid):
                yield claim


def group_name_of(pod: PodInfo) -> str:
    """Return the name of the pod's group, or the empty text."""
    group = pod.spec.scheduling_group
    return (group.pod_group_name or "") if group is not None else ""


def consumer_of(pod: PodInfo) -> ResourceClaimConsumerReference:
    """Return the consumer reference of the pod."""
    return ResourceClaimConsumerReference(resource=PODS, name=pod.name, uid=pod.uid)


def is_controlled_by(claim: ResourceClaim, uid: str) -> bool:
    """Return whether the controller of a claim is the object with the UID."""
    controller = next((ref for ref in claim.metadata.owner_references if ref.controller), None)
    return controller is not None and controller.uid == uid


def used_claim_names(pod: PodInfo) -> list[str]:
    """Return namespace/name of the claims that a pod names or that were generated for it, whether they exist or not."""
    generated = [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    named = [entry.resource_claim_name for entry in pod.spec.resource_claims]
    return [f"{pod.namespace}/{name}" for name in (*named, *generated) if name is not None]


def _claim_name(pod: PodInfo, entry: PodResourceClaim) -> tuple[str | None, bool]:
    """Return the claim's name (None if no claim is needed), and whether it was generated."""
    if entry.resource_claim_name is not None:
        return entry.resource_claim_name, False
    if entry.resource_claim_template_name is None:
        raise NotReadyError(f'pod "{pod.full_name}", spec.resourceClaim "{entry.name}": {NONE_SET}')
    for status in pod.status.resource_claim_statuses:
        if status.name == entry.name:
            return status.resource_claim_name, True
    raise NotReadyError(f'pod "{pod.full_name}": {NOT_CREATED}')


def _group_claim_name(group: PodGroup, entry: PodGroupResourceClaim) -> tuple[str | None, bool]:
    if entry.resource_claim_name is not None:
        return entry.resource_claim_name, False
    if entry.resource_claim_template_name is None:
        raise NotReadyError(f"PodGroup {group.full_name}, spec.resourceClaim {entry.name}: {NONE_SET}")
    for status in group.status.resource_claim_statuses:
        if status.name == entry.name:
            return status.resource_claim_name, True
    raise NotReadyError(f"PodGroup {group.full_name}: {NOT_CREATED}")


def _same_reference(shared: PodGroupResourceClaim, entry: PodResourceClaim) -> bool:
    return (
        shared.name == entry.name
        and shared.resource_claim_name == entry.resource_claim_name
        and shared.resource_claim_template_name == entry.resource_claim_template_name
    )
