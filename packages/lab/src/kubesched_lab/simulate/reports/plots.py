"""Pictures of simulations by matplotlib: PNG and SVG files, and figures for notebooks.

From figures to a picture for each chart. Nothing is shown on a screen, no global setting changes, and the same figures
give the same bytes with the same version of matplotlib. The colours are distinguishable for the colour-blind (Okabe and
Ito).
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubesched.common.extras import extra_module
from kubesched.common.printable import printable
from kubesched.errors import KubeschedError
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.curves import (
    BarChart,
    CurveChart,
    bar_charts,
    configs_of_runs,
    legend_of,
    timeline_charts,
    waiting_chart,
)
from kubesched_lab.simulate.reports.scales import time_marks, waiting_marks, waiting_place
from kubesched_lab.simulate.reports.texts import shown

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
_SETTINGS = {
    "svg.hashsalt": "kubesched",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "savefig.dpi": 150.0,
}
_WIDE, _HIGH = 5.6, 3.0
_FORMATS = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
# draws on axes
Draw = Callable[[Any], None]


def write_plots(figures: Sequence[Figures], folder: Path) -> None:
    """Write a PNG and an SVG file for each chart into a folder; raises KubeschedError."""
    configs = configs_of_runs(figures)
    drawings: list[tuple[str, Draw]] = [
        (f"timeline-{chart.name}", timeline_drawing(chart, configs)) for chart in timeline_charts(figures)
    ]
    waiting = waiting_chart(figures)
    if waiting.curves:
        drawings.append((waiting.name, waiting_drawing(waiting, configs)))
    drawings += [(f"compared-{chart.name}", bars_drawing(chart, configs)) for chart in bar_charts(figures)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, draw in drawings:
            picture = picture_of([draw])
            for form in _FORMATS:
                (folder / f"{name}.{form}").write_bytes(saved(picture, form))
    except OSError as error:
        raise KubeschedError(f"--plots {folder}: {error.strerror or error}") from None


def picture_of(drawings: Sequence[Draw], columns: int = 1) -> Any:
    """Return a matplotlib figure with a plot for each drawing; notebooks show it."""
    figure_module = extra_module("matplotlib.figure", "plots", "a picture")
    rows = -(-len(drawings) // columns)
    with _settings():
        figure = figure_module.Figure(figsize=(_WIDE * columns, _HIGH * rows), layout="constrained")
        for number, draw in enumerate(drawings):
            draw(figure.add_subplot(rows, columns, number + 1))
    # notebooks that do not load matplotlib themselves use this
    figure._repr_png_ = lambda: saved(figure, "png")
    return figure


def saved(figure: Any, form: str) -> bytes:
    """Return a matplotlib figure as the bytes of a file."""
    file = io.BytesIO()
    with _settings():
        figure.savefig(file, format=form, metadata=_FORMATS[form])
    return file.getvalue()


@contextmanager
def _settings() -> Iterator[None]:
    """Draw with our settings during a block, and ignore the user's settings."""
    matplotlib = extra_module("matplotlib", "plots", "a picture")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def timeline_drawing(chart: CurveChart, configs: Sequence[str]) -> Draw:
    """Return a function that draws curves over simulated time."""

    def draw(axes: Any) -> None:
        end = max((curve.xs[-1] for curve in chart.curves if curve.xs), default=0.0)
        if chart.warm_up:
            axes.axvspan(0, chart.warm_up, color="0.93", linewidth=0)
        _curves(axes, chart, configs)
        marks = time_marks(end)
        axes.set_xticks([mark.value for mark in marks], [mark.text for mark in marks])
        axes.set_xlim(0, end or 1)
        axes.set_ylim(bottom=0)
        _titles(axes, chart.title, chart.unit)
        _legend(axes, legend_of(chart, configs))

    return draw


def waiting_drawing(chart: CurveChart, configs: Sequence[str]) -> Draw:
    """Return a function that draws distributions of waiting times, on an axis that stretches short ones."""

    def draw(axes: Any) -> None:
        marks = waiting_marks(max(curve.xs[-1] for curve in chart.curves))
        end = max([waiting_place(marks[-1].value), *(waiting_place(curve.xs[-1]) for curve in chart.curves)])
        placed = [
            curve._replace(xs=[*map(waiting_place, curve.xs), end], ys=[*curve.ys, 100.0]) for curve in chart.curves
        ]
        _curves(axes, chart._replace(curves=placed), configs, drawstyle="steps-post")
        axes.set_xticks([waiting_place(mark.value) for mark in marks], [mark.text for mark in marks])
        axes.set_xlim(0, end)
        axes.set_ylim(0, 102)
        _titles(axes, chart.title, chart.unit)
        _legend(axes, legend_of(chart, configs), loc="lower right")

    return draw


def bars_drawing(chart: BarChart, configs: Sequence[str]) -> Draw:
    """Return a function that draws a bar for each configuration, with its interval."""

    def draw(axes: Any) -> None:
        names = [_label(bar.config) for bar in chart.bars]
        places = range(len(names))
        colours = [_colour(configs.index(bar.config)) for bar in chart.bars]
        offs = [bar.value.off or 0.0 for bar in chart.bars]
        means = [bar.value.mean for bar in chart.bars]
        axes.barh(places, means, xerr=offs if any(offs) else None, color=colours, height=0.4, capsize=3)
        for place, bar in zip(places, chart.bars, strict=True):
            text = shown(bar.value, chart.unit)
            axes.annotate(text, (0, place - 0.22), (2, 1), textcoords="offset points", va="bottom", fontsize=8)
        axes.set_axisbelow(True)
        axes.set_yticks(places, names)
        axes.set_ylim(len(names) - 0.6, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0, chart.end if chart.unit == "%" else None)
        _titles(axes, chart.title, "")
        axes.set_xlabel(chart.unit)

    return draw


def _curves(axes: Any, chart: CurveChart, configs: Sequence[str], **style: Any) -> None:
    several = len(chart.curves) > len(configs)
    for curve in chart.curves:
        number = configs.index(curve.config)
        axes.plot(
            curve.xs,
            curve.ys,
            color=_colour(number),
            linestyle="--" if number >= len(COLOURS) else "-",
            linewidth=0.9 if several else 1.4,
            alpha=0.8 if several else 1.0,
            **style,
        )


def _titles(axes: Any, title: str, unit: str) -> None:
    axes.set_title(_label(title), loc="left", fontsize=10)
    axes.set_ylabel(unit)


def _legend(axes: Any, names: Sequence[str], **place: Any) -> None:
    """Add a legend with the colours of the configurations, if there are several."""
    if len(names) < 2:
        return
    lines = extra_module("matplotlib.lines", "plots", "a picture")
    handles = [
        lines.Line2D(
            [], [], color=_colour(number), linestyle="--" if number >= len(COLOURS) else "-", label=_label(name)
        )
        for number, name in enumerate(names)
    ]
    axes.legend(handles=handles, frameon=False, fontsize=8, **place)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _label(text: str) -> str:
    """Return a label for a legend; matplotlib would omit a text that begins with an underscore."""
    fit = printable(text)
    return f" {fit}" if fit.startswith("_") else fit
