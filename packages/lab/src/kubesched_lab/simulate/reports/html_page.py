"""A report of simulations as one HTML page, or as blocks for other formats.

From figures to sections: configurations compared, pictures with their numbers, waiting times, runs, and inputs. The
page has no data about the machine, and loads nothing from the network.
"""

import shlex
from collections.abc import Iterator, Sequence

from kubesched import __version__
from kubesched.reports.blocks import (
    Block,
    Cell,
    Commands,
    Facts,
    Paragraph,
    Picture,
    Report,
    Section,
    Table,
    Tone,
    Toned,
)
from kubesched.reports.html import as_page
from kubesched_lab.simulate.measuring.comparison import compared, interval
from kubesched_lab.simulate.measuring.figures import Figures, Waiting
from kubesched_lab.simulate.reports.curves import (
    MOST_CURVES,
    BarChart,
    Curve,
    CurveChart,
    bar_charts,
    configs_of_runs,
    legend_of,
    timeline_charts,
    waiting_chart,
)
from kubesched_lab.simulate.reports.svg_charts import bars_svg, timeline_svg, waiting_svg
from kubesched_lab.simulate.reports.texts import difference_shown, number_shown, shown

# rows of the table beside a curve
_TIMES = 12
_PERCENTS = (0, 25, 50, 75, 90, 95, 99, 100)


def as_html(figures: Sequence[Figures], words: Sequence[str] = ()) -> str:
    """Return the report as one self-contained page; `words` is the command line."""
    return as_page(report_of(figures, words))


def report_of(figures: Sequence[Figures], words: Sequence[str] = ()) -> Report:
    """Return the report as blocks."""
    sections = [
        Section("Configurations", list(_comparison(figures))),
        Section("Over time", list(_timelines(figures))),
        Section("Waiting", list(_waiting(figures))),
        Section("Runs", [_runs(figures)]),
        Section("What was run", list(_what_was_run(figures, words))),
    ]
    return Report(f"Simulation of {figures[0].trace}", [lead(figures)], sections)


def lead(figures: Sequence[Figures]) -> Paragraph:
    """Return a sentence about the simulation."""
    configs, seeds = len(configs_of_runs(figures)), len({each.seed for each in figures})
    seconds = interval([each.seconds for each in figures]).mean
    bound = interval([each.pods.get("bound", 0) for each in figures]).mean
    runs = f"{configs} configuration{'s' * (configs > 1)}, {seeds} seed{'s' * (seeds > 1)}"
    return Paragraph(f"{runs}: on average {number_shown(seconds)} s simulated, {number_shown(bound)} pods bound.")


def comparison_table(figures: Sequence[Figures]) -> Table:
    """Return the figures of all configurations side by side, with differences from the first."""
    configs, rows = compared(figures)
    columns = ["figure"]
    for index, config in enumerate(configs):
        columns += [config, f"{config} - {configs[0]}"] if index else [config]
    cells: list[list[Cell]] = []
    for row in rows:
        if any(each.mean for each in row.of):
            line: list[Cell] = [row.name]
            for index, each in enumerate(row.of):
                line.append(shown(each, row.unit))
                if index:
                    text = difference_shown(row.differences[index - 1], row.unit)
                    line.append(Toned(text, Tone.MUTED) if text.startswith("(") else text)
            cells.append(line)
    return Table(columns, cells, numeric=frozenset(columns[1:]), most=len(cells))


def _comparison(figures: Sequence[Figures]) -> Iterator[Block]:
    configs = configs_of_runs(figures)
    if len({each.seed for each in figures}) > 1:
        yield Paragraph(
            "Means over seeds with 95 % intervals (Student's t). Differences are paired by seed; one in parentheses "
            "may be none, since its interval holds 0.",
            Tone.MUTED,
        )
    else:
        yield Paragraph("One seed has no intervals: give --seeds 1-5 to see the effect of chance.", Tone.MUTED)
    yield comparison_table(figures)
    if len(configs) > 1:
        yield from (_bars(chart, configs) for chart in bar_charts(figures))


def _bars(chart: BarChart, configs: Sequence[str]) -> Picture:
    texts = [shown(bar.value, chart.unit) for bar in chart.bars]
    rows = [(bar.config, text) for bar, text in zip(chart.bars, texts, strict=True)]
    table = Table(["configuration", chart.title], rows, numeric=frozenset({chart.title}))
    return Picture(chart.title, bars_svg(chart, configs, texts), table)


def _timelines(figures: Sequence[Figures]) -> Iterator[Block]:
    configs = configs_of_runs(figures)
    if len(figures) > len(configs):
        yield Paragraph(f"A curve is a run; at most {MOST_CURVES} seeds of a configuration have one.", Tone.MUTED)
    if figures[0].measured_from:
        yield Paragraph("The warm-up has another background; no other figure includes it.", Tone.MUTED)
    for chart in timeline_charts(figures):
        yield Picture(chart.title, timeline_svg(chart, configs), _curve_table(chart), _key(chart, configs))


