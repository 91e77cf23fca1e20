"""`kubesched page`: a cluster in the browser.

From a cluster's source to a server on loopback, until Ctrl-C.
"""

import asyncio
import signal
import webbrowser
from datetime import UTC, datetime
from typing import Any

import click

from kubesched.asking.model import ClusterModel
from kubesched.cli.asking.options import model_options
from kubesched.cli.event_loop import run_loop
from kubesched.page.live_feed import follow
from kubesched.page.server import PageServer
from kubesched.page.shown_cluster import ShownCluster


@click.command("page")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default="any that is free")
@click.option("--open/--no-open", "opens", default=False, show_default=True, help="Open the page in a browser.")
@model_options
def page(model: ClusterModel, port: int, opens: bool) -> None:
    """See a cluster in the browser: nodes, pods, what is pending, and why.

    Shows the cluster that kubectl would ask, a cluster of kubesched up (--cluster NAME), or files (--from PATH). A live
    cluster is followed as it changes; nothing is ever written to it. The page is served on this machine only, to
    whoever has the address that is printed.

    \b
    Examples:
      kubesched page --from examples/quickstart
      kubesched page --cluster demo --open
      kubesched page --kubeconfig prod.yaml --port 8080
    """

    async def work() -> None:
        shown = ShownCluster(model)
        server = PageServer(shown, now=lambda: model.source.taken_at or datetime.now(UTC))
        ending = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ending.set)
        address = await server.start(port)
        click.echo(address)
        click.echo("Ctrl-C ends it.", err=True)
        if opens:
            webbrowser.open(address)
        target = model.source.server
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(ending.wait())]
        if target is not None:
            tasks.append(asyncio.create_task(follow(shown, target, lambda line: click.echo(line, err=True))))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await server.close()

    run_loop(work())
