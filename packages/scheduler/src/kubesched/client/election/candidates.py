"""The LeaseCandidate of a scheduler in a coordinated leader election, where the API server chooses the leader.

From versions to a LeaseCandidate that is written when it does not exist, when the server sets its pingTime, and
periodically.
"""

# upstream: client-go/tools/leaderelection/leasecandidate.go (v1.36)

import asyncio
from collections.abc import Callable

import msgspec

from kubesched.api.codec import encode
from kubesched.api.coordination import LeaseCandidate, LeaseCandidateSpec
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.paths import path_of
from kubesched.client.election.leases import Wall, wall_clock
from kubesched.client.informers.reflector import Reflector
from kubesched.client.rest import Refused, RestClient, Unreachable

OLDEST_EMULATION_VERSION = "OldestEmulationVersion"
RENEWED_EVERY_SECONDS = 300.0
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0


class CandidateVersions(msgspec.Struct, frozen=True):
    """The binary version and the emulation version of a candidate (1.36.0, for example)."""

    binary: str
    emulation: str


class LeaseCandidateKeeper:
    """Keeps the LeaseCandidate of one identity up to date; `synced` is set once it was listed."""

    def __init__(
        self,
        rest: RestClient,
        namespace: str,
        lease_name: str,
        identity: str,
        versions: CandidateVersions,
        *,
        wall: Wall = wall_clock,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._rest = rest
        self._namespace = namespace
        self._lease_name = lease_name
        self._identity = identity
        self._versions = versions
        self._wall = wall
        self._note = note
        self._known: LeaseCandidate | None = None
        self._wanted = asyncio.Event()
        self._reflector = Reflector(
            rest,
            path_of("LeaseCandidate", namespace),
            LeaseCandidate,
            self,
            query={"fieldSelector": f"metadata.name={identity}"},
            note=note,
        )

    @property
    def synced(self) -> asyncio.Event:
        """Return the event that is set once the LeaseCandidate was listed."""
        return self._reflector.synced

    async def run(self) -> None:
        """Keep the candidate up to date until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._reflector.run())
            tasks.create_task(self._keep())

    def put(self, obj: ApiObject) -> None:
        """Store the LeaseCandidate as last observed; renew it if its pingTime is newer than its renewTime."""
        assert isinstance(obj, LeaseCandidate)
        self._known = obj
        spec = obj.spec
        if spec.ping_time is not None and (spec.renew_time is None or spec.ping_time > spec.renew_time):
            self._wanted.set()

    def drop(self, obj: ApiObject) -> None:
        """Create a deleted LeaseCandidate again."""
        # differs (D-082): the reference does not take part in an election for up to five minutes
        self._known = None
        self._wanted.set()

    async def _keep(self) -> None:
        await self._reflector.synced.wait()
        wait = FIRST_WAIT_SECONDS
        while True:
            self._wanted.clear()
            try:
                await self._write()
            except (Refused, Unreachable) as error:
                self._note(f"lease candidate {self._namespace}/{self._identity} could not be written: {error}")
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
                continue
            wait = FIRST_WAIT_SECONDS
            try:
                async with asyncio.timeout(RENEWED_EVERY_SECONDS):
                    await self._wanted.wait()
            except TimeoutError:
                pass

    async def _write(self) -> None:
        """Create the candidate, or renew it."""
        known = self._known
        if known is None:
            candidate = LeaseCandidate(
                metadata=ObjectMeta(name=self._identity, namespace=self._namespace),
                spec=LeaseCandidateSpec(
                    lease_name=self._lease_name,
                    renew_time=self._wall(),
                    binary_version=self._versions.binary,
                    emulation_version=self._versions.emulation,
                    strategy=OLDEST_EMULATION_VERSION,
                ),
            )
            await self._rest.send("POST", path_of("LeaseCandidate", self._namespace), encode(candidate))
            return
        # differs (D-081): if the server's clock is ahead, the reference renews again and again, and no renewal is
        # accepted
        renewed = max(self._wall(), known.spec.ping_time or self._wall())
        spec = msgspec.structs.replace(known.spec, renew_time=renewed)
        path = path_of("LeaseCandidate", self._namespace, known.name)
        await self._rest.send("PUT", path, encode(msgspec.structs.replace(known, spec=spec)))
