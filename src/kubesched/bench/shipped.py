"""Which workloads are meant: files, names in files, and names of the workloads that come with the package.

From the words of a command line to workloads ready to be run.
"""

from collections.abc import Sequence
from pathlib import Path

from kubesched.bench.errors import BenchError
from kubesched.simulate.errors import TraceError
from kubesched.simulate.traces.perf.perf_cases import PerfRun, labelled, picked, read_runs
from kubesched.simulate.traces.reading import without_workload, workload_in

FOLDER = Path(__file__).parent / "workloads"
DEFAULT = "SchedulingBasic/500Nodes"


def shipped_runs() -> list[PerfRun]:
    """Return the workloads that come with the package."""
    return [run for file in sorted(FOLDER.glob("*.yaml")) for run in read_runs(file)]


def runs_named(words: Sequence[str], label: str) -> list[PerfRun]:
    """Return the workloads of words: FILE, FILE#NAME or NAME, with a label; raises BenchError, TraceError.

    Without words: all that have the label or, without one, the default.
    """
    if not words:
        words = [run.name for run in shipped_runs()] if label else [DEFAULT]
    found = {(run.file, run.name): run for word in words for run in _named(word)}
    runs = labelled(list(found.values()), label)
    if not runs:
        raise BenchError(f"--label {label}: none of the workloads has it; `kubesched bench --list` shows labels")
    return runs


def _named(word: str) -> list[PerfRun]:
    file = Path(without_workload(word))
    if file.is_file():
        name = workload_in(word)
        runs = read_runs(file)
        return picked(runs, name, str(file)) if name else runs
    if file.suffix in (".yaml", ".yml") or "#" in word:
        raise BenchError(f"{file}: there is no such file")
    try:
        return picked(shipped_runs(), word, "workloads of this package")
    except TraceError:
        raise BenchError(
            f"there is no workload and no file {word!r}; `kubesched bench --list` shows the workloads"
        ) from None
