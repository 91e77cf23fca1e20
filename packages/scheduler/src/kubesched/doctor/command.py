"""`kubesched doctor`: checks a cluster and files, and prints findings.

From a command line to a line for each finding, with the fix, and an exit code.
"""

import sys
from functools import partial
from pathlib import Path

import click

from kubesched import __version__
from kubesched.cli.config import read
from kubesched.cli.event_loop import run_loop
from kubesched.cli.gate_options import gate_options
from kubesched.cli.output import TABLE, OutputOptions, output_option, print_answer
from kubesched.cli.plugin_options import plugin_option
from kubesched.cli.scheduler_options import scheduler_options
from kubesched.cli.source_options import live_source_option
from kubesched.client.rest import Refused, RestClient, RestConfig, Unreachable
from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.common.printable import printable
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.building.registry import Registry
from kubesched.doctor.configuration_checks import CheckedConfiguration
from kubesched.doctor.examination import SchedulerPages, examine
from kubesched.doctor.examined_cluster import ASK_AGAIN
from kubesched.doctor.findings import FAIL, OK, WARN, DoctorAnswer, Finding, answer_of
from kubesched.errors import KubeschedError
from kubesched.reports.blocks import Paragraph, Report, Section, Table, Tone, Toned
from kubesched.sources.cluster_source import ClusterSource, live_target
from kubesched.sources.live import to_check
from kubesched.sources.scheduler_records import SchedulerAddress, config_of

SECONDS = 10.0
LARGEST_DASHBOARD = 32 << 20
_TONES = {OK: Tone.GOOD, WARN: Tone.WARN, FAIL: Tone.BAD}
_COLOURS = {OK: None, WARN: "yellow", FAIL: "red"}


@click.command("doctor")
@click.option("--config", metavar="FILE", help="KubeSchedulerConfiguration file that kubesched will run with.")
@click.option(
    "--dashboards",
    multiple=True,
    metavar="FILE",
    help="A Grafana dashboard (JSON) or Prometheus rules (YAML), or a ConfigMap of them, whose metrics are looked up. "
    "May be repeated.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 also for warnings.")
@live_source_option
@partial(scheduler_options, reads="Also read /metrics and /configz of this scheduler.")
@gate_options
@plugin_option
@output_option
def doctor(
    config: str | None,
    dashboards: tuple[str, ...],
    strict: bool,
    source: ClusterSource,
    scheduler: SchedulerAddress | None,
    gates: FeatureGates,
    registry: Registry,
    output: OutputOptions,
) -> None:
    """Check a cluster before kubesched takes over from its scheduler: a line for each finding, with the fix.

    Checks the release of the API server, the rights of your identity (or of the one in --as: give the identity that
    kubesched will run as), the configuration and its plugins, flags and feature gates of the kube-scheduler that runs
    in kube-system, extenders, the leader, the clock, other schedulers, pods without a scheduler, and metrics that
    dashboards use. With --scheduler URL it also reads /metrics and /configz of the running scheduler. Nothing is
    changed.

    Exit code 0: kubesched can take over; 1: a failure has to be fixed first, or an error.

    \b
    Examples:
      kubesched doctor
      kubesched doctor --config scheduler.yaml --as system:serviceaccount:kube-system:kubesched
      kubesched doctor --dashboards scheduler.json --dashboards alerts.yaml -o json
      kubesched doctor --scheduler https://127.0.0.1:10259 --scheduler-ca ca.crt --scheduler-token-file token
    """
    checked = CheckedConfiguration(config, None if config is None else read(config), gates, registry)
    texts = [(file, _text(file)) for file in dashboards]
    target = live_target(source, "name a cluster of kubesched up with --cluster")

    async def work() -> list[Finding]:
        rest = _client(target)
        pages = None
        if scheduler is not None:
            pages = SchedulerPages(scheduler.url, _client(config_of(scheduler, target)))
        try:
            return await examine(rest, checked, texts, pages)
        except (Refused, Unreachable) as error:
            raise KubeschedError(f"the cluster cannot be examined: {error}{_to_check(error, target)}") from None
        finally:
            await rest.close()
            if pages is not None and isinstance(pages.rest, RestClient):
                await pages.rest.close()

    answer = answer_of(target.origin, run_loop(work()))
    if output.format == TABLE and not output.quiet:
        for finding in answer.findings:
            click.secho(printable(finding.line()), fg=_COLOURS[finding.level] if output.colour else None)
        click.echo(answer.summary)
    else:
        print_answer(answer, doctor_report(answer), output)
    failing = not answer.ready or (strict and any(finding.level != OK for finding in answer.findings))
    sys.exit(1 if failing else 0)


def _to_check(error: Refused | Unreachable, target: RestConfig) -> str:
    """Return the end of an error message: the fix."""
    if isinstance(error, Unreachable) and error.maybe_done:
        return f"; {ASK_AGAIN}, or give it more time with --request-timeout"
    return to_check(error, target)


def _client(target: RestConfig) -> RestClient:
    return RestClient(target, f"kubesched/{__version__}", timeout_seconds=target.timeout_seconds or SECONDS)


def _text(file: str) -> str:
    try:
        return read_at_most(Path(file), LARGEST_DASHBOARD).decode()
    except UnusableFileError as error:
        raise KubeschedError(f"--dashboards {file}: {error}") from None
    except UnicodeDecodeError:
        raise KubeschedError(f"--dashboards {file}: it is not UTF-8 text") from None


def doctor_report(answer: DoctorAnswer) -> Report:
    """Return the report of an examination."""
    rows = [(Toned(each.level, _TONES[each.level]), each.check, each.what, each.fix or "-") for each in answer.findings]
    verdict = Paragraph(answer.summary, Tone.GOOD if answer.ready else Tone.BAD)
    table = Table(("LEVEL", "CHECK", "WHAT", "FIX"), rows, most=500)
    return Report("Doctor", [verdict], [Section("Findings", (table,))])
