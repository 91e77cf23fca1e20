"""`kubesched page`: a cluster or a simulation in the browser.

From a cluster's source, or from traces, to a server that runs until Ctrl-C, on loopback unless another address is
given.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import msgspec
from click.core import ParameterSource

from kubesched.cli.configurations import ConfigurationChoice
from kubesched.cli.event_loop import run_loop
from kubesched.cli.notes import note
from kubesched.cli.scheduler_options import scheduler_options
from kubesched.client.rest import RestConfig
from kubesched.common.garbage_collection import collect_seldom
from kubesched.core.framework.building.registry import Registry
from kubesched.model.cluster_model import ClusterModel
from kubesched.sources.cluster_source import ClusterSource, live_target
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched.sources.scheduler_records import SchedulerAddress, config_of
from kubesched_answers.cli.options import question_options, read_source
from kubesched_lab.page.configuration.form import text_of
from kubesched_lab.page.configuration.questions import ConfigurationReader
from kubesched_lab.page.files.scenario_lines import read_scenario
from kubesched_lab.page.opening import opened_in_browser
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.queue.feed import QueueFeed
from kubesched_lab.page.routes.configuration import follow_configuration
from kubesched_lab.page.routes.endpoint import LOOPBACK, PageEndpoint, endpoint_of
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.live_feed import follow
from kubesched_lab.page.shown.shown_cluster import ShownCluster
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.simulate.options import TracePath
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.scenario_header import scenario_header

# how long the first view waits until the pods of manifests are placed
PLACING_SECONDS: Final = 3.0


class Serving(NamedTuple):
    """Where the page is served, and whether to open a browser."""

    endpoint: PageEndpoint
    port: int
    opens: bool


@click.command("page")
@click.argument("more", nargs=-1, metavar="[TRACE]...", type=TracePath())
@click.option(
    "--simulate",
    "traces",
    multiple=True,
    metavar="TRACE...",
    type=TracePath(),
    help="Simulate these traces and show the simulation.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for every random choice of the simulation.")
@click.option(
    "--mapping",
    type=click.Path(path_type=Path),
    help="Meaning of the columns of CSV or Parquet files (a file of kind CsvMapping).",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default="any free port", help="Port to serve on."
)
@click.option(
    "--bind-address",
    default=LOOPBACK,
    show_default=True,
    help="IP address to serve on. Addresses other than loopback need TLS.",
)
@click.option("--tls-cert-file", metavar="FILE", help="Serving certificate, followed by its CA certificates.")
@click.option("--tls-private-key-file", metavar="FILE", help="Private key of --tls-cert-file.")
@click.option("--open/--no-open", "opens", default=False, show_default=True, help="Open the page in a browser.")
@click.option(
    "--place/--no-place",
    "places",
    default=True,
    show_default=True,
    help="Place pods of manifests with the scheduler (default), or show them as pending.",
)
@click.option("--allow-changes", is_flag=True, help="Allow changes to a live cluster: cordon, drain, scale, create.")
@scheduler_options
@question_options
def page(
    more: tuple[str, ...],
    traces: tuple[str, ...],
    seed: int,
    mapping: Path | None,
    source: ClusterSource,
    choice: ConfigurationChoice,
    scheduler: SchedulerAddress | None,
    port: int,
    bind_address: str,
    tls_cert_file: str | None,
    tls_private_key_file: str | None,
    opens: bool,
    places: bool,
    allow_changes: bool,
) -> None:
    """See a cluster in the browser: its nodes and pods, the pending pods, and why they are pending.

    The page shows the cluster of your kubectl context, a cluster of kubesched up (--cluster NAME), or files
    (--from PATH). It follows a live cluster as it changes, and writes nothing to it without --allow-changes. With
    --simulate it shows a simulation of any trace that kubesched simulate reads: play, pause, step and rewind it.

    Only this machine can open the page, unless you give --bind-address and a certificate. The printed address contains
    a token: every user who knows the address can use the page.

    \b
    Examples:
      kubesched page --from examples/quickstart
      kubesched page --cluster demo --open
      kubesched page --kubeconfig prod.yaml --port 8080
      kubesched page --simulate examples/simulate/batch.yaml
      kubesched page --simulate nodes.yaml recorded.jsonl.gz --config spread.yaml --seed 7
    """
    _check(more, traces, source, mapping)
    if traces and scheduler is not None:
        raise click.UsageError("--scheduler names the scheduler of a live cluster; a simulation runs its own scheduler")
    serving = Serving(endpoint_of(bind_address, tls_cert_file, tls_private_key_file), port, opens)
    used = choice.without_cluster() if traces else choice.of(source, scheduler)
    loaded, registry = used.loaded, choice.registry
    kinds = custom_kinds_of(loaded, registry)
    if traces:
        collect_seldom()
        given = SimulatedConfiguration(used.text, loaded)
        scenario = _saved((*traces, *more), given, registry)
        if scenario is None:
            trace = read_traces((*traces, *more), kinds, mapping, note)
            scenario = PageScenario(trace, given, registry, seed)
        run_loop(_serve(PageState(None), serving, scenario=scenario))
    else:
        model = ClusterModel(read_source(source, kinds), loaded, registry)
        # a scheduler's own configuration has no file
        text = used.text or ("" if used.assumed else text_of(loaded))
        state = PageState(ShownCluster(model), configuration=text, assumed=used.assumed)
        state.writable = allow_changes and model.source.server is not None
        places = places and bool(state.places is not None)
        run_loop(_serve(state, serving, scheduler=scheduler, find=partial(live_target, source), places=places))


def _saved(paths: tuple[str, ...], given: SimulatedConfiguration, registry: Registry) -> PageScenario | None:
    """Return the scenario in a file that a page saved, None for other files; --config and --seed override it."""
    if len(paths) > 1 or scenario_header(paths[0]) is None:
        return None
    reader = ConfigurationReader(given.loaded.gates, registry)
    found = read_scenario(Path(paths[0]), lambda text: reader.load(text or None), registry)
    ctx = click.get_current_context()
    for name, field, value in (("config", "configuration", given), ("seed", "seed", ctx.params["seed"])):
        if found is not None and ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            found = msgspec.structs.replace(found, **{field: value})
    return found


def _check(more: tuple[str, ...], traces: tuple[str, ...], source: ClusterSource, mapping: Path | None) -> None:
    """Check that exactly one source is given."""
    if more and not traces:
        raise click.UsageError(f"{more[0]}: --simulate {more[0]} simulates a trace, --from {more[0]} shows a cluster")
    if traces and source != ClusterSource(namespace=source.namespace):
        raise click.UsageError("--simulate and the options of clusters name different sources: leave one out")
    if mapping and not traces:
        raise click.UsageError("--mapping is for CSV and Parquet files of --simulate")


def _queue_of(shown: ShownCluster, scheduler: SchedulerAddress | None) -> QueueFeed:
    return QueueFeed(shown, None if scheduler is None else config_of(scheduler, shown.model.source.server))


async def _serve(
    state: PageState,
    serving: Serving,
    *,
    scheduler: SchedulerAddress | None = None,
    scenario: PageScenario | None = None,
    find: Callable[[], RestConfig] | None = None,
    places: bool = False,
) -> None:
    """Serve a page until Ctrl-C; a live cluster and its scheduler are followed, a scenario is simulated."""
    ending = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    queue = None if state.source is None else _queue_of(state.source, scheduler)
    server = PageServer(state, queue=queue, scheduler=scheduler, endpoint=serving.endpoint)
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(ending.wait())]
    shown = ExitStack()
    try:
        if scenario is not None:
            await state.simulate(scenario)
        if places:
            tasks.append(await _placing(state))
        address = await server.start(serving.port)
        click.echo(address)
        click.echo("Ctrl-C ends it.", err=True)
        if serving.opens:
            shown.enter_context(opened_in_browser(address))
        tasks += _following(state, queue, find)
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        shown.close()
        await server.close()


async def _placing(state: PageState) -> asyncio.Task[None]:
    """Begin to place pods of manifests, which the first view shows if it does not take long."""

    async def placed_and_idle() -> None:
        await state.place(True)
        done.set()
        # the page ends with the first of its tasks
        await asyncio.Event().wait()

    done = asyncio.Event()
    task = asyncio.create_task(placed_and_idle())
    with suppress(TimeoutError):
        async with asyncio.timeout(PLACING_SECONDS):
            await done.wait()
    return task


def _following(
    state: PageState, queue: QueueFeed | None, find: Callable[[], RestConfig] | None
) -> Iterator[asyncio.Task[Any]]:
    """Yield tasks that follow a cluster and its scheduler; `find` says where the cluster is by now."""
    if queue is not None and queue.target is not None:
        yield asyncio.create_task(queue.run())
        yield asyncio.create_task(follow_configuration(state, queue))
    source = state.source
    target = source.model.source.server if source is not None else None
    if source is not None and target is not None and find is not None:
        yield asyncio.create_task(follow(source, target, find, note))
