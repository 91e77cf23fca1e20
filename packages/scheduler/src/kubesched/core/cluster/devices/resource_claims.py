"""Resource claims: as reported, as assumed after a write, and with allocations in flight.

From reports, from Reserve (an allocation that is in flight until PreBind has written it) and from PreBind (a claim as
the API server returned it, before the watch reports it) to one view. A claim that was assumed hides the reported one
until a report is as new. Followers are called for every claim whose allocation changes in any of these ways, so that
allocated devices need not be counted again for each pod.
"""

# upstream: dynamicresources/dra_manager.go, util/assumecache/assume_cache.go (v1.36)

from collections.abc import Hashable
from typing import NamedTuple, Protocol

import msgspec

from kubesched.api.devices import AllocationResult, ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.core.cluster.objects import Objects

KIND = ResourceClaim.__name__
# The keys of followers are `namespace/name` of a claim, or this and the claim's UID for allocations in flight.
IN_FLIGHT = "in flight"
EXTENDED_RESOURCE_CLAIM = "resource.kubernetes.io/extended-resource-claim"


class ClaimFollower(Protocol):
    """Follows the allocations of claims."""

    def put(self, key: Hashable, allocation: AllocationResult | None) -> None:
        """Set the allocation of the claim under a key; None for none."""


class InFlight(NamedTuple):
    """A claim with an allocation that is not written yet, and the number of pods that wait for it."""

    claim: ResourceClaim
    sharers: int


class ResourceClaims:
    """All resource claims; written through the cluster."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._assumed: dict[str, ResourceClaim] = {}
        self._in_flight: dict[str, InFlight] = {}
        # UID of a pod -> names of its extended resource claims
        self._extended_resource_claims: dict[str, set[str]] = {}
        self._followers: list[ClaimFollower] = []

    # -- reading

    def get(self, full_name: str) -> ResourceClaim | None:
        """Return the newest known version of a claim, by `namespace/name`."""
        return self._assumed.get(full_name) or self._objects.get(ResourceClaim, full_name)

    def all(self) -> list[ResourceClaim]:
        """Return the newest known versions of all claims."""
        assumed = self._assumed
        return [assumed.get(claim.full_name, claim) for claim in self._objects.of(ResourceClaim)]

    def extended_resource_claims_of(self, pod_uid: str) -> list[ResourceClaim]:
        """Return a pod's extended resource claims, by name."""
        names = self._extended_resource_claims.get(pod_uid)
        return [claim for name in sorted(names) if (claim := self.get(name)) is not None] if names else []

    def pending_allocation(self, uid: str) -> AllocationResult | None:
        """Return the allocation in flight of a claim, or None."""
        found = self._in_flight.get(uid)
        return found.claim.status.allocation if found is not None else None

    def follow(self, follower: ClaimFollower) -> None:
        """Add a follower: call it for all allocated claims, and from now on for every change."""
        self._followers.append(follower)
        for claim in self.all():
            if claim.status.allocation is not None:
                follower.put(claim.full_name, claim.status.allocation)
        for uid, entry in self._in_flight.items():
            follower.put((IN_FLIGHT, uid), entry.claim.status.allocation)

    # -- as the API server reports them

    def report(self, claim: ResourceClaim) -> None:
        """Store a reported claim; a report that is older than the assumed claim does not replace it."""
        name = claim.full_name
        before = self.get(name)
        assumed = self._assumed.get(name)
        if assumed is not None and (assumed.uid != claim.uid or version_of(assumed) <= version_of(claim)):
            del self._assumed[name]
        self._objects.put(KIND, claim)
        self._changed(before, self.get(name))

    def forget(self, full_name: str) -> None:
        """Remove a deleted claim."""
        before = self.get(full_name)
        self._assumed.pop(full_name, None)
        self._objects.remove(KIND, full_name)
        self._changed(before, None)

    # -- as the scheduler itself has written them

    def assume(self, claim: ResourceClaim) -> bool:
        """Assume a claim as it was written, until it is reported; return False for an unknown or outdated one."""
        name = claim.full_name
        before = self.get(name)
        if before is None or before.uid != claim.uid or version_of(claim) < version_of(before):
            return False
        if claim != self._objects.get(ResourceClaim, name):
            self._assumed[name] = claim
            self._changed(before, claim)
        return True

    # -- allocations in flight

    def begin_allocation(self, claim: ResourceClaim) -> None:
        """Hold the devices of a claim for one more pod, before anything is written; the first allocation stays."""
        found = self._in_flight.get(claim.uid)
        if found is not None:
            self._in_flight[claim.uid] = found._replace(sharers=found.sharers + 1)
            return
        self._in_flight[claim.uid] = InFlight(claim, 1)
        self._tell((IN_FLIGHT, claim.uid), claim.status.allocation)

    def end_allocation(self, uid: str, *, for_all: bool = False) -> bool:
        """Release the devices that are held for one pod (or for all); return whether no pod holds them any more."""
        found = self._in_flight.get(uid)
        if found is None:
            return False
        if found.sharers > 1 and not for_all:
            self._in_flight[uid] = found._replace(sharers=found.sharers - 1)
            return False
        del self._in_flight[uid]
        self._tell((IN_FLIGHT, uid), None)
        return True

    # -- bookkeeping

    def _changed(self, before: ResourceClaim | None, after: ResourceClaim | None) -> None:
        if before is after:
            return
        if before is not None:
            for uid in _owning_pods(before):
                names = self._extended_resource_claims.get(uid)
                if names is not None:
                    names.discard(before.full_name)
                    if not names:
                        del self._extended_resource_claims[uid]
        if after is not None:
            for uid in _owning_pods(after):
                self._extended_resource_claims.setdefault(uid, set()).add(after.full_name)
        allocation = after.status.allocation if after is not None else None
        if before is None or before.status.allocation != allocation:
            shown = after if after is not None else before
            assert shown is not None, "something is or was there"
            self._tell(shown.full_name, allocation)

    def _tell(self, key: Hashable, allocation: AllocationResult | None) -> None:
        for follower in self._followers:
            follower.put(key, allocation)

    def content(self) -> dict[str, object]:
        """Return assumed claims and allocations in flight, for comparison."""
        return {
            "assumed": {name: msgspec.to_builtins(claim) for name, claim in sorted(self._assumed.items())},
            "in flight": {
                uid: (msgspec.to_builtins(entry.claim), entry.sharers) for uid, entry in sorted(self._in_flight.items())
            },
            "extended": {uid: sorted(names) for uid, names in sorted(self._extended_resource_claims.items())},
        }


def version_of(obj: ApiObject) -> int:
    """Return an object's resource version as a number; 0 if it has none."""
    version = obj.metadata.resource_version
    return int(version) if version.isdecimal() else 0


def _owning_pods(claim: ResourceClaim) -> list[str]:
    meta = claim.metadata
    if meta.annotations.get(EXTENDED_RESOURCE_CLAIM) != "true":
        return []
    return [owner.uid for owner in meta.owner_references if owner.controller]
