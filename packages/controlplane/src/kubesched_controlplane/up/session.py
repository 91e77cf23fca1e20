"""One run of `kubesched up`, `try` or `with-cluster`: the cluster runs until it has settled, or until it is ended.

In: a server with its objects, and the endpoint to serve at. Out: the progress, the table at the end, and the exit code.
"""

import asyncio
import shlex
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from rich.console import Console
from rich.live import Live

from kubesched.common.garbage_collection import SERVERS_LATEST_SECONDS, GarbageCollection
from kubesched.config.golang import Duration
from kubesched.errors import KubeschedError
from kubesched_controlplane.cli.tokens import UserToken
from kubesched_controlplane.named_clusters import NameLock
from kubesched_controlplane.running import running
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.storage.store import DELETED, Change
from kubesched_controlplane.transport.certificates import Tls
from kubesched_controlplane.transport.kubeconfig import kubeconfig, offered
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.child_command import run_command
from kubesched_controlplane.up.cluster import ClusterSpec, LocalCluster
from kubesched_controlplane.up.display import Progress, placement_table, print_table, read_event, report_lines
from kubesched_controlplane.up.page_process import page_of
from kubesched_controlplane.up.placements import PlacementReport, read_report
from kubesched_controlplane.up.replaying import TraceReplay
from kubesched_controlplane.up.shutdown import Shutdown

HOST = "127.0.0.1"
REFRESH_SECONDS = 0.2
# seconds between lines of progress without a terminal
LINE_SECONDS = 10.0
MOST_NAMED = 5
# exit code if the cluster has settled with unschedulable pods
UNSCHEDULABLE_CODE = 3


def print_line(line: str) -> None:
    """Print a line to standard error."""
    click.echo(line, err=True)


class Endpoint(NamedTuple):
    """Where the API is served: the cluster's name lock, the port, the certificate and the users' tokens."""

    lock: NameLock
    port: int
    tls: Tls
    tokens: Sequence[UserToken]


class RunMode(NamedTuple):
    """Whether to end once the cluster has settled, how long that may take, and how to print the placements.

    With `command`, a command runs while the cluster is up. `page` has the arguments of the page; None without a page.
    """

    settles: bool
    timeout: Duration
    output: str
    command: Sequence[str] = ()
    page: Sequence[str] | None = None


