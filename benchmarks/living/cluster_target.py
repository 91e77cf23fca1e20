"""A life in front of an API server, and a scheduler in a process of its own that is measured."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from benchmarks.living.errors import LivingError
from benchmarks.living.figures import Row, growth, spread_of
from benchmarks.living.http_world import AT_ONCE, DELETE_AT_ONCE, HttpWorld
from benchmarks.living.life import Life
from benchmarks.living.options import LifeOptions
from benchmarks.living.processes import Process, machine_cpu_seconds, started, words_of
from benchmarks.living.stretches import Stretches, note
from benchmarks.living.templates import NAMESPACES
from benchmarks.living.timers import Timers
from benchmarks.living.watching import Watches
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched.errors import KubeschedError

CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: false}}
clientConnection: {{kubeconfig: {kubeconfig}, qps: 5000, burst: 5000}}
"""
READY_SECONDS = 90.0
# the longest pause of the clock of a life
TICK_SECONDS = 0.02


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A control plane: kubeconfigs, and the command that starts it, if the benchmark does; a folder for files."""

    folder: Path
    kubeconfig: Path
    scheduler_kubeconfig: Path
    command: str = ""


@asynccontextmanager
async def control_plane(place: Place) -> AsyncIterator[RestClient]:
    """Give a client of a control plane, which is started and ended if there is a command for it."""
    values = {"kubeconfig": str(place.kubeconfig), "scheduler_kubeconfig": str(place.scheduler_kubeconfig)}
    if not place.command:
        rest = await _ready(place, lambda: None)
        try:
            yield rest
        finally:
            await rest.close()
        return
    async with started("the control plane", words_of(place.command, **values)) as process:
        rest = await _ready(place, process.check)
        try:
            yield rest
        finally:
            await rest.close()


async def _ready(place: Place, check: Callable[[], None]) -> RestClient:
    """Return a client as soon as the API server is ready."""
    # a control plane that the benchmark starts needs some time
    until, why = time.monotonic() + (READY_SECONDS if place.command else 1.0), ""
    while time.monotonic() < until:
        check()
        try:
            if not place.scheduler_kubeconfig.exists():
                raise LivingError(f"there is no file {place.scheduler_kubeconfig}")
            rest = RestClient(
                load_rest_config(str(place.kubeconfig)), "kubesched-living", most_connections=AT_ONCE + 16
            )
            try:
                await rest.get("/readyz")
            except BaseException:
                await rest.close()
                raise
        except KubeschedError as error:
            why = str(error)
            await asyncio.sleep(0.2)
        else:
            return rest
    raise LivingError(f"the control plane is not ready: {why}")


async def clear(rest: RestClient) -> None:
    """Delete what earlier lives have left; raises LivingError if the cluster has nodes of its own."""
    names = [item["metadata"]["name"] for item in await _items(rest, "/api/v1/nodes")]
    strange = [name for name in names if not name.startswith("living-")]
    if strange:
        raise LivingError(f"the cluster has nodes of its own, such as {strange[0]}: the benchmark needs one without")
    collections = ["/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "/api/v1/nodes"]
    for number in range(NAMESPACES):
        core = f"/api/v1/namespaces/living-{number}"
        services = await _items(rest, f"{core}/services")
        for service in services:
            await rest.send("DELETE", f"{core}/services/{service['metadata']['name']}")
        collections += [f"{core}/pods", f"/apis/apps/v1/namespaces/living-{number}/replicasets"]
        collections.append(f"/apis/events.k8s.io/v1/namespaces/living-{number}/events")
    for path in collections:
        with suppress(Refused):
            while await _items(rest, path, limit="1"):
                await rest.send("DELETE", path, DELETE_AT_ONCE)


async def _items(rest: RestClient, path: str, **query: str) -> list[dict[str, dict[str, str]]]:
    found: list[dict[str, dict[str, str]]] = msgspec.json.decode(await rest.get(path, query))["items"]
    return found


class LivingCluster:
    """A life in front of an API server, and one subject."""

    def __init__(self, rest: RestClient, options: LifeOptions) -> None:
        self.world = HttpWorld(rest)
        self._timers = Timers(time.monotonic())
        self.life = Life(options, self.world, self._timers)
        self.watches = Watches(rest, self._seen)
        # of each bound pod: the times of its creation, of its appearance and of its binding
        self.times: list[tuple[float, float, float]] = []
        self._driving: asyncio.Task[None] | None = None

    async def fill(self) -> None:
        """Create what exists from the beginning, and watch from then on."""
        for part in self.life.fill():
            await self.world.flush()
            note(f"created {part}")
        await self.watches.start()

    async def begin(self, process: Process) -> None:
        """Begin to live, and wait until the subject has bound a pod."""
        self.life.start()
        self._driving = asyncio.create_task(self._drive())
        probe, until = self.life.probe(), time.monotonic() + READY_SECONDS
        while probe.node is None:
            self.check(process)
            if time.monotonic() > until:
                raise LivingError(f"{process.name} has bound no pod:\n{process.last_lines()}")
            await asyncio.sleep(0.1)
        self.life.lives.end(probe)

    def check(self, process: Process) -> None:
        """Raise LivingError if anything that goes on has ended."""
        process.check()
        self.world.check()
        self.watches.check()
        if self._driving is not None and self._driving.done():
            self._driving.result()

    async def close(self) -> None:
        """End the life."""
        if self._driving is not None:
            self._driving.cancel()
            await asyncio.gather(self._driving, return_exceptions=True)
        await self.watches.close()
        await self.world.close()

    async def _drive(self) -> None:
        """Have things happen at their times."""
        while True:
            now = time.monotonic()
            self._timers.run(now)
            await asyncio.sleep(min(max(self._timers.next_time - now, 0.001), TICK_SECONDS))

    def _seen(self, full_name: str, node_name: str) -> None:
        """A pod was created, changed or bound."""
        pod = self.life.pods.get(full_name)
        if pod is None or pod.node is not None:
            return
        now = time.monotonic()
        if not pod.added_at:
            pod.added_at = now
        if node_name:
            self.times.append((pod.created_at, pod.added_at, now))
            self._timers.now = max(self._timers.now, now)
            self.life.bound(pod, node_name)


class Snapshot:
    """Everything that is counted, at a moment."""

    def __init__(self, cluster: LivingCluster, process: Process) -> None:
        self.at = time.monotonic()
        self.cpu = process.cpu_seconds()
        self.own_cpu = time.process_time()
        self.machine_cpu = machine_cpu_seconds()
        self.memory = process.memory_mib()
        self.read = cluster.watches.counts.read
        self.events = cluster.watches.counts.events
        self.requests = cluster.world.requests
        self.created = cluster.life.arrivals.created


async def measure(cluster: LivingCluster, process: Process, name: str, rate: float, stretches: Stretches) -> Row:
    """Return the figures of a stretch at one rate."""
    cluster.life.set_rate(rate)
    async for _ in _passing(cluster, process, stretches.warm):
        pass
    cluster.times.clear()
    cluster.world.most_waiting = 0
    before = Snapshot(cluster, process)
    memory: list[float] = []
    async for seconds in _passing(cluster, process, stretches.seconds):
        memory.append(process.memory_mib())
        stretches.tell_memory(name, seconds, memory[-1], seconds - 1)
    after = Snapshot(cluster, process)
    peak = process.peak_mib()
    cluster.life.set_rate(0)
    until = time.monotonic() + stretches.patience
    while cluster.life.unbound(before.at, after.at) and time.monotonic() < until:
        cluster.check(process)
        await asyncio.sleep(0.1)
    ours = [times for times in cluster.times if before.at <= times[0] <= after.at]
    return Row(
        subject=name,
        rate=rate,
        seconds=after.at - before.at,
        created=after.created - before.created,
        bound=sum(1 for times in cluster.times if times[2] <= after.at),
        unbound=cluster.life.unbound(before.at, after.at),
        cpu_seconds=after.cpu - before.cpu,
        events_read=after.read - before.read,
        events_written=after.events - before.events,
        from_creation=spread_of([bound - created for created, _, bound in ours]),
        from_watch=spread_of([bound - added for _, added, bound in ours]),
        memory_begin_mib=before.memory,
        memory_end_mib=after.memory,
        memory_peak_mib=peak,
        memory_growth=growth(memory),
        own_cpu_seconds=after.own_cpu - before.own_cpu,
        machine_cpu_seconds=after.machine_cpu - before.machine_cpu,
        requests=after.requests - before.requests,
        most_waiting=cluster.world.most_waiting,
    )


async def _passing(cluster: LivingCluster, process: Process, seconds: float) -> AsyncIterator[float]:
    """Let time pass; yield the seconds that have passed every second."""
    began = time.monotonic()
    for second in _seconds(seconds):
        await asyncio.sleep(max(0.0, began + second - time.monotonic()))
        cluster.check(process)
        yield second


def _seconds(most: float) -> Iterator[float]:
    """Yield 1, 2 and so on, and the end."""
    yield from (float(second) for second in range(1, math.ceil(most)))
    yield most


async def measure_subject(
    place: Place, name: str, command: str, options: LifeOptions, stretches: Stretches
) -> AsyncGenerator[Row, None]:
    """Yield the figures of a subject at each rate, on a cluster of its own."""
    async with control_plane(place) as rest:
        await clear(rest)
        cluster = LivingCluster(rest, options)
        config = place.folder / "config.yaml"
        config.write_text(CONFIG.format(kubeconfig=place.scheduler_kubeconfig))
        try:
            await cluster.fill()
            values = {"config": str(config), "kubeconfig": str(place.scheduler_kubeconfig)}
            async with started(name, words_of(command, **values)) as process:
                await cluster.begin(process)
                for rate in stretches.rates:
                    yield await measure(cluster, process, name, rate, stretches)
        finally:
            await cluster.close()
            if not place.command:
                with suppress(Refused, Unreachable):
                    await clear(rest)
