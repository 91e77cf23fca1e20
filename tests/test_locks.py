"""What is installed: every dependency pinned with its hash, and the image's the same as the tests'."""

import re
import tomllib
from pathlib import Path

from tests.support.packages import DISTRIBUTIONS

ROOT = Path(__file__).parents[1]
_PINNED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", re.MULTILINE | re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def pins(name: str) -> dict[str, str]:
    """Return the versions in a lock, by name."""
    return {_plain(found[1]): found[2] for found in _PINNED.finditer((ROOT / name).read_text())}


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def dependencies(name: str) -> list[str]:
    """Return the names of what a project needs from elsewhere."""
    project = tomllib.loads((ROOT / name).read_text())["project"]
    found = [_plain(_NAME.match(each)[0]) for each in project["dependencies"]]  # type: ignore[index]
    return [each for each in found if not each.startswith("kubesched-")]


def test_what_runs_is_what_was_tested() -> None:
    runtime, everything = pins("requirements-runtime.lock"), pins("requirements.lock")
    assert runtime.items() <= everything.items()
    assert pins("requirements-build.lock").items() <= everything.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [each.split("==")[0].removeprefix("kubesched-") for each in project["dependencies"]]
    assert sorted(names) == sorted(DISTRIBUTIONS)
    wanted = {name for each in names for name in dependencies(f"packages/{each}/pyproject.toml")}
    assert wanted == runtime.keys() & wanted
    # the image has the same lock: the scheduler needs all of it
    assert wanted == set(dependencies("packages/scheduler/pyproject.toml"))
    tools = {_plain(_NAME.match(each)[0]) for each in project["optional-dependencies"]["dev"]}  # type: ignore[index]
    assert not tools & runtime.keys()


def test_every_pin_has_hashes() -> None:
    for name in ("requirements.lock", "requirements-build.lock", "requirements-runtime.lock", "requirements-site.lock"):
        entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
