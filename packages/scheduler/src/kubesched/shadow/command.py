"""`kubesched shadow`: compares decisions on a live cluster.

From a command line to lines about differences on standard error, and the report on standard output.
"""

import asyncio
import signal
import sys
from pathlib import Path

import click
import msgspec

from kubesched import __version__
from kubesched.cli.configurations import load_configuration
from kubesched.cli.durations import DurationType
from kubesched.cli.event_loop import run_loop
from kubesched.cli.gate_options import gate_options
from kubesched.cli.notes import note
from kubesched.cli.output import OutputOptions, output_option, print_answer
from kubesched.cli.plugin_options import plugin_option
from kubesched.cli.source_options import live_source_option
from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched.common.files import writing_problem
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.reports.html import as_page
from kubesched.reports.markdown import as_markdown
from kubesched.shadow.judgements import Judgement, ShadowAnswer
from kubesched.shadow.report import shadow_report
from kubesched.shadow.session import ShadowOptions, ShadowSession
from kubesched.sources.cluster_source import ClusterSource, live_target
from kubesched.sources.live import to_check

NOTHING_JUDGED = 3


@click.command("shadow")
@click.option(
    "--config",
    metavar="FILE",
    help="KubeSchedulerConfiguration file of the cluster's scheduler. [default: the default configuration]",
)
@click.option("--scheduler-name", "names", multiple=True, metavar="NAME", help="Judge only pods of this scheduler.")
@click.option("--duration", type=DurationType(), help="Stop after this duration, such as 1h; Ctrl-C stops it, too.")
@click.option("--pods", type=click.IntRange(min=1), help="Stop after this number of judged decisions.")
@click.option(
    "--every", type=DurationType(), default=60.0, show_default="60s", help="Interval between lines of progress."
)
@click.option(
    "--strict",
    is_flag=True,
    help="Count nodes with a lower score as different, even if sampling of nodes explains them.",
)
@click.option("--ask-extenders", is_flag=True, help="Also ask the extenders of the configuration, but never to bind.")
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), help="Also write the report to a file: .html or .md."
)
@live_source_option
@gate_options
@plugin_option
@output_option
def shadow(
    config: str | None,
    names: tuple[str, ...],
    duration: float | None,
    pods: int | None,
    every: float,
    strict: bool,
    ask_extenders: bool,
    report: Path | None,
    source: ClusterSource,
    gates: FeatureGates,
    registry: Registry,
    output: OutputOptions,
) -> None:
    """Decide every pod beside the cluster's scheduler, without binding, and report where the two differ.

    You need the rights to get, list and watch. Nothing is written to the cluster, not even events or leases. For each
    pod that the cluster's scheduler binds, shadow makes its own decision on the cluster as it was before. If the chosen
    node is among our best (all nodes with the highest score count), the two agree. Otherwise it is a difference, with
    the reason. For a pod without a feasible node, shadow compares the message of the pod's condition. Give shadow the
    configuration and the feature gates of the cluster's scheduler.

    By default extenders are not asked, and decisions that they may explain are not judged. With --ask-extenders they
    are asked to filter, prioritize and preempt, about a second after the cluster's scheduler asked them. Use it only
    for extenders that answer from the question alone, and change nothing when asked.

    Differences go to standard error as they occur, the report to standard output at the end. Exit code 0: both decided
    alike; 1: they differ, or an error; 3: nothing could be judged.

    \b
    Examples:
      kubesched shadow --duration 1h
      kubesched shadow --config scheduler.yaml --pods 500 -o json
      kubesched shadow --scheduler-name default-scheduler --duration 24h --report shadow.html
    """
    if report is not None and report.suffix not in (".html", ".md"):
        raise click.BadParameter(f"{report.name}: expected a name that ends in .html or .md", param_hint="--report")
    if report is not None and (problem := writing_problem(report)):
        raise KubeschedError(f"--report {report}: {problem}")
    loaded = load_configuration(config, gates, registry, adjust=lambda found: _renamed(found, config, names))
    _check_names(loaded, names)
    target = live_target(source, "name a cluster of kubesched up with --cluster")
    options = ShadowOptions(names, duration, pods, strict, every, ask_extenders)

    async def work() -> ShadowAnswer:
        rest = RestClient(target, f"kubesched/{__version__}")
        session = ShadowSession(rest, loaded, registry, options, origin=target.origin, note=note, tell=_print_judgement)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, session.stop.set)
        begun = asyncio.create_task(_announce(session))
        try:
            return await session.run()
        except (Refused, Unreachable) as error:
            raise KubeschedError(f"the cluster cannot be followed: {error}{to_check(error, target)}") from None
        finally:
            begun.cancel()
            await rest.close()

    answer = run_loop(work())
    blocks = shadow_report(answer)
    if report is not None:
        write_report(report, as_page(blocks) if report.suffix == ".html" else as_markdown(blocks))
    print_answer(answer, blocks, output)
    sys.exit(NOTHING_JUDGED if not answer.judged else 0 if answer.agrees else 1)


def write_report(file: Path, text: str) -> None:
    """Write a report; raises KubeschedError."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise KubeschedError(f"--report {file}: cannot be written: {error.strerror}") from None


async def _announce(session: ShadowSession) -> None:
    await session.begun.wait()
    note("the cluster is listed; judging decisions from now on; Ctrl-C stops")


def _print_judgement(judgement: Judgement) -> None:
    note(f"different: {judgement.sentence()}")


def _renamed(
    config: KubeSchedulerConfiguration, file: str | None, names: tuple[str, ...]
) -> KubeSchedulerConfiguration:
    """Return the default configuration with the one name that the user gave."""
    if file is not None or len(names) != 1 or len(config.profiles) != 1:
        return config
    profile = msgspec.structs.replace(config.profiles[0], scheduler_name=names[0])
    return msgspec.structs.replace(config, profiles=(profile,))


def _check_names(loaded: Loaded, names: tuple[str, ...]) -> None:
    known = [profile.scheduler_name for profile in loaded.config.profiles]
    for name in names:
        if name not in known:
            raise KubeschedError(f"--scheduler-name {name}: the configuration has no such profile: {', '.join(known)}")
