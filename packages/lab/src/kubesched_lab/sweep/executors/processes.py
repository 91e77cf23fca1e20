"""Runs in processes of this machine, which are handed one run after the other.

From runs to outcomes, in the order in which they end. Processes are spawned, not forked. A process that dies (killed,
out of memory) is replaced, and its run is retried; a run that kills its process three times counts as failed.
"""

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

import msgspec

from kubesched.common.garbage_collection import collect_seldom
from kubesched_lab.sweep.executors.interrupts import interrupts_blocked
from kubesched_lab.sweep.runs import RunOutcome, SweepRun, SweepSetup, Tell

# limit of retries of a run whose worker dies
MOST_RETRIES = 2
_outcomes = msgspec.msgpack.Decoder(RunOutcome)
_runs = msgspec.msgpack.Decoder(SweepRun)


def serve(connection: Connection, setup: bytes) -> None:
    """Carry out runs as a worker until the connection is closed."""
    # a worker's first import of the package is this one
    from kubesched_lab.sweep.run_carrier import RunCarrier

    collect_seldom()
    carrier = RunCarrier(msgspec.msgpack.decode(setup, type=SweepSetup))
    while True:
        try:
            run = _runs.decode(connection.recv_bytes())
            connection.send_bytes(msgspec.msgpack.encode(carrier.carry_out(run)))
        except (EOFError, OSError):
            return


class _Worker:
    """A worker process, and its current run."""

    def __init__(self, setup: bytes) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=serve, args=(theirs, setup), daemon=True)
        with interrupts_blocked():
            self.process.start()
        theirs.close()
        self.run: SweepRun | None = None

    def hand(self, run: SweepRun) -> None:
        """Send a run to the worker; a dead worker is noticed later, when the caller waits for it."""
        self.run = run
        try:
            self.connection.send_bytes(msgspec.msgpack.encode(run))
        except OSError:
            return

    def outcome(self) -> RunOutcome | None:
        """Return the outcome that the worker sent, None if it died."""
        try:
            return _outcomes.decode(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None

    def end(self) -> str:
        """End the process; return how it ended."""
        self.connection.close()
        died = self.process.exitcode
        if died is None:
            self.process.join(0.5 if self.run is None else 0)
            died = self.process.exitcode
        if died is None:
            self.process.kill()
            self.process.join()
        return _how(self.process.exitcode or 0)


class ProcessWorkers:
    """Carries out runs in a number of processes, which are reused for the runs of the next call."""

    def __init__(self, setup: SweepSetup, count: int, tell: Tell) -> None:
        self._setup = msgspec.msgpack.encode(setup)
        self._count = count
        self._tell = tell
        self._workers: list[_Worker] = []

    def outcomes(self, runs: Sequence[SweepRun]) -> Iterator[RunOutcome]:
        """Yield an outcome for each run, in the order in which they end."""
        waiting, deaths = deque(runs), Counter[str]()
        while waiting or any(worker.run for worker in self._workers):
            self._hand_out(waiting)
            ready = wait([worker.connection for worker in self._workers])
            for worker in [each for each in self._workers if each.connection in ready]:
                run, found = worker.run, worker.outcome()
                if found is None:
                    self._workers.remove(worker)
                    failed = self._died(worker, waiting, deaths)
                    if failed is not None:
                        yield failed
                elif run is not None:
                    worker.run = waiting.popleft() if waiting else None
                    if worker.run is not None:
                        worker.hand(worker.run)
                    yield found

    def _hand_out(self, waiting: deque[SweepRun]) -> None:
        """Give runs to idle workers, and to new ones."""
        for worker in self._workers:
            if waiting and worker.run is None:
                worker.hand(waiting.popleft())
        while waiting and len(self._workers) < self._count:
            worker = _Worker(self._setup)
            self._workers.append(worker)
            worker.hand(waiting.popleft())

    def _died(self, worker: _Worker, waiting: deque[SweepRun], deaths: Counter[str]) -> RunOutcome | None:
        """Schedule a retry of a dead worker's run; return a failed outcome instead if it died too often."""
        run, how = worker.run, worker.end()
        if run is None:
            return None
        deaths[run.id] += 1
        if deaths[run.id] > MOST_RETRIES:
            return RunOutcome(run.id, error=f"its worker {how}, {deaths[run.id]} times")
        self._tell(f"{run.name}: its worker {how}; the run is retried ({deaths[run.id]} of {MOST_RETRIES})")
        waiting.appendleft(run)
        return None

    def close(self) -> None:
        """End all workers at once."""
        for worker in self._workers:
            if worker.run is not None:
                worker.process.kill()
            else:
                worker.connection.close()
        for worker in self._workers:
            worker.end()
        self._workers = []


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name
    return f"was killed ({name}: out of memory?)" if name == "SIGKILL" else f"died ({name})"
