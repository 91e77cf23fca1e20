"""Workers of a Dask cluster: the same report, also if one of them is killed half way."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import msgspec
import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched_lab.sweep.executors.dask_workers import DaskWorkers
from kubesched_lab.sweep.executors.interrupts import Interrupts
from kubesched_lab.sweep.runs import RunLabel, RunOutcome, SweepRun

SWEEP = [sys.executable, "-m", "kubesched", "sweep", "sweep.yaml", "-o", "json"]


def sweep(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SWEEP, *words], capture_output=True, text=True, timeout=500, check=False)


def workers_below(pid: int) -> list[int]:
    """Return the workers that a process, or one of its threads, started."""
    found = []
    children = [
        each for task in Path(f"/proc/{pid}/task").iterdir() for each in (task / "children").read_text().split()
    ]
    for child in map(int, children):
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            found.append(child)
        found += workers_below(child)
    return found


def listening(pids: Sequence[int]) -> list[str]:
    """Return the local addresses, in hexadecimal, at which processes listen."""
    sockets = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link))
            if found:
                sockets.add(found[1])
    lines = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return [words[1].partition(":")[0] for words in lines if words[3] == "0A" and words[9] in sockets]


class LosingFuture:
    """A future whose result is lost once, with the worker that had it, and is there again afterwards."""

    key = "run"

    def __init__(self, result: bytes) -> None:
        self._result = result
        self._statuses = ["lost", "pending", "finished"]

    @property
    def status(self) -> str:
        return self._statuses[0] if len(self._statuses) == 1 else self._statuses.pop(0)

    def result(self) -> bytes:
        return self._result

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        call(self)


def test_a_result_that_is_lost_with_its_worker_is_waited_for_again() -> None:
    future = LosingFuture(msgspec.msgpack.encode(RunOutcome("a", {"figure": 1})))
    workers = DaskWorkers.__new__(DaskWorkers)
    workers._name, workers._version, workers._interrupts = "sweep", "1", Interrupts()
    workers._client = SimpleNamespace(submit=lambda *args, **options: future)
    run = SweepRun(RunLabel("a", "a", "trace", "default", "1", 0))
    assert [outcome.row for outcome in workers.outcomes([run])] == [{"figure": 1}]


@pytest.mark.slow
def test_a_dask_worker_that_is_killed_half_way_makes_no_difference(write_sweep: Any) -> None:
    write_sweep(seeds="1-60", nodes=[1, 2], until="30s")
    plain = sweep("--workers", "1", "--results", "plain")
    command = [*SWEEP, "--dask", "local:2", "--results", "dask"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        parts = Path("dask/runs")
        while not list(parts.glob("part-*")):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        workers = workers_below(process.pid)
        assert len(workers) == 2
        assert set(listening([process.pid, *workers])) == {"0100007F"}
        os.kill(workers[0], signal.SIGKILL)
        out, told = process.communicate(timeout=500)
    assert process.returncode == 0, told
    assert "Traceback" not in told
    assert out == plain.stdout
    assert Path("dask/runs.parquet").read_bytes() == Path("plain/runs.parquet").read_bytes()


STRANGER = """
import os, sys, dask, distributed
dask.config.set({"distributed.comm.timeouts.connect": "2s"})
for address in (sys.argv[1], sys.argv[1].replace("tls:", "tcp:")):
    for security in (None, distributed.Security.temporary()):
        try:
            distributed.Client(address, timeout=3, security=security).run(lambda: 1)
        except Exception:
            continue
        print("runs code at", address, flush=True)
