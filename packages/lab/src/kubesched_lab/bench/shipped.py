"""The workloads of a command line: files, names in files, and names of the bundled workloads.

From arguments of a command line to workloads that are ready to run.
"""

from collections.abc import Sequence
from pathlib import Path

from kubesched_lab.bench.errors import BenchError
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun, labelled, picked, read_runs
from kubesched_lab.simulate.traces.reading import without_workload, workload_in

FOLDER = Path(__file__).parent / "workloads"
DEFAULT = "SchedulingBasic/500Nodes"


def shipped_runs() -> list[PerfRun]:
    """Return the bundled workloads."""
    return [run for file in sorted(FOLDER.glob("*.yaml")) for run in read_runs(file)]


def runs_named(words: Sequence[str], label: str) -> list[PerfRun]:
    """Return the workloads of arguments FILE, FILE#NAME or NAME, with a label; raises BenchError, TraceError.

    Without arguments: all with the label or, without a label, the default.
    """
    if not words:
        words = [run.name for run in shipped_runs()] if label else [DEFAULT]
    found = {(run.file, run.name): run for word in words for run in _runs_of_argument(word)}
    runs = labelled(list(found.values()), label)
    if not runs:
        raise BenchError(f"--label {label}: no workload has this label; `kubesched bench --list` shows the labels")
    return runs


def _runs_of_argument(word: str) -> list[PerfRun]:
    file = Path(without_workload(word))
    if file.is_file():
        name = workload_in(word)
        runs = read_runs(file)
        return picked(runs, name, str(file)) if name else runs
    if file.suffix in (".yaml", ".yml") or "#" in word:
        raise BenchError(f"{file}: no such file")
    try:
        return picked(shipped_runs(), word, "workloads of this package")
    except TraceError:
        raise BenchError(
            f"no workload or file is named {word!r}; `kubesched bench --list` shows the workloads"
        ) from None
