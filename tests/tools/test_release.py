"""Releases: a tag agrees with all places that name the version, and its notes are those of the list of changes."""

from pathlib import Path

import pytest

import kubesched
from tools.release import fitting_requirement, notes, notes_of_tag, problems, required_by_contrib, versions

CHANGES = """# Changes

## Unreleased (Kubernetes v1.36.4)

## 0.2.0 (Kubernetes v1.36.4)

### Added

- this

## 0.1.0

- first
"""
LEFT = CHANGES.replace("## 0.2.0", "- new\n\n## 0.2.0")
SAME = {"a": "0.2.0", "b": "0.2.0"}
FITS = "kubesched-scheduler>=0.2,<0.3"
NO_TAG = "expected v and three numbers, such as v0.2.0"


@pytest.mark.parametrize(
    ("tag", "named", "required", "changes", "told"),
    [
        ("v0.2.0", SAME, FITS, CHANGES, []),
        ("0.2.0", SAME, FITS, CHANGES, [f"the tag is '0.2.0': {NO_TAG}"]),
        ("v0.2", SAME, FITS, CHANGES, [f"the tag is 'v0.2': {NO_TAG}"]),
        (
            "v0.2.0rc1",
            {"a": "0.2.0rc1"},
            FITS,
            CHANGES,
            ["the tag is 'v0.2.0rc1': pre-releases are not made, Helm and Python write their versions differently"],
        ),
        ("v0.2.0", {"a": "0.2.0", "b": "0.1.0"}, FITS, CHANGES, ["b says 0.1.0, the tag v0.2.0"]),
        (
            "v0.2.0",
            SAME,
            "kubesched-scheduler>=0.1,<0.2",
            CHANGES,
            [f"packages/contrib/pyproject.toml requires kubesched-scheduler>=0.1,<0.2: write {FITS}"],
        ),
        (
            "v0.3.0",
            {"a": "0.3.0"},
            "kubesched-scheduler>=0.3,<0.4",
            LEFT,
            ["CHANGELOG.md has no section `## 0.3.0`: rename Unreleased, and begin a new one"],
        ),
        (
            "v0.2.0",
            SAME,
            FITS,
            LEFT,
            ["CHANGELOG.md has changes in Unreleased that the notes would not tell: move them to `## 0.2.0`"],
        ),
    ],
    ids=[
        "all agree",
        "a tag without v",
        "a tag with two numbers",
        "a pre-release",
        "a place was forgotten",
        "the plugins ask for another version",
        "no notes",
        "changes were left in Unreleased",
    ],
)
def test_what_does_not_agree_is_told(
    tag: str, named: dict[str, str], required: str, changes: str, told: list[str]
) -> None:
    assert problems(tag, named, required, changes) == told


@pytest.mark.parametrize(
    ("written", "led"),
    [
        ("[a](docs/a.md#b)", "[a](https://github.com/kubesched/kubesched/blob/v0.2.0/docs/a.md#b)"),
        ("[a](https://semver.org)", "[a](https://semver.org)"),
    ],
    ids=["a file of the repository, as the tag has it", "a page elsewhere"],
)
def test_links_of_notes_lead_somewhere_on_the_page_of_the_release(written: str, led: str) -> None:
    assert notes_of_tag(f"## 0.2.0\n\n- {written}\n", "v0.2.0") == f"- {led}"


@pytest.mark.parametrize(
    ("version", "requirement"), [("0.2.0", FITS), ("0.2.7", FITS), ("0.9.1", "kubesched-scheduler>=0.9,<0.10")]
)
def test_plugins_need_the_minor_version_that_they_came_with(version: str, requirement: str) -> None:
    assert fitting_requirement(version) == requirement


@pytest.mark.parametrize(
    ("version", "text"), [("0.2.0", "### Added\n\n- this"), ("0.1.0", "- first"), ("0.2", ""), ("9.9.9", "")]
)
def test_notes_are_the_section_of_the_version(version: str, text: str) -> None:
    assert notes(CHANGES, version) == text


def test_the_repository_names_one_version() -> None:
    assert set(versions().values()) == {kubesched.__version__}
    assert required_by_contrib() == fitting_requirement(kubesched.__version__)


def test_the_version_has_its_section() -> None:
    assert notes((Path(__file__).parents[2] / "CHANGELOG.md").read_text(), kubesched.__version__)
