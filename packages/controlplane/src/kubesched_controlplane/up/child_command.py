"""`kubesched with-cluster`: a command that runs while the cluster is up.

In: a command, and the kubeconfig of a cluster that is ready. Out: the command's exit code, as in a shell.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from kubesched_controlplane.up.shutdown import Shutdown

# exit codes of shells
NOT_FOUND, NOT_EXECUTABLE, BY_SIGNAL = 127, 126, 128


async def run_command(
    command: Sequence[str], kubeconfig: Path, shutdown: Shutdown, failing: Coroutine[Any, Any, None]
) -> int:
    """Run a command with KUBECONFIG set; return its exit code. `failing` raises if the cluster fails.

    Signals are sent to the command; a second signal kills it.
    """
    watching = asyncio.create_task(failing)
    process: asyncio.subprocess.Process | None = None
    # signals that come while the command is being started
    early: list[int] = []

    def pass_on(number: int) -> None:
        if process is None:
            early.append(number)
        # with Ctrl-C a terminal signals the whole foreground process group
        elif number != signal.SIGINT or not sys.stdin.isatty():
            _send(process, number)

    shutdown.pass_on = pass_on
    try:
        process = await asyncio.create_subprocess_exec(*command, env={**os.environ, "KUBECONFIG": str(kubeconfig)})
    except OSError as error:
        watching.cancel()
        click.echo(f"{command[0]}: {error.strerror or error}", err=True)
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    for number in early:
        _send(process, number)

    def kill() -> None:
        if process.returncode is None:
            process.kill()

    shutdown.at_end.append(kill)
    waiting = asyncio.create_task(process.wait())
    await asyncio.wait({waiting, watching}, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        process.terminate()
        watching.result()
    watching.cancel()
    code = waiting.result()
    return BY_SIGNAL - code if code < 0 else code


def _send(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)
