"""Runs on the workers of a Dask cluster: on many machines, or in processes of this one.

From runs to outcomes, in the order in which they end. Each worker gets the files once, at the start or when it joins.
If a worker dies, other workers do its runs. Workers must have the same version of kubesched.

Interrupts are delayed while the library works, but not while it waits for workers. Warnings about its unfinished tasks
are suppressed.
"""

import logging
import queue
import re
import shutil
import tempfile
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from kubesched import __version__
from kubesched.common.extras import extra_module
from kubesched.common.garbage_collection import collect_seldom
from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.executors.interrupts import Interrupts, interrupts_blocked
from kubesched_lab.sweep.executors.shipping import Parcel, packed, unpacked
from kubesched_lab.sweep.run_carrier import RunCarrier
from kubesched_lab.sweep.runs import RunOutcome, SweepRun, SweepSetup, Tell

LOCAL = "local:"
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://\S+:\d+")
CONNECTING_SECONDS = 10
WORKERS_SECONDS = 30
# local processes start eventually, however busy the machine is
LOCAL_SECONDS = 120
CLOSING_SECONDS = 5
# higher than every level that the library logs
SILENT = logging.CRITICAL + 1
_LOGGERS = (
    "distributed",
    "distributed.client",
    "distributed.comm",
    "distributed.core",
    "tornado",
    "tornado.application",
)
# states of futures whose results are missing
_NOT_YET = ("pending", "lost")
# interval of the check for lost workers
LOOK_SECONDS = 1.0


