"""Progress: what the line says."""

from io import StringIO

import pytest
from rich.console import Console

from kubesched_lab.simulate.progress import ProgressTeller, progress_of
from kubesched_lab.simulate.simulation import SimulationProgress


def drawn(until: float | None, progress: SimulationProgress, width: int = 120) -> str:
    teller = ProgressTeller("packed, seed 2 (2 of 4)", until, None)
    teller(progress)
    console = Console(file=StringIO(), width=width)
    console.print(teller.drawn(2.0))
    text = console.file
    assert isinstance(text, StringIO)
    return text.getvalue().rstrip()


def test_the_share_is_that_of_the_end() -> None:
    line = drawn(7200.0, SimulationProgress(3600.0, 50, 40, 3))
    assert line.startswith("packed, seed 2 (2 of 4) ━━━")
    assert line.endswith("50% 1:00:00 40 bound, 20/s, 3 pending")


def test_without_an_end_there_is_no_bar() -> None:
    line = drawn(None, SimulationProgress(200_000.0, 50, 40, 3))
    assert line == "packed, seed 2 (2 of 4) 2d 7:33:20 40 bound, 20/s, 3 pending"


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_it_is_one_line_in_a_narrow_terminal(width: int) -> None:
    lines = drawn(7200.0, SimulationProgress(3600.0, 50, 1_000_000, 30_000), width).splitlines()
    assert len(lines) == 1
    assert len(lines[0]) <= width


@pytest.mark.parametrize("bar", [True, False])
def test_the_end_is_told_in_a_line(bar: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of("default, seed 0", 100.0, bar=bar) as tell:
        tell(SimulationProgress(100.0, 1, 7))
    assert "default, seed 0: 100 s simulated in " in capsys.readouterr().err
