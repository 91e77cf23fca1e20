"""Leader election: one of several schedulers leads, and stops at once when it has lost the lease.

    acquire (retried, with jitter) ──▶ lead, renewing ──▶ lost: report it at once
                                              └─────────▶ stopped: release the lease

`LeaderElector` runs on the loop that it is started on, in virtual time, too; `leader_thread` gives it a thread.
Only `leases.Candidacy` decides; this module times its attempts and reports the outcome.
"""

# upstream: client-go/tools/leaderelection/{leaderelection,healthzadaptor}.go (v1.36)

import asyncio
import socket
import uuid
from collections.abc import Awaitable, Callable
from random import Random
from typing import Protocol

import msgspec

from kubesched.client.election.leases import Candidacy, Record, Wait, Wall, wall_clock
from kubesched.client.rest import Refused, Unreachable
from kubesched.common.notes import Clock
from kubesched.config.types import LeaderElection
from kubesched.errors import KubeschedError

JITTER = 1.2
# how long a leader still counts as healthy after its lease has expired
TOLERATED_SECONDS = 20.0
# how long a running attempt may still take when the election is stopped
LAST_ATTEMPT_SECONDS = 1.0


class ElectionSettings(msgspec.Struct, frozen=True):
    """The settings of one candidate: identity, Lease and durations."""

    identity: str
    namespace: str
    name: str
    lease_seconds: float
    renew_seconds: float
    retry_seconds: float
    coordinated: bool = False

    @property
    def lock(self) -> str:
        """Return `namespace/name` of the Lease."""
        return f"{self.namespace}/{self.name}"


def settings_from(config: LeaderElection, *, identity: str = "", coordinated: bool = False) -> ElectionSettings:
    """Return the settings that a configuration gives; the identity is unique unless it is given."""
    settings = ElectionSettings(
        identity or f"{socket.gethostname()}_{uuid.uuid4()}",
        config.resource_namespace,
        config.resource_name,
        config.lease_duration.seconds,
        config.renew_deadline.seconds,
        config.retry_period.seconds,
        coordinated,
    )
    if settings.renew_seconds <= JITTER * settings.retry_seconds:
        raise KubeschedError(
            "leaderElection.renewDeadline must be greater than retryPeriod*JitterFactor "
            f"({JITTER} * {config.retry_period}); lengthen it, or shorten retryPeriod"
        )
    return settings


class ElectionObserver:
    """Callbacks of an election, called in its thread; they do nothing unless overridden, and must not wait or raise."""

    def became_leader(self) -> None:
        """Begin to lead."""

    def renewed(self, seconds_left: float) -> None:
        """The lease was renewed and lasts `seconds_left` seconds."""

    def lost(self, reason: str) -> None:
        """The lease is lost: stop at once, since another process may lead already."""

    def stopped(self) -> None:
        """The election ended on request."""

    def new_leader(self, identity: str) -> None:
        """Another identity leads now; an empty one stands for no leader."""

    def slow_path(self) -> None:
        """A renewal had to read the lease first."""


class Lock(Protocol):
    """Reads and writes the record of the lease."""

    async def read(self) -> Record | None:
        """Return the record, or None if there is none."""

    async def create(self, record: Record) -> None:
        """Write the first record."""

    async def update(self, record: Record) -> None:
        """Write a record in place of the last one read or written."""


class LostError(Exception):
    """Another identity holds the lease."""


