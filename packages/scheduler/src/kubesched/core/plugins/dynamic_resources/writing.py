"""Writing allocations and reservations into claims; the writes of one claim come one after the other.

From an allocation and the pod (or group) that it is reserved for to a claim as the API server has it. Pods that share
a claim take turns, and each starts from the claim that the one before it has written, so that a conflict means another
writer; then the claim is fetched again, and the write is retried after a short pause.
"""

# upstream: dynamicresources.go, bindClaim (v1.36)

from typing import NamedTuple
from zlib import crc32

import msgspec

from kubesched.api.devices import AllocationResult, ResourceClaim, ResourceClaimConsumerReference
from kubesched.core.cluster.devices.resource_claims import ResourceClaims, version_of
from kubesched.core.framework.services.waiting import Waits
from kubesched.core.framework.values.effects import ConflictError, EffectError, Effects, Read, Write
from kubesched.core.plugins.dynamic_resources.releasing import CLAIM, FINALIZER
from kubesched.errors import KubeschedError

# upstream: client-go/util/retry, DefaultRetry (v1.36)
MOST_ATTEMPTS = 5
PAUSE_SECONDS = 0.01
JITTER = 0.1


class NotBoundError(KubeschedError):
    """The pod cannot be bound; the text is the message of the status."""


class ClaimUpdate(NamedTuple):
    """What to write into a claim: the allocation, if Reserve made one, and the consumer it is reserved for."""

    allocation: AllocationResult | None
    consumer: ResourceClaimConsumerReference


class ClaimWriter:
    """Writes claims; `conditions` is whether binding conditions are awaited."""

    def __init__(self, claims: ResourceClaims, effects: Effects, waits: Waits, *, conditions: bool) -> None:
        self._claims = claims
        self._effects = effects
        self._waits = waits
        self._conditions = conditions

    async def write(self, claim: ResourceClaim, update: ClaimUpdate) -> ResourceClaim:
        """Return the claim with allocation and reservation; raises NotBoundError. To be called in the claim's turn."""
        claim = self._newest(claim)
        for attempt in range(MOST_ATTEMPTS):
            if attempt:
                await self._waits.pause(_pause(update.consumer.uid, attempt))
                claim = await self._fresh(claim)
            try:
                return await self._write_once(claim, update)
            except ConflictError as conflict:
                last = str(conflict)
        raise NotBoundError(last)

    def _newest(self, claim: ResourceClaim) -> ResourceClaim:
        """Return the reported claim if it is newer than the given one."""
        known = self._claims.get(claim.full_name)
        newer = known is not None and known.uid == claim.uid and version_of(known) > version_of(claim)
        return known if known is not None and newer else claim

    async def _fresh(self, claim: ResourceClaim) -> ResourceClaim:
        try:
            fresh = await self._effects.perform(Read(CLAIM, claim.namespace, claim.name))
        except EffectError as refused:
            raise NotBoundError(f"get updated claim {claim.full_name} after conflict: {refused}") from refused
        if not isinstance(fresh, ResourceClaim) or fresh.uid != claim.uid:
            raise NotBoundError(f"get updated claim {claim.full_name} after conflict: it is gone")
        return fresh

    async def _write_once(self, claim: ResourceClaim, update: ClaimUpdate) -> ResourceClaim:
        if claim.metadata.deletion_timestamp is not None:
            raise NotBoundError(f"claim {claim.full_name} got deleted in the meantime")
        found, allocation = claim.status.allocation, update.allocation
        if allocation is not None and found is not None:
            # differs (D-019): the reference fails here as well if another pod of the group has written the value that
            # both were promised
            if not same_devices(found, allocation):
                raise NotBoundError(f"claim {claim.full_name} got allocated elsewhere in the meantime")
            allocation = None
        what = "add reservation to claim"
        if allocation is not None:
            claim = await self._protected(claim)
            what = "add allocation and reservation to claim"
        elif any(user.uid == update.consumer.uid for user in claim.status.reserved_for):
            # differs (D-019): the reference writes the reservation of a group once for each pod, which API servers
            # refuse
            return claim
        status = msgspec.structs.replace(
            claim.status,
            allocation=self._dated(claim, allocation or found),
            reserved_for=(*claim.status.reserved_for, update.consumer),
        )
        return await self._put(msgspec.structs.replace(claim, status=status), claim, what, "status")

    async def _protected(self, claim: ResourceClaim) -> ResourceClaim:
        """Add the finalizer to the claim if it is missing, which is a write apart from the status; return the claim."""
        if FINALIZER in claim.metadata.finalizers:
            return claim
        meta = msgspec.structs.replace(claim.metadata, finalizers=(*claim.metadata.finalizers, FINALIZER))
        return await self._put(msgspec.structs.replace(claim, metadata=meta), claim, "add finalizer to claim", "")

    def _dated(self, claim: ResourceClaim, allocation: AllocationResult | None) -> AllocationResult | None:
        """Return the allocation with its timestamp, from which the binding timeout counts."""
        if not self._conditions:
            return allocation
        if allocation is None:
            raise NotBoundError(f"claim {claim.full_name} got deallocated elsewhere in the meantime")
        if allocation.allocation_timestamp is not None:
            return allocation
        now = self._waits.date().replace(microsecond=0)
        return msgspec.structs.replace(allocation, allocation_timestamp=now)

    async def _put(self, claim: ResourceClaim, base: ResourceClaim, what: str, subresource: str) -> ResourceClaim:
        try:
            written = await self._effects.perform(Write(claim, subresource=subresource, base=base))
        except ConflictError as conflict:
            raise ConflictError(f"{what} {claim.full_name}: {conflict}") from conflict
        except EffectError as refused:
            raise NotBoundError(f"{what} {claim.full_name}: {refused}") from refused
        assert isinstance(written, ResourceClaim), "what was written comes back"
        return written


def same_devices(one: AllocationResult, other: AllocationResult) -> bool:
    """Return whether two allocations have the same devices for the same requests; timestamps do not matter."""
    return _devices(one) == _devices(other)


def _devices(allocation: AllocationResult) -> list[tuple[str, str, str, str, str | None]]:
    return [(each.request, each.driver, each.pool, each.device, each.share_id) for each in allocation.devices.results]


def _pause(uid: str, attempt: int) -> float:
    """Return how long to wait before an attempt, with jitter."""
    share = crc32(f"{uid}/{attempt}".encode()) / 2**32
    return PAUSE_SECONDS * (1 + JITTER * share)
