"""The search for devices: one request after the other, one device after the other, first fit with backtracking.

From the candidates of a node and the plans of all requests to the devices allocated to each claim, or nothing.

Invariants: candidates are tried in the order of the pools; within a request later devices come after earlier ones, so
that a set of devices is tried once and not in all its orders; every step is undone before the next choice is tried. A
step that needs the steps after it yields them, so that the depth of the search is not bounded by the interpreter's
stack.
"""

# upstream: structured/internal/incubating/allocator_incubating.go allocateOne, allocateDevice (v1.36)
# differs (D-013): with only the features of the oldest implementation, the reference also tries other orders of the
# devices of a request; they have no additional solution

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from enum import Enum, auto
from functools import partial
from typing import NamedTuple

from kubesched.api.quantity import Quantity
from kubesched.core.devices.budget import Budget
from kubesched.core.devices.constraints import Constraint
from kubesched.core.devices.counters import CounterLedger
from kubesched.core.devices.errors import AllocationError, AllocationTimeoutError
from kubesched.core.devices.features import DeviceFeatures
from kubesched.core.devices.pools import PoolView
from kubesched.core.devices.requests import RequestPlan
from kubesched.core.devices.slices import OfferedDevice
from kubesched.core.devices.state import PoolUse

MAX_RESULTS = 32
"""How many devices a claim can be given."""


class CandidateDevice(NamedTuple):
    """A device that the node offers."""

    offered: OfferedDevice
    pool: PoolView
    # the use of its pool
    use: PoolUse
    # whether the node can use it, or the error of its node selector
    reachable: bool | str = True


class Given(NamedTuple):
    """A device allocated to a request; `quantities` is the consumption of a share, None for a whole device."""

    plan: RequestPlan
    offered: OfferedDevice
    quantities: dict[str, Quantity] | None


class RequestedDevices(NamedTuple):
    """One alternative of a device request on this node; for allocationMode All, `everything` has the candidates'
    indices.
    """

    plan: RequestPlan
    claim: int
    number: int
    everything: tuple[int, ...] = ()


class Outcome(Enum):
    """The outcome of the rest of the search."""

    DONE = auto()
    FAILED = auto()
    # a claim would have too many devices: choosing other devices for the same requests does not help
    TOO_MANY = auto()


Steps = Generator["Steps", Outcome, Outcome]
Undo = Callable[[], None]


