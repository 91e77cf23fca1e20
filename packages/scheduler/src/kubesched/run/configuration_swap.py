"""The swap of a running scheduler's configuration: its plugins, extenders and watched kinds, then its profiles.

From a validated configuration to the one in force, or to an error that leaves everything unchanged. The caller makes
one swap at a time.
"""

import asyncio
from collections.abc import Callable, Mapping

from kubesched.client.extenders import HttpExtenderClient
from kubesched.client.informers.informer import Informers
from kubesched.client.informers.watched_kinds import WatchedKind, watched_kinds
from kubesched.config.load import Loaded
from kubesched.core.framework.building.profile import Profile
from kubesched.core.loop.configurations import PreparedConfiguration
from kubesched.core.loop.scheduler import Scheduler
from kubesched.errors import KubeschedError
from kubesched.run.assembly import extender_client_for

# time limit for listing a kind that new plugins look up
LISTED_WITHIN_SECONDS = 30.0


class ReloadError(KubeschedError):
    """A valid configuration that cannot be put in force."""


class ConfigurationSwap:
    """Swaps configurations; `grant` is called with the plugins of a new one before their kinds are listed."""

    def __init__(
        self,
        scheduler: Scheduler,
        informers: Informers,
        grant: Callable[[Mapping[str, Profile]], None] = lambda profiles: None,
    ) -> None:
        self._scheduler = scheduler
        self._informers = informers
        self._grant = grant
        self._closing: set[asyncio.Task[None]] = set()
        scheduler.configurations.when_released = self._leave_kinds

    async def put_in_force(self, loaded: Loaded) -> None:
        """Put a configuration in force; raises KubeschedError, without any change, if that is impossible."""
        # 1. Build its plugins and the client of its extenders.
        prepared = self._prepare(loaded)
        # 2. List the kinds that new plugins look up.
        try:
            self._grant(prepared.engine.profiles)
            await self._list_kinds(prepared)
        except BaseException:
            self._scheduler.configurations.discard(prepared)
            raise
        # 3. Swap between two cycles; events are applied in order.
        scheduler = self._scheduler
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        scheduler.reconfigure(loaded)
        scheduler.inbox.between_cycles(lambda: done.set_result(None) if not done.done() else None)
        await done
        if scheduler.engine is not prepared.engine:
            raise ReloadError("internal error: it could not be put in force; the log says more")

    async def close(self) -> None:
        """Close the connections of extenders."""
        client = self._scheduler.configurations.in_force.extender_client
        if isinstance(client, HttpExtenderClient):
            await client.close()
        await asyncio.gather(*self._closing)

    def _prepare(self, loaded: Loaded) -> PreparedConfiguration:
        client = extender_client_for(loaded, self._scheduler.cluster)

        def close() -> None:
            if client is not None:
                task = asyncio.create_task(client.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

        try:
            return self._scheduler.configurations.prepare(loaded, client, close)
        except BaseException:
            close()
            raise

    async def _list_kinds(self, prepared: PreparedConfiguration) -> None:
        kinds = watched_kinds(prepared.engine.profiles, prepared.engine.loaded.gates)
        missing = await self._informers.add(kinds, LISTED_WITHIN_SECONDS)
        if missing:
            raise ReloadError(_not_listed(missing[0]))

    def _leave_kinds(self) -> None:
        """Stop watching the kinds that no plugin needs any more, after binding cycles of old plugins have ended."""
        engines = self._scheduler.configurations.in_use()
        self._informers.keep(
            {kind.name for each in engines for kind in watched_kinds(each.profiles, each.loaded.gates)}
        )


def _not_listed(kind: WatchedKind) -> str:
    plugins = ", ".join(kind.needed_by)
    return (
        f"{kind.path} could not be listed within {LISTED_WITHIN_SECONDS:.0f} s, which {plugins} needs; does the server "
        "serve it, and may the scheduler's role list and watch it?"
    )
