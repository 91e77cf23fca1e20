"""`kubesched up`: a whole cluster on this machine, in one process.

In: manifests, nodes by the dozen and, if wanted, a scheduler configuration and a folder to keep everything in. Out: a
table with the node of each pod, or the reason why it has none; or a cluster that kubectl and other clients can use,
until a signal.
"""

import logging
import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
from msgspec.structs import replace

from kubesched.cli.command_group import CommandWithSubcommands
from kubesched.cli.config import read as read_config
from kubesched.cli.event_loop import run_loop
from kubesched.cli.folder_path import FolderPath
from kubesched.cli.plugin_options import check_enabled, plugin_option, with_plugin_hint
from kubesched.common.distributions import imported
from kubesched.common.files import file_stamp
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import Duration
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.config.load import Loaded, load
from kubesched.core.framework.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.manifests import STANDARD_INPUT
from kubesched.run.klog.logs import KlogHandler
from kubesched.run.klog.options import LogOptions
from kubesched.serving.decisions.memory import DEFAULT_TEXT, FLAG
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_controlplane.cli.manifests import load_manifests, validate_option
from kubesched_controlplane.cli.tokens import kept_tokens, new_tokens
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.data_folder import DataFolder, opened
from kubesched_controlplane.named_clusters import DEFAULT, NameLock, locked
from kubesched_controlplane.running import new_server
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.storage.store import HISTORY
from kubesched_controlplane.transport.certificates import make_tls
from kubesched_controlplane.up.added_objects import AddedObjects
from kubesched_controlplane.up.cluster import ClusterSpec
from kubesched_controlplane.up.detached import detach
from kubesched_controlplane.up.help import HELP, NO_NODES
from kubesched_controlplane.up.node_pools import NodePool, PoolError
from kubesched_controlplane.up.options import duration, pool_options, record_memory, speed_options
from kubesched_controlplane.up.reloading import ConfigFile
from kubesched_controlplane.up.replaying import TraceReplay
from kubesched_controlplane.up.session import HOST, Endpoint, RunMode, Session, print_line
from kubesched_controlplane.up.shutdown import Shutdown
from kubesched_controlplane.up.subcommands import down, name_option, status

NO_ZONES = (
    "the nodes of --nodes have no zone, because FILES contain nodes: set it with --like NODE, --zones or a label "
    "in --pool"
)


class UpOptions(NamedTuple):
    """The options of `kubesched up`, parsed."""

    files: tuple[str, ...]
    once: bool | None
    serve: bool | None
    detached: bool
    chosen_name: str | None
    port: int
    kubeconfig: Path | None
    data: Path | None
    config: str | None
    reload: bool
    feature_gates: tuple[str, ...]
    pools: list[NodePool]
    simulation: Options
    seed: int
    record_bytes: int
    timeout: Duration
    output: str
    validation: str
    registry: Registry
    replay: tuple[str, ...]
    page: bool
    # the command of `-- COMMAND`
    command: tuple[str, ...]

    @property
    def settles(self) -> bool:
        """Return whether the command ends when the cluster has settled."""
        if self.command or self.detached:
            return False
        return not sys.stdout.isatty() if self.once is None else self.once

    @property
    def serves(self) -> bool:
        """Return whether the API is served on a port."""
        return not self.settles if self.serve is None else self.serve

    @property
    def name(self) -> str:
        """Return the cluster's name; clusters of `-- COMMAND` get unique names, so that several can run."""
        return self.chosen_name or (f"command-{os.getpid()}" if self.command else DEFAULT)