class AllocationSearch:
    """One attempt to allocate claims on one node."""

    def __init__(
        self,
        features: DeviceFeatures,
        candidates: Sequence[CandidateDevice],
        ledger: CounterLedger,
        wanted: Sequence[Sequence[Sequence[RequestedDevices]]],
        constraints: Sequence[Sequence[Constraint]],
        budget: Budget,
    ) -> None:
        """`wanted` is claim -> request -> alternative; `constraints` is claim -> constraints."""
        self._budget = budget
        self._features = features
        self._candidates = candidates
        self._ledger = ledger
        self._wanted = wanted
        self._constraints = constraints
        # candidate -> claims it is allocated to in this search
        self._taken_by: dict[int, set[int]] = {}
        # candidate -> capacity -> amount allocated in this search
        self._consumed: dict[int, dict[str, int]] = {}
        self.given: list[list[Given]] = [[] for _ in wanted]
        # claim -> request -> alternative that was chosen
        self.chosen: list[list[int]] = [[0] * len(requests) for requests in wanted]

    def run(self, expired: Callable[[], bool] | None = None) -> bool:
        """Return whether all claims can be allocated; `given` and `chosen` then hold the allocation."""
        if self._too_many_are_wanted():
            return False
        stack: list[Steps] = [self._claim(0)]
        outcome = Outcome.FAILED
        started = False
        while stack:
            if expired is not None and not started and expired():
                raise AllocationTimeoutError("filter operation aborted: context deadline exceeded")
            self._budget.spend_on_node()
            try:
                step = stack[-1].send(outcome) if started else next(stack[-1])
            except StopIteration as ended:
                stack.pop()
                outcome, started = ended.value, True
            else:
                stack.append(step)
                started = False
        if outcome is Outcome.TOO_MANY:
            raise AllocationError("allocation max size exceeded")
        return outcome is Outcome.DONE

    def _too_many_are_wanted(self) -> bool:
        """Return whether more devices are requested than exist, if none can be shared: a search would take too long."""
        if self._features.consumable_capacity and any(
            candidate.offered.device.allow_multiple_allocations for candidate in self._candidates
        ):
            return False
        least = 0
        for requests in self._wanted:
            numbers = [min(each.number for each in options) for options in requests]
            # a selector may fail with an error, which has to be reported
            if sum(numbers) > MAX_RESULTS or any(
                each.plan.admin_access or each.plan.all_devices or each.plan.has_selectors
                for options in requests
                for each in options
            ):
                return False
            least += sum(numbers)
        return least > len(self._candidates) and self._selectors_are_sound()

    def _selectors_are_sound(self) -> bool:
        """Return whether no selector that the search would evaluate fails: its error has to be reported."""
        requests = (options for of_claim in self._wanted for options in of_claim)
        for options in requests:
            spare = -1
            for each in options:
                try:
                    selected = sum(selects(each.plan, candidate) for candidate in self._candidates)
                except AllocationError:
                    return False
                spare = max(spare, selected - each.number)
            if spare < 0:
                # the search ends here
                break
        return True

    def _claim(self, claim: int) -> Steps:
        """Allocate a claim and the claims after it."""
        if claim == len(self._wanted):
            return Outcome.DONE
        return (yield self._request(claim, 0))

    def _request(self, claim: int, request: int) -> Steps:
        """Allocate a request of a claim by its first possible alternative, and the requests after it."""
        if request == len(self._wanted[claim]):
            outcome = yield self._claim(claim + 1)
            # with other devices for this claim, a later one may need fewer devices
            return Outcome.FAILED if outcome is Outcome.TOO_MANY else outcome
        alternatives = self._wanted[claim][request]
        failure = Outcome.TOO_MANY
        for position, wanted in enumerate(alternatives):
            outcome = yield self._devices(wanted, request, 0, 0)
            if outcome is Outcome.DONE:
                self.chosen[claim][request] = position
                return outcome
            if outcome is Outcome.FAILED:
                failure = outcome
        return failure

    def _devices(self, wanted: RequestedDevices, request: int, had: int, start: int) -> Steps:
        """Allocate the missing devices of a request, among candidates from a position on."""
        plan = wanted.plan
        if plan.all_devices and not wanted.everything:
            return Outcome.FAILED
        if had >= wanted.number:
            return (yield self._request(wanted.claim, request + 1))
        if len(self.given[wanted.claim]) + wanted.number - had > MAX_RESULTS:
            return Outcome.TOO_MANY
        positions = wanted.everything[had : had + 1] if plan.all_devices else range(start, len(self._candidates))
        for position in positions:
            self._budget.spend_on_node()
            undo: list[Undo] = []
            if not self._is_free(wanted, position) or not self._take(wanted, position, undo):
                _take_back(undo)
                continue
            outcome = yield self._devices(wanted, request, had + 1, position + 1)
            if outcome is Outcome.DONE:
                return outcome
            _take_back(undo)
            if outcome is Outcome.TOO_MANY:
                return outcome
        return Outcome.FAILED

    def _is_free(self, wanted: RequestedDevices, position: int) -> bool:
        """Return whether a device is not in use, selected by a request and large enough."""
        if self._is_taken(wanted, position):
            return False
        if wanted.plan.all_devices:
            # selected before the search began, and checked again with the claim's constraints
            return True
        return selects(wanted.plan, self._candidates[position]) and self._has_capacity(wanted.plan, position)

    def _is_taken(self, wanted: RequestedDevices, position: int) -> bool:
        """Return whether a device is in use; with admin access only the claim's own use counts."""
        if wanted.plan.admin_access:
            return wanted.claim in self._taken_by.get(position, ())
        candidate = self._candidates[position]
        return candidate.offered.id.device in candidate.use.dedicated or bool(self._taken_by.get(position))

    def _has_capacity(self, plan: RequestPlan, position: int) -> bool:
        return not self._features.consumable_capacity or has_capacity(
            plan, self._candidates[position], self._consumed.get(position, {})
        )

    def _take(self, wanted: RequestedDevices, position: int, undo: list[Undo]) -> bool:
        """Allocate a device to a request if possible; return whether it is. `undo` gets the steps to undo it."""
        plan, candidate = wanted.plan, self._candidates[position]
        shared = self._features.consumable_capacity and bool(candidate.offered.device.allow_multiple_allocations)
        if not self._draw_counters(candidate, position, shared, undo):
            return False
        if self._features.device_taints and not plan.tolerates(candidate.offered.content):
            return False
        for constraint in self._constraints[wanted.claim]:
            if not constraint.add(plan.request, plan.alternative, candidate.offered):
                if plan.all_devices:
                    raise AllocationError(
                        f"claim {plan.claim.full_name}, request {plan.name}: cannot add device {candidate.offered.id} "
                        "because a claim constraint would not be satisfied"
                    )
                return False
            undo.append(partial(constraint.remove, plan.request, plan.alternative))
        if shared:
            return self._take_share(wanted, position, undo)
        if plan.all_devices and not self._has_capacity(plan, position):
            return False
        claims = self._taken_by.setdefault(position, set())
        claims.add(wanted.claim)
        undo.append(lambda: claims.discard(wanted.claim))
        self._give(wanted, Given(plan, candidate.offered, None), undo)
        return True

    def _draw_counters(self, candidate: CandidateDevice, position: int, shared: bool, undo: list[Undo]) -> bool:
        """Subtract the counters of a device if they suffice; return whether they do."""
        content = candidate.offered.content
        if not candidate.offered.device.consumes_counters:
            return True
        if not self._features.partitionable_devices:
            return False
        if shared and (candidate.offered.id.device in candidate.use.capacity or position in self._consumed):
            # subtracted already for an earlier share
            return True
        if not self._ledger.draw(candidate.pool, content.counters):
            return False
        undo.append(lambda: self._ledger.put_back(candidate.pool, content.counters))
        return True

    def _take_share(self, wanted: RequestedDevices, position: int, undo: list[Undo]) -> bool:
        """Allocate a share of a device with multiple allocations if it has enough capacity; return whether it has."""
        plan, candidate = wanted.plan, self._candidates[position]
        consumption = plan.consumes(candidate.offered.content)
        if consumption is None or not self._has_capacity(plan, position):
            return False
        before = self._consumed.get(position)
        now = dict(before or {})
        for name, amount in consumption.amounts.items():
            now[name] = now.get(name, 0) + amount
        self._consumed[position] = now

        def forget() -> None:
            if before is None:
                del self._consumed[position]
            else:
                self._consumed[position] = before

        undo.append(forget)
        self._give(wanted, Given(plan, candidate.offered, consumption.quantities), undo)
        return True

    def _give(self, wanted: RequestedDevices, given: Given, undo: list[Undo]) -> None:
        results = self.given[wanted.claim]
        results.append(given)
        undo.append(lambda: results.__delitem__(-1))


def selects(plan: RequestPlan, candidate: CandidateDevice) -> bool:
    """Return whether a request selects a device that the node can use; raises AllocationError for invalid selectors."""
    if not plan.selects(candidate.offered.content):
        return False
    if isinstance(candidate.reachable, str):
        raise AllocationError(candidate.reachable)
    return candidate.reachable


def has_capacity(plan: RequestPlan, candidate: CandidateDevice, consumed: dict[str, int]) -> bool:
    """Return whether a device has enough capacity for a request, beside its use and the `consumed` of this search."""
    content = candidate.offered.content
    consumption = plan.consumes(content)
    if consumption is None:
        return False
    in_use = candidate.use.capacity.get(candidate.offered.id.device, {})
    return all(
        in_use.get(name, 0) + amount + consumed.get(name, 0) <= content.limits[name]
        for name, amount in consumption.amounts.items()
    )


def _take_back(undo: list[Undo]) -> None:
    """Undo a step, the last change first."""
    for each in reversed(undo):
        each()