def _key(chart: CurveChart, configs: Sequence[str]) -> Sequence[str]:
    return legend_of(chart, configs) if len(configs) > 1 else ()


def _curve_table(chart: CurveChart) -> Table:
    """Return some samples of the first seed of each configuration."""
    first = _first_curves(chart)
    longest = max((curve.xs[-1] for curve in first.values()), default=0.0)
    rows = []
    for number in range(_TIMES + 1):
        at = longest * number / _TIMES
        cells = [f"{at:.0f}"]
        for curve in first.values():
            index = sum(x <= at for x in curve.xs) - 1
            cells.append(f"{number_shown(curve.ys[index])} {chart.unit}".rstrip() if index >= 0 else "")
        rows.append(cells)
    return Table(["second", *first], rows, numeric=frozenset({"second", *first}))


def _first_curves(chart: CurveChart) -> dict[str, Curve]:
    """Return the first curve of each configuration."""
    found: dict[str, Curve] = {}
    for curve in chart.curves:
        found.setdefault(curve.config, curve)
    return found


def _waiting(figures: Sequence[Figures]) -> Iterator[Block]:
    chart, configs = waiting_chart(figures), configs_of_runs(figures)
    if not chart.curves:
        yield Paragraph("No pod was bound.")
        return
    first = _first_curves(chart)
    rows = [
        [f"{percent} %", *(f"{number_shown(curve.xs[percent])} s" for curve in first.values())] for percent in _PERCENTS
    ]
    table = Table(["pods", *first], rows, numeric=frozenset({"pods", *first}))
    yield Picture(chart.title, waiting_svg(chart, configs), table, _key(chart, configs))
    yield _waiting_table("By priority", "priority", figures, [each.waiting_by_priority for each in figures])
    yield _waiting_table("By size", "CPU requested", figures, [each.waiting_by_size for each in figures])
    yield _counts_table("Pods by attempts", "attempts", figures, [each.pods_by_attempts for each in figures])
    if any(each.preempted_by_priority for each in figures):
        preempted = [each.preempted_by_priority for each in figures]
        yield _counts_table("Preempted pods", "priority", figures, preempted)


def _waiting_table(
    title: str, part_name: str, figures: Sequence[Figures], parts: Sequence[dict[str, Waiting]]
) -> Table:
    """Return waiting times of groups of pods; means over seeds."""
    columns = [part_name, "configuration", "pods", "mean", "50 %", "90 %", "99 %", "longest"]
    rows = []
    for part in dict.fromkeys(part for each in parts for part in each):
        for config in configs_of_runs(figures):
            found = [of[part] for each, of in zip(figures, parts, strict=True) if each.config == config and part in of]
            if found:
                times = ([getattr(each, name) for each in found] for name in ("mean", "p50", "p90", "p99", "largest"))
                pods = number_shown(interval([each.pods for each in found]).mean)
                rows.append([part, config, pods, *(f"{number_shown(interval(each).mean)} s" for each in times)])
    return Table(columns, rows, title, frozenset(columns[2:]), most=100)


def _counts_table(title: str, part_name: str, figures: Sequence[Figures], counts: Sequence[dict[str, int]]) -> Table:
    """Return numbers of pods under each configuration; means over seeds."""
    configs, rows = configs_of_runs(figures), []
    for part in dict.fromkeys(part for each in counts for part in each):
        cells = [part]
        for config in configs:
            found = [of.get(part, 0) for each, of in zip(figures, counts, strict=True) if each.config == config]
            cells.append(number_shown(interval(found).mean))
        rows.append(cells)
    return Table([part_name, *configs], rows, title, frozenset(configs))


def _runs(figures: Sequence[Figures]) -> Table:
    columns = [
        "configuration",
        "seed",
        "bound",
        "pending at the end",
        "waiting, mean",
        "waiting, 99 %",
        "cpu requested",
    ]
    rows = []
    for each in figures:
        cpu = each.resources["cpu"].share if "cpu" in each.resources else 0.0
        cells = [each.config, str(each.seed), str(each.pods.get("bound", 0)), str(each.pending_at_end)]
        waiting = (each.waiting.mean, each.waiting.p99)
        rows.append([*cells, *(f"{number_shown(value)} s" for value in waiting), f"{100 * cpu:.3g} %"])
    return Table(columns, rows, numeric=frozenset(columns[1:]), most=200)


def _what_was_run(figures: Sequence[Figures], words: Sequence[str]) -> Iterator[Block]:
    if words:
        yield Commands([shlex.join(words)])
    seeds = sorted({each.seed for each in figures})
    yield Facts(
        [
            ("traces", figures[0].trace),
            ("configurations", ", ".join(configs_of_runs(figures))),
            ("seeds", ", ".join(map(str, seeds))),
            ("measured from", f"{number_shown(figures[0].measured_from)} s"),
            ("kubesched", __version__),
        ]
    )
