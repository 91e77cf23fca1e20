"""One scheduler process, from start to end.

    configuration ─▶ clients ─▶ events ─▶ serving ─▶ informers ─▶ synced ─▶ the lease ─▶ caught up ─▶ scheduling
                                                                              │ lost: exit 1, at once

With delayCacheUntilActive informers start only once the lease is held. A signal ends the process: bindings under way
get a moment to finish, and the lease is released; a second signal ends it at once.
"""

# upstream: cmd/kube-scheduler/app/server.go (Run) (v1.36)

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from random import Random

from kubesched.api.release import RELEASE
from kubesched.client.election.candidates import CandidateVersions
from kubesched.client.election.leader_elector import settings_from
from kubesched.client.election.leader_thread import LeaderThread
from kubesched.common.garbage_collection import GarbageCollection
from kubesched.common.notes import Note
from kubesched.core.loop.scheduler import LoopOptions
from kubesched.run.assembly import Dependencies, assemble
from kubesched.run.clients import AGENT, Clients, api_server, connect
from kubesched.run.instruments import Instruments, ObservedElection, dump
from kubesched.run.klog.logs import Logs
from kubesched.run.options import RunOptions, record_bytes
from kubesched.run.reloader import Reloader
from kubesched.run.state import State
from kubesched.run.versions import reported
from kubesched.run.watchdog import LIMIT, Watchdog, beat_while_turning, what_the_loop_does
from kubesched.serving.metrics.catalog import LOOP_LAG
from kubesched.serving.metrics.options import read_metric_options
from kubesched.serving.metrics.process_metrics import measure_lag

# time limits at the end, for bindings under way and the release of the lease, and for pending events
LAST_SECONDS = 5.0
LAST_NEWS_SECONDS = 3.0
STUCK = "the scheduling loop stood still"
LOST = "nothing is written any more, since the lease has run out"


