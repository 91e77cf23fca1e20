"""The first line of a scenario: a trace that was saved with its configuration and its seed.

    {"scenario": {"version": 1, "configuration": "apiVersion: ...", "seed": 7, ...}}

From a file to the settings that its run needs; None for other files.
"""

from pathlib import Path
from typing import Any, Final

import msgspec

from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.opening import decoded, opened_trace

VERSION: Final = 1
_BEGINNING: Final = b'{"scenario"'
LONGEST: Final = 1 << 26


class ScenarioHeader(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The settings of a scenario.

    `configuration` is a text, empty for the default. `replacements` says that the trace has the pods that controllers
    created in place of lost ones. `pace` has durations, `workloads` are documents of workloads.
    """

    version: int
    name: str = ""
    configuration: str = ""
    seed: int = 0
    replacements: bool = False
    pace: dict[str, Any] = {}
    workloads: tuple[dict[str, Any], ...] = ()
    # the times at which users put other configurations in force
    configurations_at: tuple[float, ...] = ()


class _HeaderLine(msgspec.Struct, forbid_unknown_fields=True):
    scenario: ScenarioHeader


_decode_line = msgspec.json.Decoder(_HeaderLine).decode


def is_scenario(line: bytes) -> bool:
    """Return whether a line is the first one of a scenario."""
    return line.startswith(_BEGINNING)


def header_in(name: str, line: bytes) -> ScenarioHeader | None:
    """Return the header in the first line of a file, None for other files; raises TraceError."""
    if not is_scenario(line):
        return None
    header = decoded(_decode_line, line, f"{name}, line 1").scenario
    if header.version != VERSION:
        raise TraceError(
            f"{name}, line 1: `scenario.version` is {header.version}; this kubesched reads version {VERSION}"
        )
    return header


def scenario_header(path: str) -> ScenarioHeader | None:
    """Return the header of a file, None for other files and folders; raises TraceError."""
    file = Path(path)
    if not file.is_file() or not path.removesuffix(".gz").endswith(".jsonl"):
        return None
    with opened_trace(file) as lines:
        return header_in(file.name, lines.readline(LONGEST))
