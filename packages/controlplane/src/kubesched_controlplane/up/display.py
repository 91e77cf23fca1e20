"""The output of `kubesched up`: the placement table, and the progress while it runs.

In: a cluster and its report. Out: rich's renderables, or plain text if the output is not a terminal.
"""

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import click
import msgspec
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kubesched.core.queue.queued_pod import Place
from kubesched_controlplane.storage.store import DELETED, Change, Stored
from kubesched_controlplane.up.cluster import LocalCluster
from kubesched_controlplane.up.placements import BOUND, OVER, PENDING, TERMINATING, PlacementReport, PodPlacement

COLUMNS = ("NAMESPACE", "POD", "NODE", "STATUS", "REASON")
MOST_EVENTS = 8
# the period over which the rate of bindings is computed
RATE_SECONDS = 3.0
# between columns
GAP = 3
# the least width of a column whose text is wrapped
LEAST_WRAPPED = 20
_STYLES = {"Running": "green", BOUND: "green", "Succeeded": "dim", PENDING: "yellow", TERMINATING: "dim"}


# -- the table


def placement_table(report: PlacementReport) -> Table:
    """Return the table of pods with their node, status and reason."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column in COLUMNS:
        table.add_column(column, overflow="fold", no_wrap=column != COLUMNS[-1])
    for pod in report.pods:
        table.add_row(*_cells(pod))
    return table


def _cells(pod: PodPlacement) -> Iterator[Text]:
    yield Text(pod.namespace)
    yield Text(pod.name)
    yield Text(pod.node or "-", "" if pod.node else "dim")
    yield Text(pod.status, _STYLES.get(pod.status, "red"))
    nominated = f"(nominated to {pod.nominated_node}) " if pod.nominated_node else ""
    yield Text(nominated + pod.reason)


def report_lines(report: PlacementReport) -> Iterator[str]:
    """Yield the lines below the table."""
    for victim in report.preempted:
        yield f"Preempted: {victim.namespace}/{victim.name} had to leave {victim.node} for {victim.by}."
    yield f"{report.summary()}."


def print_table(table: Table) -> None:
    """Print a table: in colours, wrapped to the width of the terminal; plain if there is no terminal or it is too
    narrow.
    """
    if sys.stdout.isatty() and fits(table, Console().width):
        Console().print(table)
    else:
        click.echo(plain_text(table), nl=False)


def fits(table: Table, width: int) -> bool:
    """Return whether a terminal of a width shows a table without cutting names."""
    widths = _widths(_columns(table))
    least = [
        each if column.no_wrap else min(each, LEAST_WRAPPED) for column, each in zip(table.columns, widths, strict=True)
    ]
    return sum(least) <= width


def _columns(table: Table) -> list[list[str]]:
    return [[str(column.header), *(str(cell) for cell in column.cells)] for column in table.columns]


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cell_len, column)) + GAP for column in columns]


def plain_text(table: Table) -> str:
    """Return a table as text without colours and without line wrapping."""
    # without rich, which takes seconds for thousands of rows
    columns = _columns(table)
    widths = _widths(columns)
    lines = (
        "".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in zip(*columns, strict=True)
    )
    return "".join(f"{line}\n" for line in lines)


# -- while it runs


class EventLine(NamedTuple):
    """An event as a line for people."""

    time: str
    reason: str
    regarding: str
    note: str

    def __str__(self) -> str:
        return f"{self.time}  {self.reason}  {self.regarding}  {self.note}"


class _Regarding(msgspec.Struct, frozen=True):
    namespace: str = ""
    name: str = ""


class _Stored(msgspec.Struct, rename="camel"):
    """A stored event; its writer sets either eventTime or lastTimestamp."""

    involved_object: _Regarding = _Regarding()
    reason: str = ""
    message: str = ""
    event_time: str | None = None
    last_timestamp: str | None = None


def read_event(stored: Stored) -> EventLine:
    """Decode a stored event; its time is converted to local time."""
    event = msgspec.json.decode(stored.body, type=_Stored)
    moment = event.event_time or event.last_timestamp
    time = datetime.fromisoformat(moment).astimezone().strftime("%H:%M:%S") if moment else ""
    about = event.involved_object
    regarding = f"{about.namespace}/{about.name}" if about.namespace else about.name
    return EventLine(time, event.reason, regarding, " ".join(event.message.split()))


class Progress:
    """Follows a cluster: the numbers of bound and pending pods, the rate of bindings, and the last events."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster
        self.events: deque[Stored] = deque(maxlen=MOST_EVENTS)
        self._waiting = self._bound = 0
        self._samples: deque[tuple[float, int]] = deque()
        store = cluster.server.registry.store
        for stored in store.set_of("pods"):
            self._count(stored, 1)
        self._stops = (store.watch("pods", self._pod_changed), store.watch("events", self._event_changed))

    def stop(self) -> None:
        """End the watches."""
        for stop in self._stops:
            stop()

    def _pod_changed(self, change: Change) -> None:
        if change.old is not None:
            self._count(change.old, -1)
        if change.type != DELETED:
            self._count(change.new, 1)

    def _event_changed(self, change: Change) -> None:
        if change.type != DELETED:
            self.events.append(change.new)

    def _count(self, stored: Stored, number: int) -> None:
        if stored.fields.get("status.phase") in OVER:
            return
        if stored.fields.get("spec.nodeName"):
            self._bound += number
        else:
            self._waiting += number

    def per_second(self, now: float) -> float:
        """Return the rate of bindings over the last seconds."""
        samples = self._samples
        samples.append((now, self._cluster.record.bound))
        while now - samples[0][0] > RATE_SECONDS:
            samples.popleft()
        (began, before), (ended, after) = samples[0], samples[-1]
        return (after - before) / (ended - began) if ended > began else 0.0

    def line(self, now: float) -> Text:
        """Return the progress in one line."""
        places = self._cluster.parts.scheduler.queue.counts()
        stuck, gated = places[Place.UNSCHEDULABLE], places[Place.GATED]
        nodes = len(self._cluster.server.registry.store.set_of("nodes"))
        return Text.assemble(
            (f"{nodes}", "bold"),
            " nodes   ",
            (f"{self._bound}", "bold green"),
            " pods bound   ",
            (f"{max(0, self._waiting - stuck - gated)}", "bold"),
            " pending   ",
            (f"{stuck}", "bold yellow" if stuck else "bold"),
            " unschedulable   ",
            *((f"{gated}", "bold"), " held back   ") if gated else (),
            (f"{self.per_second(now):.0f}", "bold"),
            " bound/s",
        )

    def page(self, now: float) -> RenderableType:
        """Return the progress and the last events."""
        events = [read_event(stored) for stored in self.events]
        reasons = max((len(event.reason) for event in events), default=0)
        regarding = max((len(event.regarding) for event in events), default=0)
        lines = Text(no_wrap=True, overflow="ellipsis")
        for event in events:
            lines.append(f"\n{event.time}  ", "dim")
            lines.append(f"{event.reason:<{reasons}}  ", "bold")
            lines.append(f"{event.regarding:<{regarding}}  ", "cyan")
            lines.append(event.note)
        return Group(self.line(now), lines)
