"""Traces that are written and read again: the same events, from any format."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from kubesched.api.codec import encode
from kubesched.cli import main
from kubesched.testing import a_node, a_pod
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent
from kubesched_lab.simulate.traces.trace_writing import lines_of, write_trace

BATCH = "examples/simulate/batch.yaml"


def shown(event: TraceEvent) -> tuple[object, ...]:
    """Return an event without the UID, which a name stands for."""
    if isinstance(event, ObjectDeletion):
        return (event.at, event.kind, event.full_name)
    assert isinstance(event, PodArrival | ObjectPut)
    obj = event.pod if isinstance(event, PodArrival) else event.obj
    named = msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, uid=""))
    return (event.at, encode(named), event.runs if isinstance(event, PodArrival) else None)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.parquet"])
def test_what_is_read_again_has_the_same_events(name: str, tmp_path: Path) -> None:
    trace, path = read_traces([BATCH]), tmp_path / name
    count = write_trace(trace, 3, path)
    first, again = list(trace.events(3)), list(read_traces([str(path)]).events(0))
    assert len(first) == len(again) == count > 1000
    # some from the beginning, some from the middle, some from the end
    assert [shown(event) for event in first[::97]] == [shown(event) for event in again[::97]]
    before = path.read_bytes()
    write_trace(trace, 3, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.parquet"])
@pytest.mark.parametrize("has_replacements", [True, False])
def test_a_recording_stays_one(name: str, has_replacements: bool, tmp_path: Path) -> None:
    events: list[TraceEvent] = [ObjectPut(0, a_node("n")), PodArrival(1, a_pod("p"), 5.0)]
    write_trace(Trace("t", lambda seed: iter(events), has_replacements), 0, tmp_path / name)
    again = read_traces([str(tmp_path / name)])
    assert again.has_replacements is has_replacements
    assert len(list(again.events(0))) == 2


def test_pods_that_differ_in_their_names_alone_share_a_template() -> None:
    arrivals = [PodArrival(number, a_pod(f"p{number}", cpu="1"), 5.0) for number in range(3)]
    events: list[TraceEvent] = [ObjectPut(0, a_node("n")), *arrivals, ObjectPut(4, arrivals[0].pod)]
    lines = list(lines_of(Trace("t", lambda seed: iter(events)), 0))
    told = [line.keys() - {"at", "runs", "name", "uid"} for line in lines if "template" not in line]
    assert [next(iter(fields), "") for fields in told] == [
        "object",
        *["from"] * 3,
        "change",
    ]
    assert sum("template" in line for line in lines) == 1


def test_the_command_converts(tmp_path: Path) -> None:
    words = ["simulate", "examples/simulate/small.jsonl", "--write-trace", str(tmp_path / "t.parquet")]
    ran = CliRunner().invoke(main, words, catch_exceptions=False)
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "t.parquet: 9 events" in ran.stderr


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("t.csv", "t.csv: expected a file that ends in .jsonl, .jsonl.gz, .parquet"),
        ("/proc/none/t.jsonl", "/proc/none/t.jsonl: No such file or directory"),
    ],
)
def test_what_cannot_be_written_is_told(path: str, why: str) -> None:
    ran = CliRunner().invoke(main, ["simulate", "examples/simulate/small.jsonl", "--write-trace", path])
    assert ran.exit_code == 1
    assert why in ran.output