class DaskWorkers:
    """Carries out runs on a Dask cluster: `tcp://HOST:PORT`, or `local:N` for N processes of this machine."""

    _cluster: Any = None
    _client: Any = None

    def __init__(self, setup: SweepSetup, address: str, tell: Tell, interrupts: Interrupts) -> None:
        self._distributed = extra_module("distributed", "dask", "--dask")
        self._tell = tell
        self._interrupts = interrupts
        self._name = f"kubesched-{uuid.uuid4()}"
        self._version = setup.version
        self._registered = False
        try:
            self._connect(address)
            parcel = msgspec.msgpack.encode(packed(setup))
            with interrupts.held():
                self._check_versions(self._version)
                self._client.register_plugin(_plugin(self._distributed, self._name, parcel), self._name)
                self._registered = True
                self._known = set(self._client.nthreads())
        except BaseException:
            self.close()
            raise

    def outcomes(self, runs: Sequence[SweepRun]) -> Iterator[RunOutcome]:
        """Yield an outcome for each run, in the order in which they end."""
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        under_way = {}
        for run in runs:
            with self._interrupts.held():
                future = self._client.submit(
                    _carried_out, self._name, self._version, msgspec.msgpack.encode(run), pure=False
                )
                under_way[future.key] = run
                future.add_done_callback(ended.put)
        while under_way:
            try:
                future = ended.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                self._report_lost_workers()
                self._interrupts.raise_if_came()
                continue
            # read once: it changes while workers join and leave
            status = future.status
            if status in _NOT_YET:
                # its result was on a worker that died before the transfer: another worker repeats it
                future.add_done_callback(ended.put)
                continue
            with self._interrupts.held():
                outcome = self._outcome(under_way.pop(future.key), future, status)
            yield outcome

    def _outcome(self, run: SweepRun, future: Any, status: str) -> RunOutcome:
        if status == "finished":
            return msgspec.msgpack.decode(future.result(), type=RunOutcome)
        if status != "error":
            raise SweepError("the Dask scheduler has stopped; finished runs are kept: continue with --resume")
        error = future.exception()
        if isinstance(error, self._distributed.KilledWorker):
            return RunOutcome(run.id, error="all Dask workers that tried it died, one after the other")
        return RunOutcome(
            run.id, error=str(error) if isinstance(error, SweepError) else f"{type(error).__name__}: {error}"
        )

    def _report_lost_workers(self) -> None:
        """Report workers that were lost."""
        try:
            there = set(self._client.nthreads())
        except (OSError, RuntimeError, TimeoutError):
            raise SweepError("the Dask scheduler has stopped; finished runs are kept: continue with --resume") from None
        for address in sorted(self._known - there):
            others = "other workers do its runs" if there else "its runs wait for new workers"
            self._tell(f"Dask worker {address} was lost; {others}")
        self._known = there

    def _connect(self, address: str) -> None:
        # the library logs the problems that we report in a sentence
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(SILENT)
        connecting, workers = CONNECTING_SECONDS, WORKERS_SECONDS
        if address.startswith(LOCAL):
            connecting = workers = LOCAL_SECONDS
            with self._interrupts.held():
                self._cluster = self._local(address)
                _be_quiet(self._cluster)
            address = self._cluster.scheduler_address
        elif not _ADDRESS.fullmatch(address):
            raise SweepError(f"--dask {address}: expected the address of a scheduler, tcp://HOST:PORT, or local:2")
        try:
            security = self._cluster.security if self._cluster is not None else None
            self._client = _client(self._distributed, address, connecting, security)
        except (OSError, ValueError, TimeoutError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SweepError(
                f"--dask {address}: no Dask scheduler answers ({why}); give tcp://HOST:PORT, or local:2"
            ) from None
        _be_quiet(self._client)
        try:
            self._client.wait_for_workers(1, timeout=workers)
        except TimeoutError:
            raise SweepError(f"--dask {address}: the scheduler has no workers; start some with dask worker") from None

    def _local(self, address: str) -> Any:
        count = address.removeprefix(LOCAL)
        if not count.isdecimal() or not 1 <= int(count) <= 1024:
            raise SweepError(f"--dask {address}: expected a number of processes such as local:2")
        with interrupts_blocked():
            return self._distributed.LocalCluster(
                n_workers=int(count),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                # a client that connects can run code: other users of this machine must not
                protocol="tls://",
                security=self._distributed.Security.temporary(),
                dashboard_address=None,
                worker_dashboard_address=None,
                # without an address it listens on port 8787, and two sweeps at once warn about it
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                memory_limit=0,
                silence_logs=SILENT,
            )

    def _check_versions(self, ours: str) -> None:
        # a lambda is sent as it is: workers may have no kubesched
        found = self._client.run(_version_there())
        for worker, version in sorted(found.items()):
            if version != ours:
                has = f"has kubesched {version}" if version else "has no kubesched"
                raise SweepError(f"Dask worker {worker} {has}, and this is {ours}: install kubesched=={ours} there")

    def close(self) -> None:
        """Leave the Dask cluster as it was; stop it if this process started it."""
        with self._interrupts.held():
            self._leave()

    def _leave(self) -> None:
        if self._client is not None:
            # a stopped scheduler needs no disconnect
            with suppress(OSError):
                if self._registered and self._cluster is None and self._client.status == "running":
                    self._client.unregister_worker_plugin(self._name)
            with suppress(OSError):
                self._client.close(timeout=CLOSING_SECONDS)
        if self._cluster is not None:
            # a restarting worker delays it; it ends with this process
            with suppress(OSError):
                self._cluster.close(timeout=CLOSING_SECONDS)


def _client(distributed: Any, address: str, seconds: int, security: Any = None) -> Any:
    """Return a connected client, which its owner closes; a client that was interrupted before is abandoned."""

    class ClosedClient(distributed.Client):  # type: ignore[misc]
        def __del__(self) -> None:
            """Do not wait for a scheduler that does not answer."""

    return ClosedClient(address, timeout=seconds, set_as_default=False, security=security)


def _be_quiet(of: Any) -> None:
    """Suppress warnings of the library's event loop about abandoned tasks."""
    of.loop.asyncio_loop.set_exception_handler(lambda loop, context: None)


def _version_there() -> Any:
    """Return a function that returns the version of kubesched on the worker that calls it, None without kubesched."""

    def version() -> str | None:
        from importlib import import_module

        try:
            found: str = import_module("kubesched").__version__
        except ImportError:
            return None
        return found

    return version


# -- on the worker

_carriers: dict[str, RunCarrier] = {}
_folders: dict[str, Path] = {}
# a worker with several threads does one run at a time: its threads would share one core
_one_at_a_time = threading.Lock()


def _plugin(distributed: Any, sweep: str, parcel: bytes) -> Any:
    """Return a Dask plugin that unpacks the files on each worker, and deletes them at the end."""

    class SweepFiles(distributed.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            begin(sweep, parcel, worker.local_directory)

        def teardown(self, worker: Any) -> None:
            end(sweep)

    return SweepFiles()


def begin(name: str, parcel: bytes, within: str) -> None:
    """Prepare a worker for the runs of a sweep; Dask deletes the folder of its files with the worker."""
    collect_seldom()
    folder = Path(tempfile.mkdtemp(prefix="kubesched-sweep-", dir=within))
    _folders[name] = folder
    _carriers[name] = RunCarrier(unpacked(msgspec.msgpack.decode(parcel, type=Parcel), folder))


def end(name: str) -> None:
    """Delete the files of a sweep."""
    _carriers.pop(name, None)
    folder = _folders.pop(name, None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _carried_out(name: str, version: str, run: bytes) -> bytes:
    # the version of workers that joined later was not checked before
    if version != __version__:
        raise SweepError(f"a Dask worker has kubesched {__version__}, and this is {version}")
    with _one_at_a_time:
        return msgspec.msgpack.encode(_carriers[name].carry_out(msgspec.msgpack.decode(run, type=SweepRun)))
