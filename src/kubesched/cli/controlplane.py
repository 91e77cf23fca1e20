"""`kubesched controlplane`: an API server on this machine, without a cluster.

In: manifests. Out: a server that clients reach with the kubeconfig it writes, until it is told to end. The token is in
that file alone.
"""

import asyncio
import gc
import secrets
import shlex
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.progress import track

from kubesched.controlplane.certificates import Tls, make_tls
from kubesched.controlplane.faults import KINDS, Dice, Fault, FaultError, parse_faults
from kubesched.controlplane.kubeconfig import default_file, kubeconfig, new_token, write_kubeconfig
from kubesched.controlplane.loading import Manifest, load
from kubesched.controlplane.running import new_server, running
from kubesched.controlplane.server import ApiServer
from kubesched.controlplane.store import HISTORY

# from here on a bar shows how far loading has got
MANY_OBJECTS = 500
FAULTS = "\n".join(f"  {name + '=' + kind.form:<34}{kind.does}" for name, kind in KINDS.items())
HELP = f"""Start a Kubernetes API server on this machine: no cluster, no etcd, no kubelets.

FILES are manifests in YAML or JSON: files with one or several documents, folders, - for standard input. They are loaded
before the server listens; objects keep the status they come with, so a dump of a cluster can be loaded
(kubectl get nodes,pods -A -o yaml). Everything is in memory and gone when the server ends.

\b
Example:
  kubesched controlplane nodes.yaml workloads/
  export KUBECONFIG=...          # the line that it prints, in another terminal
  kubectl get nodes
  kubectl get pods -A -w

\b
Faults (--fault), each optionally followed by ` on VERB RESOURCE`, ` on VERB` or ` on RESOURCE`:
{FAULTS}
For example: --fault 'conflict=0.1 on create pods/binding,slow=0.1:200ms,outage=30s:5s'

Go clients (kubectl, kube-scheduler) send a token over TLS only; --no-tls is for clients that also send it without.

Exit code: 0 when it is ended by SIGINT or SIGTERM; 1 if a manifest cannot be loaded or the address cannot be had.
"""


def _faults(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> list[Fault]:
    """Return the faults in all texts of a flag."""
    try:
        return [fault for text in texts for fault in parse_faults(text)]
    except FaultError as error:
        raise click.BadParameter(str(error), context, option) from None


class _Serving(NamedTuple):
    """Where and how to serve."""

    host: str
    port: int
    tls: Tls | None
    token: str
    kubeconfig: Path | None
    dice: Dice | None


@click.command("controlplane", help=HELP, short_help="Start a Kubernetes API server on this machine.")
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; 0, the default: a free one.")
@click.option("--bind-address", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--tls/--no-tls", default=True, show_default=True, help="Serve HTTPS, with a certificate of its own.")
@click.option(
    "--kubeconfig",
    "config_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the kubeconfig; by default one in the user's state directory, removed at the end.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    callback=_faults,
    metavar="TEXT",
    help="What goes wrong: NAME=VALUE,... (see above).",
)
@click.option("--fault-seed", type=int, help="Seed of the faults; by default a random one, which is printed.")
@click.option(
    "--history",
    type=click.IntRange(min=1),
    default=HISTORY,
    show_default=True,
    help="Changes of each kind that a watch can resume from.",
)
def controlplane(
    files: tuple[str, ...],
    port: int,
    bind_address: str,
    tls: bool,
    config_file: Path | None,
    faults: list[Fault],
    fault_seed: int | None,
    history: int,
) -> None:
    if not bind_address.isascii() or not bind_address:
        raise click.BadParameter("expected an address or a host name", param_hint="--bind-address")
    token = new_token()
    server = new_server(token, history=history, note=lambda line: click.echo(line, err=True))
    loaded = _load(server, files)
    dice = None
    if faults:
        seed = secrets.randbits(32) if fault_seed is None else fault_seed
        dice = Dice(faults, seed)
        click.echo(f"Faults go by --fault-seed {seed}.", err=True)
    certificates = make_tls([bind_address]) if tls else None
    asyncio.run(_serve(server, loaded, _Serving(bind_address, port, certificates, token, config_file, dice)))


def _load(server: ApiServer, files: Sequence[str]) -> int:
    """Load manifests; return how many objects; exit with 1 and all reasons if some could not be."""
    report = load(server, files, _with_bar)
    for problem in report.problems:
        click.echo(" ".join(problem.split("\n")), err=True)
    if report.problems:
        click.echo(f"{report.loaded} objects could be loaded, {len(report.problems)} problems", err=True)
        sys.exit(1)
    # what was loaded stays: the collector need not look at it again
    gc.collect()
    gc.freeze()
    return report.loaded


def _with_bar(manifests: Sequence[Manifest]) -> Iterable[Manifest]:
    if len(manifests) <= MANY_OBJECTS or not sys.stderr.isatty():
        return manifests
    return track(manifests, "Loading", console=Console(stderr=True), transient=True)


async def _serve(server: ApiServer, loaded: int, serving: _Serving) -> None:
    """Serve until somebody ends it."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    context, authority = serving.tls or (None, b"")
    async with running(server, host=serving.host, port=serving.port, tls=context, dice=serving.dice) as http:
        file = (serving.kubeconfig or default_file(http.port)).absolute()
        write_kubeconfig(file, kubeconfig(http.url, serving.token, authority))
        try:
            click.echo(f"API server at {http.url}; objects loaded: {loaded}. It ends with Ctrl-C.")
            click.echo(f"export KUBECONFIG={shlex.quote(str(file))}")
            sys.stdout.flush()
            await ended.wait()
        finally:
            if serving.kubeconfig is None:
                file.unlink(missing_ok=True)
    if serving.dice is not None:
        counted = ", ".join(f"{name} {count}" for name, count in sorted(serving.dice.thrown.items()))
        click.echo(f"Faults: {counted or 'none'}", err=True)
