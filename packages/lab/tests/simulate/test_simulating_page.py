"""Pages about simulations: the references name every figure and column, and the commands of the guide run."""

import re
import shlex
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched_lab.simulate import simulate
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.pod_files import PodRow
from kubesched_lab.simulate.reports.writing import FORMS
from kubesched_lab.simulate.traces.parquet_trace import COLUMNS
from tools.examples import DocumentRunner, DocumentSection, sections

GUIDE = Path("docs/guides/research/simulating.md").read_text()
REPORTS = Path("docs/reference/simulation-reports.md").read_text()
TRACES = Path("docs/reference/traces.md").read_text()
COMMANDS = re.findall(r"^\$ (kubesched simulate examples/.*)$", GUIDE, re.MULTILINE)


def named(page: str) -> set[str]:
    """Return what the page has in backticks."""
    return set(re.findall(r"`([^`\n]+)`", page))


def test_every_figure_is_explained() -> None:
    fields = {field.encode_name for field in msgspec.structs.fields(Figures)}
    assert fields - named(REPORTS) == {"trace", "config", "seed"} - named(REPORTS)


def test_every_column_of_a_sample_is_explained() -> None:
    result = simulate("examples/simulate/priced.yaml", until=60)
    columns = set(result.figures[0].timeline)
    general = {re.sub(r"^(resources|stranded)\..*", r"\1.NAME", column) for column in columns}
    assert general - named(REPORTS) == set()


@pytest.mark.parametrize(("names", "page"), [(PodRow._fields, REPORTS), (COLUMNS, TRACES), (FORMS, REPORTS)])
def test_columns_and_forms_are_explained(names: tuple[str, ...], page: str) -> None:
    assert set(names) - named(page) - {"change"} == set()


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 4


def test_the_guide_shows_the_figures_that_are_printed(tmp_path: Path) -> None:
    (command,) = (each for section in sections(GUIDE) for each in section.commands if each.output)
    shown = DocumentSection("", (("console", f"$ {command.written}\n{command.output}"),))
    differences = [str(each) for each in DocumentRunner(tmp_path).differences(shown)]
    assert differences == [], "\n".join(differences)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(Path("examples").resolve())
    monkeypatch.chdir(tmp_path)
    _, *words = shlex.split(command)
    # the shape of the command is what is tested, not the length of the simulation
    ran = CliRunner().invoke(main, [*words, "--until", "1m"], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
