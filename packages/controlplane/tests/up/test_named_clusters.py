"""Names of clusters: whose they are, and what is left over when a process dies."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from tests.support.processes import eventually

from kubesched_controlplane import named_clusters
from kubesched_controlplane.named_clusters import NamedClusterError, end, find, find_all, locked, process_identity

HOLDS = """
import sys, time
from pathlib import Path
from kubesched_controlplane.named_clusters import locked
with locked(sys.argv[1]) as lock:
    lock.serves("https://127.0.0.1:1", lock.kubeconfig)
    lock.kubeconfig.write_text("")
    print("up", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the names be those of this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(named_clusters, "PATIENCE_SECONDS", 0.0)
    return tmp_path / "kubesched"


@contextmanager
def held(name: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that has a name; kill it when the block is left."""
    process = subprocess.Popen([sys.executable, "-c", HOLDS, name], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_name_is_there_for_as_long_as_it_is_held_and_for_its_owner_alone(state: Path) -> None:
    assert (find("dev"), find_all()) == (None, [])
    with locked("dev") as lock:
        found = find("dev")
        assert found is not None
        assert (found.pid, found.url, found.kubeconfig) == (os.getpid(), "", ""), "it is being started"
        lock.serves("https://127.0.0.1:1", Path("/somewhere"))
        assert find_all() == [lock.cluster]
        assert lock.cluster.kubeconfig == "/somewhere"
        assert stat.S_IMODE((state / "dev").stat().st_mode) == 0o700
        for file in (state / "dev").iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert (find("dev"), list(state.iterdir())) == (None, [])


def test_a_name_has_one_owner_and_others_stand_beside_it() -> None:
    with locked("dev"), locked("another"):
        words = rf"a cluster 'dev' is up already, in process {os.getpid()}: .*up status.*up down dev.*--name"
        with pytest.raises(NamedClusterError, match=words), locked("dev"):
            pass
        assert [cluster.name for cluster in find_all()] == ["another", "dev"]
    with locked("dev"):
        pass


def test_what_a_dead_process_leaves_behind_is_cleared_by_whoever_looks(state: Path) -> None:
    with held("dev") as process:
        found = find("dev")
        assert found is not None
        assert found.pid == process.pid
        process.kill()
        process.wait()
        assert sorted(file.name for file in (state / "dev").iterdir()) == ["cluster.json", "kubeconfig", "lock"]
        assert find_all() == []
    assert list(state.iterdir()) == []


def test_a_name_of_a_dead_process_can_be_had_and_files_of_others_stay(state: Path) -> None:
    with held("dev") as process:
        process.kill()
        process.wait()
        (state / "dev" / "notes").write_text("mine")
        with locked("dev") as lock:
            assert find("dev") == lock.cluster
    assert [file.name for file in (state / "dev").iterdir()] == ["notes"]


def test_a_process_is_asked_to_end_and_waited_for() -> None:
    with held("dev") as process:
        found = find("dev")
        assert found is not None
        # it has no ear for signals, so it dies of it
        assert end(found, 30)
        assert process.wait() == -signal.SIGTERM
    assert end(found, 0), "it is gone already"


def test_a_process_that_does_not_end_is_not_waited_for_forever() -> None:
    with held("dev") as process:
        found = find("dev")
        assert found is not None
        process.send_signal(signal.SIGSTOP)
        eventually(lambda: Path(f"/proc/{process.pid}/stat").read_text().split()[2] == "T", "it is stopped")
        assert not end(found, 0.05)
        process.send_signal(signal.SIGCONT)


@pytest.fixture(params=["with /proc", "with ps alone"])
def processes(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is told of processes come from /proc, or from ps as on macOS."""
    if request.param != "with /proc":
        monkeypatch.setattr(named_clusters, "BOOT_ID", tmp_path / "missing")


@pytest.mark.usefixtures("processes")
def test_another_process_with_the_same_number_is_never_ended(state: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with locked("dev") as lock:
            wrong = msgspec.structs.replace(lock.cluster, pid=bystander.pid)
            (state / "dev" / "cluster.json").write_bytes(msgspec.json.encode(wrong))
            assert find("dev") == wrong
            with pytest.raises(NamedClusterError, match=f"process {bystander.pid} here is not its own"):
                end(wrong, 1)
        assert end(wrong, 1), "nobody has the name any more, and nobody was ended"
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.communicate()


@pytest.mark.usefixtures("processes")
def test_processes_are_told_apart_by_their_beginnings() -> None:
    ours = process_identity(os.getpid())
    assert ours == process_identity(os.getpid())
    assert ours != process_identity(1)
    assert process_identity(2**22 + 1) == ""


def test_without_proc_and_ps_nothing_is_known_of_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_clusters, "BOOT_ID", tmp_path / "missing")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert process_identity(os.getpid()) == ""


def test_a_lock_that_was_removed_locks_nothing(state: Path) -> None:
    (state / "dev").mkdir(parents=True)
    file = os.open(state / "dev" / "lock", os.O_RDWR | os.O_CREAT)
    (state / "dev" / "lock").unlink()
    fcntl.flock(file, fcntl.LOCK_EX)
    with locked("dev"):
        assert find("dev") is not None
    os.close(file)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"name": "dev", "pid": "1"}', b'{"name": "dev", "pid": 1}', b"\xff"]
)
def test_a_record_that_cannot_be_read_is_that_of_nobody(content: bytes, state: Path) -> None:
    with locked("dev"):
        (state / "dev" / "cluster.json").write_bytes(content)
        assert (find("dev"), find_all()) == (None, [])
        with pytest.raises(NamedClusterError, match="a cluster 'dev' is up already: "), locked("dev"):
            pass


def test_what_is_in_the_way_is_named(state: Path) -> None:
    state.mkdir()
    (state / "dev").write_text("")
    with pytest.raises(NamedClusterError, match="dev: is a file, and no folder"), locked("dev"):
        pass
    assert (find("dev"), find_all()) == (None, [])


def test_a_folder_that_cannot_be_had_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")
    with pytest.raises(NamedClusterError, match=r"^/dev/null/state/kubesched/dev: Not a directory; set XDG_STATE_HOME"):
        locked("dev").__enter__()
    assert (find("dev"), find_all()) == (None, [])


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "-a", "a" * 64, "a\n", "a.b"])
def test_names_are_plain(name: str) -> None:
    with pytest.raises(NamedClusterError, match="is no name of a cluster"), locked(name):
        pass
