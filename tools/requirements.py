"""What the distributions need from elsewhere, a line each, for `make lock`: `python tools/requirements.py [EXTRA...]`.

From all pyproject.toml to the requirements that are none of ours, with those of extras. Only the standard library is
used.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("scheduler", "controlplane", "answers", "lab")
_OURS = re.compile(r"kubesched(?:-\w+)?(?:\[([\w,]+)\])?(?:==.*)?")


def requirements(extras: Iterable[str] = ()) -> list[str]:
    """Return what all parts need from elsewhere, and the named extras of `kubesched`."""
    found: set[str] = set()
    for part in PARTS:
        project = tomllib.loads((ROOT / "packages" / part / "pyproject.toml").read_text())["project"]
        found.update(each for each in project["dependencies"] if not _OURS.fullmatch(each))
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return sorted({*found, *_of_extras(groups, extras)})


def _of_extras(groups: dict[str, list[str]], extras: Iterable[str]) -> Iterator[str]:
    for extra in extras:
        for each in groups[extra]:
            ours = _OURS.fullmatch(each)
            if ours is None:
                yield each
            elif ours[1]:
                yield from _of_extras(groups, ours[1].split(","))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
