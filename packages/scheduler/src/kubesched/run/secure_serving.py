"""The server of a scheduler process: health, metrics, configuration.

From the parts of a running scheduler to the pages of the server, which runs in a separate thread. Pages are written
in that thread; values that only the scheduler's loop may read are read on the loop, and while it is busy the last
value is used.
"""

# upstream: cmd/kube-scheduler/app/server.go (v1.36)

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from kubesched.api.pods import Pod
from kubesched.client.credentials.rest_config import in_cluster_config, load_rest_config
from kubesched.client.rest import RestClient
from kubesched.common.notes import Note
from kubesched.config.encoding import to_wire
from kubesched.core.loop.gauges import read_gauges
from kubesched.run.assembly import Parts
from kubesched.run.clients import AGENT
from kubesched.run.instruments import Instruments
from kubesched.run.options import RunOptions
from kubesched.run.state import State
from kubesched.run.versions import reported
from kubesched.run.watchdog import LIMIT
from kubesched.serving.auth.authentication import Authentication
from kubesched.serving.auth.authorization import Authorization
from kubesched.serving.metrics.pages import resources_text
from kubesched.serving.pages.health import PING, HealthCheck, HealthChecks, handler_sync_check, shutdown_check
from kubesched.serving.pages.routes import MetricsPage, Pages
from kubesched.serving.pages.zpages import ComponentVersions
from kubesched.serving.queue.reading import read_queue
from kubesched.serving.server import Server

T = TypeVar("T")
PATIENCE_SECONDS = 0.5


class AskedOnLoop(Generic[T]):
    """A value that only the scheduler's loop may read, for other threads; while the loop is busy, the last value."""

    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        self._loop = asyncio.get_running_loop()
        self._last = read()

    def __call__(self) -> T:
        """Return the value."""

        async def ask() -> T:
            return self._read()

        future = asyncio.run_coroutine_threadsafe(ask(), self._loop)
        try:
            self._last = future.result(PATIENCE_SECONDS)
        except TimeoutError:
            future.cancel()
        return self._last


def build_server(
    options: RunOptions,
    parts: Parts,
    instruments: Instruments,
    state: State,
    reload: Callable[[], Mapping[str, Any]] | None = None,
) -> Server:
    """Return the server of a process; call it on the scheduler's loop. `reload` returns the state of reloads for
    /configz.
    """
    config, flags, gates = options.config, options.flags, options.loaded.gates
    serving, note = options.serving, instruments.log.warning
    instruments.follow(parts.scheduler, AskedOnLoop(lambda: read_gauges(parts.scheduler)))
    health, registry = instruments.health, instruments.registry
    pods = AskedOnLoop(
        lambda: [pod for pod in parts.informers.reflectors["Pod"].objects.values() if isinstance(pod, Pod)]
    )
    pages = Pages(
        config=lambda: to_wire(parts.scheduler.engine.loaded.config),
        metrics=MetricsPage(registry.text, registry.reset),
        slis=MetricsPage(health.text, health.reset),
        resources=MetricsPage(lambda: resources_text(pods()) if state.active else None),
        started_at=time.time(),
        flags=(lambda: {name: _shown(value) for name, value in flags.values.items()})
        if gates.enabled("ComponentFlagz")
        else None,
        versions=ComponentVersions(reported(flags["version"]).removeprefix("v"), str(gates.version))
        if gates.enabled("ComponentStatusz")
        else None,
        set_verbosity=instruments.set_verbosity if config.enable_profiling else None,
        cbor=gates.enabled("CBORServingAndStorage"),
        decisions=instruments.decisions.ring if instruments.decisions is not None else None,
        queue=AskedOnLoop(lambda: read_queue(parts.scheduler.queue, parts.scheduler.now(), datetime.now(UTC))),
        reload=reload,
    )
    lease = HealthCheck("leaderElection", lambda: state.lease_problem())
    loop = HealthCheck("scheduling-loop", lambda: state.loop_problem())
    leading = [lease] if config.leader_election.leader_elect else []
    turning = [loop] if flags[LIMIT].nanoseconds else []
    checks = HealthChecks(
        healthz=[*(leading or [PING]), *turning],
        livez=[PING, *turning],
        readyz=[*leading, *turning, shutdown_check(lambda: state.stopping), handler_sync_check(lambda: state.synced)],
        observed=health.checked,
    )
    authentication = Authentication(serving, _reviewer(flags["authentication-kubeconfig"], note), note)
    authorization = Authorization(serving, _reviewer(flags["authorization-kubeconfig"], note), note)
    return Server(serving, checks, pages, authentication, authorization, note, inform=instruments.log.info)


def _reviewer(kubeconfig: str, note: Note) -> RestClient | None:
    """Return the client for reviews, from a kubeconfig or the pod's service account; None without either."""
    if kubeconfig:
        return RestClient(load_rest_config(kubeconfig, note=note), AGENT, timeout_seconds=10)
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return RestClient(in_cluster_config(note=note), AGENT, timeout_seconds=10)
    return None


def _shown(value: object) -> str:
    """Return a flag's value as Go shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(str, value))}]"
    if isinstance(value, dict):
        return f"[{','.join(f'{key}={inner}' for key, inner in value.items())}]"
    return str(value)
