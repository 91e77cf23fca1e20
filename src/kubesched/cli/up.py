"""`kubesched up`: a whole cluster on this machine, in one process.

In: manifests, nodes by the dozen and, if wanted, a scheduler configuration and a folder to keep everything in. Out: a
table of where each pod is and why some are nowhere; or a cluster to play with, for kubectl and everybody else, until
it is told to end.
"""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import click

from kubesched.app.named_clusters import DEFAULT, Claim, claimed
from kubesched.app.node_pools import NodePool
from kubesched.app.up import Wishes
from kubesched.cli.admissions import kept_admissions, new_admissions
from kubesched.cli.command_group import CommandOrOthers
from kubesched.cli.config import read as read_config
from kubesched.cli.event_loop import run_loop
from kubesched.cli.folder_path import FolderPath
from kubesched.cli.manifests import load_manifests
from kubesched.cli.plugin_options import plugin_option
from kubesched.cli.up_options import delay_lines, duration, pool_options, speed_options
from kubesched.cli.up_others import down, name_option, status
from kubesched.cli.up_run import HOST, Door, Manner, Run, note
from kubesched.config import IN_TREE, FeatureGates, Loaded, load, merge_catalogs
from kubesched.config.errors import ConfigError
from kubesched.config.golang import Duration
from kubesched.controlplane.certificates import make_tls
from kubesched.controlplane.manifests import STANDARD_INPUT
from kubesched.controlplane.persistence.folder import DataFolder, opened
from kubesched.controlplane.running import new_server
from kubesched.controlplane.server import ApiServer
from kubesched.controlplane.simulation import Options
from kubesched.controlplane.store import HISTORY
from kubesched.errors import KubeschedError
from kubesched.framework.registry import Registry

NO_NODES = (
    "there are no nodes, so no pod can be placed: add some with --nodes 3, or Node objects "
    "(examples/quickstart/nodes.yaml has some), or take those of a cluster: kubectl get nodes -o yaml > nodes.yaml"
)
HELP = f"""Run a cluster on this machine, in one process: API server, simulated nodes and the scheduler.

FILES are manifests in YAML or JSON: files, folders, - for standard input: nodes, pods, Deployments, Jobs, whatever they
need. Pods are scheduled as on a real cluster; nodes are simulated and "run" what is bound to them.

\b
Example: where does everything go, and why not?
  kubesched up --once examples/quickstart/
\b
Example: would it fit on twenty nodes?
  kubesched up --once --nodes 20 --cpu 16 --memory 64Gi my-app.yaml
\b
Example: a cluster to play with
  kubesched up examples/quickstart/
  export KUBECONFIG=...            # the line that it prints, in another terminal
  kubectl describe pod giant       # why it is pending
  kubectl run hello --image=hello  # scheduled at once
\b
Example: several at once, and one that is there again tomorrow
  kubesched up --name dev --nodes 100 --zones 3 --gpu 1:20 --data ~/dev-cluster
  kubesched up status              # in another terminal
  kubesched up down dev
\b
Example: a cluster as it is, with a scheduler as it might be
  kubectl get nodes,pods,pv,pvc,sc,pc -A -o yaml > cluster.yaml
  kubesched up --once --config my-scheduler.yaml cluster.yaml pods-to-come.yaml

With --once it waits until every pod is bound or found to be unschedulable and controllers have nothing left to do,
prints where each pod is, with the reasons for those that are nowhere, and ends. This is also what happens when standard
output is no terminal, unless --stay is given. Otherwise it serves the API on {HOST}, shows how things stand, and ends
with Ctrl-C or `kubesched up down`.

Nodes without manifests: --nodes makes a pool of nodes that are alike but for their zones. --gpu 1:20 puts one GPU on 20
of them, as a real cluster shows them: the resource nvidia.com/gpu, with the label nvidia.com/gpu.present=true and no
taint, so a pod needs no more than its request. --pool adds others, with fields name, nodes, zones, cpu, memory, pods,
gpu, label and taint (the last two as often as you like); the label kubesched.io/pool has the pool's name.

\b
Example: eight large nodes, and two with GPUs for those who tolerate the taint
  kubesched up --nodes 8 --cpu 32 --memory 128Gi \\
    --pool name=gpu,nodes=2,gpu=8,label=example.com/disk=fast,taint=nvidia.com/gpu=present:NoSchedule

\b
Delays of simulated nodes (--delay NAME=DURATION,...), without and with --speed:
{delay_lines()}
With --speed N all of them, run-seconds and grace periods are N times as short.

With --data DIR everything is kept, and the next start with DIR goes on where the last one ended, however it did:
kill -9 loses nothing. Objects and nodes that are there already stay as they are; others are added.

Exit code: 0; 1 if a manifest or the configuration is wrong, things have not settled in time, it is ended before they
have, or a cluster of that name is up already; 2 if an option is wrong.
"""


