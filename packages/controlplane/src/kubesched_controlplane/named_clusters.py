"""The running clusters on this machine by name: their processes, URLs and kubeconfigs.

    locked ──▶ starting ──it serves──▶ up ──▶ released
                    └──────── the process dies ────┴──▶ left over, cleared by the next command

Each has a folder in the user's state folder: `lock`, locked while its process lives, `cluster.json` and, unless it is
written elsewhere, `kubeconfig`. The lock decides: the kernel releases it however a process ends, so files beside a free
lock are left over. Only the owner may read them.
"""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kubesched.errors import KubeschedError
from kubesched_controlplane.kinds.checks import dns_label_problems
from kubesched_controlplane.transport.private_files import folder_problem, make_privately, state_folder, write_privately

DEFAULT = "default"
LOCK, RECORD, KUBECONFIG = "lock", "cluster.json", "kubeconfig"
# seconds to retry for the lock, which `find` holds for a moment
PATIENCE_SECONDS = 0.5
POLL_SECONDS = 0.02
# Linux has it
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
PS_SECONDS = 10.0


class NamedClusterError(KubeschedError):
    """A named cluster that cannot be started, found or ended; the message has its name and a remedy."""


class NamedCluster(msgspec.Struct, frozen=True, rename="camel"):
    """A cluster that is up or starting; while it is starting its URL is empty."""

    name: str
    pid: int
    # the identity of its process, which differs from that of a later process with the same PID
    process: str
    started_at: datetime
    url: str = ""
    kubeconfig: str = ""
    # nodes are ready and pods are scheduled
    ready: bool = False


class NameLock:
    """The lock on a name that this process holds."""

    def __init__(self, folder: Path, cluster: NamedCluster) -> None:
        self._folder = folder
        self.cluster = cluster
        self._write()

    @property
    def kubeconfig(self) -> Path:
        """Return the default path of the kubeconfig, which is removed together with the lock."""
        return self._folder / KUBECONFIG

    def serves(self, url: str, kubeconfig: Path) -> None:
        """Publish the URL and the kubeconfig."""
        self.cluster = replace(self.cluster, url=url, kubeconfig=str(kubeconfig))
        self._write()

    def is_ready(self) -> None:
        """Publish that the cluster is ready."""
        self.cluster = replace(self.cluster, ready=True)
        self._write()

    def clear(self) -> None:
        """Remove the cluster's files at once, before the process is killed."""
        _clear(self._folder)

    def _write(self) -> None:
        write_privately(self._folder / RECORD, msgspec.json.encode(self.cluster))


def check_name(name: str) -> str:
    """Return a valid name; raises NamedClusterError for an invalid one."""
    if dns_label_problems(name):
        raise NamedClusterError(f"{name!r} is no name of a cluster: expected lower-case letters, digits and '-'")
    return name


# -- locking a name


@contextmanager
def locked(name: str) -> Iterator[NameLock]:
    """Lock a name until the block ends; raises NamedClusterError if another process holds it."""
    folder = state_folder() / check_name(name)
    lock, pid = _lock_file(folder), os.getpid()
    try:
        yield NameLock(folder, NamedCluster(name, pid, process_identity(pid), datetime.now(UTC)))
    finally:
        _clear(folder)
        os.close(lock)


def _lock_file(folder: Path) -> int:
    """Lock the file of a folder; return its descriptor. Raises NamedClusterError."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            make_privately(folder)
            problem = folder_problem(folder)
            if problem:
                raise NamedClusterError(f"{folder}: {problem}")
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            # the former owner may have removed the folder in between
            if not isinstance(error, FileNotFoundError) or time.monotonic() >= deadline:
                reason = "is a file, and no folder" if isinstance(error, FileExistsError) else error.strerror
                raise NamedClusterError(f"{folder}: {reason}; set XDG_STATE_HOME to use another folder") from None
        else:
            if _is_ours(lock):
                return lock
            os.close(lock)
            if time.monotonic() >= deadline:
                raise NamedClusterError(_taken(folder.name, _read(folder)))
        time.sleep(POLL_SECONDS)


def _is_ours(lock: int) -> bool:
    """Try to lock a file exclusively; return whether this process holds the lock and the file still exists."""
    return _got(lock, fcntl.LOCK_EX) and os.fstat(lock).st_nlink > 0


def _got(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _taken(name: str, holder: NamedCluster | None) -> str:
    pid = f", in process {holder.pid}" if holder is not None else ""
    return (
        f"a cluster {name!r} is up already{pid}: `kubesched up status` shows it, `kubesched up down {name}` ends it, "
        "--name starts another beside it"
    )


def _clear(folder: Path) -> None:
    """Remove the cluster's files from a folder that this process has locked, and the folder if it is empty."""
    with suppress(OSError):
        for name in (RECORD, KUBECONFIG, LOCK):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def _read(folder: Path) -> NamedCluster | None:
    try:
        return msgspec.json.decode((folder / RECORD).read_bytes(), type=NamedCluster)
    except (OSError, msgspec.MsgspecError):
        return None


# -- finding clusters


def find(name: str) -> NamedCluster | None:
    """Return the cluster of a name if its process lives; remove the files of a dead one."""
    folder = state_folder() / check_name(name)
    try:
        lock = os.open(folder / LOCK, os.O_RDWR)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        # a shared lock, so that concurrent calls do not take each other for the owner
        if not _got(lock, fcntl.LOCK_SH):
            return _read(folder)
        if _is_ours(lock):
            _clear(folder)
        return None
    finally:
        os.close(lock)


def find_all() -> list[NamedCluster]:
    """Return all clusters whose processes live, by name."""
    try:
        folders = sorted(each.name for each in state_folder().iterdir() if (each / LOCK).exists())
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = (find(name) for name in folders if not dns_label_problems(name))
    return [cluster for cluster in found if cluster is not None]


# -- ending one


def end(cluster: NamedCluster, seconds: float) -> bool:
    """Send SIGTERM to a cluster's process; return whether it ends within some seconds. Raises NamedClusterError."""
    deadline = time.monotonic() + seconds
    if cluster.process == process_identity(cluster.pid):
        with suppress(ProcessLookupError):
            os.kill(cluster.pid, signal.SIGTERM)
    elif _lives(cluster):
        # the folder is shared with another machine or container, whose processes cannot be signalled
        raise NamedClusterError(f"cluster {cluster.name!r} is up, but process {cluster.pid} here is not its own")
    while _lives(cluster):
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _lives(cluster: NamedCluster) -> bool:
    """Return whether the process of a cluster lives; a new cluster of the same name does not count."""
    there = find(cluster.name)
    return there is not None and (there.pid, there.process) == (cluster.pid, cluster.process)


def process_identity(pid: int) -> str:
    """Return a text that differs for each process with the same PID (its start time); empty if unknown."""
    try:
        boot = BOOT_ID.read_text("ascii").strip()
    except (OSError, ValueError):
        return _start_by_ps(pid)
    try:
        start = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, LookupError):
        return ""
    return f"{boot} {start}"


def _start_by_ps(pid: int) -> str:
    """Return when a process was started, on a system without /proc (macOS); empty if there is no such process."""
    try:
        asked = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
            timeout=PS_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        # then only the lock tells whether the process lives
        return ""
    return asked.stdout.decode("ascii", "replace").strip()