class Session:
    """One run of the command."""

    def __init__(
        self,
        server: ApiServer,
        objects: int,
        spec: ClusterSpec,
        mode: RunMode,
        endpoint: Endpoint | None,
        replay: TraceReplay | None = None,
    ) -> None:
        self._server = server
        self._objects = objects
        self._spec = spec
        self._mode = mode
        self._endpoint = endpoint
        self._replay = replay
        self._replaying: asyncio.Task[None] | None = None
        # the path of the kubeconfig
        self._file: Path | None = None

    async def run(self, shutdown: Shutdown) -> int:
        """Run the cluster; return the exit code."""
        async with AsyncExitStack() as stack:
            ending = asyncio.create_task(shutdown.in_loop().wait())
            stack.callback(ending.cancel)
            cluster = LocalCluster(await self._open(stack), self._spec, print_line)
            collection = asyncio.create_task(
                GarbageCollection(lambda: not cluster.settled, SERVERS_LATEST_SECONDS).run()
            )
            stack.callback(collection.cancel)
            self._check_kinds(cluster)
            starting = asyncio.create_task(stack.enter_async_context(cluster.running()))
            if self._mode.page is not None and self._file is not None:
                await stack.enter_async_context(page_of(self._file, self._mode.page, print_line))
            code = await self._live(cluster, starting, ending, shutdown)
            # work under way gets a moment to finish
            shutdown.soon(code)
            if self._replaying is not None:
                await _cancelled(self._replaying)
            await _cancelled(starting)
        return code

    def _check_kinds(self, cluster: LocalCluster) -> None:
        """Raise an error if a kind that plugins look up is not served, since nothing is scheduled without it."""
        problems = cluster.kinds_not_served()
        if problems and self._mode.settles:
            raise KubeschedError("; ".join(problems))
        for problem in problems:
            print_line(f"{problem}; until then no pod is scheduled")

    async def _live(
        self, cluster: LocalCluster, starting: "asyncio.Task[Any]", ending: "asyncio.Task[Any]", shutdown: Shutdown
    ) -> int:
        """Run a cluster once it has started; return the exit code."""
        seconds = shutdown.seconds_left
        await asyncio.wait({starting, ending}, timeout=min(seconds, 1e6), return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            if self._endpoint is not None:
                self._endpoint.lock.is_ready()
            if self._replay is not None:
                self._replaying = asyncio.create_task(self._replay.run())
        if self._mode.settles:
            return await self._settle(cluster, starting, ending, shutdown)
        if ending.done():
            return 0
        if self._mode.command:
            assert self._file is not None
            return await run_command(self._mode.command, self._file, shutdown, self._until_ended(cluster))
        return await self._stay(cluster, ending)

    async def _until_settled(self, cluster: LocalCluster) -> None:
        """Wait for the end of the replay, and until the cluster has settled."""
        if self._replaying is not None:
            await self._replaying
        await cluster.until_settled()

    async def _until_ended(self, cluster: LocalCluster) -> None:
        """Wait until the scheduler ends; raise its error, or that of the replay."""
        ended = asyncio.create_task(cluster.until_ended())
        try:
            if self._replaying is not None:
                await asyncio.wait({ended, self._replaying}, return_when=asyncio.FIRST_COMPLETED)
                if self._replaying.done():
                    self._replaying.result()
            await ended
        finally:
            ended.cancel()

    async def _open(self, stack: AsyncExitStack) -> Transport:
        """Serve at the endpoint, if there is one; return the transport to the server."""
        endpoint = self._endpoint
        if endpoint is None:
            transport = Transport(self._server)
            transport.start()
            stack.callback(transport.stop)
            return transport
        http = await stack.enter_async_context(
            running(self._server, host=HOST, port=endpoint.port, tls=endpoint.tls.context)
        )
        files = [
            stack.enter_context(offered(each.file, http.port, kubeconfig(http.url, each.token, endpoint.tls.authority)))
            for each in endpoint.tokens
        ]
        self._file = files[0]
        endpoint.lock.serves(http.url, files[0])
        # standard output is for the result or the command
        aside = self._mode.settles or bool(self._mode.command)
        click.echo(f"API server at {http.url}; objects loaded: {self._objects}.", err=aside)
        click.echo(f"export KUBECONFIG={shlex.quote(str(files[0]))}", err=aside)
        sys.stdout.flush()
        return http.transport

    # -- once

    async def _settle(
        self, cluster: LocalCluster, starting: "asyncio.Task[Any]", ending: "asyncio.Task[Any]", shutdown: Shutdown
    ) -> int:
        """Wait until the cluster has settled, and print the node of each pod."""
        settled = False
        if starting.done():
            settling = asyncio.create_task(self._until_settled(cluster))
            with _Screen(cluster, stderr=True) as screen:
                await screen.until({settling, ending}, shutdown.seconds_left)
            settled = settling.done()
            if settled:
                settling.result()
            settling.cancel()
        problem = "" if settled else self._problem(cluster, ending)
        if problem:
            # before the report, which may be long
            print_line(problem)
        report = read_report(cluster)
        self._print(report, settled=settled)
        if problem:
            return 1
        return UNSCHEDULABLE_CODE if report.unschedulable else 0

    def _problem(self, cluster: LocalCluster, ending: "asyncio.Task[Any]") -> str:
        """Return why the cluster has not settled."""
        if ending.done():
            return "ended before the cluster had settled"
        lines = list(cluster.under_way())
        named = "; ".join(lines[:MOST_NAMED]) or "the run had just started"
        more = f"; and {len(lines) - MOST_NAMED} more" if len(lines) > MOST_NAMED else ""
        return f"the cluster has not settled within {self._mode.timeout} (--timeout): {named}{more}"

    def _print(self, report: PlacementReport, *, settled: bool) -> None:
        if self._mode.output == "json":
            document = {"settled": settled, **msgspec.to_builtins(report)}
            click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2))
            return
        print_table(placement_table(report))
        click.echo()
        for line in report_lines(report):
            click.echo(line)

    # -- until it is ended

    async def _stay(self, cluster: LocalCluster, ending: "asyncio.Task[Any]") -> int:
        """Show the progress until the session is ended."""
        failing = asyncio.create_task(self._until_ended(cluster))
        if sys.stdout.isatty():
            with _Screen(cluster) as screen:
                await screen.until({failing, ending})
        else:
            self._server.registry.store.watch("events", _print_event)
            await asyncio.wait({failing, ending}, return_when=asyncio.FIRST_COMPLETED)
        if failing.done():
            failing.result()
        failing.cancel()
        click.echo(f"{read_report(cluster).summary()}.")
        return 0


async def _cancelled(task: "asyncio.Task[Any]") -> None:
    """Cancel a task, and wait until it has ended."""
    if not task.done():
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _print_event(change: Change) -> None:
    if change.type != DELETED:
        click.echo(str(read_event(change.new)))


class _Screen:
    """Shows the progress on a terminal; without a terminal, as a line from time to time."""

    def __init__(self, cluster: LocalCluster, *, stderr: bool = False) -> None:
        self._progress = Progress(cluster)
        console = Console(stderr=stderr)
        self._live = Live(console=console, auto_refresh=False, transient=stderr) if console.is_terminal else None

    def __enter__(self) -> "_Screen":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._progress.stop()
        if self._live is not None:
            self._live.stop()

    async def until(self, tasks: set["asyncio.Task[Any]"], seconds: float = float("inf")) -> None:
        """Show the progress until a task is done or the time is up."""
        now = asyncio.get_running_loop().time
        deadline, line_at = now() + seconds, now() + LINE_SECONDS
        while not any(task.done() for task in tasks) and now() < deadline:
            if self._live is not None:
                self._live.update(self._progress.page(now()), refresh=True)
            elif now() >= line_at:
                print_line(f"{self._progress.line(now()).plain}   so far")
                line_at = now() + LINE_SECONDS
            left = min(REFRESH_SECONDS, deadline - now())
            await asyncio.wait(tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if self._live is not None:
            self._live.update(self._progress.page(now()), refresh=True)
