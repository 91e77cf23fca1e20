"""`kubesched up`: a whole cluster on this machine, in one process.

In: manifests and, if wanted, a scheduler configuration. Out: a table of where each pod is and why some are nowhere; or
a cluster to play with, for kubectl and everybody else, until it is told to end.
"""

import asyncio
import shlex
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from rich.console import Console
from rich.live import Live

from kubesched.app.placements import read_report
from kubesched.app.up import LocalCluster, Wishes
from kubesched.cli.config import read as read_config
from kubesched.cli.event_loop import run_loop
from kubesched.cli.manifests import load_manifests
from kubesched.cli.plugin_options import plugin_option
from kubesched.cli.up_display import Progress, placement_table, plain, read_event, report_lines
from kubesched.config import IN_TREE, FeatureGates, Loaded, load, merge_catalogs
from kubesched.config.errors import ConfigError
from kubesched.config.golang import Duration, parse_duration
from kubesched.controlplane.certificates import Tls, make_tls
from kubesched.controlplane.kubeconfig import kubeconfig, new_token, offered
from kubesched.controlplane.loading import STANDARD_INPUT
from kubesched.controlplane.requests import ADMINISTRATOR
from kubesched.controlplane.running import new_server, running
from kubesched.controlplane.server import ApiServer
from kubesched.controlplane.simulation import Options
from kubesched.controlplane.store import DELETED, Change
from kubesched.controlplane.transport import Transport
from kubesched.errors import KubeschedError
from kubesched.framework.registry import Registry

HOST = "127.0.0.1"
REFRESH_SECONDS = 0.2
MOST_NAMED = 5
# --delay NAME -> what it is
DELAYS = {
    "node-ready": ("node_ready_seconds", "from a node's creation to its being ready"),
    "pod-start": ("pod_start_seconds", "from a pod's binding to its running"),
    "pod-ready": ("ready_seconds", "from there to its being ready"),
    "termination": ("termination_seconds", "longest time for a pod to end (1s)"),
    "provision": ("provision_seconds", "from a volume's being wanted to the volume"),
    "job": ("job_seconds", "how long pods of a Job run, unless annotated with kubesched.io/run-seconds (5s)"),
}
NO_NODES = (
    "there are no nodes, so no pod can be placed: add Node objects (examples/quickstart/nodes.yaml has some), or take "
    "those of a cluster: kubectl get nodes -o yaml > nodes.yaml"
)
HELP = f"""Run a cluster on this machine, in one process: API server, simulated nodes and the scheduler.

FILES are manifests in YAML or JSON: files, folders, - for standard input: nodes, pods, Deployments, Jobs, whatever they
need. Pods are scheduled as on a real cluster; nodes are simulated and "run" what is bound to them. Nothing is kept when
it ends.

\b
Example: where does everything go, and why not?
  kubesched up --once examples/quickstart/
\b
Example: a cluster to play with
  kubesched up examples/quickstart/
  export KUBECONFIG=...            # the line that it prints, in another terminal
  kubectl describe pod giant       # why it is pending
  kubectl run hello --image=hello  # scheduled at once
\b
Example: a cluster as it is, with a scheduler as it might be
  kubectl get nodes,pods,pv,pvc,sc,pc -A -o yaml > cluster.yaml
  kubesched up --once --config my-scheduler.yaml cluster.yaml pods-to-come.yaml

With --once it waits until every pod is bound or found to be unschedulable, prints where each pod is, with the reasons
for those that are nowhere, and ends. This is also what happens when standard output is no terminal, unless --stay is
given. Otherwise it serves the API on {HOST}, shows how things stand, and ends with Ctrl-C.

\b
Delays of simulated nodes (--delay NAME=DURATION,...; all 0 unless said otherwise):
{chr(10).join(f"  {name:<14}{what}" for name, (_, what) in DELAYS.items())}

Exit code: 0; 1 if a manifest or the configuration is wrong, things have not settled in time, or it is ended before they
have; 2 if an option is wrong.
"""


def _duration(context: click.Context, option: click.Parameter, text: str) -> Duration:
    """Return a duration that is longer than nothing."""
    try:
        duration = parse_duration(text)
    except ValueError:
        duration = Duration(nanoseconds=0)
    if duration.seconds <= 0:
        raise click.BadParameter(f"{text!r} is no duration such as 30s or 2m", context, option)
    return duration


