"""An empty virtual environment with kubesched from its wheels, made without a network.

From built wheels and this environment to one that has the wheels, their dependencies and those of named extras, and
nothing else: what pip would install is linked from here, at the versions of the lock.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from tests.support.packages import DISTRIBUTIONS, FOLDERS, ROOT

SECONDS = 120.0


def build_wheel(folder: Path, source: Path = ROOT) -> Path:
    """Return the wheel of the repository, or of another folder with sources, built into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=source, capture_output=True, check=True, timeout=SECONDS)
    (wheel,) = folder.glob("*.whl")
    return wheel


def build_all(folder: Path) -> list[Path]:
    """Return the wheels of all that `pip install kubesched` installs, built into a folder."""
    sources = [ROOT, *(FOLDERS[f"kubesched-{name}"] for name in DISTRIBUTIONS)]
    return [build_wheel(folder / str(number), source) for number, source in enumerate(sources)]


def new_environment(folder: Path, wheels: Sequence[Path], extras: frozenset[str] = frozenset()) -> Path:
    """Make a virtual environment; return the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=SECONDS)
    programs = folder / "bin"
    (packages,) = folder.glob("lib/python*/site-packages")
    ours = {re.sub("[-_.]+", "-", wheel.name.split("-")[0]) for wheel in wheels}
    needed = {each for name in ours for each in _needed(name, extras)} - ours
    for name in sorted(needed):
        _link(metadata.distribution(name), packages)
    install = [
        str(programs / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        *map(str, wheels),
    ]
    subprocess.run(install, check=True, timeout=SECONDS)
    return programs


def _needed(name: str, extras: frozenset[str]) -> set[str]:
    """Return the distributions that one needs, and that those need."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        name, extras = waiting.pop()
        for text in metadata.requires(name) or ():
            needed = Requirement(text)
            is_for_us = needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in (*extras, "")
            )
            plain = re.sub("[-_.]+", "-", needed.name).lower()
            if is_for_us and plain not in found:
                found.add(plain)
                waiting.append((plain, frozenset(needed.extras)))
    return found


def _link(distribution: metadata.Distribution, packages: Path) -> None:
    """Link what a distribution has installed here into another environment."""
    for top in set(_tops(distribution)):
        link = packages / top
        if not link.exists():
            link.symlink_to(Path(str(distribution.locate_file(top))))


def _tops(distribution: metadata.Distribution) -> Iterator[str]:
    """Yield the files and folders of a distribution at the top of site-packages; programs are elsewhere."""
    for file in distribution.files or ():
        if file.parts[0] not in ("..", "__pycache__"):
            yield file.parts[0]
