"""Files of recordings: what cannot be written is told, and leaves whole lines."""

import gzip
import os
from pathlib import Path

import pytest

from kubesched.errors import KubeschedError
from kubesched_lab.record import recording_file
from kubesched_lab.record.recording_file import RecordingFile, cut_torn_end

LINE = b'{"at": 1}\n'
HEADER = b'{"recording":{"version":1}}\n'


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_lines_are_in_the_file_when_it_is_flushed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    file = RecordingFile(path)
    file.write(LINE)
    assert path.stat().st_size == 0
    file.flush()
    file.write(LINE)
    file.flush()
    content = path.read_bytes()
    assert (gzip.decompress(content) if path.suffix == ".gz" else content) == LINE * 2
    assert file.size == len(content)
    file.close()
    file.close()
    assert path.read_bytes() == content


def test_a_file_without_lines_is_removed(tmp_path: Path) -> None:
    RecordingFile(tmp_path / "a.jsonl").close()
    assert not (tmp_path / "a.jsonl").exists()


def test_two_recorders_do_not_write_to_one_file(tmp_path: Path) -> None:
    first = RecordingFile(tmp_path / "a.jsonl")
    with pytest.raises(KubeschedError, match=r"a.jsonl: another recorder writes to it"):
        RecordingFile(tmp_path / "a.jsonl", resume=True)
    first.write(HEADER)
    first.close()
    RecordingFile(tmp_path / "a.jsonl", resume=True).close()
    assert (tmp_path / "a.jsonl").read_bytes() == HEADER


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b""),
        ("a.jsonl", b"dear diary"),
        ("a.jsonl", b"dear diary\n" + HEADER),
        ("a.jsonl.gz", b"dear diary"),
        ("a.jsonl.gz", gzip.compress(b"dear diary", mtime=0)),
        ("a.jsonl.gz", gzip.compress(HEADER, mtime=0)[:-9]),
    ],
)
def test_a_file_that_is_no_recording_stays_as_it_is(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(KubeschedError, match="is not a recording"):
        RecordingFile(path, resume=True)
    assert path.read_bytes() == content


def test_the_torn_end_of_a_recording_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(HEADER + LINE[:4])
    file = RecordingFile(path, resume=True)
    assert (file.torn, file.size) == (4, len(HEADER))
    file.write(LINE)
    file.close()
    assert path.read_bytes() == HEADER + LINE


def full_disk(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """Let writes fail once there is no room."""
    left = [room]

    def write(file: int, content: bytes) -> int:
        if not left[0]:
            raise OSError(28, os.strerror(28))
        taken = min(left[0], len(content))
        left[0] -= taken
        return real(file, content[:taken])

    real = os.write
    monkeypatch.setattr(os, "write", write)


def test_a_full_disk_is_told_and_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    file = RecordingFile(path)
    full_disk(monkeypatch, len(LINE) + 4)
    file.write(LINE)
    file.flush()
    file.write(LINE)
    with pytest.raises(KubeschedError, match=r"a.jsonl: cannot be written: No space left on device"):
        file.flush()
    assert path.read_bytes() == LINE
    file.close()


def test_a_full_disk_is_told_when_much_is_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording_file, "MOST_WAITING", 1)
    file = RecordingFile(tmp_path / "a.jsonl")
    full_disk(monkeypatch, 0)
    # whoever reports an object does not hear of it, but whoever records does
    file.write(LINE)
    file.write(LINE)
    with pytest.raises(KubeschedError, match="No space left on device"):
        file.flush()
    with pytest.raises(KubeschedError, match="No space left on device"):
        file.close()


@pytest.mark.parametrize(
    ("name", "content", "whole"),
    [
        ("a.jsonl", LINE * 2, LINE * 2),
        ("a.jsonl", LINE + b'{"at"', LINE),
        ("a.jsonl.gz", gzip.compress(LINE, mtime=0) * 2, gzip.compress(LINE, mtime=0) * 2),
        ("a.jsonl.gz", gzip.compress(LINE, mtime=0) + gzip.compress(LINE, mtime=0)[:-3], gzip.compress(LINE, mtime=0)),
        ("a.jsonl.gz", gzip.compress(LINE, mtime=0) + bytes(100), gzip.compress(LINE, mtime=0)),
    ],
)
def test_what_is_torn_is_cut_off(tmp_path: Path, name: str, content: bytes, whole: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert cut_torn_end(path) == len(content) - len(whole)
    assert path.read_bytes() == whole
