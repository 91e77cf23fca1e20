"""The distributions of this repository, and the packages that they install."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# what `pip install kubesched` installs, in the order in which one needs the other
DISTRIBUTIONS = ("scheduler", "controlplane", "answers", "lab")
FOLDERS = {f"kubesched-{name}": ROOT / "packages" / name for name in (*DISTRIBUTIONS, "contrib")}
PACKAGES = tuple(package for name in DISTRIBUTIONS for package in (ROOT / "packages" / name / "src").iterdir())


def modules() -> Iterator[Path]:
    """Yield the files of all modules."""
    for package in PACKAGES:
        yield from sorted(package.rglob("*.py"))


def room_of(file: Path) -> str:
    """Return the room that a module is in, or the distribution for those above the scheduler."""
    (package,) = (each for each in PACKAGES if file.is_relative_to(each))
    if package.name == "kubesched":
        return file.relative_to(package).with_suffix("").parts[0]
    return package.name.removeprefix("kubesched_")


def exists(file: str) -> bool:
    """Return whether a document names a file that is there: below the root, a package, or the folder of packages."""
    return any((folder / file).exists() for folder in (ROOT, *PACKAGES, *(each.parent for each in PACKAGES)))
