"""The docstring of kubesched.errors draws every error that kubesched raises on purpose, below its base class."""

import ast
from collections.abc import Iterator
from pathlib import Path

import kubesched.errors

SOURCE = Path(kubesched.errors.__file__).parent


def classes() -> Iterator[tuple[str, str, str]]:
    """Yield each class of the package with one of its bases and the package that it is in."""
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    if isinstance(base, ast.Name):
                        yield node.name, base.id, file.relative_to(SOURCE).with_suffix("").parts[0]


def drawn(name: str, room: str, below: dict[str, dict[str, str]], indent: str = "", branch: str = "") -> Iterator[str]:
    """Yield the lines of a tree."""
    yield f"    {indent}{branch}{name}".ljust(44) + room
    children = sorted(below.get(name, {}).items())
    indent += {"": "", "├── ": "│   ", "└── ": "    "}[branch]
    for child, child_room in children:
        last = child == children[-1][0]
        yield from drawn(child, child_room, below, indent, "└── " if last else "├── ")


def test_the_tree_of_errors_is_drawn() -> None:
    below: dict[str, dict[str, str]] = {}
    for name, base, room in classes():
        if not name.startswith("_"):
            below.setdefault(base, {})[name] = room
    tree = "\n".join(drawn("KubeschedError", "errors", below))
    assert tree in (kubesched.errors.__doc__ or ""), f"draw it in errors.py:\n{tree}"