@click.command(
    "up",
    cls=CommandWithSubcommands,
    subcommands={"status": status, "down": down},
    takes_command=True,
    help=HELP,
    short_help="Run a cluster on this machine: API server, simulated nodes, scheduler.",
    options_metavar="[OPTIONS]",
)
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True, readable=False))
@click.option("--once/--stay", default=None, help="End when the cluster has settled, or stay until Ctrl-C.")
@click.option("--detach", "detached", is_flag=True, help="Run in the background; return when the cluster is ready.")
@click.option(
    "--timeout",
    default="5m",
    show_default=True,
    callback=duration,
    metavar="DURATION",
    help="Timeout for the whole run with --once, for the start with --detach.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="Output format of the table, with --once.",
)
@pool_options
@speed_options
@validate_option
@click.option(
    "--config", metavar="FILE", help="A KubeSchedulerConfiguration file; without it, the built-in defaults apply."
)
@click.option(
    "--reload",
    is_flag=True,
    help="Apply changes of the --config file while the cluster runs; invalid ones are rejected.",
)
@plugin_option
@click.option("--feature-gates", multiple=True, metavar="A=true,B=false", help="Feature gates, such as A=true,B=false.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for every random choice.")
@click.option(
    f"--{FLAG}",
    "record_bytes",
    default=DEFAULT_TEXT,
    show_default=True,
    callback=record_memory,
    metavar="QUANTITY",
    help="Memory for the scheduler's last decisions, which `explain` and /debug/decisions show; 0 for none.",
)
@click.option(
    "--replay",
    multiple=True,
    type=click.Path(exists=True),
    metavar="TRACE",
    help="Replay a trace: a recording, or any file that simulate reads. Its nodes and pods come and go at their times.",
)
@click.option("--page", is_flag=True, help="Serve a page with the cluster for a browser on this machine.")
@click.option("--data", type=FolderPath(), metavar="DIR", help="Folder that keeps all objects.")
@name_option("--name", "chosen_name", help=f"Name of the cluster while it serves.  [{DEFAULT}]")
@click.option("--serve/--no-serve", default=None, help="Serve the API to other programs; the default without --once.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; 0, the default: a free one.")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the kubeconfig; by default in DIR, or in the user's state directory until the cluster ends.",
)
@click.pass_context
def up(context: click.Context, /, **given: Any) -> None:
    """Run a cluster: the embedded control plane and a scheduler."""
    options = UpOptions(**given, command=context.meta.get(COMMAND, ()))
    _check_files(options)
    _check_endpoint(options)
    if options.detached:
        sys.exit(detach(context.meta[ARGUMENTS], options.name, options.timeout))
    words = f"the cluster has not settled within {options.timeout} (--timeout)"
    with Shutdown(options.timeout.seconds if options.settles else None, words) as shutdown, ExitStack() as stack:
        gates = FeatureGates.parse(",".join(options.feature_gates))
        stamp = file_stamp(options.config) if options.config is not None else None
        loaded = _load_config(options.config, gates, options.registry)
        check_enabled(options.registry, loaded, print_line)
        # what controllers did is in the trace
        simulation = replace(options.simulation, workloads=options.simulation.workloads and not options.replay)
        followed = None
        if options.reload and options.config is not None:
            read = partial(_load_config, options.config, gates, options.registry)
            followed = ConfigFile(options.config, read, stamp)
        spec = ClusterSpec(
            loaded,
            options.registry,
            simulation,
            options.seed,
            record_bytes=options.record_bytes,
            followed=followed,
        )
        lock = stack.enter_context(locked(options.name)) if options.serves else None
        if lock is not None:
            shutdown.at_end.append(lock.clear)
        folder = None if options.data is None else stack.enter_context(opened(options.data, HISTORY))
        session = _prepared(options, spec, None if lock is None else _endpoint(options, lock, folder), folder)
        handler = KlogHandler(LogOptions(), _write_log, _write_log)
        stack.callback(handler.uninstall)
        handler.install(logging.getLogger())
        sys.exit(run_loop(session.run(shutdown)))


ARGUMENTS, COMMAND = CommandWithSubcommands.ARGUMENTS, CommandWithSubcommands.COMMAND


def _write_log(line: str) -> None:
    """Print a log line of a plugin or a library."""
    click.echo(line, err=True, nl=False)


def _check_files(options: UpOptions) -> None:
    """Check that FILES are files."""
    if STANDARD_INPUT in options.files and options.config == STANDARD_INPUT:
        raise click.UsageError("- can be FILES or --config, not both")
    if options.reload and options.config in (None, STANDARD_INPUT):
        raise click.UsageError("--reload needs a file to watch: add --config FILE")
    for file in options.files:
        if file in ("status", "down") and not Path(file).exists():
            raise click.UsageError(f"{file} comes first: kubesched up {file} [NAME]")


