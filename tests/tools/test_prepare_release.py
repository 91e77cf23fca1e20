"""Preparing a release: one command writes the version everywhere and closes the list of changes."""

import re
from pathlib import Path

import pytest

from tools.prepare_release import PLACES, released, with_version
from tools.release import notes

ROOT = Path(__file__).parents[2]
CHANGES = """# Changes

## Unreleased (Kubernetes v1.36.4)

### Added

- new

## 0.1.0 (Kubernetes v1.36.4)

- first
"""


@pytest.mark.parametrize("name", PLACES)
def test_every_place_names_the_version(name: str) -> None:
    text = (ROOT / name).read_text()
    assert with_version(text, PLACES[name], "9.8.7") != text


@pytest.mark.parametrize("name", PLACES)
def test_other_numbers_of_a_file_stay(name: str) -> None:
    text = (ROOT / name).read_text()
    changed = with_version(text, PLACES[name], "9.8.7")
    differing = [new for old, new in zip(text.splitlines(), changed.splitlines(), strict=True) if old != new]
    assert all("9.8.7" in line for line in differing)
    assert re.sub(r"9\.8\.7", "", changed).count("\n") == text.count("\n")


def test_unreleased_becomes_the_section_of_the_version() -> None:
    text = released(CHANGES, "0.2.0")
    assert notes(text, "0.2.0") == "### Added\n\n- new"
    assert notes(text, "Unreleased") == ""
    assert notes(text, "0.1.0") == "- first"
    assert "## Unreleased (Kubernetes v1.36.4)\n\n## 0.2.0 (Kubernetes v1.36.4)\n" in text


def test_a_section_that_was_written_before_the_release_is_joined() -> None:
    text = released(CHANGES, "0.1.0")
    assert notes(text, "0.1.0") == "- first\n\n### Added\n\n- new"
    assert text.count("## 0.1.0") == 1


def test_a_second_run_changes_nothing() -> None:
    once = released(CHANGES, "0.2.0")
    assert released(once, "0.2.0") == once
