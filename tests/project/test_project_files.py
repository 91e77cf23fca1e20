"""The files around the code: decisions, forms for issues, owners, the dev container."""

import configparser
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DECISIONS = sorted((ROOT / "docs" / "internals" / "adr").glob("[0-9]*.md"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_its_four_parts(path: Path) -> None:
    text = path.read_text()
    assert re.findall("^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences", "Alternatives"]
    assert re.match(r"# \d+\. .+\n\nStatus: (accepted|replaced by \[.+\]\(.+\))\n", text)
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert link.startswith("https://") or (path.parent / link).exists(), link


def test_decisions_are_numbered_and_listed() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == list(range(1, len(DECISIONS) + 1))
    assert len(numbers) >= 10
    listed = re.findall(r"^(\d+)\. \[(.+)\]\((.+)\)$", (ROOT / "docs/internals/adr/index.md").read_text(), re.MULTILINE)
    titles = [path.read_text().partition("\n")[0].partition(". ")[2] for path in DECISIONS]
    assert listed == [
        (str(number), title, path.name) for number, title, path in zip(numbers, titles, DECISIONS, strict=True)
    ]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_for_issues_is_one(path: Path) -> None:
    form: dict[str, Any] = yaml.safe_load(path.read_text())
    assert {"name", "description", "body"} <= set(form)
    asked = [each for each in form["body"] if each["type"] != "markdown"]
    assert {each["type"] for each in asked} <= {"textarea", "input", "dropdown", "checkboxes"}
    assert all(each["attributes"]["label"] for each in asked)
    names = [each["id"] for each in asked]
    assert len(names) == len(set(names))
    assert any(each.get("validations", {}).get("required") for each in asked)


def test_owners_own_what_exists() -> None:
    lines = (ROOT / ".github/CODEOWNERS").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    for pattern, *owners in rows:
        assert all(re.fullmatch(r"@[\w-]+/[\w-]+", each) for each in owners), owners
        assert pattern == "*" or list(ROOT.glob(pattern.strip("/"))), pattern


def test_the_dev_container_has_the_environment_on_its_path() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert container["postCreateCommand"] == "make .venv/.ready"
    assert "READY  := $(VENV)/.ready" in (ROOT / "Makefile").read_text()
    assert container["remoteEnv"]["PATH"].startswith("${containerWorkspaceFolder}/.venv/bin:")


def test_urls_lead_to_the_repository() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    assert urls["Source"] == urls["Homepage"] == site["extra"]["repository"]


PEERS = ("kube-scheduler", "kube-scheduler-simulator", "cluster-capacity", "kwok", "SimKube", "Volcano", "YuniKorn")


def test_each_peer_is_said_to_be_better_at_something() -> None:
    text = (ROOT / "docs/concepts/comparison.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert rows[0][2] == "better than kubesched at"
    assert {row[0]: bool(row[2]) for row in rows[2:]} == dict.fromkeys(PEERS, True)


def test_the_readme_is_short_and_shows_the_page_and_an_explanation() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 200
    pictures = re.findall(r"^!\[.+\]\((.+)\)$", text, re.MULTILINE)
    assert pictures == ["docs/pictures/explain.svg", "docs/pictures/page-quickstart.png"]
    assert all((ROOT / picture).stat().st_size > 10_000 for picture in pictures)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("CODE_OF_CONDUCT.md", "Contributor Covenant"),
        ("SECURITY.md", "Report a weakness privately"),
        (".github/PULL_REQUEST_TEMPLATE.md", "- [ ] `make test` passes"),
        (".github/ISSUE_TEMPLATE/config.yml", "blank_issues_enabled"),
    ],
)
def test_what_people_look_for_is_there(path: str, words: str) -> None:
    assert words in (ROOT / path).read_text()


def test_editors_are_told_what_the_linter_demands() -> None:
    text = (ROOT / ".editorconfig").read_text()
    assert text.startswith("root = true\n")
    settings = configparser.ConfigParser()
    settings.read_string(text.partition("\n")[2])
    line_length = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["line-length"]
    assert settings["*"]["max_line_length"] == str(line_length)
    assert (settings["*"]["end_of_line"], settings["Makefile"]["indent_style"]) == ("lf", "tab")


def test_people_who_look_for_it_on_pypi_find_what_it_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["urls"]) == {"Homepage", "Documentation", "Changes", "Issues", "Source"}
    assert project["license"] == "Apache-2.0"
    assert project["dynamic"] == ["readme"]
