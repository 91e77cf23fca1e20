"""The composition of a scheduler: from a configuration and clients of an API server to all parts, connected.

    rest ──▶ informers ──reports──▶ scheduler ──effects──▶ rest
                                        └──────events──────▶ recorder ──▶ events

The clients may use HTTP or call a server in this process; clock and randomness come in as dependencies, so that a
scheduler also runs in virtual time, the same every time.
"""

import socket
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import msgspec

from kubesched.client.effects import ApiEffects
from kubesched.client.events import EventRecorder
from kubesched.client.extenders import HttpExtenderClient
from kubesched.client.informers.informer import Informers
from kubesched.client.informers.watched_kinds import watched_kinds
from kubesched.client.plugin_http import PluginHttp
from kubesched.client.rest import Rest
from kubesched.common.notes import Note
from kubesched.config.load import Loaded
from kubesched.core.assembly import engine_of, scheduler_of
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import NOBODY, Observers
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions, Scheduler


class Dependencies(msgspec.Struct, frozen=True):
    """A scheduler's dependencies on its process: clients, log, observers, clock and randomness."""

    scheduling: Rest
    events: Rest
    note: Note
    observers: Observers = NOBODY
    date: Callable[[], datetime] = lambda: datetime.now(UTC)
    random: Random = msgspec.field(default_factory=Random)
    host: str = msgspec.field(default_factory=socket.gethostname)


class Parts(msgspec.Struct, frozen=True):
    """A scheduler with its informers, event recorder and extender client."""

    scheduler: Scheduler
    informers: Informers
    recorder: EventRecorder
    extender_client: HttpExtenderClient | None


def assemble(loaded: Loaded, registry: Registry, dependencies: Dependencies, options: LoopOptions) -> Parts:
    """Return the parts of a scheduler for a configuration; none is started."""
    recorder = EventRecorder(
        dependencies.events,
        dependencies.host,
        clock=dependencies.date,
        note=dependencies.note,
        random=dependencies.random,
    )
    effects = ApiEffects(dependencies.scheduling, recorder, dependencies.note)
    services = LoopServices(dependencies.note, dependencies.date)
    engine = engine_of(
        loaded,
        registry,
        effects=effects,
        waits=services.waits,
        waiting_pods=services.waiting_pods,
        observers=dependencies.observers,
        background=services.plugin_tasks,
        http=PluginHttp(dependencies.scheduling),
    )
    extender_client = extender_client_for(loaded, engine.cluster)
    scheduler = scheduler_of(engine, services, options=options, extender_client=extender_client)
    kinds = watched_kinds(engine.profiles, loaded.gates)
    informers = Informers(dependencies.scheduling, kinds, scheduler, dependencies.note, dependencies.random)
    informers.tell_of_unreadable(scheduler.unreadable)
    scheduler.only_while(lambda: informers.same_incarnation)
    return Parts(scheduler, informers, recorder, extender_client)


def extender_client_for(loaded: Loaded, cluster: ClusterState) -> HttpExtenderClient | None:
    """Return what calls the extenders of a configuration, None without extenders."""
    table, extenders = cluster.table, loaded.config.extenders
    return HttpExtenderClient(extenders, lambda name: table.nodes[table.row_of[name]]) if extenders else None
