"""What Linux alone has is used only where it is there: commands run without it, as on macOS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# real processes, for seconds each
pytestmark = pytest.mark.slow

# each process imports it at its start; macOS has none of these names, and no /proc
CUSTOMIZED = """
import os, select, signal, socket, sys, time

for module, names in {
    os: "copy_file_range eventfd fdatasync getrandom getresuid getxattr memfd_create pidfd_open pipe2 posix_fadvise "
    "posix_fallocate sched_getaffinity sched_setaffinity splice O_DIRECT O_NOATIME O_PATH O_TMPFILE",
    select: "epoll",
    signal: "SIGRTMAX SIGRTMIN pidfd_send_signal sigtimedwait sigwaitinfo",
    socket: "AF_NETLINK SOCK_CLOEXEC SOCK_NONBLOCK SO_BINDTODEVICE SO_PEERCRED TCP_CORK TCP_DEFER_ACCEPT TCP_KEEPIDLE "
    "TCP_QUICKACK TCP_USER_TIMEOUT",
    time: "CLOCK_BOOTTIME pthread_getcpuclockid",
}.items():
    for name in names.split():
        vars(module).pop(name, None)


def no_proc(event, arguments):
    if event == "open" and str(arguments[0]).startswith("/proc/"):
        raise FileNotFoundError(2, "No such file or directory", arguments[0])


sys.addaudithook(no_proc)
"""

OPENING = """
try:
    open("/proc/self/stat")
except OSError as error:
    print(error.strerror)
"""

OBJECTS = """
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: pod-a}
spec: {containers: [{name: c, image: i}]}
"""

SWEEP = """
apiVersion: simulate.kubesched.io/v1alpha1
kind: Sweep
traces: {all: objects.yaml}
seeds: 1-2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a cluster, and what takes Linux away from Python."""
    (tmp_path / "sitecustomize.py").write_text(CUSTOMIZED)
    (tmp_path / "objects.yaml").write_text(OBJECTS)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def python(folder: Path, *words: str) -> str:
    """Return what a Python without Linux prints; its exit code is 0."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def kubesched(folder: Path, *words: str) -> str:
    """Return what a command prints."""
    return python(folder, "-m", "kubesched", *words)


def test_linux_is_taken_away(folder: Path) -> None:
    assert python(folder, "-c", "import os; print(hasattr(os, 'memfd_create'))") == "False\n"
    assert python(folder, "-c", OPENING) == "No such file or directory\n"


def test_a_cluster_runs_in_the_foreground_and_in_the_background(folder: Path) -> None:
    assert "1 node, 1 pod: 1 bound" in kubesched(folder, "try", "objects.yaml")
    kubesched(folder, "up", "--detach", "objects.yaml")
    try:
        assert "Up" in kubesched(folder, "up", "status")
    finally:
        ended = kubesched(folder, "up", "down")
    assert "has ended" in ended


def test_a_sweep_runs_in_several_processes(folder: Path) -> None:
    assert "default" in kubesched(folder, "sweep", "sweep.yaml", "--workers", "2", "--results", "results")
