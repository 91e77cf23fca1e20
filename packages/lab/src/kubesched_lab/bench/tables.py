"""Tables of benchmarks: workloads, results, and comparisons of results.

From workloads and summaries to tables for readers.
"""

from collections.abc import Sequence

from rich.table import Table

from kubesched_lab.bench.figures import Measured, Spread
from kubesched_lab.bench.results import Summary, ratio
from kubesched_lab.simulate.traces.perf.operations import CreateNodes, CreatePods
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun


def table_of_workloads(runs: Sequence[PerfRun]) -> Table:
    """Return the table of `--list`."""
    table = Table(title="Workloads")
    for heading in ("workload", "nodes", "pods", "measured", "labels", "threshold"):
        table.add_column(heading, justify="left" if heading in ("workload", "labels") else "right", overflow="fold")
    for run in runs:
        pods = [operation for operation in run.operations if isinstance(operation, CreatePods)]
        table.add_row(
            run.name,
            str(sum(operation.count for operation in run.operations if isinstance(operation, CreateNodes))),
            str(sum(operation.count for operation in pods)),
            str(sum(operation.count for operation in pods if operation.collect_metrics) or ""),
            ", ".join(sorted(run.labels)),
            f"{run.threshold:g}" if run.threshold else "",
        )
    return table


def table_of_results(
    found: Sequence[Summary], on: str, compared: Sequence[Summary] = (), other_name: str = ""
) -> Table:
    """Return the table of results; with `compared`, with ratios for the same workloads. Empty columns are left out."""
    others = {each.key: each for each in compared}
    names = list(dict.fromkeys(each.scheduler for each in found))
    first = {each.key: each for each in found if each.scheduler == names[0]}
    rows = []
    for each in found:
        against = others.get(each.key) if compared else first.get(each.key)
        rows.append(_row(each, against if against is not each else None))
    for row in rows:
        row["scheduler"] = row["scheduler"] if len(names) > 1 else ""
    title = f"kubesched bench on {on}: SchedulingThroughput in pods/s, durations in ms"
    if any(row["ratio"] for row in rows):
        title += f"; ratios to {other_name}"
    table = Table(title=title)
    headings = [heading for heading in rows[0] if any(row[heading] for row in rows)] if rows else []
    for heading in headings:
        left = heading in ("workload", "scheduler", "attempts")
        table.add_column(heading, justify="left" if left else "right", overflow="fold", min_width=_WIDTHS.get(heading))
    for row in rows:
        table.add_row(*(row[heading] for heading in headings))
    return table


# columns that are folded first
_WIDTHS = {"workload": 30, "scheduler": 14}


def _row(summary: Summary, against: Summary | None) -> dict[str, str]:
    """Return the cells of a summary by their headings, in order."""
    measured = summary.middle
    return {
        "workload": summary.workload + (f" {measured.name}" if measured.throughput is None else ""),
        "scheduler": summary.scheduler,
        "pods": str(measured.pods),
        "average": _number(summary.throughput) + ("*" if _without_samples(measured) else ""),
        "p50 p90 p95 p99": _percentiles(measured),
        "best": _number(summary.best) if summary.runs > 1 else "",
        "ratio": _ratio(summary.throughput, against.throughput if against is not None else None),
        "attempt p50 p99": _two(measured.attempt_duration),
        "pod p50 p99": _two(measured.pod_duration),
        "attempts": ", ".join(f"{count} {result}" for result, count in sorted(measured.attempts.items())),
        "CPU/pod": _number(measured.cpu_milliseconds_a_pod),
        "CPU ratio": _ratio(
            measured.cpu_milliseconds_a_pod, against.middle.cpu_milliseconds_a_pod if against is not None else None
        ),
        "MiB": _number(measured.peak_mebibytes),
        "threshold": _threshold(measured),
    }


def footnotes(found: Sequence[Summary]) -> list[str]:
    """Return the footnotes of a table."""
    if any(_without_samples(each.middle) for each in found):
        return ["* too short for samples of a second: number of pods divided by seconds"]
    return []


def _without_samples(measured: Measured) -> bool:
    return measured.throughput is not None and not measured.throughput.samples


def _percentiles(measured: Measured) -> str:
    rates = measured.throughput
    if rates is None or not rates.samples:
        return ""
    return " ".join(_number(each) for each in (rates.perc50, rates.perc90, rates.perc95, rates.perc99))


def _two(spread: Spread | None) -> str:
    return "" if spread is None else f"{_number(spread.perc50)} {_number(spread.perc99)}"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(new: float | None, old: float | None) -> str:
    found = ratio(new, old)
    return "" if found is None else f"{found:.2f}"


def _threshold(measured: Measured) -> str:
    threshold = measured.threshold
    return "" if threshold is None else f"{threshold.bound:g} {'met' if threshold.met else 'not met'}"