class SchedulerProcess:
    """A scheduler process; `run` returns its exit code."""

    def __init__(self, options: RunOptions, logs: Logs) -> None:
        self._options = options
        self._logs = logs
        self._log = logs.log
        self._note: Note = logs.log.warning
        self._stop = asyncio.Event()
        self._state = State()
        config, flags = options.config, options.flags
        metric_options = read_metric_options(
            flags["disabled-metrics"],
            flags["allow-metric-labels"],
            flags["allow-metric-labels-manifest"],
            flags["show-hidden-metrics-for-version"],
        )
        self._instruments = Instruments(
            self._log, metric_options, options.loaded.gates, reported(flags["version"]), record_bytes(flags)
        )
        rest_config = api_server(config.client_connection, flags, self._note)
        self.clients: Clients = connect(
            rest_config, config.client_connection, self._instruments.requests(rest_config.server)
        )
        self.parts = assemble(
            options.loaded,
            options.registry,
            Dependencies(self.clients.scheduling, self.clients.events, self._note, self._instruments.observers),
            LoopOptions(
                seed=Random().randrange(2**32),
                max_in_unschedulable_seconds=flags["pod-max-in-unschedulable-pods-duration"].seconds,
            ),
        )
        self.scheduler, self.informers = self.parts.scheduler, self.parts.informers
        self.recorder, self.extender_client = self.parts.recorder, self.parts.extender_client
        self._reloader = Reloader(options, self.parts, self._instruments) if flags["reload"] else None
        self.leader: LeaderThread | None = None
        # whether this process has led: from then on nothing is written without the lease
        self._leads = False
        self._watchdog = Watchdog(flags[LIMIT].seconds, self._stuck, self._leave)
        # differs (D-032): the reference continues until it notices the lost lease, which takes time in a process that
        # was suspended
        self.scheduler.only_while(lambda: not self._objection())
        self.clients.scheduling.unless(self._objection)

    async def run(self) -> int:
        """Schedule until a signal comes; return the exit code."""
        leads = self._options.config.leader_election.leader_elect
        self._log.info("Starting Kubernetes Scheduler", version=reported(self._options.flags["version"]))
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.clients.close)
            if self.extender_client is not None:
                stack.push_async_callback(self.extender_client.close)
            self._listen_to_signals()
            if self._reloader is not None:
                stack.push_async_callback(self._reloader.close)
                stack.callback(asyncio.create_task(self._reloader.run()).cancel)
            lag = self._instruments.registry.family(LOOP_LAG).buckets()
            for work in (self.recorder.run(), measure_lag(lag)):
                stack.callback(asyncio.create_task(work).cancel)
            self._serve(stack)
            self._watch(stack)
            stopped = asyncio.create_task(self._stop.wait())
            scheduling = asyncio.create_task(self._schedule(leads=leads))
            await asyncio.wait({stopped, scheduling}, return_when=asyncio.FIRST_COMPLETED)
            if scheduling.done() and not self._stop.is_set():
                scheduling.result()
            await self._wind_up(scheduling)
            stopped.cancel()
        self._log.info("Requested to terminate, exiting")
        # as the reference: without leader election a signal ends the process with code 1
        return 0 if leads else 1

    def _serve(self, stack: AsyncExitStack) -> None:
        """Serve health, metrics and configuration, unless --secure-port is 0."""
        if not self._options.flags["secure-port"]:
            return
        # imported here, since it imports TLS libraries
        from kubesched.run.secure_serving import build_server

        reload = self._reloader.reports.configz_fields if self._reloader is not None else None
        server = build_server(self._options, self.parts, self._instruments, self._state, reload)
        server.start()
        stack.push_async_callback(asyncio.to_thread, server.stop)

    # -- a loop that is stuck

    def _watch(self, stack: AsyncExitStack) -> None:
        """Start the watchdog of the scheduling loop, unless its timeout is 0."""
        if not self._watchdog.limit_seconds:
            return
        self._state.loop_problem = self._watchdog.problem
        stack.callback(asyncio.create_task(beat_while_turning(self._watchdog, self.scheduler)).cancel)
        self._watchdog.start()
        stack.callback(self._watchdog.end)

    def _stuck(self, seconds: float) -> None:
        """Release the lease and refuse all writes from now on; called in the watchdog's thread."""
        limit = f"--{LIMIT}={self._options.flags[LIMIT]}"
        self._log.error(None, f"{STUCK} for {seconds:.0f} s ({limit}), this is what it does:\n{what_the_loop_does()}")
        if self.leader is not None:
            self.leader.stop(LAST_SECONDS)

    def _leave(self, why: str) -> None:
        """End the process, to be started again; from the watchdog's thread."""
        self._log.error(None, f"{STUCK}, {why}: the process ends")
        self._logs.flush()
        os._exit(1)

    def _objection(self) -> str:
        """Return why writes to the API server are forbidden, an empty text if they are allowed."""
        if self._state.loop_problem() is not None:
            return STUCK
        return "" if self.leader is None or not self._leads or self.leader.holds else LOST

    async def _schedule(self, *, leads: bool) -> None:
        config = self._options.config
        # events are handled from the start, so that they do not accumulate while waiting for the lease
        self.scheduler.hold()
        collection = GarbageCollection(
            lambda: self.scheduler.busy, forget=lambda: self.scheduler.engine.forget_unused()
        )
        collects = asyncio.create_task(collection.run())
        running = asyncio.create_task(self.scheduler.run())
        try:
            if not (leads and config.delay_cache_until_active):
                await self._inform()
            if leads:
                await self._lead()
                if config.delay_cache_until_active:
                    await self._inform()
                await self.informers.catch_up()
            collection.settle()
            self._state.active = True
            self.scheduler.go()
            await running
        finally:
            running.cancel()
            collects.cancel()

    async def _inform(self) -> None:
        self.informers.start()
        await self.informers.until_synced()
        self._state.synced = True

    # -- the lease

    async def _lead(self) -> None:
        """Start leader election, and wait until this process holds the lease."""
        gates, config = self._options.loaded.gates, self._options.config
        settings = settings_from(config.leader_election, coordinated=gates.enabled("CoordinatedLeaderElection"))
        name = config.profiles[0].scheduler_name if config.profiles else "default-scheduler"
        observer = ObservedElection(settings.name, self._log, self._instruments.leader, before_exit=self._logs.flush)
        versions = CandidateVersions(RELEASE, f"{gates.version}.0") if settings.coordinated else None
        self.leader = LeaderThread(
            self.clients.rest_config, settings, AGENT, observer, reporter=name, versions=versions, note=self._log.info
        )
        self._state.lease_problem = self.leader.check
        self.leader.start()
        await asyncio.wrap_future(self.leader.leading)
        self._leads = True

    # -- the end

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()

        def end() -> None:
            if self._stop.is_set():
                os._exit(1)
            self._log.info("Received a signal to end; a second one ends at once")
            self._state.stopping = True
            self._stop.set()

        def dump_state() -> None:
            self.scheduler.inbox.between_cycles(lambda: dump(self.scheduler, self.informers.objects(), self._log))

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end)
        loop.add_signal_handler(signal.SIGUSR2, dump_state)
        if self._reloader is not None:
            loop.add_signal_handler(signal.SIGHUP, self._reloader.file.ask)

    async def _wind_up(self, scheduling: "asyncio.Task[None]") -> None:
        """Stop scheduling, give bindings and events a moment, release the lease."""
        self._watchdog.end()
        self.scheduler.hold()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await self.scheduler.settle()
        self.scheduler.stop()
        scheduling.cancel()
        with suppress(asyncio.CancelledError):
            await scheduling
        await self.recorder.drain(LAST_NEWS_SECONDS)
        await self.informers.stop()
        if self.leader is not None:
            await asyncio.to_thread(self.leader.stop, LAST_SECONDS)
