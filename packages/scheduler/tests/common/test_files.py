"""Files that somebody names: bounded, and never waited for without end."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.processes import eventually

from kubesched import manifests
from kubesched.common import files
from kubesched.common.files import UnusableFileError, oddity, read_at_most, writing_problem

MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
# reads a pipe in a loop that takes the signals for itself, as `kubesched up` and `run` do
READER = """
import asyncio, signal, sys
from kubesched.manifests import read
from kubesched.common.files import read_at_most

async def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, lambda: None)
    print("reading", flush=True)
    read([sys.argv[2]]) if sys.argv[1] == "manifests" else read_at_most(sys.argv[2], 100)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.write_bytes(b"x" * 101), "larger than 100 bytes; is it the right file?"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 20 << 30), "larger than 100 bytes"),
        (lambda path: path.symlink_to("/dev/zero"), "larger than 100 bytes; is it the right file?"),
        (lambda path: path.mkdir(), "Is a directory; give a readable file"),
        (lambda path: None, "No such file or directory; give a readable file"),
    ],
    ids=["one byte too many", "20 GiB of nothing", "a device without an end", "a folder", "nothing"],
)
def test_files_that_cannot_be_meant_are_refused(tmp_path: Path, make: Callable[[Path], None], reason: str) -> None:
    path = tmp_path / "file"
    make(path)
    with pytest.raises(UnusableFileError) as refused:
        read_at_most(path, 100)
    assert reason in str(refused.value)


def test_all_of_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100)
    assert read_at_most(str(tmp_path / "file"), 100) == b"x" * 100


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize(
    ("make", "name"),
    [(os.mkfifo, "a named pipe"), (lambda path: path.symlink_to("/dev/zero"), "a device"), (a_socket, "a socket")],
)
def test_what_is_no_file_in_a_folder_is_a_problem_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    make(Path("folder/odd.yaml"))
    Path("folder/other.yaml").write_text(MANIFEST)
    assert oddity("folder/odd.yaml") == name
    found, problems = manifests.read(["folder"])
    assert [each.document["metadata"]["name"] for each in found] == ["a"]
    assert problems == [f"folder/odd.yaml: is {name}, and no file; name it by itself, or take it out of the folder"]


def test_a_pipe_that_is_named_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"echo '{MANIFEST}' > {pipe}"]):
        found, problems = manifests.read([str(pipe)])
    assert [each.kind for each in found] == ["ConfigMap"]
    assert problems == []


def test_a_pipe_that_nobody_writes_to_is_given_up_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "WRITER_SECONDS", 0.05)
    os.mkfifo(tmp_path / "pipe")
    why = r"^a named pipe without a writer for 0\.05 s; give a readable file$"
    with pytest.raises(UnusableFileError, match=why):
        read_at_most(tmp_path / "pipe", 100)
    # the reader that gave up takes nothing from a later one
    assert [thread for thread in threading.enumerate() if thread.name == "open"] == []
    monkeypatch.setattr(files, "WRITER_SECONDS", 60.0)
    with subprocess.Popen(["sh", "-c", f"echo a > {tmp_path / 'pipe'}"]):
        assert read_at_most(tmp_path / "pipe", 100) == b"a\n"


def test_a_pipe_that_may_not_be_written_is_given_up_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    monkeypatch.setattr(files, "WRITER_SECONDS", 0.05)
    monkeypatch.setattr(files, "_end_waiting", lambda path, thread: None)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnusableFileError):
        read_at_most(tmp_path / "pipe", 100)
    (waiting,) = [thread for thread in threading.enumerate() if thread.name == "open"]
    os.close(os.open(tmp_path / "pipe", os.O_WRONLY))
    waiting.join(60.0)
    assert not waiting.is_alive()
    assert raised == []


@pytest.mark.parametrize("what", ["manifests", "file"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_waiting_for_a_pipe(tmp_path: Path, what: str, number: int) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", READER, what, str(pipe)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"reading\n"

        def ended() -> bool:
            # until it waits in earnest, the loop has the signal
            reader.send_signal(number)
            return reader.poll() is not None

        assert eventually(ended, "the reader ends")


def test_manifests_without_an_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "LARGEST_FILE", 4)
    monkeypatch.setattr(manifests, "PIECE_BYTES", 2)
    (tmp_path / "large.yaml").write_text("a: bcdefgh")
    found, problems = manifests.read([str(tmp_path / "large.yaml")])
    assert not found
    assert "larger than 0 GiB; is it the right file?" in problems[0]


def test_what_is_in_the_way_of_writing_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "report.html"
    assert writing_problem(report) == ""
    assert not report.exists()
    report.write_text("the last one")
    assert (writing_problem(report), report.read_text()) == ("", "the last one")
    assert writing_problem(Path(os.devnull)) == ""
    assert writing_problem(tmp_path) == "it is a folder"
    assert writing_problem(tmp_path / "none" / "report.html") == f"there is no folder {tmp_path / 'none'}"
    # root may write everywhere
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    assert (writing_problem(report), writing_problem(tmp_path / "new.html")) == ("", "permission denied")
