"""The configurations of a scheduler: prepared, in force and retired.

From a configuration to an engine that is built, but not in charge yet; and from engines that were in charge to the
release of their plugins, as soon as the last binding cycle that began under them has ended.
"""

from collections.abc import Callable, Collection
from datetime import datetime

import msgspec

from kubesched.config.load import Loaded
from kubesched.core.loop.extender_client import ExtenderClient
from kubesched.core.queue.queueing_hints import QueueingHints
from kubesched.core.queue.scheduling_queue import QueueOptions
from kubesched.core.scheduling.engine import Engine

# built while a configuration is prepared, so that a plugin whose `events_to_register` fails is an error there
QueueSettings = tuple[QueueingHints, QueueOptions]


class PreparedConfiguration(msgspec.Struct, frozen=True):
    """An engine for a configuration, its queue's settings, and what calls its extenders.

    `released` is called when none of them is needed any more.
    """

    engine: Engine
    queue_settings: QueueSettings
    extender_client: ExtenderClient | None = None
    released: Callable[[], None] = lambda: None


class Configurations:
    """The configuration in force, prepared ones, and retired ones with unfinished binding cycles."""

    def __init__(
        self,
        engine: Engine,
        extender_client: ExtenderClient | None,
        queue_settings: Callable[[Engine], QueueSettings],
        date: Callable[[], datetime],
    ) -> None:
        self._queue_settings = queue_settings
        self._date = date
        self.in_force = PreparedConfiguration(engine, queue_settings(engine), extender_client)
        # since when it is in force
        self.since = date()
        self._prepared: list[PreparedConfiguration] = []
        self._retired: list[PreparedConfiguration] = []
        # called when retired configurations have been released
        self.when_released: Callable[[], None] = lambda: None

    @property
    def newest(self) -> Engine:
        """Return the engine that was built last: the next one takes its plugins over."""
        return (self._prepared[-1] if self._prepared else self.in_force).engine

    def prepare(
        self, loaded: Loaded, client: ExtenderClient | None = None, released: Callable[[], None] = lambda: None
    ) -> PreparedConfiguration:
        """Build the plugins of a configuration; raises PluginError if one cannot be built."""
        engine = self.newest.reconfigured(loaded)
        try:
            prepared = PreparedConfiguration(engine, self._queue_settings(engine), client, released)
        except BaseException:
            engine.release(self.in_use())
            raise
        self._prepared.append(prepared)
        return prepared

    def is_prepared(self, loaded: Loaded) -> bool:
        """Return whether a configuration is prepared and not in force yet."""
        return any(each.engine.loaded is loaded for each in self._prepared)

    def discard(self, prepared: PreparedConfiguration) -> None:
        """Drop a prepared configuration that is not put in force."""
        self._prepared.remove(prepared)
        prepared.engine.release(self.in_use())
        prepared.released()

    def in_use(self) -> list[Engine]:
        """Return the engines whose plugins may still be called."""
        return [each.engine for each in (self.in_force, *self._prepared, *self._retired)]

    def put_in_force(self, loaded: Loaded) -> PreparedConfiguration:
        """Return the configuration that is in force from now on; it is built here unless it was prepared."""
        found = next((each for each in self._prepared if each.engine.loaded is loaded), None)
        if found is None:
            found = self.prepare(loaded, self.in_force.extender_client)
        self._prepared.remove(found)
        self._retired.append(self.in_force)
        self.in_force = found
        self.since = self._date()
        return found

    def release(self, generations_in_use: Callable[[], Collection[int]]) -> None:
        """Release the retired configurations whose generations are not in use any more."""
        if not self._retired:
            return
        generations = generations_in_use()
        over = [each for each in self._retired if each.engine.generation not in generations]
        if not over:
            return
        self._retired = [each for each in self._retired if each.engine.generation in generations]
        for each in over:
            each.engine.release(self.in_use())
            each.released()
        cluster = self.in_force.engine.cluster
        cluster.reader.forget_derived((*cluster.table.pods.values(), *cluster.pending.values()))
        self.when_released()
