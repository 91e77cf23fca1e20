"""Charts as SVG, for pages: plain text, without a library or a script.

From charts to elements that are part of a page. Colours are classes (`s0` to `s7`), so that a page is light or dark.
Every picture has a title and a description, and texts are escaped.
"""

from collections.abc import Sequence
from html import escape

from kubesched.common.printable import printable
from kubesched_lab.simulate.reports.curves import BarChart, Curve, CurveChart
from kubesched_lab.simulate.reports.scales import Mark, round_marks, time_marks, waiting_marks, waiting_place

COLOURS = 8
_WIDTH, _HEIGHT = 480, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 24, 10, 28
# margin of bars, on both sides
_EDGE = 3
_ROW = 40


def colour_class(number: int) -> str:
    """Return the class of a configuration's colour."""
    return f"s{number % COLOURS}"


def timeline_svg(chart: CurveChart, configs: Sequence[str]) -> str:
    """Return curves over simulated time."""
    end = max((curve.xs[-1] for curve in chart.curves if curve.xs), default=0.0)
    largest = max((max(curve.ys, default=0) for curve in chart.curves), default=0.0)
    ys = round_marks(largest)
    plot = _Plot(0.0, max(end, 1e-9), ys[-1].value)
    shade = ""
    if chart.warm_up:
        shade = (
            f'<rect class="shade" x="{_LEFT}" y="{_TOP}" width="{plot.x(chart.warm_up) - _LEFT:.1f}" '
            f'height="{_HEIGHT - _TOP - _BOTTOM}"/>'
        )
    lines = "".join(_line(plot, curve, configs, len(chart.curves) > len(configs)) for curve in chart.curves)
    return _svg(chart.title, _range_of(chart), shade + plot.axes(time_marks(end), ys, chart.unit) + lines)


def waiting_svg(chart: CurveChart, configs: Sequence[str]) -> str:
    """Return distributions of waiting times, on an axis that stretches short ones."""
    xs = waiting_marks(max((curve.xs[-1] for curve in chart.curves), default=0.0))
    placed = [mark._replace(value=waiting_place(mark.value)) for mark in xs]
    end = max([placed[-1].value, *(waiting_place(curve.xs[-1]) for curve in chart.curves)])
    # no pod has waited longer than the end
    curves = [
        curve._replace(xs=[*(waiting_place(seconds) for seconds in curve.xs), end], ys=[*curve.ys, 100.0])
        for curve in chart.curves
    ]
    plot = _Plot(0.0, end, 100.0)
    lines = "".join(_line(plot, curve, configs, len(curves) > len(configs), steps=True) for curve in curves)
    return _svg(chart.title, _range_of(chart), plot.axes(placed, round_marks(100.0), chart.unit) + lines)


def bars_svg(chart: BarChart, configs: Sequence[str], texts: Sequence[str]) -> str:
    """Return a bar for each configuration, with its interval; `texts` are their labels."""
    wide = (_WIDTH - 2 * _EDGE) / max(chart.end, 1e-9)
    parts = []
    for number, (bar, text) in enumerate(zip(chart.bars, texts, strict=True)):
        y, end = number * _ROW, _EDGE + max(bar.value.mean, 0) * wide
        colour = colour_class(configs.index(bar.config))
        parts.append(f'<text x="{_EDGE}" y="{y + 13}">{_text(bar.config)}</text>')
        parts.append(f'<text class="end" x="{_WIDTH - _EDGE}" y="{y + 13}">{_text(text)}</text>')
        if chart.unit == "%":
            # as long as the axis
            parts.append(f'<rect class="shade" x="{_EDGE}" y="{y + 18}" width="{_WIDTH - 2 * _EDGE}" height="12"/>')
        parts.append(
            f'<rect class="bar {colour}" x="{_EDGE}" y="{y + 18}" width="{max(end - _EDGE, 0.5):.1f}" height="12"/>'
        )
        if bar.value.off:
            low = max(_EDGE + (bar.value.mean - bar.value.off) * wide, _EDGE)
            high, middle = _EDGE + (bar.value.mean + bar.value.off) * wide, y + 24
            parts.append(
                f'<path class="whisker" d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 5}v10'
                f'M{high:.1f} {middle - 5}v10"/>'
            )
    described = "; ".join(f"{bar.config}: {text}" for bar, text in zip(chart.bars, texts, strict=True))
    return _svg(chart.title, described, "".join(parts), len(chart.bars) * _ROW)


class _Plot:
    """Maps values to positions in a picture."""

    def __init__(self, first: float, last: float, highest: float) -> None:
        self._first = first
        self._wide = (_WIDTH - _LEFT - _RIGHT) / (last - first)
        self._high = (_HEIGHT - _TOP - _BOTTOM) / highest

    def x(self, value: float) -> float:
        return _LEFT + (value - self._first) * self._wide

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - value * self._high

    def axes(self, xs: Sequence[Mark], ys: Sequence[Mark], unit: str) -> str:
        """Return grid lines with their marks; the highest mark has the unit."""
        parts = []
        for index, mark in enumerate(ys):
            text = f"{mark.text} {unit}".rstrip() if index == len(ys) - 1 else mark.text
            y = self.y(mark.value)
            parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>')
            parts.append(f'<text class="end" x="{_LEFT - 6}" y="{y + 4:.1f}">{_text(text)}</text>')
        for mark in xs:
            x = self.x(mark.value)
            parts.append(f'<path class="grid" d="M{x:.1f} {_HEIGHT - _BOTTOM}v4"/>')
            parts.append(f'<text class="middle" x="{x:.1f}" y="{_HEIGHT - 8}">{_text(mark.text)}</text>')
        return "".join(parts)


def _line(plot: _Plot, curve: Curve, configs: Sequence[str], several: bool, *, steps: bool = False) -> str:
    number = configs.index(curve.config)
    names = f"curve {colour_class(number)}" + (" thin" if several else "") + (" dashed" if number >= COLOURS else "")
    points: list[str] = []
    last = ""
    for x, y in zip(curve.xs, curve.ys, strict=True):
        point = f"{plot.x(x):.1f} {plot.y(y):.1f}"
        if point != last:
            points.append(f"H{plot.x(x):.1f}V{plot.y(y):.1f}" if steps and points else point)
        last = point
    joined = "".join(points) if steps else "L".join(points)
    return f'<path class="{names}" d="M{joined}"/>' if points else ""


def _range_of(chart: CurveChart) -> str:
    parts = []
    for curve in chart.curves:
        values = curve.xs if chart.name == "waiting" else curve.ys
        unit = "s" if chart.name == "waiting" else chart.unit
        parts.append(f"{curve.config}, seed {curve.seed}: {min(values):.4g} to {max(values):.4g} {unit}".rstrip())
    return "; ".join(parts)


def _svg(title: str, described: str, inner: str, height: int = _HEIGHT) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{_text(title)}">'
        f"<title>{_text(title)}</title><desc>{_text(described)}</desc>{inner}</svg>"
    )


def _text(text: object) -> str:
    return escape(printable(text))
