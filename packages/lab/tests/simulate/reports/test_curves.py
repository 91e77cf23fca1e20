"""Charts: the figures that differ come first, percentages have an axis to 100, and hidden curves are named."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_node, a_pod
from kubesched_lab.simulate.measuring.comparison import Interval
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.curves import BarChart, ConfigBar, Curve, CurveChart, bar_charts, legend_of
from kubesched_lab.simulate.reports.html_page import as_html
from kubesched_lab.simulate.reports.plots import bars_drawing, picture_of, timeline_drawing
from kubesched_lab.simulate.reports.svg_charts import bars_svg
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival, Trace, TraceEvent

CONFIGS = ["default", "packed", "spread"]


@cache
def figures(config: str, seed: int = 0, last: float = 10.0) -> Figures:
    """Return the figures of three pods, one after the other; the last one runs for so many seconds."""
    events: list[TraceEvent] = [ObjectPut(0, a_node("n", cpu="2", memory="4Gi"))]
    events += [PodArrival(0, a_pod(f"p{number}", cpu="2"), 10.0) for number in range(2)]
    events.append(PodArrival(0, a_pod("last", cpu="1", priority=-1), last + seed))
    return simulate(Run(Trace("story", lambda seed: iter(events)), load_config(), Registry(), config, seed))


def bars(unit: str, *means: float, off: float | None = None) -> BarChart:
    named = zip(CONFIGS, means, strict=False)
    return BarChart("c", "Chart", unit, [ConfigBar(config, Interval(mean, off)) for config, mean in named])


def curves(**ys: Sequence[Sequence[float]]) -> CurveChart:
    """Return a chart with some curves of each configuration."""
    found = [
        Curve(config, seed, range(len(values)), values)
        for config, runs in ys.items()
        for seed, values in enumerate(runs)
    ]
    return CurveChart("c", "Chart", "%", found)


@pytest.mark.parametrize(
    ("what", "chart", "end"),
    [
        ("percentages end at 100", bars("%", 20.3, 5), 100),
        ("a share may be above 100 %", bars("%", 20, 130), 130),
        ("the interval of a share may be, too", bars("%", 90, off=15), 105),
        ("seconds end at the longest bar", bars("s", 20, 30), 30),
        ("with its interval", bars("s", 20, off=4), 24),
    ],
)
def test_the_axis_of_bars(what: str, chart: BarChart, end: float) -> None:
    assert chart.end == end, what
    axes = picture_of([bars_drawing(chart, CONFIGS)]).axes[0]
    if chart.unit == "%":
        assert axes.get_xlim() == (0, end)
    svg = bars_svg(chart, CONFIGS, ["text"] * len(chart.bars))
    widths = [float(each) for each in re.findall(r'class="bar s\d" [^>]*width="([0-9.]+)"', svg)]
    assert widths == pytest.approx([474 * bar.value.mean / end for bar in chart.bars], abs=0.1)
    assert svg.count('class="shade"') == (len(chart.bars) if chart.unit == "%" else 0)


def test_figures_that_differ_come_first() -> None:
    same = [chart.name for chart in bar_charts([figures("default"), figures("packed")])]
    differing = bar_charts([figures("default"), figures("packed", last=40.0)])
    differs = [len({bar.value for bar in chart.bars}) > 1 for chart in differing]
    assert differs == sorted(differs, reverse=True)
    assert set(differs) == {True, False}
    # the order is that of the comparison otherwise
    assert [chart.name for chart in differing if chart.name in same] != same
    assert same == [chart.name for chart in bar_charts([figures("default")])]


def test_figures_that_differ_for_sure_come_before_those_that_may_differ_by_chance() -> None:
    def waiting(config: str, seed: int, seconds: float, preempted: int) -> Figures:
        one = figures(config, seed)
        return _changed(one, mean_pending=seconds, pods={**one.pods, "preempted": preempted})

    runs = [waiting("default", seed, 1.0 + seed % 2, 4) for seed in range(4)]
    runs += [waiting("packed", seed, 2.0 - seed % 2, 9) for seed in range(4)]
    names = [chart.name for chart in bar_charts(runs)]
    assert names[:2] == ["pods-preempted", "pods-pending-mean"]


def _changed(one: Figures, **fields: Any) -> Figures:
    return type(one)(**{name: fields.get(name, getattr(one, name)) for name in one.__struct_fields__})


@pytest.mark.parametrize(
    ("what", "chart", "names"),
    [
        ("curves that differ", curves(default=[[0, 1]], packed=[[0, 2]]), ["default", "packed"]),
        (
            "a curve that hides another one",
            curves(default=[[0, 1]], packed=[[0, 1]]),
            ["default", "packed (same curve as default)"],
        ),
        (
            "all three are one",
            curves(default=[[0, 1]], packed=[[0, 1]], spread=[[0, 1]]),
            ["default", "packed (same curve as default)", "spread (same curve as default)"],
        ),
        (
            "the two that are alike are named",
            curves(default=[[0, 1]], packed=[[0, 3]], spread=[[0, 3]]),
            ["default", "packed", "spread (same curve as packed)"],
        ),
        (
            "nobody sees a difference of a thousandth",
            curves(default=[[0, 1.0]], packed=[[0, 1.001]]),
            ["default", "packed (same curve as default)"],
        ),
        ("a curve that ends earlier", curves(default=[[1, 1]], packed=[[1, 1, 1]]), ["default", "packed"]),
        ("one of two seeds differs", curves(default=[[1], [2]], packed=[[1], [3]]), ["default", "packed"]),
        ("a configuration without a curve", curves(default=[], packed=[]), ["default", "packed"]),
    ],
)
def test_the_legend_names_curves_that_cannot_be_seen(what: str, chart: CurveChart, names: list[str]) -> None:
    assert legend_of(chart, CONFIGS[: len(names)]) == names, what


def test_pages_and_pictures_have_the_legend() -> None:
    page = as_html([figures("default"), figures("packed")])
    assert "packed (same curve as default)" in page
    chart = curves(default=[[0, 1]], packed=[[0, 1]])
    legend = picture_of([timeline_drawing(chart, CONFIGS[:2])]).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["default", "packed (same curve as default)"]
