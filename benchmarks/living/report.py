"""How figures are printed: a line for each subject and rate, then the ratios of the first subject to the last."""

from collections.abc import Iterator, Sequence

from benchmarks.living.figures import Row, Spread

WIDTH = 28
MISSING = "-"
_NO_SPREAD = Spread(0.0, 0.0, 0.0, 0.0)
# the columns with their widths; latencies are in milliseconds
COLUMNS = (
    ("pods/s", 7),
    ("created", 8),
    ("bound", 8),
    ("CPU ms/pod", 11),
    ("CPU %", 7),
    ("events/s", 9),
    ("CPU us/event", 13),
    ("p50", 8),
    ("p99", 8),
    ("p99.9", 8),
    ("max", 8),
    ("seen p50", 9),
    ("seen p99", 9),
    ("MiB", 7),
    ("end", 7),
    ("peak", 7),
    ("written", 8),
    ("load %", 7),
    ("machine %", 10),
)


def header() -> str:
    """Return the names of the columns."""
    return f"{'subject':{WIDTH}}" + "".join(f"{name:>{width}}" for name, width in COLUMNS)


def line(row: Row) -> str:
    """Return the figures of a row."""
    texts = [
        f"{row.rate:g}",
        str(row.created),
        str(row.bound),
        _text(row.cpu_ms_a_pod, 2),
        f"{100 * row.cpu_share:.1f}",
        f"{row.events_read / row.seconds:.0f}",
        _text(row.cpu_us_an_event, 0),
        *_latencies(row.from_creation),
        *_latencies(row.from_watch)[:2],
        *(f"{each:.0f}" for each in (row.memory_begin_mib, row.memory_end_mib, row.memory_peak_mib)),
        str(row.events_written),
        f"{100 * row.own_cpu_seconds / row.seconds:.0f}",
        MISSING if row.machine_cpu_seconds is None else f"{100 * row.machine_cpu_seconds / row.seconds:.0f}",
    ]
    return f"{row.subject[:WIDTH]:{WIDTH}}" + "".join(
        f"{text:>{width}}" for text, (_, width) in zip(texts, COLUMNS, strict=True)
    )


def notes(row: Row) -> Iterator[str]:
    """Yield lines that follow the figures of a row."""
    if row.memory_growth is not None:
        yield f"  memory: {row.memory_growth:+.1f} % from the first quarter to the last"
    if row.engine is not None:
        counts, pods = row.engine, max(1, row.engine.bound)
        reports = max(1, counts.status_reports)
        yield (
            f"  counted over {counts.bound} bound pods and {counts.status_reports} status reports: "
            f"{counts.log_records / pods:.1f} log records, {counts.columns_evaluated / pods:.1f} columns evaluated, "
            f"{counts.columns_caught_up / pods:.1f} columns caught up, {counts.failed_attempts / pods:.1f} failed "
            f"attempts a bound pod; {counts.digests / reports:.2f} digests a status report; "
            f"{counts.bytes_a_pod:.0f} bytes a running pod"
        )
    if row.most_waiting > 2 * row.rate + 100:
        yield f"  up to {row.most_waiting} requests waited in the benchmark: the API server did not keep up"
    if row.unbound:
        yield f"  {row.unbound} pods were never bound"


def ratios(first: Sequence[Row], last: Sequence[Row]) -> Iterator[str]:
    """Yield the ratios of two subjects, a line for each rate."""
    for one, other in zip(first, last, strict=True):
        mine, theirs = (row.from_creation or _NO_SPREAD for row in (one, other))
        pairs: list[tuple[str, float | None, float | None]] = [
            ("CPU a pod", one.cpu_ms_a_pod, other.cpu_ms_a_pod),
            ("CPU", one.cpu_share, other.cpu_share),
            ("p50", mine.p50, theirs.p50),
            ("p99", mine.p99, theirs.p99),
            ("memory", one.memory_end_mib, other.memory_end_mib),
        ]
        shown = "  ".join(f"{name} {a / b:.2f}x" for name, a, b in pairs if a and b)
        yield f"{one.subject} / {other.subject} at {one.rate:g} pods/s: {shown}"


def _text(value: float | None, digits: int) -> str:
    return MISSING if value is None else f"{value:.{digits}f}"


def _latencies(spread: Spread | None) -> list[str]:
    if spread is None:
        return [MISSING] * 4
    return [f"{value:.1f}" for value in (spread.p50, spread.p99, spread.p999, spread.most)]
