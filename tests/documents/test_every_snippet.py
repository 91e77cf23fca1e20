"""Python and YAML of the documents do what they are shown for; other documents' are run by the tests of their own."""

import gzip
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests.documents.test_documents import PLUGIN_PAGES, ROOT, blocks
from tests.support.rendering import IMAGE, WHY_NO_HELM, chart, only, path_of_helm

from kubesched.cli import main
from kubesched.config.load import load

# documents whose Python or YAML is not looked at here, and who does that
ELSEWHERE = {
    "README.md": "tests/documents/test_documents.py",
    "docs/guides/questions/cookbook.md": "tests/documents/test_cookbook.py",
    "docs/reference/plugin-api.md": "tests/test_plugin_api.py",
    **dict.fromkeys(PLUGIN_PAGES, "tests/documents/test_documents.py"),
    "docs/get-started/tutorial.md": "tests/documents/test_cookbook.py",
    "docs/guides/plugins/contrib": "packages/contrib/tests/test_distribution.py",
    "docs/guides/operator/integrations.md": "tests/documents/test_integrations.py",
}
# of docs/guides/clusters/testing.md the YAML; tests/documents/test_in_order.py runs its Python and its JSON
HERE = {
    "docs/concepts/configuration.md",
    "docs/guides/operator/deploying.md",
    "docs/guides/operator/migrating.md",
    "docs/guides/operator/operating.md",
    "docs/guides/operator/running.md",
    "docs/guides/research/simulating.md",
    "docs/guides/research/sweeping.md",
}
TESTING = ROOT / "docs/guides/clusters/testing.md"


def test_every_document_with_snippets_is_looked_at() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
        if blocks(path, "python") or blocks(path, "yaml")
    }
    others = {name for name in found if name not in ELSEWHERE and not name.startswith("docs/guides/plugins/contrib/")}
    assert others == HERE | {"docs/guides/clusters/testing.md"}
    assert all((ROOT / tests).exists() for tests in ELSEWHERE.values())


@pytest.mark.parametrize(
    "name",
    ["docs/concepts/configuration.md", "docs/guides/operator/migrating.md", "docs/guides/operator/running.md"],
)
def test_configurations_can_be_loaded(name: str) -> None:
    found = [text for text in blocks(ROOT / name, "yaml") if "KubeSchedulerConfiguration" in text]
    assert found
    for text in found:
        assert load(text).profiles


def test_kustomizations_name_what_is_there() -> None:
    found = [yaml.safe_load(text) for text in blocks(ROOT / "docs/guides/operator/deploying.md", "yaml")]
    references = [each for one in found for each in (*one["resources"], *one.get("components", ()))]
    assert len(references) >= 3
    for reference in references:
        assert (ROOT / reference.removeprefix("github.com/kubesched/kubesched/") / "kustomization.yaml").exists()


@pytest.mark.skipif(not path_of_helm(), reason=WHY_NO_HELM)
def test_the_values_of_a_switch_are_those_of_the_chart(tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "docs/guides/operator/operating.md", "yaml")
    (tmp_path / "values.yaml").write_text(text)
    made = chart(*IMAGE, "-f", str(tmp_path / "values.yaml"), home=tmp_path)
    loaded = load(only(made, "ConfigMap")["data"]["config.yaml"])
    assert [profile.scheduler_name for profile in loaded.profiles] == ["default-scheduler"]
    assert loaded.config.leader_election.resource_name == "kube-scheduler"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small files under the names of the documents."""
    examples = ROOT / "examples/simulate"
    for name, source in {
        "batch.yaml": "small-batch.yaml",
        "packed.yaml": "packed.yaml",
        "default.yaml": "default.yaml",
    }.items():
        shutil.copy(examples / source, tmp_path / name)
    (tmp_path / "nodes.yaml").write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 8, memory: 16Gi, pods: 10}}\n"
    )
    (tmp_path / "pods.jsonl.gz").write_bytes(gzip.compress((examples / "small.jsonl").read_bytes(), mtime=0))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_specifications_of_sweeps_are_read(folder: Path) -> None:
    whole, tuning = blocks(ROOT / "docs/guides/research/sweeping.md", "yaml")
    Path("sweep.yaml").write_text(whole)
    planned = CliRunner().invoke(main, ["sweep", "sweep.yaml", "--dry-run"])
    assert (planned.exit_code, "runs" in planned.output) == (0, True), planned.output
    document: dict[str, Any] = yaml.safe_load(whole)
    document["configurations"] = ["default.yaml"]
    Path("tune.yaml").write_text(yaml.safe_dump({**document, **yaml.safe_load(tuning)}))
    tuned = CliRunner().invoke(main, ["sweep", "tune.yaml", "--tune", "--dry-run"])
    assert (tuned.exit_code, "50 trials" in tuned.output) == (0, True), tuned.output


@pytest.mark.slow
def test_simulations_in_a_notebook(folder: Path) -> None:
    shown: dict[str, Any] = {}
    for text in blocks(ROOT / "docs/guides/research/simulating.md", "python"):
        exec(compile(text, "docs/guides/research/simulating.md", "exec"), shown)
    assert (folder / "report.html").exists()


@pytest.mark.slow
def test_results_of_sweeps_as_a_table(folder: Path) -> None:
    done = CliRunner().invoke(main, ["sweep", "examples/simulate/sweep.yaml", "--results", "sizes"])
    assert done.exit_code == 0, done.output
    (text,) = blocks(ROOT / "docs/guides/research/sweeping.md", "python")
    exec(compile(text, "docs/guides/research/sweeping.md", "exec"), {})
    (table,) = blocks(ROOT / "docs/guides/research/sweeping.md", "text")
    printed = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["sweep", "show", "sizes"]).output
    # the page shows the first columns
    rows, shown = cells(printed), cells(table)
    assert [row for row in shown if row not in [each[: len(row)] for each in rows]] == []


def cells(table: str) -> list[list[str]]:
    """Return the texts of a table by rows."""
    lines = (re.split("[│┃]", line)[1:-1] for line in table.splitlines())
    return [[cell.strip() for cell in line] for line in lines if line]


def test_the_action_gets_inputs_that_it_has() -> None:
    (text,) = blocks(TESTING, "yaml")
    (step,) = (each for each in yaml.safe_load(text)["jobs"]["test"]["steps"] if "kubesched" in each.get("uses", ""))
    assert set(step["with"]) <= set(yaml.safe_load((ROOT / "action.yml").read_text())["inputs"])
