"""Leases: the record that candidates for leadership write, and the rules by which a candidate may write it.

    record of the Lease ──observe──▶ Candidacy ──propose──▶ the record to write, or the reason to wait

Whether a lease has expired is judged by when its record was last seen to change, on a monotonic clock;
the times in the record are for people, and no two machines have to agree on them. A `Candidacy` decides and does no
I/O; `LeaseLock` is the Lease on an API server.
"""

# upstream: client-go/tools/leaderelection/leaderelection.go, resourcelock/leaselock.go (v1.36)

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from kubesched.api.codec import decode_json, to_builtins
from kubesched.api.coordination import Lease, LeaseSpec
from kubesched.api.meta import ObjectMeta
from kubesched.api.paths import path_of
from kubesched.api.tolerant_json import UNREADABLE
from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched.common.notes import Clock
from kubesched.errors import InvalidObjectError

Wall = Callable[[], datetime]

RELEASED_SECONDS = 1


def wall_clock() -> datetime:
    """Return the time of day."""
    return datetime.now(UTC)


class Record(msgspec.Struct, frozen=True):
    """The leader election record: holder, times, duration and transitions."""

    holder: str = ""
    duration_seconds: int = 0
    acquired: datetime | None = None
    renewed: datetime | None = None
    transitions: int = 0
    strategy: str = ""
    preferred_holder: str = ""


def record_of(spec: LeaseSpec) -> Record:
    """Return the record that a Lease holds."""
    return Record(
        spec.holder_identity or "",
        spec.lease_duration_seconds or 0,
        spec.acquire_time,
        spec.renew_time,
        spec.lease_transitions or 0,
        spec.strategy or "",
        spec.preferred_holder or "",
    )


def spec_of(record: Record) -> LeaseSpec:
    """Return the Lease's spec for a record; a record without a holder is written with an empty one."""
    return LeaseSpec(
        holder_identity=record.holder,
        lease_duration_seconds=record.duration_seconds,
        acquire_time=record.acquired,
        renew_time=record.renewed,
        lease_transitions=record.transitions,
        strategy=record.strategy or None,
        preferred_holder=record.preferred_holder or None,
    )


class Wait(msgspec.Struct, frozen=True):
    """The lease is not to be written now; `lost`: this identity held it, and another one does now."""

    reason: str
    lost: bool = False


class Candidacy:
    """What one candidate has observed of a lease, and the records that it may write.

    With `coordinated` the API server chooses the holder, and a candidate only renews its lease.
    """

    def __init__(
        self,
        identity: str,
        duration_seconds: float,
        clock: Clock,
        wall: Wall = wall_clock,
        *,
        coordinated: bool = False,
    ) -> None:
        self.identity = identity
        self.duration_seconds = duration_seconds
        self.coordinated = coordinated
        self._clock = clock
        self._wall = wall
        # the record observed last, and when: one value, since other threads read it
        self._observed = (Record(), 0.0)
        self._read = Record()

    @property
    def leader(self) -> str:
        """Return the identity of the leader in the record observed last."""
        return self._observed[0].holder

    @property
    def leading(self) -> bool:
        """Return whether this candidate is the leader in the record observed last."""
        return self.leader == self.identity

    @property
    def observed_at(self) -> float:
        """Return when the record was last seen to change."""
        return self._observed[1]

    def renewal(self) -> Record | None:
        """Return the record that renews the lease without reading it first; None if that is not safe."""
        if self.coordinated or not self.leading or not self._valid():
            return None
        return self._continued(self._observed[0])

    def observe(self, record: Record) -> None:
        """Store the server's record; the time of observation changes only if the record did."""
        if record != self._read:
            self._read = record
            self._observed = (record, self._clock())

    def propose(self, current: Record | None) -> Record | Wait:
        """Return the record to write in place of the server's, or the reason to wait."""
        led = self.leading
        if current is not None:
            self.observe(current)
        if self.coordinated:
            return self._propose_coordinated(current, led)
        if current is None:
            return self._anew(transitions=0)
        if self.leading:
            return self._continued(current)
        if current.holder and self._valid():
            # differs (D-075): the reference continues as a leader until the renew deadline
            return Wait(f"held by {current.holder}", lost=led)
        return self._anew(transitions=current.transitions + 1)

    def released(self, current: Record) -> Record:
        """Return the record that releases the lease."""
        now = self._wall()
        return Record(duration_seconds=RELEASED_SECONDS, acquired=now, renewed=now, transitions=current.transitions)

    def written(self, record: Record, sent_at: float) -> None:
        """The server has stored a record that was sent at `sent_at`."""
        # differs (D-076): the reference counts from the answer, but another process may count from an earlier time
        self._observed = (record, sent_at)

    def _propose_coordinated(self, current: Record | None, led: bool) -> Record | Wait:
        if current is None:
            return Wait("the API server has not created the lease yet", lost=led)
        if not self._valid():
            return Wait("expired", lost=led)
        if not self.leading:
            return Wait(f"held by {current.holder or 'nobody'}", lost=led)
        if current.preferred_holder:
            return Wait(f"to be given to {current.preferred_holder}")
        return msgspec.structs.replace(self._continued(current), strategy=current.strategy)

    def _valid(self) -> bool:
        record, observed_at = self._observed
        return observed_at + record.duration_seconds > self._clock()

    def _anew(self, transitions: int) -> Record:
        now = self._wall()
        return Record(self.identity, int(self.duration_seconds), now, now, transitions)

    def _continued(self, record: Record) -> Record:
        return Record(self.identity, int(self.duration_seconds), record.acquired, self._wall(), record.transitions)


class LeaseLock:
    """The Lease on an API server; writes carry the resource version that was read or written last."""

    def __init__(self, rest: RestClient, namespace: str, name: str) -> None:
        self.namespace = namespace
        self.name = name
        # the object as the server has it, with fields that are unknown here
        self.document: dict[str, Any] = {}
        self._rest = rest

    async def read(self) -> Record | None:
        """Return the record of the Lease, or None if the Lease does not exist."""
        try:
            return self._took(await self._rest.get(path_of("Lease", self.namespace, self.name)))
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    async def create(self, record: Record) -> None:
        """Write the first record."""
        lease = Lease(metadata=ObjectMeta(name=self.name, namespace=self.namespace), spec=spec_of(record))
        body = msgspec.json.encode(to_builtins(lease))
        self._took(await self._rest.send("POST", path_of("Lease", self.namespace), body))

    async def update(self, record: Record) -> None:
        """Write a record in place of the last known one; refused with a conflict if that one is out of date."""
        changed = {**self.document, "spec": to_builtins(Lease(spec=spec_of(record)))["spec"]}
        path = path_of("Lease", self.namespace, self.name)
        self._took(await self._rest.send("PUT", path, msgspec.json.encode(changed)))

    def _took(self, answer: bytes) -> Record:
        try:
            lease = decode_json(Lease, answer)
            self.document = msgspec.json.decode(answer)
        except (InvalidObjectError, *UNREADABLE) as error:
            raise Unreachable(f"the answer is no Lease: {error}", maybe_done=True) from None
        return record_of(lease.spec)
