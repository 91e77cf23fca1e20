"""The incarnation of an API server, and its problems, shared by all reflectors that watch it.

A new incarnation begins when the cluster was set up anew at the same address, or restored from an older backup.
Resource versions start over then: a watch from a version of the former incarnation would wait for events that never
come, and miss objects. In a new incarnation every reflector lists again, and nothing is scheduled until all have.
"""

# differs (D-030): the reference's watches wait for ever after the cluster was restored from an older backup

import asyncio
import time
from collections.abc import Callable

import msgspec

from kubesched.api import tolerant_json
from kubesched.api.paths import path_of
from kubesched.client.rest import Refused, Rest, Unreachable
from kubesched.common.notes import Clock, Note, OncePerMinute
from kubesched.errors import InvalidObjectError

# the UID of this namespace identifies a cluster: it cannot be deleted
KUBE_SYSTEM = path_of("Namespace", "", "kube-system")
ROLES = "bind the cluster roles system:kube-scheduler and system:volume-scheduler to it, or grant what is missing"


class _Meta(msgspec.Struct, rename="camel"):
    uid: str = ""
    resource_version: str = ""


class _Document(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class IncarnationTracker:
    """Numbers the incarnations of one API server, and writes its problems to the log once a minute."""

    def __init__(self, rest: Rest, note: Note, clock: Clock = time.monotonic) -> None:
        # the number of the current incarnation, and the callbacks for a new one
        self.incarnation = 0
        # grows whenever an incarnation begins or a kind is listed
        self.progress = 0
        self.followers: list[Callable[[], None]] = []
        self._rest = rest
        self._note = note
        self._cluster_uid = ""
        self._checking: asyncio.Task[None] | None = None
        self._repetition = OncePerMinute(clock)
        self._well = asyncio.Event()
        # whether it was logged that lists cannot be streamed
        self._unstreamed = False

    # -- incarnations

    async def current_incarnation(self) -> int:
        """Ask the server which incarnation it is; concurrent callers share one request."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.ensure_future(self._check())
        await asyncio.shield(self._checking)
        return self.incarnation

    async def is_still(self, incarnation: int, path: str, version: str) -> bool:
        """Return whether the server is still in an incarnation, in which a resource had reached a version."""
        if await self.current_incarnation() == incarnation:
            older = is_older(await self.newest(path), version)
            if older and self.incarnation == incarnation:
                self._begin_incarnation()
        return self.incarnation == incarnation

    async def newest(self, path: str) -> str:
        """Return the newest resource version that the server has of a resource."""
        return (await self._read(path, {"limit": "1"})).resource_version

    async def _check(self) -> None:
        """Begin an incarnation if the cluster's UID has changed."""
        try:
            uid = (await self._read(KUBE_SYSTEM, {})).uid
        except Refused:
            # the role does not grant access to the namespace: only resource versions are compared
            return
        if self._cluster_uid and uid != self._cluster_uid:
            self._begin_incarnation()
        self._cluster_uid = uid

    def _begin_incarnation(self) -> None:
        self.incarnation += 1
        self.progress += 1
        self._note("the API server has another past than before; everything is listed anew")
        for tell in self.followers:
            tell()

    async def _read(self, path: str, query: dict[str, str]) -> _Meta:
        try:
            return tolerant_json.decode(await self._rest.get(path, query), _Document).metadata
        except InvalidObjectError as error:
            raise Unreachable(f"the answer for {path} cannot be read: {error}", maybe_done=False) from None

    # -- problems

    def complain(self, what: str, error: Exception, consequence: str = "") -> None:
        """Log a problem, its cause and its consequence, once a minute for all reflectors with the same problem.

        A consequence belongs to one reflector, so each consequence is logged.
        """
        forbidden = isinstance(error, Refused) and error.code == 403
        if self._repetition.due(consequence or ("forbidden" if forbidden else str(error))):
            said = [f"{what}: {error}", ROLES if forbidden else "", consequence]
            self._note("; ".join(filter(None, said)))

    def lists_in_pages(self, path: str, error: Exception) -> None:
        """Log, once, that the server could not stream a list."""
        if not self._unstreamed:
            self._unstreamed = True
            self._note(f"lists are read in pages, since {path} could not be streamed: {error}")

    def listed(self) -> None:
        """A kind has been listed in the current incarnation."""
        self.progress += 1
        self.is_well()

    def is_well(self) -> None:
        """A request has succeeded: wake paused reflectors, and log the next problem at once."""
        self._repetition.clear()
        self._well.set()
        self._well = asyncio.Event()

    async def pause(self, seconds: float) -> bool:
        """Wait after a problem; return True, early, if another reflector's request succeeds meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                await self._well.wait()
            return True
        except TimeoutError:
            return False


def is_older(version: str, other: str) -> bool:
    """Return whether a resource version is older than another."""
    # upstream: apimachinery/pkg/util/resourceversion (v1.36)
    return version.isdigit() and other.isdigit() and int(version) < int(other)
