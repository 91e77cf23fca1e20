"""Workflows of GitHub: what they call exists, they have the least rights, and actions are pinned by commit."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
NAMES = [path.name for path in FILES]
each_workflow = pytest.mark.parametrize("path", FILES, ids=NAMES)
# the rights that a job may have beyond reading, and what for
RIGHTS = {
    ("release.yml", "attest"): {"attestations", "id-token"},
    ("release.yml", "publish"): {"id-token"},
    ("release.yml", "publish-image"): {"attestations", "id-token", "packages"},
    ("release.yml", "github-release"): {"contents"},
    ("site.yml", "deploy"): {"id-token", "pages"},
}


def workflow(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text())
    return found


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = workflow(path)["jobs"]
    return found


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in jobs(path).values():
        yield from job.get("steps", [])


def scripts(path: Path) -> list[str]:
    return [step["run"] for step in steps(path) if "run" in step]


def make_targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_there_are_workflows() -> None:
    assert {"tests.yml", "release.yml", "site.yml"} <= set(NAMES)


@each_workflow
def test_a_workflow_begins_with_the_right_to_read_and_no_other(path: Path) -> None:
    assert workflow(path)["permissions"] == {"contents": "read"}


@each_workflow
def test_jobs_have_no_more_rights_than_they_need(path: Path) -> None:
    for name, job in jobs(path).items():
        written = {right for right, access in job.get("permissions", {}).items() if access == "write"}
        assert written == RIGHTS.get((path.name, name), set()), name
        assert set(job.get("permissions", {}).values()) <= {"read", "write"}


def test_no_code_of_the_repository_runs_with_the_right_to_write() -> None:
    for (file, name), _ in RIGHTS.items():
        job = jobs(ROOT / ".github" / "workflows" / file)[name]
        assert not any("actions/checkout" in step.get("uses", "") for step in job["steps"]), name
        assert not any("make " in step.get("run", "") for step in job["steps"]), name


@each_workflow
def test_actions_are_pinned_by_commit_with_their_version_beside_it(path: Path) -> None:
    for used, comment in re.findall(r"uses: (\S+)(.*)", path.read_text()):
        if used.startswith("./"):
            assert (ROOT / used).exists()
        else:
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", used), used
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), used


def test_an_action_has_one_commit_in_all_workflows() -> None:
    used = {text for path in FILES for text in re.findall(r"uses: (\w\S+)", path.read_text())}
    assert len({each.partition("@")[0] for each in used}) == len(used)


@each_workflow
def test_targets_of_make_that_are_called_exist(path: Path) -> None:
    for script in scripts(path):
        called = [re.sub(r"--\S+ ", "", words) for words in re.findall(r"\bmake ((?:--\S+ )?\S+)", script)]
        for target in called:
            assert target.startswith("${{") or target in {*make_targets(), ".venv/.ready"}, target


def test_targets_of_the_nightly_matrix_exist() -> None:
    targets = jobs(ROOT / ".github/workflows/nightly.yml")["long"]["strategy"]["matrix"]["target"]
    assert {each.split()[0] for each in targets} <= make_targets()


@each_workflow
def test_scripts_are_bash_and_take_nothing_that_outsiders_write(path: Path) -> None:
    for script in scripts(path):
        plain = re.sub(r"\$\{\{ matrix\.\w+ \}\}", "x", script)
        assert "${{" not in plain, "a value of an event in a script could be a script: use env"
        checked = subprocess.run(["bash", "-n"], input=plain, capture_output=True, text=True, check=False)
        assert checked.stderr == ""


@each_workflow
def test_jobs_end_and_keep_no_credentials(path: Path) -> None:
    for name, job in jobs(path).items():
        assert "timeout-minutes" in job or "uses" in job, name
    for step in steps(path):
        if "actions/checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


@each_workflow
def test_jobs_wait_for_jobs_that_exist(path: Path) -> None:
    for job in jobs(path).values():
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= set(jobs(path))


def test_pull_requests_of_strangers_never_meet_secrets() -> None:
    for path in FILES:
        text = path.read_text()
        assert "pull_request_target" not in text
        assert "secrets." not in text


def test_a_release_is_published_after_tests_and_checks() -> None:
    path = ROOT / ".github/workflows/release.yml"
    order = {name: job.get("needs") for name, job in jobs(path).items()}
    assert order == {
        "tests": None,
        "build": "tests",
        "image": "tests",
        "attest": "build",
        "publish": "attest",
        "publish-image": ["attest", "image"],
        "github-release": ["publish", "publish-image"],
    }
    assert any("release-check" in script for script in scripts(path))


def test_the_pythons_of_the_classifiers_are_tested() -> None:
    matrix = jobs(ROOT / ".github/workflows/tests.yml")["quick"]["strategy"]["matrix"]
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert matrix["python"] == named
    assert matrix["os"] == ["ubuntu-24.04", "ubuntu-24.04-arm"]


@pytest.mark.parametrize("target", ["check", "pytest", "test-slow", "coverage", "dist", "site"])
def test_every_change_is_checked(target: str) -> None:
    path = ROOT / ".github/workflows/tests.yml"
    assert f"make {target}" in scripts(path)
    triggers = workflow(path)[True]
    assert {"pull_request", "push", "workflow_call"} == set(triggers)


def test_what_is_not_promised_is_tried_all_the_same() -> None:
    quick = jobs(ROOT / ".github/workflows/tests.yml")["quick"]
    tried = {(each["os"].partition("-")[0], each["python"]) for each in quick["strategy"]["matrix"]["include"]}
    assert {("ubuntu", "3.14"), ("macos", "3.13")} <= tried
    assert quick["continue-on-error"] == "${{ matrix.experimental }}"


def test_releases_are_published_without_a_password_and_with_a_provenance() -> None:
    found = jobs(ROOT / ".github/workflows/release.yml")
    (publishes,) = (step for step in found["publish"]["steps"] if "gh-action-pypi-publish" in step.get("uses", ""))
    assert not {"password", "user", "attestations"} & set(publishes.get("with", {}))
    assert found["publish"]["environment"]["name"] == "pypi"
    (attests,) = (step for step in found["attest"]["steps"] if "attest-build-provenance" in step.get("uses", ""))
    assert attests["with"]["subject-path"] == "dist/*"


def test_a_release_is_begun_by_a_tag_and_has_the_bill_of_materials() -> None:
    path = ROOT / ".github/workflows/release.yml"
    assert workflow(path)[True] == {"push": {"tags": ["v*"]}}
    assert "make dist" in scripts(path)
    (command,) = re.findall(r"tools\.sbom .* > (dist/\S+)", (ROOT / "Makefile").read_text())
    assert command == "dist/kubesched.cdx.json"
