"""What all who follow one API server share: which past it has, and what is wrong with it, said once.

From the server to epochs: a new one begins when the cluster was set up anew at the same address, or restored from an
older copy. Versions start anew then; a watch from a version of before would wait for what never comes, and leave out
what is there. Everybody lists anew in a new epoch, and nothing is to be decided before all have.
"""

# differs (comes back with another past): the reference's watches wait for ever when a cluster was restored from an
# older copy

import asyncio
import time
from collections.abc import Callable

import msgspec

from kubesched.api import tolerant_json
from kubesched.api.paths import path_of
from kubesched.client.rest import Refused, Rest, Unreachable
from kubesched.errors import InvalidObjectError

Note = Callable[[str], None]

# what a cluster is known by: a namespace that nobody can delete
OLDEST = path_of("Namespace", "", "kube-system")
# a complaint that goes on is repeated so often
REPEATED_EVERY_SECONDS = 60.0
ROLES = "bind the cluster roles system:kube-scheduler and system:volume-scheduler to it, or grant what is missing"


class _Meta(msgspec.Struct, rename="camel"):
    uid: str = ""
    resource_version: str = ""


class _Document(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class FollowedServer:
    """An API server that several reflectors follow."""

    def __init__(self, rest: Rest, note: Note, clock: Callable[[], float] = time.monotonic) -> None:
        # which of its pasts the server has, as far as is known, and who is told when that changes
        self.epoch = 0
        self.followers: list[Callable[[], None]] = []
        self._rest = rest
        self._note = note
        self._clock = clock
        self._cluster = ""
        self._asking: asyncio.Task[None] | None = None
        self._said: dict[str, float] = {}
        self._well = asyncio.Event()
        # whether it was said that lists cannot be streamed
        self._unstreamed = False

    # -- its past

    async def current_epoch(self) -> int:
        """Return the epoch that the server is in now; who asks at the same time shares the answer."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._look())
        await asyncio.shield(self._asking)
        return self.epoch

    async def goes_on(self, epoch: int, path: str, version: str) -> bool:
        """Return whether what was known of a resource in an epoch, up to a version, is still the server's past."""
        if await self.current_epoch() == epoch and is_older(await self.newest(path), version) and self.epoch == epoch:
            self._begin_epoch()
        return self.epoch == epoch

    async def newest(self, path: str) -> str:
        """Return the version up to which the server knows the objects of a resource."""
        return (await self._read(path, {"limit": "1"})).resource_version

    async def _look(self) -> None:
        try:
            cluster = (await self._read(OLDEST, {})).uid
        except Refused:
            # not everybody may know it; versions have to do then
            return
        if self._cluster and cluster != self._cluster:
            self._begin_epoch()
        self._cluster = cluster

    def _begin_epoch(self) -> None:
        self.epoch += 1
        self._note("the API server has another past than before; everything is listed anew")
        for tell in self.followers:
            tell()

    async def _read(self, path: str, query: dict[str, str]) -> _Meta:
        try:
            return tolerant_json.decode(await self._rest.get(path, query), _Document).metadata
        except InvalidObjectError as error:
            raise Unreachable(f"the answer for {path} cannot be read: {error}", maybe_done=False) from None

    # -- what is wrong with it

    def complain(self, what: str, error: Exception, consequence: str = "") -> None:
        """Say what went wrong, why, and what follows, unless somebody has said just now that he suffers from the same.

        What follows is one's own: nobody else says it.
        """
        forbidden = isinstance(error, Refused) and error.code == 403
        reason, now = consequence or ("forbidden" if forbidden else str(error)), self._clock()
        if now - self._said.get(reason, -REPEATED_EVERY_SECONDS) < REPEATED_EVERY_SECONDS:
            return
        self._said[reason] = now
        said = [f"{what}: {error}", ROLES if forbidden else "", consequence]
        self._note("; ".join(filter(None, said)))

    def lists_in_pages(self, path: str, error: Exception) -> None:
        """Say, once, that the server could not stream a list."""
        if not self._unstreamed:
            self._unstreamed = True
            self._note(f"lists are read in pages, since {path} could not be streamed: {error}")

    def is_well(self) -> None:
        """Take note that something worked: whoever waits tries again, and whatever goes wrong from now on is news."""
        self._said.clear()
        self._well.set()
        self._well = asyncio.Event()

    async def pause(self, seconds: float) -> bool:
        """Wait after something went wrong; return True, early, if meanwhile something worked for somebody else."""
        try:
            async with asyncio.timeout(seconds):
                await self._well.wait()
            return True
        except TimeoutError:
            return False


def is_older(version: str, other: str) -> bool:
    """Return whether a version lies before another one."""
    # upstream: apimachinery/pkg/util/resourceversion (v1.36)
    return version.isdigit() and other.isdigit() and int(version) < int(other)
