"""`kubesched controlplane`: an API server on this machine, without a cluster.

In: manifests and optionally a data folder. Out: a server that runs until a signal, and a kubeconfig for its clients.
The token is in that file alone.
"""

import asyncio
import secrets
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import click

from kubesched.cli.event_loop import run_loop
from kubesched.cli.folder_path import FolderPath
from kubesched.common.garbage_collection import SERVERS_LATEST_SECONDS, GarbageCollection
from kubesched_controlplane.cli.manifests import load_manifests, validate_option
from kubesched_controlplane.cli.tokens import UserToken, kept_tokens, new_tokens
from kubesched_controlplane.data_folder import DataFolder, opened
from kubesched_controlplane.running import new_server, running
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.simulation import Simulation
from kubesched_controlplane.storage.store import HISTORY, Store
from kubesched_controlplane.transport.certificates import Tls, make_tls
from kubesched_controlplane.transport.faults import KINDS, Dice, Fault, FaultError, parse_faults
from kubesched_controlplane.transport.kubeconfig import kubeconfig, offered

FAULTS = "\n".join(f"  {name + '=' + kind.form:<34}{kind.does}" for name, kind in KINDS.items())
HELP = f"""Start a Kubernetes API server on this machine: no cluster, no etcd, no kubelets.

Nodes are simulated: they become ready and run the pods that are bound to them. No scheduler runs: start
a scheduler of your choice with the kubeconfig, or with that of --scheduler-kubeconfig, which allows it no more than a
cluster would.

FILES are manifests in YAML or JSON: files with one or several documents, folders, - for standard input. They are loaded
before the server listens; exported objects of a cluster (they have a UID) keep their status, age and UID:
`kubesched try --help` has a command that exports one. Without --data, all objects are in memory and
are lost when the server ends.

\b
Example:
  kubesched controlplane nodes.yaml workloads/
  export KUBECONFIG=...          # the line that it prints, in another terminal
  kubectl get nodes
  kubectl get pods -A -w

With --data DIR the server keeps all objects in DIR, and continues from there when you start it again: at the same
address if that is free, for clients with the same kubeconfig (DIR/kubeconfig, DIR/scheduler-kubeconfig). It stores a
change before it answers: kill -9 loses nothing, though a power failure may lose the last moments. Objects in FILES that
exist already stay unchanged. Only its owner can read DIR, and only one server at a time can use it.

\b
Faults (--fault), each optionally followed by ` on VERB RESOURCE`, ` on VERB` or ` on RESOURCE`:
{FAULTS}
For example: --fault 'conflict=0.1 on create pods/binding,slow=0.1:200ms,outage=30s:5s'

Go clients (kubectl, kube-scheduler) send a token over TLS only; --no-tls is for clients that also send it over HTTP.

Exit code: 0 if SIGINT or SIGTERM ends it; 1 if a manifest cannot be loaded, or DIR or the address is not available.
"""