class Asked(NamedTuple):
    """What was asked for on the command line."""

    files: tuple[str, ...]
    once: bool | None
    serve: bool | None
    name: str
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
    registry: Registry

    @property
    def settles(self) -> bool:
        """Return whether it ends when things have settled."""
        return not sys.stdout.isatty() if self.once is None else self.once

    @property
    def serves(self) -> bool:
        """Return whether the API is served to others."""
        return not self.settles if self.serve is None else self.serve


@click.command(
    "up",
    cls=CommandOrOthers,
    others={"status": status, "down": down},
    help=HELP,
    short_help="Run a cluster on this machine: API server, simulated nodes, scheduler.",
)
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True, readable=False))
@click.option("--once/--stay", default=None, help="End when things have settled, or stay until Ctrl-C.")
@click.option(
    "--timeout",
    default="5m",
    show_default=True,
    callback=duration,
    metavar="DURATION",
    help="With --once: how long things may take.",
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
@click.option("--config", metavar="FILE", help="A KubeSchedulerConfiguration; without it the defaults count.")
@plugin_option
@click.option("--feature-gates", multiple=True, metavar="A=true,B=false", help="Gates to change.")
@click.option("--seed", type=int, default=0, show_default=True, help="What is left to chance goes by it.")
@click.option("--data", type=FolderPath(), metavar="DIR", help="Folder to keep everything in.")
@name_option("--name", default=DEFAULT, show_default=True, help="What it is called while it serves.")
@click.option("--serve/--no-serve", default=None, help="Serve the API to others; by default unless --once.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; 0, the default: a free one.")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the kubeconfig; by default one in the user's state directory, removed at the end, or in DIR.",
)
def up(**options: Any) -> None:
    asked = Asked(**options)
    _check_files(asked)
    _check_door(asked)
    gates = FeatureGates.parse(",".join(asked.feature_gates))
    wishes = Wishes(_load_config(asked.config, gates, asked.registry), asked.registry, asked.simulation, asked.seed)
    with ExitStack() as stack:
        claim = stack.enter_context(claimed(asked.name)) if asked.serves else None
        folder = None if asked.data is None else stack.enter_context(opened(asked.data, HISTORY))
        run = _prepared(asked, wishes, None if claim is None else _door(asked, claim, folder), folder)
        sys.exit(run_loop(run.run()))


def _check_files(asked: Asked) -> None:
    """See that files are files."""
    if STANDARD_INPUT in asked.files and asked.config == STANDARD_INPUT:
        raise click.UsageError("standard input can be manifests or the configuration, not both")
    for file in asked.files:
        if file in ("status", "down") and not Path(file).exists():
            raise click.UsageError(f"{file} comes first: kubesched up {file} [NAME]")


def _check_door(asked: Asked) -> None:
    """See that what is said about serving is said of a cluster that serves."""
    for option, value in (("--port", asked.port), ("--kubeconfig", asked.kubeconfig)):
        if value and not asked.serves:
            raise click.UsageError(f"{option} is for a cluster that serves: add --stay, or --serve beside --once")


def _load_config(file: str | None, gates: FeatureGates, registry: Registry) -> Loaded:
    """Return the configuration in a file; what is wrong with it names the file, since there are others."""
    catalog = merge_catalogs(IN_TREE, registry.catalog())
    try:
        return load(None if file is None else read_config(file), gates, catalog)
    except ConfigError as error:
        raise error.about(f"--config {file}" if file else "the defaults") from None


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
    nodes = [manifest for pool in asked.pools for manifest in pool.manifests()]
    with ExitStack() as stack:
        if folder is not None:
            stack.enter_context(folder.store.together())
        store = None if folder is None else folder.store
        server = new_server(users, authority=authority, store=store, seed=asked.seed, note=note)
        objects = load_manifests(server, asked.files, lambda manifests: nodes)
        _check_nodes(server, asked)
    return Run(server, objects, wishes, Manner(asked.settles, asked.timeout, asked.output), door)


def _check_nodes(server: ApiServer, asked: Asked) -> None:
    if not len(server.services.store.set_of("nodes")):
        if asked.settles:
            raise KubeschedError(NO_NODES)
        note(NO_NODES)