# without the ends of clients that never connected
os._exit(0)
"""


@pytest.mark.slow
def test_nobody_else_on_the_machine_can_have_a_local_cluster_run_code() -> None:
    workers = DaskWorkers.__new__(DaskWorkers)
    workers._distributed, workers._interrupts = distributed, Interrupts()
    with workers._local("local:1") as cluster:
        addresses = [cluster.scheduler_address, *cluster.scheduler.workers]
        assert len(addresses) == 2
        assert [each[:16] for each in addresses] == ["tls://127.0.0.1:"] * 2
        for address in addresses:
            stranger = subprocess.run(
                [sys.executable, "-c", STRANGER, address], capture_output=True, text=True, check=False
            )
            assert stranger.stdout == "", stranger.stdout
        with distributed.Client(cluster, set_as_default=False) as own:
            assert list(own.run(int).values()) == [0]


@pytest.mark.slow
def test_ctrl_c_ends_a_local_cluster_and_results_are_kept(write_sweep: Any) -> None:
    write_sweep(seeds="1-2000")
    command = [*SWEEP, "--dask", "local:2", "--results", "dask"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, process_group=0) as process:
        while not list(Path("dask/runs").glob("part-*")):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        workers = workers_below(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    assert process.returncode in (1, 130)
    assert "Traceback" not in told
    assert "interrupted: finished runs are in dask; continue with --resume" in told
    assert list(Path("dask/runs").glob("part-*"))
    for worker in workers:
        state = Path(f"/proc/{worker}/stat")
        assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.fixture
def busy_port() -> Iterator[None]:
    """Occupy the default port of Dask's HTTP server, as a second sweep does."""
    with socket.socket() as occupied:
        # another test may occupy it as well
        with suppress(OSError):
            occupied.bind(("127.0.0.1", 8787))
            occupied.listen()
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("busy_port")
@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM])
def test_while_a_local_cluster_is_made_ready_an_interrupt_prints_no_traceback(
    write_sweep: Any, interrupt: signal.Signals
) -> None:
    write_sweep(seeds="1-2000")
    # at the call of the library that asks the workers for their version
    program = f"""if True:
        import os, signal, distributed.client
        asked = distributed.client.Client._run
        async def interrupted(*args, **options):
            os.kill(os.getpid(), {int(interrupt)})
            return await asked(*args, **options)
        distributed.client.Client._run = interrupted
        from kubesched.console import kubesched
        kubesched()
    """
    command = [sys.executable, "-c", program, *SWEEP[3:], "--dask", "local:2", "--results", "dask"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert ran.returncode in (1, 130)
    assert ran.stderr.splitlines() == [
        "0 of 2000 runs done",
        "interrupted: finished runs are in dask; continue with --resume",
        "",
        "Aborted!",
    ]


@contextmanager
def dask(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]], stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_a_cluster_elsewhere_gets_the_files(write_sweep: Any, tmp_path: Path) -> None:
    path = write_sweep(seeds="1-4")
    plain = sweep("--workers", "1", "--results", "plain")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    scheduler = ["dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with dask(*scheduler, "--scheduler-file", str(elsewhere / "file.json")):
        while not (elsewhere / "file.json").exists():
            time.sleep(0.05)
        address = re.search(r"tcp://127\.0\.0\.1:\d+", (elsewhere / "file.json").read_text())
        assert address
        worker = ["dask_worker", address[0], "--nthreads", "2", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"]
        with dask(*worker, "--local-directory", str(elsewhere)):
            ran = sweep("--dask", address[0], "--results", "dask")
            assert ran.returncode == 0, ran.stderr
            assert ran.stdout == plain.stdout
            # another version is told in a sentence
            other = (
                "import kubesched as k; k.__version__ = '0.0.1'; from kubesched.console import kubesched; kubesched()"
            )
            told = subprocess.run(
                [sys.executable, "-c", other, "sweep", path, "--dask", address[0], "--results", "other"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert told.returncode == 1
            assert re.fullmatch(
                r"Dask worker tcp://\S+ has kubesched \S+, and this is 0\.0\.1: install kubesched==0\.0\.1 there\n",
                told.stderr,
            )


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("local:none", "--dask local:none: expected a number of processes such as local:2"),
        ("local:0", "--dask local:0: expected a number of processes such as local:2"),
        ("somewhere", "--dask somewhere: expected the address of a scheduler, tcp://HOST:PORT, or local:2"),
    ],
)
def test_a_wrong_address_is_told(write_sweep: Any, address: str, why: str) -> None:
    pytest.importorskip("distributed")
    ran = CliRunner().invoke(main, ["sweep", write_sweep(), "--dask", address], catch_exceptions=False)
    assert (ran.exit_code, ran.stderr) == (1, f"{why}\n")
    assert not Path("sweep-results").exists()


def test_dask_that_is_not_installed_is_named(write_sweep: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    ran = CliRunner().invoke(main, ["sweep", write_sweep(), "--dask", "local:2"], catch_exceptions=False)
    assert (ran.exit_code, ran.stderr) == (1, "--dask needs pip install 'kubesched[dask]'\n")


@pytest.mark.slow
def test_ctrl_c_while_a_scheduler_does_not_answer_is_one_line(write_sweep: Any) -> None:
    write_sweep()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        command = [*SWEEP, "--dask", f"tcp://127.0.0.1:{silent.getsockname()[1]}", "--results", "dask"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, process_group=0) as process:
            silent.settimeout(60)
            with silent.accept()[0]:
                os.killpg(process.pid, signal.SIGINT)
                told = process.communicate(timeout=60)[1]
    assert process.returncode in (1, 130)
    assert "interrupted: finished runs are in dask; continue with --resume" in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_told(write_sweep: Any) -> None:
    write_sweep()
    ran = sweep("--dask", "tcp://127.0.0.1:1")
    assert ran.returncode == 1
    assert ran.stderr.startswith("--dask tcp://127.0.0.1:1: no Dask scheduler answers")
    assert len(ran.stderr.splitlines()) == 1
