"""Scenarios as one file: a trace file whose first line has configuration and seed, with users' actions in it.

    {"scenario": {"version": 1, "configuration": "...", "seed": 0}}
    {"at": 0, "object": {...}}
    {"at": 12.5, "action": "Cordon node n1", "turns": 3, "lines": 1}     the next line is its event
    {"at": 12.5, "object": {...}}

From scenarios to lines and back. `kubesched simulate` runs such a file, too, and treats the events of an action like
all other events. Secrets of configurations are left out of the file.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from kubesched.config.errors import ConfigError
from kubesched.config.load import Loaded
from kubesched.core.framework.building.registry import Registry
from kubesched_lab.page.configuration.questions import shown_text
from kubesched_lab.page.simulation.scenario import Moment, PageScenario, SimulatedConfiguration, UserAction
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.traces.opening import LONGEST_LINE, opened_trace
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.scenario_header import VERSION, ScenarioHeader, header_in
from kubesched_lab.simulate.traces.trace import ConfigurationChange, Trace, TraceEvent
from kubesched_lab.simulate.traces.trace_file import Line, LineReader
from kubesched_lab.simulate.traces.trace_writing import LineWriter

# a scenario is kept in memory
MOST_LINES: Final = 3_000_000
# limit of each duration in `pace`
LONGEST_SECONDS: Final = 1e9
# reads the text of a configuration
ConfigurationLoader = Callable[[str], Loaded]


# -- writing


def scenario_lines(scenario: PageScenario) -> Iterator[bytes]:
    """Yield the lines of a scenario's file; raises the errors of its trace."""
    header = ScenarioHeader(
        VERSION,
        scenario.trace.name,
        _configuration_text(scenario.configuration),
        scenario.seed,
        scenario.trace.has_replacements,
        {
            name: value
            for name, value in msgspec.structs.asdict(scenario.pace).items()
            if value != getattr(Pace(), name)
        },
        scenario.workloads,
        tuple(action.at.seconds for action in scenario.actions if action.configuration is not None),
    )
    yield _encoded({"scenario": header})
    writer = LineWriter()
    waiting = list(scenario.actions)
    for event in scenario.trace.events(scenario.seed):
        while waiting and waiting[0].at.seconds < event.at:
            yield from map(_encoded, _action_lines(waiting.pop(0), writer))
        yield from map(_encoded, writer.lines_of(event))
    for action in waiting:
        yield from map(_encoded, _action_lines(action, writer))


def _configuration_text(configuration: SimulatedConfiguration) -> str:
    """Return the text of a configuration without secrets, empty for the default one."""
    return configuration.text and shown_text(configuration.text, configuration.loaded)


def _encoded(line: object) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def _action_lines(action: UserAction, writer: LineWriter) -> Iterator[dict[str, Any]]:
    """Yield the line of an action, then the lines of its events; templates are lines among them."""
    at = action.at.seconds
    lines = [line for event in action.events for line in writer.lines_of(msgspec.structs.replace(event, at=at))]
    head: dict[str, Any] = {"at": at, "action": action.title, "turns": action.at.turns, "lines": len(lines)}
    if action.configuration is not None:
        head["configuration"] = _configuration_text(action.configuration)
    if isinstance(action.note, tuple) and action.note:
        head["workloads"] = list(action.note)
    yield head
    yield from lines


# -- reading


def too_many_lines(name: str, number: int) -> None:
    """Raise TraceError if a line number is beyond the limit."""
    if number > MOST_LINES:
        raise TraceError(f"{name}: the page reads at most {MOST_LINES} lines; use kubesched simulate for more")


def too_many_objects(name: str, number: int) -> None:
    """Raise TraceError if the number of objects is beyond the limit: a line may stand for many."""
    if number > MOST_LINES:
        raise TraceError(f"{name}: the page keeps at most {MOST_LINES} objects; use kubesched simulate for more")


def read_scenario(
    path: Path, load: ConfigurationLoader, registry: Registry | None, go_on: Callable[[], None] = lambda: None
) -> PageScenario | None:
    """Return the scenario in a file, None for other files; raises KubeschedErrors with line and field.

    `go_on` is called for each line, and may raise to stop the reading.
    """
    with opened_trace(path) as file:
        header = header_in(path.name, file.readline(LONGEST_LINE))
        if header is None:
            return None
        reader = _ScenarioReader(path.name, load)
        while line := file.readline(LONGEST_LINE):
            go_on()
            reader.read(line)
            too_many_lines(path.name, reader.number)
    events = tuple(reader.events)
    trace = Trace(header.name or path.name, lambda seed: iter(events), header.replacements)
    configuration = SimulatedConfiguration(header.configuration, _loaded(path.name, 1, load, header.configuration))
    pace = _pace(path.name, header)
    return PageScenario(trace, configuration, registry, header.seed, pace, reader.actions(), header.workloads)


def _loaded(name: str, number: int, load: ConfigurationLoader, text: str) -> Loaded:
    try:
        return load(text)
    except ConfigError as error:
        raise TraceError(f"{name}, line {number}: `configuration`: {error.errors[0]}") from None


def _pace(name: str, header: ScenarioHeader) -> Pace:
    try:
        pace = msgspec.convert(header.pace, Pace)
        for field in ("attempt_seconds", "binding_seconds", "starting_seconds", "stopping_seconds"):
            if not 0 <= getattr(pace, field) <= LONGEST_SECONDS:
                raise msgspec.ValidationError(f"`{field}` is {getattr(pace, field):g}; expected seconds")
        return pace
    except msgspec.ValidationError as error:
        raise TraceError(f"{name}, line 1: `scenario.pace`: {error}") from None


class _ScenarioReader:
    """Reads the lines after the first: events of the trace, and actions with the lines that belong to them."""

    def __init__(self, name: str, load: ConfigurationLoader) -> None:
        self._name = name
        self._load = load
        self.number = 1
        self._reader = LineReader(name, Durations.COMPLETED, iter(()))
        self._reader.begin()
        self.events: list[TraceEvent] = []
        self._actions: list[tuple[Line, Loaded | None, list[TraceEvent]]] = []
        self._belonging = 0
        self._count = 0

    def read(self, text: bytes) -> None:
        """Read a line."""
        self.number += 1
        events = self._actions[-1][2] if self._belonging else self.events
        self._belonging = max(0, self._belonging - 1)
        line = self._reader.read(text)
        if line is None:
            return
        if line.action:
            self._begin(line)
        # the configuration of an action is the action's
        for event in self._reader.events_of_line(line):
            if not isinstance(event, ConfigurationChange):
                events.append(event)
                self._count += 1
                too_many_objects(self._name, self._count)

    def _begin(self, line: Line) -> None:
        if line.lines < 0 or line.turns < 0 or line.at is None:
            raise self._reader.wrong("an `action` has `at`, and `turns` and `lines` that are not negative")
        loaded = None
        if line.configuration is not None:
            loaded = _loaded(self._name, self.number, self._load, line.configuration)
        self._actions.append((line, loaded, []))
        self._belonging = line.lines

    def actions(self) -> tuple[UserAction, ...]:
        """Return the actions; call it after the last line."""
        if self._belonging:
            raise TraceError(
                f"{self._name}: the file is truncated: {self._belonging} lines of its last action are missing"
            )
        return tuple(
            UserAction(
                Moment(line.at or 0.0, line.turns),
                line.action,
                tuple(events),
                None if loaded is None else SimulatedConfiguration(line.configuration or "", loaded),
                line.workloads or None,
            )
            for line, loaded, events in self._actions
        )
