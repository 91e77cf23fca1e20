"""`kubesched up --detach`: a cluster in a background process.

In: the arguments of the command. Out: the URL and the kubeconfig, once the cluster is ready; or the process's last
output and exit code, if the start fails.
"""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from kubesched.config.golang import Duration
from kubesched_controlplane.named_clusters import NamedCluster, NamedClusterError, find
from kubesched_controlplane.transport.private_files import make_privately, state_folder

POLL_SECONDS = 0.05
# lines of the process's last output to print
MOST_LINES = 30


def detach(arguments: Sequence[str], name: str, timeout: Duration) -> int:
    """Start a cluster in the background; return the exit code once the cluster is ready or has failed to start."""
    log = state_folder() / f"{name}.log"
    words = [argument for argument in arguments if argument != "--detach"]
    with os.fdopen(_opened(log), "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "kubesched", "up", *words],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        cluster = _ready(process, name, timeout.seconds)
    except BaseException:
        process.terminate()
        raise
    if cluster is None:
        code = process.poll()
        if code is None:
            process.terminate()
            click.echo(f"cluster {name!r} is not ready within {timeout} (--timeout)", err=True)
        _show_end(log)
        return code or 1
    click.echo(f"API server at {cluster.url}; `kubesched up down {name}` ends it; its log is {log}.")
    click.echo(f"export KUBECONFIG={shlex.quote(cluster.kubeconfig)}")
    return 0


def _opened(log: Path) -> int:
    """Create the log file of the process; return its descriptor. Raises NamedClusterError."""
    try:
        make_privately(log.parent)
        return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise NamedClusterError(f"{log}: {error.strerror}; set XDG_STATE_HOME to use another folder") from None


def _ready(process: "subprocess.Popen[bytes]", name: str, seconds: float) -> NamedCluster | None:
    """Return a cluster as soon as it is ready; None if its process has ended, or time is up."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        cluster = find(name)
        if cluster is not None and cluster.pid == process.pid and cluster.ready:
            return cluster
        time.sleep(POLL_SECONDS)
    return None


def _show_end(log: Path) -> None:
    lines = log.read_text("utf-8", errors="replace").splitlines()
    for line in lines[-MOST_LINES:]:
        click.echo(line, err=True)
