"""PreBind: the allocations that Reserve holds are written to the API server.

From the state of a cycle to claims that are allocated and reserved for the pod, and to a pod whose status names the
extended resource claim; then the binding conditions of devices are awaited. An allocation stays in flight until its
claim is reported with it: at no moment do its devices look free.
"""

# upstream: dynamicresources.go, PreBind, bindClaim, isPodReadyForBinding; extendeddynamicresources.go (v1.36)

from contextlib import suppress
from datetime import timedelta

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ObjectMeta
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import NOBODY, Observers
from kubesched.core.framework.services.waiting import TimedOut, Waits
from kubesched.core.framework.values.effects import EffectError, Effects, Emit, Patch, Write
from kubesched.core.plugins.dynamic_resources.binding_conditions import has_binding_conditions, is_ready, is_too_late
from kubesched.core.plugins.dynamic_resources.extended import EXTENDED_RESOURCE_CLAIM_NAME
from kubesched.core.plugins.dynamic_resources.pod_claims import PodClaimFinder
from kubesched.core.plugins.dynamic_resources.releasing import CLAIM
from kubesched.core.plugins.dynamic_resources.state import PodDevices
from kubesched.core.plugins.dynamic_resources.writing import ClaimUpdate, ClaimWriter, NotBoundError
from kubesched.errors import KubeschedError

# how long a new extended resource claim may take to be reported
REPORT_SECONDS = 120.0


class TooLateError(NotBoundError):
    """The devices were not made ready in time."""


