"""Pictures: a file for each chart, the same to the byte, whatever configurations are named."""

import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import msgspec
import pytest

from kubesched.common import extras
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.testing import a_node, a_pod
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.curves import bar_charts, configs_of_runs, timeline_charts, waiting_chart
from kubesched_lab.simulate.reports.plots import (
    bars_drawing,
    picture_of,
    saved,
    timeline_drawing,
    waiting_drawing,
    write_plots,
)
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival, Trace, TraceEvent


def figures(config: str = "default", seed: int = 0) -> Figures:
    events: list[TraceEvent] = [ObjectPut(0, a_node("n", cpu="2", memory="4Gi"))]
    events += [PodArrival(number, a_pod(f"p{number}", cpu="2"), 10.0 + seed) for number in range(3)]
    return simulate(Run(Trace("story", lambda seed: iter(events)), load_config(), Registry(), config, seed))


TWO = [figures(config, seed) for config in ("_first $x$", "second") for seed in (0, 1)]


def test_a_picture_has_its_texts_and_is_the_same_to_the_byte() -> None:
    configs = configs_of_runs(TWO)
    timeline = next(chart for chart in timeline_charts(TWO) if chart.name == "pending")
    drawings = [timeline_drawing(timeline, configs), waiting_drawing(waiting_chart(TWO), configs)]
    drawings.append(bars_drawing(bar_charts(TWO)[0], configs))
    first, second = (saved(picture_of(drawings[1:2]), "png") for _ in range(2))
    assert first == second
    svg, again = (saved(picture_of(drawings, 2), "svg") for _ in range(2))
    assert svg == again
    texts = [element.text for element in ET.fromstring(svg).iter() if element.text]
    assert {"Pods pending", "Pods by their longest wait", " _first $x$", "second"} <= set(texts)
    assert b"<dc:date>" not in svg


def test_settings_of_the_user_change_nothing_and_are_kept() -> None:
    drawing = waiting_drawing(waiting_chart(TWO), configs_of_runs(TWO))
    ours = saved(picture_of([drawing]), "svg")
    with mpl.rc_context({"lines.linewidth": 9.0, "font.size": 30.0}):
        assert saved(picture_of([drawing]), "svg") == ours
        assert mpl.rcParams["font.size"] == 30


def test_there_are_two_files_for_each_chart(tmp_path: Path) -> None:
    # without most columns, so that there are few charts
    timeline = {name: TWO[0].timeline[name] for name in ("at", "pending", "resources.cpu")}
    few = msgspec.structs.replace(TWO[0], timeline=timeline, over_time={}, attempts_a_pod=0.0, mean_pending=0.0)
    write_plots([few], tmp_path / "new")
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert {"timeline-requested-cpu.png", "timeline-pending.svg", "waiting.png", "compared-waiting-99.svg"} <= names
    assert len(names) % 2 == 0


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KubeschedError, match=r"--plots .*file/x: Not a directory"):
        write_plots([figures()], tmp_path / "file" / "x")


def test_without_matplotlib_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(KubeschedError, match=r"^a picture needs pip install 'kubesched\[plots\]'$"):
        write_plots([figures()], tmp_path)