def _faults(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> list[Fault]:
    """Return the faults in all texts of a flag."""
    try:
        return [fault for text in texts for fault in parse_faults(text)]
    except FaultError as error:
        raise click.BadParameter(str(error), context, option) from None


class _Options(NamedTuple):
    """The options of `kubesched controlplane`, parsed."""

    files: tuple[str, ...]
    port: int
    bind_address: str
    tls: bool
    config_file: Path | None
    scheduler_file: Path | None
    data: Path | None
    simulate: bool
    faults: list[Fault]
    fault_seed: int | None
    history: int
    validation: str


class _Serving(NamedTuple):
    """The endpoint and the TLS option; the command prints the path of the first token's kubeconfig."""

    host: str
    port: int
    tls: Tls | None
    tokens: Sequence[UserToken]
    dice: Dice | None
    simulation: Simulation | None


@click.command("controlplane", help=HELP, short_help="Start a Kubernetes API server on this machine.")
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True, readable=False))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; 0, the default: a free one.")
@click.option("--bind-address", default="127.0.0.1", show_default=True, help="IP address or host name to listen on.")
@click.option("--tls/--no-tls", default=True, show_default=True, help="Serve HTTPS, with a self-signed certificate.")
@click.option(
    "--kubeconfig",
    "config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the kubeconfig; by default in DIR, or in the user's state directory until the server ends.",
)
@click.option(
    "--scheduler-kubeconfig",
    "scheduler_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for a second kubeconfig, with only the rights of kube-scheduler's roles.",
)
@click.option(
    "--data",
    type=FolderPath(),
    metavar="DIR",
    help="Folder that keeps all objects, created if missing.",
)
@click.option(
    "--simulate/--no-simulate",
    default=True,
    show_default=True,
    help="Simulate nodes that run their pods, and run the controllers, such as those for volumes and claims.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    callback=_faults,
    metavar="TEXT",
    help="Faults to inject: NAME=VALUE,... (see above).",
)
@click.option("--fault-seed", type=int, help="Seed of the faults; by default a random one, which the command prints.")
@click.option(
    "--history",
    type=click.IntRange(min=1),
    default=HISTORY,
    show_default=True,
    help="Number of changes of each kind that a watch can resume from.",
)
@validate_option
def controlplane(**options: Any) -> None:
    """Run the embedded API server."""
    parsed = _Options(**options)
    if not parsed.bind_address.isascii() or not parsed.bind_address:
        raise click.BadParameter("expected an address or a host name", param_hint="--bind-address")
    if parsed.data is None:
        _start(parsed, None)
        return
    with opened(parsed.data, parsed.history) as folder:
        _start(parsed, folder)


def _start(parsed: _Options, folder: DataFolder | None) -> None:
    """Load the manifests, and serve."""
    files = parsed.config_file, parsed.scheduler_file
    tokens = new_tokens(*files) if folder is None else kept_tokens(folder, *files)
    users = {each.token: each.user for each in tokens}
    certificates = None
    if parsed.tls:
        certificates = make_tls([parsed.bind_address], authority=None if folder is None else folder.authority())
    authority = certificates.authority if certificates is not None else b""
    store = Store(parsed.history) if folder is None else folder.store
    signer = None if folder is None else folder.authority()
    # a failed start leaves no files behind
    with store.together():
        server = new_server(users, authority=authority, store=store, note=_note, signer=signer)
        loaded = load_manifests(server, parsed.files, validation=parsed.validation)
    dice = _dice(parsed)
    simulation = Simulation(server, note=_note) if parsed.simulate else None
    port = parsed.port if folder is None else parsed.port or folder.port(parsed.bind_address)
    run_loop(_serve(server, loaded, _Serving(parsed.bind_address, port, certificates, tokens, dice, simulation)))


def _dice(parsed: _Options) -> Dice | None:
    if not parsed.faults:
        return None
    seed = secrets.randbits(32) if parsed.fault_seed is None else parsed.fault_seed
    click.echo(f"The faults depend on --fault-seed {seed}.", err=True)
    return Dice(parsed.faults, seed)


def _note(line: str) -> None:
    click.echo(line, err=True)


async def _serve(server: ApiServer, loaded: int, serving: _Serving) -> None:
    """Serve until a signal."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    # the objects of requests are freed without the collector; connections are not
    collection = asyncio.create_task(GarbageCollection(lambda: False, SERVERS_LATEST_SECONDS).run())
    context, authority = serving.tls or (None, b"")
    async with running(
        server, host=serving.host, port=serving.port, tls=context, dice=serving.dice, simulation=serving.simulation
    ) as http:
        with ExitStack() as stack:
            files = [
                stack.enter_context(offered(each.file, http.port, kubeconfig(http.url, each.token, authority)))
                for each in serving.tokens
            ]
            click.echo(f"API server at {http.url}; objects loaded: {loaded}. Press Ctrl-C to end it.")
            click.echo(f"export KUBECONFIG={shlex.quote(str(files[0]))}")
            sys.stdout.flush()
            await ended.wait()
    collection.cancel()
    if serving.dice is not None:
        counted = ", ".join(f"{name} {count}" for name, count in sorted(serving.dice.thrown.items()))
        click.echo(f"Faults: {counted or 'none'}", err=True)
