"""A class of the scheduler's shell shares its name with no other public class."""

import ast
from collections import defaultdict
from pathlib import Path

import kubesched

SOURCE = Path(kubesched.__file__).parent
SHELL = ("cli", "client", "common", "conformance", "http", "run", "serving", "up")


def test_public_classes_of_the_shell_have_names_of_their_own() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(file.relative_to(SOURCE)))
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert {name: found for name, found in twice.items() if any(home.split("/")[0] in SHELL for home in found)} == {}
