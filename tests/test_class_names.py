"""Public classes have names of their own: in the scheduler's shell, and in the core."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.packages import PACKAGES, modules

SOURCE = PACKAGES[0]
SHELL = ("answers", "cli", "client", "common", "conformance", "http", "run", "serving", "up")
CORE = ("api", "core")
# upstream has a plugin and a type of this name
UPSTREAM = {"NodeAffinity"}


def shared_names(files: Iterable[Path], rooms: tuple[str, ...]) -> Mapping[str, list[str]]:
    """Return the modules of public classes of one name, where one of them is in some rooms."""
    homes: dict[str, list[str]] = defaultdict(list)
    for file in sorted(files):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(_home(file))
    twice = {name: found for name, found in homes.items() if len(found) > 1 and name not in UPSTREAM}
    return {
        name: found
        for name, found in twice.items()
        if any(home.startswith(tuple(f"{room}/" for room in rooms)) for home in found)
    }


def _home(file: Path) -> str:
    """Return the path of a module below its package; that of the answers is a room of the shell."""
    (package,) = (each for each in PACKAGES if file.is_relative_to(each))
    path = str(file.relative_to(package))
    return f"answers/{path}" if package.name == "kubesched_answers" else path


def test_public_classes_of_the_shell_share_their_names_with_no_class() -> None:
    assert shared_names(modules(), SHELL) == {}


def test_public_classes_of_the_core_share_their_names_with_no_class_of_the_core_or_the_api() -> None:
    assert shared_names([*SOURCE.glob("api/**/*.py"), *SOURCE.glob("core/**/*.py")], CORE) == {}
