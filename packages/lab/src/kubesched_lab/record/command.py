"""`kubesched record`: a live cluster in, a trace file out.

From a command line to a recording and a line about it. Progress goes to standard error.
"""

import asyncio
import signal
import sys
import time
from pathlib import Path

import click

from kubesched import __version__
from kubesched.api.quantity import InvalidQuantityError, value_of
from kubesched.cli.durations import DurationType
from kubesched.cli.event_loop import run_loop
from kubesched.cli.notes import note
from kubesched.cli.source_options import live_source_option
from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched.errors import KubeschedError
from kubesched.sources.cluster_source import ClusterSource, live_target
from kubesched.sources.live import to_check
from kubesched_lab.record.line_encoder import PLAIN, anonymising_encoder
from kubesched_lab.record.recording_file import RecordingFile
from kubesched_lab.record.resuming import RecordingState, read_end
from kubesched_lab.record.session import Limits, RecordingProgress, RecordingSession

# between lines of progress without a terminal
LINE_SECONDS = 60.0


class SizeType(click.ParamType[int]):
    """A size such as 100Mi."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes."""
        try:
            size = value if isinstance(value, int) else int(value_of(str(value)))
        except InvalidQuantityError:
            size = 0
        if size <= 0:
            self.fail(f"{value!r} is not a size such as 100Mi", param, ctx)
        return size


@click.command("record")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--for", "seconds", type=DurationType(), help="Stop after this duration, such as 1h.")
@click.option("--until-size", type=SizeType(), metavar="100Mi", help="Stop when the file reaches this size.")
@click.option("--max-events", type=click.IntRange(min=1), help="Stop after this number of events.")
@click.option("--resume", is_flag=True, help="Continue a recording that has ended, for whatever reason.")
@click.option(
    "--anonymise", is_flag=True, help="Replace names and values by codes. Simulated placements stay the same."
)
@click.option("-l", "--selector", default="", metavar="LABELS", help="Record only pods with these labels.")
@live_source_option
def record(
    file: Path,
    seconds: float | None,
    until_size: int | None,
    max_events: int | None,
    resume: bool,
    anonymise: bool,
    selector: str,
    source: ClusterSource,
) -> None:
    """Record the events of a cluster into a trace file, for a replay.

    FILE ends in .jsonl, or in .jsonl.gz to be compressed. It begins with all nodes, pods, volumes, claims, classes and
    budgets, with the fields that the scheduler reads. Then come the events with their times: pods that arrive, change
    and end, nodes that join, change and leave, and deletions. The node of each bound pod is recorded, but not replayed.
    Environment variables, commands, most annotations, Secrets and ConfigMaps are left out.

    You need the rights to get, list and watch. The recording ends with Ctrl-C, or at a limit. The file is readable even
    if the recorder is killed. --resume continues a recording, and records the changes in between as differences.

    With --anonymise, names, namespaces, values of labels and taints, images and UIDs become codes, by a key that is
    never stored. Equal texts get equal codes, so that pods are placed alike. Keys of labels and taints, and names
    of resources, drivers, schedulers and scheduling gates stay, since plugins and configurations refer to them.

    \b
    Examples:
      kubesched record monday.jsonl.gz --for 24h --until-size 1Gi
      kubesched record monday.jsonl.gz --resume
      kubesched simulate monday.jsonl.gz --config new.yaml
      kubesched up --replay monday.jsonl.gz --speed 10
    """
    if not file.name.removesuffix(".gz").endswith(".jsonl"):
        raise click.BadParameter(f"{file.name}: expected a name that ends in .jsonl or .jsonl.gz", param_hint="FILE")
    if anonymise and resume:
        raise click.UsageError(
            "--anonymise excludes --resume: the key of the codes is not stored; record into another file"
        )
    target = live_target(source, "name a cluster of kubesched up with --cluster")
    if resume and not file.exists():
        raise KubeschedError(f"{file}: no such recording: leave out --resume to begin one")
    output = RecordingFile(file, resume=resume)
    state = _state(output) if resume else None
    limits = Limits(seconds, until_size, max_events)

    async def work() -> RecordingProgress:
        rest = RestClient(target, f"kubesched/{__version__}")
        teller = _RecordingReporter(shown=sys.stderr.isatty())
        session = RecordingSession(
            rest,
            output,
            limits,
            state=state,
            encoder=anonymising_encoder() if anonymise else PLAIN,
            pod_selector=selector,
            note=teller.note,
            tell=teller.tell,
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, session.stop.set)
        try:
            return await session.run()
        except (Refused, Unreachable) as error:
            raise KubeschedError(f"the cluster cannot be recorded: {error}{to_check(error, target)}") from None
        finally:
            teller.end()
            output.close()
            await rest.close()

    click.echo(_summary(file, run_loop(work())), err=True)


def _state(file: RecordingFile) -> RecordingState:
    try:
        if file.torn:
            click.echo(f"{file.path}: the last {file.torn} bytes were an incomplete line; they were removed", err=True)
        return read_end(file.path)
    except KubeschedError:
        file.close()
        raise


def _summary(file: Path, progress: RecordingProgress) -> str:
    if not progress.begun:
        return f"{file}: ended before the cluster was listed; nothing is recorded"
    return f"{file}: {_figures(progress)}"


def _figures(progress: RecordingProgress) -> str:
    return f"{progress.seconds:.0f} s recorded, {progress.events} events, {progress.size / 1024:.1f} KiB"


class _RecordingReporter:
    """Reports the start of a recording, then its progress: on a terminal as a line that it overwrites, elsewhere once a
    minute.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._told = time.monotonic()
        self._open = self._begun = False

    def tell(self, progress: RecordingProgress) -> None:
        """Report the progress of the recording."""
        if progress.begun and not self._begun:
            self._begun = True
            self.note("the cluster is listed; recording its changes from now on; Ctrl-C stops")
        text = _figures(progress) if progress.begun else "listing the cluster"
        if self._shown:
            self._open = True
            click.echo(f"\r{text}\x1b[K", nl=False, err=True)
        elif time.monotonic() - self._told > LINE_SECONDS:
            self._told = time.monotonic()
            click.echo(text, err=True)

    def note(self, line: str) -> None:
        """Print a separate line."""
        self.end()
        note(line)

    def end(self) -> None:
        """End the line that is overwritten."""
        if self._open:
            self._open = False
            click.echo(err=True)
