"""Files that are small and would take much: they are refused in a sentence that names the limit, or the line."""

import gzip
from pathlib import Path

import msgspec
import pytest

from kubesched.errors import KubeschedError
from kubesched_lab.simulate.traces import opening
from kubesched_lab.simulate.traces.reading import read_traces

DEEP = b'{"a":' * 4000 + b"1" + b"}" * 4000
LISTS = b"[" * 100_000 + b"]" * 100_000
NODE = b'{"at":0,"delete":"Node/n"}\n'
TOO_DEEP = "recursion"

NESTED: dict[str, tuple[str, bytes, str]] = {
    "a line of a trace": ("a.jsonl", NODE + b'{"at":0,"object":' + DEEP + b"}\n", "a.jsonl, line 2: "),
    "the header of a scenario": (
        "a.jsonl",
        b'{"scenario":{"version":1,"workloads":[{"a":' + LISTS + b"}]}}\n",
        "a.jsonl, line 1: ",
    ),
    "a line of a recording": (
        "a.jsonl",
        b'{"recording":{"version":1}}\n{"at":0,"object":' + DEEP + b"}\n",
        "a.jsonl, line 2: ",
    ),
    "a record of the simulator": (
        "a.jsonl",
        b'{"time":"2026-01-01T10:00:00Z","event":"Add","resource":' + DEEP + b"}\n",
        "a.jsonl, line 1: ",
    ),
    "an export of the simulator": ("a.json", b'{"pods":' + LISTS + b"}", "a.json: "),
    "a trace of SimKube": (
        "a.json",
        b'{"version":2,"events":[],"pod_lifecycles":{"a":' + LISTS + b"}}",
        "a.json: is no",
    ),
    "a packed trace of SimKube": (
        "a.sktrace",
        msgspec.msgpack.encode({"version": 2, "events": []})[:-1].replace(b"\x82", b"\x83")
        + b"\x90\xaepod_lifecycles\x81\xa1a"
        + b"\x91" * 5000
        + b"\xc0",
        "a.sktrace: is no",
    ),
}


@pytest.mark.parametrize("case", NESTED)
def test_what_is_nested_too_deeply_is_told_with_its_place(case: str, tmp_path: Path) -> None:
    name, content, where = NESTED[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(KubeschedError) as raised:
        list(read_traces([str(tmp_path / name)]).events(0))
    assert str(raised.value).startswith(where)
    assert TOO_DEEP in str(raised.value)


WHOLE: dict[str, tuple[str, bytes]] = {
    "an export of the simulator": ("a.json.gz", b'{"pods":[' + b"{}," * 1_000_000),
    "a recording of kwok": ("a.yaml.gz", b"kind: ResourcePatch\n" + b"#\n" * 1_500_000),
    "a trace of SimKube": ("a.json.gz", b'{"version":2,"events":[' + b"{}," * 1_000_000),
}


@pytest.mark.parametrize("case", WHOLE)
def test_a_packed_file_that_is_read_as_a_whole_is_unpacked_up_to_a_limit(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LARGEST_WHOLE", 1 << 20)
    name, content = WHOLE[case]
    (tmp_path / name).write_bytes(gzip.compress(content, 1))
    with pytest.raises(KubeschedError, match=f"{name}: has more than 1 MiB, unpacked; is it the right file"):
        list(read_traces([str(tmp_path / name)]).events(0))


def test_a_line_without_end_is_read_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched_lab.simulate.traces.scheduler_simulator.LONGEST_LINE", 1000)
    (tmp_path / "a.jsonl").write_bytes(b'{"time":"' + b"x" * 5000 + b'"}')
    with pytest.raises(KubeschedError, match=r"a\.jsonl, line 1: Input data was truncated"):
        read_traces([str(tmp_path / "a.jsonl")])
