"""`kubesched up`: a whole cluster on this machine, in one process.

In: manifests, nodes by the dozen and, if wanted, a scheduler configuration and a folder to keep everything in. Out: a
table of where each pod is and why some are nowhere; or a cluster to play with, for kubectl and everybody else, until
it is told to end.
"""

import logging
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import click

from kubesched.cli.command_group import CommandOrOthers
from kubesched.cli.config import read as read_config
from kubesched.cli.event_loop import run_loop
from kubesched.cli.folder_path import FolderPath
from kubesched.cli.manifests import load_manifests, validate_option
from kubesched.cli.plugin_options import check_enabled, plugin_option, with_plugin_hint
from kubesched.cli.tokens import kept_admissions, new_admissions
from kubesched.config import IN_TREE, FeatureGates, Loaded, load, merge_catalogs
from kubesched.config.errors import ConfigError
from kubesched.config.golang import Duration
from kubesched.controlplane.controllers.framework.options import Options
from kubesched.controlplane.data_folder import DataFolder, opened
from kubesched.controlplane.loading.manifests import STANDARD_INPUT
from kubesched.controlplane.running import new_server
from kubesched.controlplane.server.server import ApiServer
from kubesched.controlplane.storage.store import HISTORY
from kubesched.controlplane.transport.certificates import make_tls
from kubesched.core.framework.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.run.klog.logs import KlogHandler
from kubesched.run.klog.options import LogOptions
from kubesched.up.added_objects import AddedObjects
from kubesched.up.cluster import Wishes
from kubesched.up.detached import detach
from kubesched.up.ending import Ending
from kubesched.up.help import HELP, NO_NODES
from kubesched.up.named_clusters import DEFAULT, Claim, claimed
from kubesched.up.node_pools import NodePool, PoolError
from kubesched.up.options import duration, pool_options, speed_options
from kubesched.up.session import HOST, Door, Manner, Run, note
from kubesched.up.subcommands import down, name_option, status

NO_ZONES = (
    "nodes of --nodes are in no zone, since FILES have nodes already: --like NODE, --zones or a label in --pool says "
    "where they are"
)


class Asked(NamedTuple):
    """What was asked for on the command line."""

    files: tuple[str, ...]
    once: bool | None
    serve: bool | None
    detached: bool
    chosen_name: str | None
    port: int
    kubeconfig: Path | None
    data: Path | None
    config: str | None
    feature_gates: tuple[str, ...]
    pools: list[NodePool]
    simulation: Options
    seed: int
    timeout: Duration
    output: str
    validation: str
    registry: Registry
    # what is to run while the cluster does
    command: tuple[str, ...]

    @property
    def settles(self) -> bool:
        """Return whether it ends when things have settled."""
        if self.command or self.detached:
            return False
        return not sys.stdout.isatty() if self.once is None else self.once

    @property
    def serves(self) -> bool:
        """Return whether the API is served to others."""
        return not self.settles if self.serve is None else self.serve

    @property
    def name(self) -> str:
        """Return what it is called; several commands, each with a cluster, may run at the same time."""
        return self.chosen_name or (f"command-{os.getpid()}" if self.command else DEFAULT)


@click.command(
    "up",
    cls=CommandOrOthers,
    others={"status": status, "down": down},
    takes_command=True,
    help=HELP,
    short_help="Run a cluster on this machine: API server, simulated nodes, scheduler.",
    options_metavar="[OPTIONS]",
)
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True, readable=False))
@click.option("--once/--stay", default=None, help="End when things have settled, or stay until Ctrl-C.")
@click.option("--detach", "detached", is_flag=True, help="Stay in the background; return when it is ready.")
@click.option(
    "--timeout",
    default="5m",
    show_default=True,
    callback=duration,
    metavar="DURATION",
    help="With --once: how long all of it may take; with --detach: how long until it is ready.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="With --once: how to print.",
)
@pool_options
@speed_options
@validate_option
@click.option("--config", metavar="FILE", help="A KubeSchedulerConfiguration; without it the defaults count.")
@plugin_option
@click.option("--feature-gates", multiple=True, metavar="A=true,B=false", help="Gates to change.")
@click.option("--seed", type=int, default=0, show_default=True, help="What is left to chance goes by it.")
@click.option("--data", type=FolderPath(), metavar="DIR", help="Folder to keep everything in.")
@name_option("--name", "chosen_name", help=f"What it is called while it serves.  [{DEFAULT}]")
@click.option("--serve/--no-serve", default=None, help="Serve the API to others; by default unless --once.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; 0, the default: a free one.")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the kubeconfig; by default one in the user's state directory, removed at the end, or in DIR.",
)
@click.pass_context
def up(context: click.Context, /, **options: Any) -> None:
    asked = Asked(**options, command=context.meta.get(COMMAND, ()))
    _check_files(asked)
    _check_door(asked)
    if asked.detached:
        sys.exit(detach(context.meta[ARGUMENTS], asked.name, asked.timeout))
    words = f"not everything has settled within {asked.timeout} (--timeout)"
    with Ending(asked.timeout.seconds if asked.settles else None, words) as ending, ExitStack() as stack:
        gates = FeatureGates.parse(",".join(asked.feature_gates))
        loaded = _load_config(asked.config, gates, asked.registry)
        check_enabled(asked.registry, loaded, note)
        wishes = Wishes(loaded, asked.registry, asked.simulation, asked.seed)
        claim = stack.enter_context(claimed(asked.name)) if asked.serves else None
        if claim is not None:
            ending.at_end.append(claim.clear)
        folder = None if asked.data is None else stack.enter_context(opened(asked.data, HISTORY))
        run = _prepared(asked, wishes, None if claim is None else _door(asked, claim, folder), folder)
        handler = KlogHandler(LogOptions(), _write_log, _write_log)
        stack.callback(handler.uninstall)
        handler.install(logging.getLogger())
        sys.exit(run_loop(run.run(ending)))