def _delays(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> Options:
    """Return how simulated nodes behave."""
    fields: dict[str, float] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, _, value = part.partition("=")
        if name not in DELAYS:
            raise click.BadParameter(
                f"{part!r}: expected NAME=DURATION with one of {', '.join(DELAYS)}", context, option
            )
        try:
            seconds = parse_duration(value).seconds
        except ValueError:
            seconds = -1.0
        if seconds < 0:
            raise click.BadParameter(f"{part!r}: {value!r} is no duration such as 0s, 500ms or 2m", context, option)
        fields[DELAYS[name][0]] = seconds
    return Options(**fields)  # type: ignore[arg-type]


class Asked(NamedTuple):
    """What was asked for on the command line."""

    files: tuple[str, ...]
    once: bool | None
    serve: bool | None
    port: int
    kubeconfig: Path | None
    config: str | None
    feature_gates: tuple[str, ...]
    delays: Options
    seed: int
    timeout: Duration
    output: str
    registry: Registry

    @property
    def settles(self) -> bool:
        """Return whether it ends when things have settled."""
        return not sys.stdout.isatty() if self.once is None else self.once

    @property
    def serves(self) -> bool:
        """Return whether the API is served to others."""
        return not self.settles if self.serve is None else self.serve


@click.command("up", help=HELP, short_help="Run a cluster on this machine: API server, simulated nodes, scheduler.")
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--once/--stay", default=None, help="End when things have settled, or stay until Ctrl-C.")
@click.option(
    "--timeout", default="1m", show_default=True, callback=_duration, help="With --once: how long things may take."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="With --once: how to print.",
)
@click.option("--config", metavar="FILE", help="A KubeSchedulerConfiguration; without it the defaults count.")
@plugin_option
@click.option("--feature-gates", multiple=True, metavar="A=true,B=false", help="Gates to change.")
@click.option(
    "--delay", "delays", multiple=True, callback=_delays, metavar="TEXT", help="NAME=DURATION,... (see above)."
)
@click.option("--seed", type=int, default=0, show_default=True, help="What is left to chance goes by it.")
@click.option("--serve/--no-serve", default=None, help="Serve the API to others; by default unless --once.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; 0, the default: a free one.")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the kubeconfig; by default one in the user's state directory, removed at the end.",
)
def up(**options: Any) -> None:
    asked = Asked(**options)
    if STANDARD_INPUT in asked.files and asked.config == STANDARD_INPUT:
        raise click.UsageError("standard input can be manifests or the configuration, not both")
    gates = FeatureGates.parse(",".join(asked.feature_gates))
    loaded = _load_config(asked.config, gates, asked.registry)
    token, tls = new_token(), make_tls([HOST]) if asked.serves else None
    authority = tls.authority if tls is not None else b""
    server = new_server({token: ADMINISTRATOR}, authority=authority, seed=asked.seed, note=_note)
    objects = load_manifests(server, asked.files)
    if not len(server.services.store.set_of("nodes")):
        if asked.settles:
            raise KubeschedError(NO_NODES)
        _note(NO_NODES)
    wishes = Wishes(loaded, asked.registry, asked.delays, asked.seed)
    sys.exit(run_loop(_Up(asked, server, objects, wishes, _Door(token, tls)).run()))


def _load_config(file: str | None, gates: FeatureGates, registry: Registry) -> Loaded:
    """Return the configuration in a file; what is wrong with it names the file, since there are others."""
    catalog = merge_catalogs(IN_TREE, registry.catalog())
    try:
        return load(None if file is None else read_config(file), gates, catalog)
    except ConfigError as error:
        if file is None:
            raise
        raise ConfigError(error.stage, [f"--config {file}: {problem}" for problem in error.errors]) from None


def _note(line: str) -> None:
    click.echo(line, err=True)


class _Door(NamedTuple):
    """How others get in."""

    token: str
    tls: Tls | None


