"""`kubesched up --page`: the page of the cluster, served by a separate process that ends with the cluster.

In: the kubeconfig of a cluster that serves. Out: the page's address. Users of the page do not slow the cluster down.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kubesched.common.notes import Note

STARTING_SECONDS = 60.0
ENDING_SECONDS = 5.0


@asynccontextmanager
async def page_of(kubeconfig: Path, arguments: Sequence[str], note: Note) -> AsyncIterator[None]:
    """Serve the page of a cluster until the block ends; print its address, or why there is none."""
    command = [
        sys.executable,
        "-m",
        "kubesched",
        "page",
        "--kubeconfig",
        str(kubeconfig),
        "--allow-changes",
        *arguments,
    ]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    reporting = asyncio.create_task(_report_address(process, note))
    try:
        yield
    finally:
        reporting.cancel()
        await _end(process)


async def _report_address(process: asyncio.subprocess.Process, note: Note) -> None:
    """Print the address of the page, or that it has none."""
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(STARTING_SECONDS):
            address = (await process.stdout.readline()).decode().strip()
    except TimeoutError:
        note(
            f"the page has not started within {STARTING_SECONDS:.0f} s; "
            "to start one, run: kubesched page --kubeconfig FILE"
        )
        return
    if address:
        note(f"page: {address}")
    # its later output is discarded, so that it never waits for a reader
    last = ""
    async for line in process.stderr:
        last = line.decode(errors="replace").strip() or last
    note(f"the page has ended: {last}")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(ENDING_SECONDS):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
