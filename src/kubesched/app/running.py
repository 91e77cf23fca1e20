"""One scheduler process, from start to end.

    configuration ─▶ clients ─▶ events ─▶ serving ─▶ informers ─▶ all known ─▶ the lease ─▶ caught up ─▶ scheduling
                                                                                 │ lost: exit 1, at once

With delayCacheUntilActive informers start only once the lease is held. A signal ends it: the lease is given up, and
bindings under way get a moment to finish; a second signal ends it at once.
"""

# upstream: cmd/kube-scheduler/app/server.go (Run) (v1.36)

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from random import Random

import msgspec

from kubesched.app.connecting import AGENT, Clients, connect
from kubesched.app.options import RunOptions
from kubesched.binding.waiting_pods import WaitingPods
from kubesched.client.effects import ApiEffects
from kubesched.client.events import EventRecorder
from kubesched.client.extenders import ExtenderCarrier
from kubesched.client.informing import CatchingUp, Informers, followed
from kubesched.client.leader_thread import ExitingObserver, LeaderThread
from kubesched.client.leading import settings_from
from kubesched.client.rest import Refused, Unreachable
from kubesched.client.targets import load_target
from kubesched.framework.observer import Observers
from kubesched.loop.scheduler import LoopOptions, Scheduler
from kubesched.loop.waits import LoopWaits
from kubesched.scheduling.engine import Engine

Note = Callable[[str], None]

# how long the end waits for bindings and events under way, and for the lease to be given up
LAST_SECONDS = 5.0
TRY_AGAIN_SECONDS = 1.0


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _List(msgspec.Struct):
    metadata: _ListMeta


class Running:
    """A scheduler process that is under way; `run` returns its exit code."""

    def __init__(self, options: RunOptions, note: Note, observers: Observers | None = None) -> None:
        self._options = options
        self._note = note
        self._observers = observers
        self._stop = asyncio.Event()
        config = options.config
        target = load_target(config.client_connection.kubeconfig, options.flags["master"], note=note)
        self.clients: Clients = connect(target, config.client_connection)
        self.recorder = EventRecorder(self.clients.events, socket.gethostname(), note=note)
        self.scheduler = self._build()
        self.informers = Informers(
            self.clients.scheduling,
            followed(self.scheduler.engine.profiles, options.loaded.gates),
            self.scheduler,
            note,
        )
        self.leader: LeaderThread | None = None

    def _build(self) -> Scheduler:
        options, config = self._options, self._options.config
        effects = ApiEffects(self.clients.scheduling, self.recorder, self._note)
        waits, waiting = LoopWaits(), WaitingPods()
        engine = Engine(options.loaded, options.registry, effects, waits, waiting, self._observers)
        table = engine.cluster.table
        self.carrier = None
        if config.extenders:
            self.carrier = ExtenderCarrier(config.extenders, lambda name: table.nodes[table.row_of[name]])
        loop_options = LoopOptions(
            seed=Random().randrange(2**32),
            max_in_unschedulable_seconds=options.flags["pod-max-in-unschedulable-pods-duration"].seconds,
        )
        return Scheduler(engine, effects, waits, waiting, loop_options, self.carrier, self._note, self._observers)

    async def run(self) -> int:
        """Schedule until a signal comes; return the exit code."""
        leads = self._options.config.leader_election.leader_elect
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.clients.close)
            if self.carrier is not None:
                stack.push_async_callback(self.carrier.close)
            self._listen_to_signals()
            recording = asyncio.create_task(self.recorder.run())
            stack.callback(recording.cancel)
            stopped = asyncio.create_task(self._stop.wait())
            scheduling = asyncio.create_task(self._schedule(leads=leads))
            await asyncio.wait({stopped, scheduling}, return_when=asyncio.FIRST_COMPLETED)
            if scheduling.done() and not self._stop.is_set():
                scheduling.result()
            await self._wind_up(scheduling)
            stopped.cancel()
        # as the reference: without a lease to give up, being told to end is no success
        return 0 if leads else 1

    async def _schedule(self, *, leads: bool) -> None:
        config = self._options.config
        if not (leads and config.delay_cache_until_active):
            await self._inform()
        if leads:
            await self._lead()
            if config.delay_cache_until_active:
                await self._inform()
            await self._catch_up()
        _settle_memory()
        await self.scheduler.run()

    async def _inform(self) -> None:
        self.informers.start()
        await self.informers.until_synced()

    # -- the lease

    async def _lead(self) -> None:
        """Return when this process holds the lease."""
        gates, config = self._options.loaded.gates, self._options.config
        settings = settings_from(config.leader_election, coordinated=gates.enabled("CoordinatedLeaderElection"))
        name = config.profiles[0].scheduler_name if config.profiles else "default-scheduler"
        observer = ExitingObserver(self._note)
        self.leader = LeaderThread(self.clients.target, settings, AGENT, observer, reporter=name, note=self._note)
        self.leader.start()
        await asyncio.wrap_future(self.leader.leading)

    async def _catch_up(self) -> None:
        """Return when all that is known is as new as what the API server has now that the lease is ours."""

        async def one(path: str, reflector_name: str) -> None:
            reflector = self.informers.reflectors[reflector_name]
            version = await self._current_version(path)
            await CatchingUp([reflector]).reach(version)

        await asyncio.gather(*(one(reflector.path, name) for name, reflector in self.informers.reflectors.items()))

    async def _current_version(self, path: str) -> int:
        while True:
            try:
                page = msgspec.json.decode(await self.clients.scheduling.get(path, {"limit": "1"}), type=_List)
                text = page.metadata.resource_version
                return int(text) if text.isdigit() else 0
            except (Refused, Unreachable, msgspec.MsgspecError) as error:
                self._note(f"cannot tell how new {path} is: {error}")
                await asyncio.sleep(TRY_AGAIN_SECONDS)

    # -- the end

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()

        def end() -> None:
            if self._stop.is_set():
                os._exit(1)
            self._note("Received a signal to end; a second one ends at once")
            self._stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end)

    async def _wind_up(self, scheduling: "asyncio.Task[None]") -> None:
        """Stop scheduling, give bindings and events a moment, give up the lease."""
        self.scheduler.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await self.scheduler.settle()
        scheduling.cancel()
        with suppress(asyncio.CancelledError):
            await scheduling
        await self.recorder.drain(1.0)
        await self.informers.stop()
        if self.leader is not None:
            await asyncio.to_thread(self.leader.stop, LAST_SECONDS)


def _settle_memory() -> None:
    """Take what is known out of the garbage collector's sight: it stays, and looking at it takes long."""
    gc.collect()
    gc.freeze()
