"""Releases: a tag agrees with all places that name the version, and its notes are those of the list of changes."""

from pathlib import Path

import pytest

import kubesched
from tools.release import notes, problems, versions

CHANGES = """# Changes

## Unreleased

- new

## 0.2.0 (Kubernetes v1.36.4)

### Added

- this

## 0.1.0

- first
"""
SAME = {"a": "0.2.0", "b": "0.2.0"}


@pytest.mark.parametrize(
    ("tag", "named", "told"),
    [
        ("v0.2.0", SAME, []),
        ("0.2.0", SAME, ["the tag is '0.2.0': expected v and a version, such as v0.2.0 or v0.2.0rc1"]),
        ("v0.2", SAME, ["the tag is 'v0.2': expected v and a version, such as v0.2.0 or v0.2.0rc1"]),
        ("v0.2.0", {"a": "0.2.0", "b": "0.1.0"}, ["b says 0.1.0, the tag v0.2.0"]),
        (
            "v0.3.0",
            {"a": "0.3.0"},
            ["CHANGELOG.md has no section `## 0.3.0`: rename Unreleased, and begin a new one"],
        ),
    ],
    ids=["all agree", "a tag without v", "a tag with two numbers", "a place was forgotten", "no notes"],
)
def test_what_does_not_agree_is_told(tag: str, named: dict[str, str], told: list[str]) -> None:
    assert problems(tag, named, CHANGES) == told


@pytest.mark.parametrize(
    ("version", "text"), [("0.2.0", "### Added\n\n- this"), ("0.1.0", "- first"), ("0.2", ""), ("9.9.9", "")]
)
def test_notes_are_the_section_of_the_version(version: str, text: str) -> None:
    assert notes(CHANGES, version) == text


def test_the_repository_names_one_version() -> None:
    assert set(versions().values()) == {kubesched.__version__}


def test_the_version_has_its_section() -> None:
    assert notes((Path(__file__).parents[2] / "CHANGELOG.md").read_text(), kubesched.__version__)
