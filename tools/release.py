"""A release: `python -m tools.release v0.2.0` checks that all places name the version of the tag, and prints its notes.

From a tag and the files of the repository to the section of CHANGELOG.md; or to what does not agree, one line each, and
exit code 1.
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
CHANGES, CHART, CONTRIB = "CHANGELOG.md", "deploy/charts/kubesched/Chart.yaml", "contrib/pyproject.toml"


def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the version that each place names."""
    chart: Mapping[str, Any] = yaml.safe_load((root / CHART).read_text())
    return {
        "src/kubesched/__init__.py": kubesched.__version__,
        f"version in {CONTRIB}": tomllib.loads((root / CONTRIB).read_text())["project"]["version"],
        f"version in {CHART}": str(chart["version"]),
        f"appVersion in {CHART}": str(chart["appVersion"]),
    }


def notes(changes: str, version: str) -> str:
    """Return the section of a version in the list of changes; empty if there is none."""
    found = re.search(rf"^## {re.escape(version)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", changes, re.DOTALL | re.MULTILINE)
    return found[1].strip() if found is not None else ""


def problems(tag: str, named: Mapping[str, str], changes: str) -> list[str]:
    """Return what does not agree with a tag, one sentence each."""
    version = tag.removeprefix("v")
    if version == tag or not re.fullmatch(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?", version):
        return [f"the tag is {tag!r}: expected v and a version, such as v0.2.0 or v0.2.0rc1"]
    found = [f"{place} says {each}, the tag {tag}" for place, each in named.items() if each != version]
    if not notes(changes, version):
        found.append(f"{CHANGES} has no section `## {version}`: rename Unreleased, and begin a new one")
    return found


def main() -> int:
    """Check a tag."""
    (tag,) = sys.argv[1:]
    changes = (ROOT / CHANGES).read_text()
    found = problems(tag, versions(), changes)
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(notes(changes, tag.removeprefix("v")))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
