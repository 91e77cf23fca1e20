"""The results of benchmarks as a document, and comparisons between two.

From results to JSON, with the machine, the command and the versions; from such a file to results; and from two sets of
results to ratios.
"""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import msgspec

from kubesched import __version__
from kubesched.common.files import UnusableFileError, read_at_most
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.figures import Measured, RunResult

API_VERSION, KIND = "bench.kubesched.io/v1alpha1", "BenchmarkResults"
LARGEST_FILE = 1 << 26


class Machine(msgspec.Struct, frozen=True):
    """The machine of a benchmark."""

    cpus: int
    architecture: str
    system: str
    python: str


class BenchmarkResults(msgspec.Struct, frozen=True, rename="camel"):
    """The document that `-o json` writes."""

    api_version: str
    kind: str
    version: str
    date: str
    command: list[str]
    machine: Machine
    on: str
    results: list[RunResult]


class Summary(msgspec.Struct, frozen=True):
    """The runs of one measurement: the median run, and the best throughput."""

    workload: str
    scheduler: str
    middle: Measured
    best: float | None
    runs: int

    @property
    def key(self) -> tuple[str, str]:
        """Return the key for comparisons: the workload and the name of its measurement."""
        return self.workload, self.middle.name

    @property
    def throughput(self) -> float | None:
        """Return the average throughput of the median run."""
        return self.middle.throughput.average if self.middle.throughput is not None else None


def document_of(results: Sequence[RunResult], on: str, command: Sequence[str]) -> BenchmarkResults:
    """Return results with the machine, the versions and the command."""
    machine = Machine(
        os.cpu_count() or 1, platform.machine(), f"{platform.system()} {platform.release()}", platform.python_version()
    )
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return BenchmarkResults(API_VERSION, KIND, __version__, date, list(command), machine, on, list(results))


def as_json(document: BenchmarkResults) -> str:
    """Return a document as text."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def read_results(file: Path) -> BenchmarkResults:
    """Return the results in a file; raises BenchError."""
    try:
        document = msgspec.json.decode(read_at_most(file, LARGEST_FILE), type=BenchmarkResults)
    except UnusableFileError as error:
        raise BenchError(f"{file}: {error}") from None
    except msgspec.DecodeError as error:
        raise BenchError(f"{file}: not results of `kubesched bench -o json`: {error}") from None
    if (document.api_version, document.kind) != (API_VERSION, KIND):
        raise BenchError(f"{file}: expected kind {KIND} of {API_VERSION}")
    return document


def summaries(results: Sequence[RunResult]) -> list[Summary]:
    """Return one summary for each workload, scheduler and measurement, in order."""
    grouped: dict[tuple[str, str, str], list[Measured]] = {}
    for result in results:
        for measured in result.measured:
            grouped.setdefault((result.workload, result.scheduler, measured.name), []).append(measured)
    return [_summary(workload, scheduler, each) for (workload, scheduler, _), each in grouped.items()]


def _summary(workload: str, scheduler: str, runs: Sequence[Measured]) -> Summary:
    rates = [run.throughput.average for run in runs if run.throughput is not None]
    middle = runs[0]
    if rates:
        wanted = median(rates)
        middle = min(
            runs, key=lambda run: abs(run.throughput.average - wanted) if run.throughput is not None else float("inf")
        )
    return Summary(workload, scheduler, middle, max(rates, default=None), len(runs))


def ratio(new: float | None, old: float | None) -> float | None:
    """Return a ratio, None if one of the two is unknown."""
    return None if new is None or not old else new / old


def lowest_ratio(new: Sequence[Summary], old: Sequence[Summary]) -> tuple[float, str] | None:
    """Return the lowest ratio of throughputs, and the workload; None if the results have nothing in common."""
    before = {each.key: each for each in old}
    found = [
        (rate, each.workload)
        for each in new
        if each.key in before and (rate := ratio(each.throughput, before[each.key].throughput)) is not None
    ]
    return min(found, default=None)