class LeaderElector:
    """Acquires, renews and releases the lease, on the running loop."""

    def __init__(
        self,
        settings: ElectionSettings,
        lock: Lock,
        observer: ElectionObserver,
        clock: Clock,
        *,
        wall: Wall = wall_clock,
        random: Random | None = None,
        note: Callable[[str], None] = lambda line: None,
        record_event: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.candidacy = Candidacy(
            settings.identity, settings.lease_seconds, clock, wall, coordinated=settings.coordinated
        )
        self._settings = settings
        self._lock = lock
        self._observer = observer
        self._clock = clock
        self._random = random or Random()
        self._note = note
        self._record_event = record_event
        self._reported = ""
        self._renewed_at = 0.0

    async def acquire(self, stop: asyncio.Event) -> bool:
        """Try to acquire the lease; return True once this process holds it, False when stopped."""
        lock = self._settings.lock
        self._note(f"Attempting to acquire leader lease {lock}...")
        while not stop.is_set():
            if await self._won(stop) and not stop.is_set():
                self._note(f"Successfully acquired lease {lock}")
                self._record_event("became leader")
                self._observer.became_leader()
                return True
            await _pause(self._settings.retry_seconds * (1 + JITTER * self._random.random()), stop)
        return False

    async def renew(self, stop: asyncio.Event) -> str:
        """Renew the lease until stopped; return why that failed, or an empty text."""
        reason = ""
        while not stop.is_set():
            try:
                if not await self._renewed(stop):
                    reason = f"it was not renewed within {self._settings.renew_seconds:g} s"
            except LostError as lost:
                reason = str(lost)
            if reason:
                break
            await _pause(self._settings.retry_seconds, stop)
        if reason:
            self._note(f"Failed to renew lease {self._settings.lock}: {reason}")
        return reason

    async def release(self) -> None:
        """Release the lease if this process holds it, so that another candidate need not wait for its end."""
        if not self.candidacy.leading:
            return
        self._record_event("stopped leading")
        try:
            current = await self._lock.read()
            # differs (D-080): the reference overwrites the record
            if current is not None and current.holder == self._settings.identity:
                record = self.candidacy.released(current)
                await self._lock.update(record)
                self.candidacy.written(record, self._clock())
        except (Refused, Unreachable) as error:
            self._note(f"Failed to release lease {self._settings.lock}: {error}")

    @property
    def holds(self) -> bool:
        """Return whether this process holds the lease at this moment; callable from any thread."""
        return self.candidacy.leading and self._clock() < self._renewed_at + self._settings.lease_seconds

    def check(self) -> str | None:
        """Return the problem of a leader whose lease expired long ago, None otherwise; callable from any thread."""
        overdue = self._clock() - self.candidacy.observed_at - self._settings.lease_seconds
        if self.candidacy.leading and overdue > TOLERATED_SECONDS:
            return f"failed election to renew leadership on lease {self._settings.name}"
        return None

    # -- attempts until a deadline

    async def _won(self, stop: asyncio.Event) -> bool:
        try:
            return await _finished(self._attempt(), stop)
        except LostError:
            # an earlier attempt had acquired the lease, but its response did not arrive
            return False

    async def _renewed(self, stop: asyncio.Event) -> bool:
        """Try to renew the lease until the deadline; return True if it was renewed, or if the election is stopped."""
        settings, clock = self._settings, self._clock
        # differs (D-076): the reference may continue past the end of its lease if answers are slow
        deadline = min(clock() + settings.renew_seconds, self._renewed_at + settings.lease_seconds)
        while not stop.is_set():
            began = clock()
            try:
                async with asyncio.timeout(deadline - began):
                    if await _finished(self._attempt(), stop):
                        return True
            except TimeoutError:
                return False
            await _pause(min(began + settings.retry_seconds, deadline) - clock(), stop)
            if clock() >= deadline:
                return False
        return True

    # -- one attempt

    async def _attempt(self) -> bool:
        """Try once to acquire or renew the lease; return whether it is held; raises LostError if it was lost."""
        try:
            return await self._acquired()
        except (Refused, Unreachable) as error:
            self._note(f"Failed to acquire or renew lease {self._settings.lock}: {error}")
            return False
        finally:
            self._report()

    async def _acquired(self) -> bool:
        candidacy, lock = self.candidacy, self._lock
        renewal = candidacy.renewal()
        if renewal is not None:
            try:
                await self._write(lock.update, renewal)
                return True
            except (Refused, Unreachable) as error:
                self._note(f"Failed to renew lease {self._settings.lock} at once, reading it first: {error}")
        current = await lock.read()
        proposal = candidacy.propose(current)
        if isinstance(proposal, Wait):
            if proposal.lost:
                raise LostError(f"the lease is {proposal.reason}")
            return False
        if candidacy.leading:
            self._observer.slow_path()
        await self._write(lock.create if current is None else lock.update, proposal)
        return True

    async def _write(self, write: Callable[[Record], Awaitable[None]], record: Record) -> None:
        sent_at = self._clock()
        await write(record)
        self.candidacy.written(record, sent_at)
        self._renewed_at = sent_at
        self._observer.renewed(sent_at + self._settings.lease_seconds - self._clock())

    def _report(self) -> None:
        leader = self.candidacy.leader
        if leader != self._reported:
            self._reported = leader
            self._observer.new_leader(leader)


async def _pause(seconds: float, stop: asyncio.Event) -> None:
    """Wait so many seconds, or until stopped."""
    try:
        async with asyncio.timeout(max(seconds, 0.0)):
            await stop.wait()
    except TimeoutError:
        pass


async def _finished(attempt: Awaitable[bool], stop: asyncio.Event) -> bool:
    """Return what an attempt returns; once stopped it has LAST_ATTEMPT_SECONDS to finish, else it counts as failed."""
    task = asyncio.ensure_future(attempt)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=LAST_ATTEMPT_SECONDS)
        return task.done() and task.result()
    finally:
        stopping.cancel()
        task.cancel()
