"""One constant says which release this is."""

import re
from pathlib import Path

from kubesched.api.release import RELEASE
from kubesched.config.feature_gates import BINARY_VERSION, OLDEST_VERSION

SOURCES = Path(__file__).parents[4] / "packages"
# comments name the release that they were written for, docstrings show an example
PROSE = re.compile(r'#.*|"""(?:.|\n)*?"""')


def test_no_other_module_writes_the_release_down() -> None:
    found = [
        str(path.relative_to(SOURCES))
        for path in sorted(SOURCES.glob("*/src/**/*.py"))
        if RELEASE in PROSE.sub("", path.read_text())
    ]
    assert found == ["scheduler/src/kubesched/api/release.py"]


def test_the_releases_that_are_emulated_follow_from_it() -> None:
    assert RELEASE.startswith(f"{BINARY_VERSION}.")
    assert (BINARY_VERSION.major, BINARY_VERSION.minor - 3) == OLDEST_VERSION
