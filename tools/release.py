"""A release: `python -m tools.release v0.2.0` checks that all places name the version of the tag, and prints its notes.

From a tag and the files of the repository to the section of CHANGELOG.md, with links to the files of the tag; or to
what does not agree, one line each, and exit code 1.
"""

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import kubesched

ROOT = Path(__file__).parents[1]
CHANGES, CHART, CONTRIB = "CHANGELOG.md", "deploy/charts/kubesched/Chart.yaml", "packages/contrib/pyproject.toml"
# projects that name their version; that of kubesched-scheduler is `kubesched.__version__`
PROJECTS = (
    "pyproject.toml",
    "packages/controlplane/pyproject.toml",
    "packages/answers/pyproject.toml",
    "packages/lab/pyproject.toml",
    CONTRIB,
)
FILES = "https://github.com/kubesched/kubesched/blob/"


def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the version that each place names."""
    chart: Mapping[str, Any] = yaml.safe_load((root / CHART).read_text())
    return {
        "packages/scheduler/src/kubesched/__init__.py": kubesched.__version__,
        **{f"version in {each}": _project(root, each)["version"] for each in PROJECTS},
        **{f"{name} in {each}": pinned for each in PROJECTS for name, pinned in _pins(_project(root, each)).items()},
        f"version in {CHART}": str(chart["version"]),
        f"appVersion in {CHART}": str(chart["appVersion"]),
    }


def required_by_contrib(root: Path = ROOT) -> str:
    """Return the versions of kubesched that the plugins of contrib ask for."""
    (found,) = (str(each) for each in _project(root, CONTRIB)["dependencies"] if each.startswith("kubesched"))
    return found


def fitting_requirement(version: str) -> str:
    """Return what they have to ask for at a version: until 1.0 a minor version may change the Python API."""
    major, minor, _ = version.split(".")
    return f"kubesched-scheduler>={major}.{minor},<{major}.{int(minor) + 1}"


def notes(changes: str, version: str) -> str:
    """Return the section of a version in the list of changes; empty if there is none."""
    found = re.search(rf"^## {re.escape(version)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", changes, re.DOTALL | re.MULTILINE)
    return found[1].strip() if found is not None else ""


def notes_of_tag(changes: str, tag: str) -> str:
    """Return the section of a tag's version, with links to the files of the tag."""
    return re.sub(r"\]\((?!https:)", f"]({FILES}{tag}/", notes(changes, tag.removeprefix("v")))


def problems(tag: str, named: Mapping[str, str], required: str, changes: str) -> list[str]:
    """Return what does not agree with a tag, one sentence each."""
    version = tag.removeprefix("v")
    if re.fullmatch(r"v\d+\.\d+\.\d+-?(a|b|rc)\.?\d+", tag):
        return [f"the tag is {tag!r}: pre-releases are not made, Helm and Python write their versions differently"]
    if not re.fullmatch(r"v\d+\.\d+\.\d+", tag):
        return [f"the tag is {tag!r}: expected v and three numbers, such as v0.2.0"]
    found = [f"{place} says {each}, the tag {tag}" for place, each in named.items() if each != version]
    if required != (fitting := fitting_requirement(version)):
        found.append(f"{CONTRIB} requires {required}: write {fitting}")
    if not notes(changes, version):
        found.append(f"{CHANGES} has no section `## {version}`: rename Unreleased, and begin a new one")
    elif notes(changes, "Unreleased"):
        found.append(f"{CHANGES} has changes in Unreleased that the notes would not tell: move them to `## {version}`")
    return found


def main() -> int:
    """Check a tag."""
    (tag,) = sys.argv[1:]
    changes = (ROOT / CHANGES).read_text()
    found = problems(tag, versions(), required_by_contrib(), changes)
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(notes_of_tag(changes, tag))
    return 1 if found else 0


def _project(root: Path, name: str) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((root / name).read_text())["project"]
    return project


def _pins(project: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions that a project names of the other distributions."""
    found = (re.fullmatch(r"(kubesched-\w+)==([\d.]+)", each) for each in project["dependencies"])
    return {each[1]: each[2] for each in found if each is not None}


if __name__ == "__main__":
    sys.exit(main())