def _check_endpoint(options: UpOptions) -> None:
    """Check that the options about staying and serving fit together."""
    for option, said in (("--detach", options.detached), ("-- COMMAND", bool(options.command))):
        if said and options.once:
            raise click.UsageError(f"{option} and --once exclude each other: leave one out")
        if said and options.serve is False:
            raise click.UsageError(f"{option} and --no-serve exclude each other: leave one out")
    if options.detached and options.command:
        raise click.UsageError("--detach and -- COMMAND exclude each other: leave one out")
    for option, value in (("--port", options.port), ("--kubeconfig", options.kubeconfig), ("--page", options.page)):
        if value and not options.serves:
            raise click.UsageError(f"{option} needs a cluster that serves: add --stay, or --serve with --once")


def _load_config(file: str | None, gates: FeatureGates, registry: Registry) -> Loaded:
    """Return the configuration in a file, or the default; problems name the file."""
    catalog = merge_catalogs(IN_TREE, registry.catalog())
    try:
        return load(None if file is None else read_config(file), gates, catalog)
    except ConfigError as error:
        raise with_plugin_hint(error).about(f"--config {file}" if file else "the defaults") from None


def _endpoint(options: UpOptions, lock: NameLock, folder: DataFolder | None) -> Endpoint:
    """Return the endpoint to serve at: the one of the last run, if there is a data folder."""
    if folder is None:
        return Endpoint(lock, options.port, make_tls([HOST]), new_tokens(options.kubeconfig or lock.kubeconfig))
    tls = make_tls([HOST], authority=folder.authority())
    return Endpoint(lock, options.port or folder.port(HOST), tls, kept_tokens(folder, options.kubeconfig))


def _page_arguments(options: UpOptions) -> tuple[str, ...] | None:
    """Return the arguments of `kubesched page` for answers with this scheduler's configuration; None without a
    page.
    """
    if not options.page:
        return None
    given = [("--config", options.config if options.config != STANDARD_INPUT else None)]
    given += [("--feature-gates", gates) for gates in options.feature_gates]
    given += [("--plugin", plugin) for plugin in click.get_current_context().params.get("plugins", ())]
    return tuple(word for option, value in given if value for word in (option, value))


def _prepared(options: UpOptions, spec: ClusterSpec, endpoint: Endpoint | None, folder: DataFolder | None) -> Session:
    """Return a session with all manifests loaded; a failed start leaves no files in the data folder."""
    users = {each.token: each.user for each in endpoint.tokens} if endpoint is not None else {}
    authority = endpoint.tls.authority if endpoint is not None else b""
    with ExitStack() as stack:
        if folder is not None:
            stack.enter_context(folder.store.together())
        store, signer = (None, None) if folder is None else (folder.store, folder.authority())
        added = AddedObjects(options.pools, store)
        server = new_server(users, authority=authority, store=store, seed=options.seed, note=print_line, signer=signer)
        try:
            objects = load_manifests(server, options.files, added, options.validation)
        except PoolError as error:
            raise click.BadParameter(str(error), param_hint="--like") from None
        replay = _replay(options, spec, server)
        if replay is not None:
            objects += replay.begin()
        _check_nodes(server, options)
    if added.without_zones:
        print_line(NO_ZONES)
    return Session(
        server,
        objects,
        spec,
        RunMode(options.settles, options.timeout, options.output, options.command, _page_arguments(options)),
        endpoint,
        replay,
    )


def _replay(options: UpOptions, spec: ClusterSpec, server: ApiServer) -> TraceReplay | None:
    if not options.replay:
        return None
    replay_of = imported("kubesched_lab.replay.replay", "replay_of", "--replay")
    kinds = custom_kinds_of(spec.loaded, spec.registry)
    found: TraceReplay = replay_of(options.replay, kinds, server, options.simulation.speed, options.seed, print_line)
    return found


def _check_nodes(server: ApiServer, options: UpOptions) -> None:
    if not len(server.registry.store.set_of("nodes")):
        if options.settles:
            raise KubeschedError(NO_NODES)
        print_line(NO_NODES)