class _Up:
    """One run of the command."""

    def __init__(self, asked: Asked, server: ApiServer, objects: int, wishes: Wishes, door: _Door) -> None:
        self._asked = asked
        self._server = server
        self._objects = objects
        self._wishes = wishes
        self._door = door

    async def run(self) -> int:
        """Run the cluster; return the exit code."""
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        async with AsyncExitStack() as stack:
            cluster = LocalCluster(await self._open(stack), self._wishes, _note)
            async with cluster.running():
                ending = asyncio.create_task(ended.wait())
                stack.callback(ending.cancel)
                if self._asked.settles:
                    return await self._settle(cluster, ending)
                return await self._stay(cluster, ending)

    async def _open(self, stack: AsyncExitStack) -> Transport:
        """Open the door, if others are to get in; return the way to the server."""
        asked, door = self._asked, self._door
        if door.tls is None:
            transport = Transport(self._server)
            transport.start()
            stack.callback(transport.stop)
            return transport
        http = await stack.enter_async_context(running(self._server, host=HOST, port=asked.port, tls=door.tls.context))
        content = kubeconfig(http.url, door.token, door.tls.authority)
        file = stack.enter_context(offered(asked.kubeconfig, http.port, content))
        # with --once standard output is for the result
        click.echo(f"API server at {http.url}; objects loaded: {self._objects}.", err=asked.settles)
        click.echo(f"export KUBECONFIG={shlex.quote(str(file))}", err=asked.settles)
        sys.stdout.flush()
        return http.transport

    # -- once

    async def _settle(self, cluster: LocalCluster, ending: "asyncio.Task[Any]") -> int:
        """Wait until things have settled, and print where each pod is."""
        settling = asyncio.create_task(cluster.until_settled())
        with _Screen(cluster, stderr=True) as screen:
            await screen.until({settling, ending}, self._asked.timeout.seconds)
        if settling.done():
            settling.result()
        else:
            settling.cancel()
        problem = "" if settling.done() and not settling.cancelled() else self._problem(cluster, ending)
        self._print(cluster, settled=not problem)
        if problem:
            _note(problem)
        return 1 if problem else 0

    def _problem(self, cluster: LocalCluster, ending: "asyncio.Task[Any]") -> str:
        """Return why things have not settled."""
        if ending.done():
            return "ended before everything had settled"
        lines = list(cluster.under_way())
        named = "; ".join(lines[:MOST_NAMED])
        more = f"; and {len(lines) - MOST_NAMED} more" if len(lines) > MOST_NAMED else ""
        return f"not everything has settled within {self._asked.timeout} (--timeout): {named}{more}"

    def _print(self, cluster: LocalCluster, *, settled: bool) -> None:
        report = read_report(cluster)
        if self._asked.output == "json":
            document = {"settled": settled, **msgspec.to_builtins(report)}
            click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2))
            return
        table = placement_table(report)
        if sys.stdout.isatty():
            Console().print(table)
        else:
            click.echo(plain(table), nl=False)
        click.echo()
        for line in report_lines(report):
            click.echo(line)

    # -- until it is ended

    async def _stay(self, cluster: LocalCluster, ending: "asyncio.Task[Any]") -> int:
        """Show how things stand until somebody ends it."""
        failing = asyncio.create_task(cluster.until_ended())
        if sys.stdout.isatty():
            with _Screen(cluster) as screen:
                await screen.until({failing, ending})
        else:
            self._server.services.store.watch("events", _print_event)
            await asyncio.wait({failing, ending}, return_when=asyncio.FIRST_COMPLETED)
        if failing.done():
            failing.result()
        failing.cancel()
        click.echo(f"{read_report(cluster).summary()}.")
        return 0


def _print_event(change: Change) -> None:
    if change.type != DELETED:
        click.echo(str(read_event(change.new)))


class _Screen:
    """A part of the terminal that shows how things stand; nothing, where there is no terminal."""

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
        """Show how things stand until a task is done or time is up."""
        now = asyncio.get_running_loop().time
        deadline = now() + seconds
        while not any(task.done() for task in tasks) and now() < deadline:
            if self._live is not None:
                self._live.update(self._progress.page(now()), refresh=True)
            left = min(REFRESH_SECONDS, deadline - now())
            await asyncio.wait(tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if self._live is not None:
            self._live.update(self._progress.page(now()), refresh=True)