ARGUMENTS, COMMAND = CommandOrOthers.ARGUMENTS, CommandOrOthers.COMMAND


def _write_log(line: str) -> None:
    """Write a line that a plugin or a library has logged."""
    click.echo(line, err=True, nl=False)


def _check_files(asked: Asked) -> None:
    """See that files are files."""
    if STANDARD_INPUT in asked.files and asked.config == STANDARD_INPUT:
        raise click.UsageError("standard input can be manifests or the configuration, not both")
    for file in asked.files:
        if file in ("status", "down") and not Path(file).exists():
            raise click.UsageError(f"{file} comes first: kubesched up {file} [NAME]")


def _check_door(asked: Asked) -> None:
    """See that what is said about staying and serving goes together."""
    for option, said in (("--detach", asked.detached), ("-- COMMAND", bool(asked.command))):
        if said and asked.once:
            raise click.UsageError(f"{option} and --once: one stays, the other ends; leave one out")
        if said and asked.serve is False:
            raise click.UsageError(f"{option} and --no-serve: nobody could reach the cluster; leave one out")
    if asked.detached and asked.command:
        raise click.UsageError("--detach and -- COMMAND: it ends with the command; leave one out")
    for option, value in (("--port", asked.port), ("--kubeconfig", asked.kubeconfig)):
        if value and not asked.serves:
            raise click.UsageError(f"{option} is for a cluster that serves: add --stay, or --serve beside --once")


def _load_config(file: str | None, gates: FeatureGates, registry: Registry) -> Loaded:
    """Return the configuration in a file; what is wrong with it names the file, since there are others."""
    catalog = merge_catalogs(IN_TREE, registry.catalog())
    try:
        return load(None if file is None else read_config(file), gates, catalog)
    except ConfigError as error:
        raise with_plugin_hint(error).about(f"--config {file}" if file else "the defaults") from None


def _door(asked: Asked, claim: Claim, folder: DataFolder | None) -> Door:
    """Return how others get in: as last time, if there is a folder."""
    if folder is None:
        return Door(claim, asked.port, make_tls([HOST]), new_admissions(asked.kubeconfig or claim.kubeconfig))
    tls = make_tls([HOST], authority=folder.authority())
    return Door(claim, asked.port or folder.port(HOST), tls, kept_admissions(folder, asked.kubeconfig))


def _prepared(asked: Asked, wishes: Wishes, door: Door | None, folder: DataFolder | None) -> Run:
    """Return a run with everything that it begins with; a start that fails leaves nothing behind in a folder."""
    users = {each.token: each.user for each in door.admissions} if door is not None else {}
    authority = door.tls.authority if door is not None else b""
    with ExitStack() as stack:
        if folder is not None:
            stack.enter_context(folder.store.together())
        store, signer = (None, None) if folder is None else (folder.store, folder.authority())
        added = AddedObjects(asked.pools, store)
        server = new_server(users, authority=authority, store=store, seed=asked.seed, note=note, signer=signer)
        try:
            objects = load_manifests(server, asked.files, added, asked.validation)
        except PoolError as error:
            raise click.BadParameter(str(error), param_hint="--like") from None
        _check_nodes(server, asked)
    if added.without_zones:
        note(NO_ZONES)
    return Run(server, objects, wishes, Manner(asked.settles, asked.timeout, asked.output, asked.command), door)


def _check_nodes(server: ApiServer, asked: Asked) -> None:
    if not len(server.services.store.set_of("nodes")):
        if asked.settles:
            raise KubeschedError(NO_NODES)
        note(NO_NODES)