class ClaimBinder:
    """Writes the claims of pods; `conditions` is whether binding conditions are awaited."""

    def __init__(
        self,
        cluster: ClusterState,
        finder: PodClaimFinder,
        effects: Effects,
        waits: Waits,
        *,
        conditions: bool,
        timeout: timedelta,
        observers: Observers = NOBODY,
    ) -> None:
        self._observers = observers
        self._cluster = cluster
        self._claims = cluster.claims
        self._finder = finder
        self._effects = effects
        self._waits = waits
        self._writer = ClaimWriter(cluster.claims, effects, waits, conditions=conditions)
        self._conditions = conditions
        self._timeout = timeout

    async def bind(self, pod: PodInfo, state: PodDevices, node_name: str) -> None:
        """Write all claims of the pod, and wait until they are ready; raises NotBoundError."""
        for index, claim in enumerate(state.claims):
            if not self._finder.is_reserved_for(pod, claim):
                # pods that share a claim would only cause conflicts
                async with self._waits.in_turn((CLAIM, claim.uid)):
                    state.claims[index] = await self._bind_claim(pod, state, index)
        if state.plan is not None and state.plan.node_allocatable:
            statuses = [to_builtins(status) for status in state.plan.node_allocatable]
            await self._patch_pod(pod, "nodeAllocatableResourceClaimStatuses", statuses)
        if self._conditions and any(has_binding_conditions(claim) for claim in state.claims):
            await self._wait_until_ready(pod, state, node_name)

    # -- writing

    async def _bind_claim(self, pod: PodInfo, state: PodDevices, index: int) -> ResourceClaim:
        """Return the claim as it was written: allocated, and reserved for the pod."""
        claim, plan = state.claims[index], state.plan
        allocation = plan.allocations.get(index) if plan is not None else None
        extended_resource_claim = state.is_extended_resource_claim(index)
        held_as = claim.uid
        if extended_resource_claim and claim.name == EXTENDED_RESOURCE_CLAIM_NAME:
            # differs (D-016): the reference creates an empty claim if a node's device plugin serves a pod that has
            # other claims, and then fails
            planned = None if plan is None else plan.extended_resource_claim
            if planned is None or not planned.spec.devices.requests:
                return claim
            claim = state.claims[index] = await self._create(planned)
        written = await self._writer.write(claim, ClaimUpdate(allocation, state.consumers[index]))
        if extended_resource_claim:
            await self._until_known(written)

        def show() -> None:
            known = self._cluster.assume_claim(written)
            if allocation is not None:
                self._cluster.end_allocation(held_as, for_all=known)

        await self._waits.between_cycles(show)
        if extended_resource_claim:
            # so that Unreserve can delete it if the pod's status cannot be written
            state.claims[index] = written
            mappings = [to_builtins(mapping) for mapping in plan.mappings] if plan is not None else []
            status = {"requestMappings": mappings, "resourceClaimName": written.name}
            await self._patch_pod(pod, "extendedResourceClaimStatus", status)
        return written

    async def _create(self, extended_resource_claim: ResourceClaim) -> ResourceClaim:
        meta = extended_resource_claim.metadata
        unnamed = ObjectMeta(
            namespace=meta.namespace,
            generate_name=meta.generate_name,
            owner_references=meta.owner_references,
            annotations=meta.annotations,
        )
        try:
            created = await self._effects.perform(
                Write(msgspec.structs.replace(extended_resource_claim, metadata=unnamed), create=True)
            )
        except EffectError as refused:
            self._observers.claim_created(succeeded=False)
            raise NotBoundError(f"create claim for extended resources {meta.namespace}/: {refused}") from refused
        self._observers.claim_created(succeeded=True)
        assert isinstance(created, ResourceClaim), "what was created comes back"
        return created

    async def _patch_pod(self, pod: PodInfo, field: str, value: object) -> None:
        try:
            await self._effects.perform(Patch("Pod", pod.namespace, pod.name, {"status": {field: value}}, "status"))
        except EffectError as refused:
            shown = field[0].upper() + field[1:]
            raise NotBoundError(f"update pod {pod.full_name} {shown}: {refused}") from refused

    # -- waiting

    async def _until_known(self, claim: ResourceClaim) -> None:
        """Wait until a created claim is reported by its informer."""
        # after the timeout it exists nevertheless; its devices count as allocated once it is reported
        with suppress(TimedOut):
            await self._waits.until(lambda: self._claims.get(claim.full_name), (CLAIM,), REPORT_SECONDS)

    async def _wait_until_ready(self, pod: PodInfo, state: PodDevices, node_name: str) -> None:
        note = f"waiting for binding conditions for device on node {node_name}"
        self._effects.submit(Emit(pod.pod, "Normal", "BindingConditionsPending", "Scheduling", note))
        began = self._observers.clock()
        outcome = "error"
        try:
            await self._waits.until(lambda: self._ready(state), (CLAIM,), self._timeout.total_seconds())
            outcome = "success"
        except TimedOut:
            outcome = "timeout"
            raise NotBoundError("device binding timeout: context deadline exceeded") from None
        except NotBoundError as failed:
            outcome = "timeout" if isinstance(failed, TooLateError) else "error"
            raise
        except KubeschedError as failed:
            outcome = "failure"
            raise NotBoundError(str(failed)) from failed
        finally:
            self._tell(pod, state, outcome, self._observers.clock() - began)

    def _tell(self, pod: PodInfo, state: PodDevices, outcome: str, seconds: float) -> None:
        """Report to observers the drivers whose devices were waited for, and the outcome."""
        allocations = [claim.status.allocation for claim in state.claims if claim.status.allocation is not None]
        devices = [device for allocation in allocations for device in allocation.devices.results]
        self._observers.device_conditions_awaited(
            pod.spec.scheduler_name,
            [device.driver for device in devices],
            [device.driver for device in devices if device.binding_conditions],
            outcome,
            seconds,
        )

    def _ready(self, state: PodDevices) -> bool | None:
        """Return True once all claims are ready; raises an error if one cannot become ready."""
        for index, claim in enumerate(state.claims):
            if claim.name == EXTENDED_RESOURCE_CLAIM_NAME:
                continue
            newest = self._claims.get(claim.full_name)
            if newest is None:
                raise NotBoundError(f'could not find ResourceClaim "{claim.full_name}"')
            state.claims[index] = newest
            if not is_ready(newest):
                if is_too_late(newest, self._waits.date(), self._timeout):
                    raise TooLateError(f"device binding timeout: claim={newest.name}")
                return None
        return True
