"""The page of errors: the tree of exceptions that kubesched raises on purpose.

From the classes of the sources to Markdown.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.reference.cells import cell

SOURCES = tuple(sorted((Path(__file__).parents[2] / "packages").glob("*/src")))
# a public class of a module, its bases, and the first paragraph of its docstring
_CLASS = re.compile(r'^class ([A-Z]\w*)\(([^()]*)\):[^\n]*\n    """(.*?)(?:\n\n|""")', re.MULTILINE | re.DOTALL)
INTRODUCTION = """\
# Errors

kubesched raises these exceptions on purpose. Each is a problem that you can act on, and its text is one sentence. A pod
that does not fit is no exception but a value (`Status`). Any other exception is a bug. This page is written by
`make docs`.

| exception | module | meaning |
|---|---|---|
"""


class Declared(NamedTuple):
    """A class of the sources."""

    name: str
    base: str
    module: str
    meaning: str


def page() -> str:
    """Return the page."""
    declared = list(_classes(SOURCES))
    root = next(each for each in declared if each.name == "KubeschedError")
    return INTRODUCTION + _row(root, 0) + "".join(_rows_below(root.name, declared, 1))


def _rows_below(base: str, declared: Iterable[Declared], depth: int) -> Iterator[str]:
    """Yield the rows of the classes derived from a class, by name, each followed by the classes derived from it."""
    for each in sorted(declared):
        if each.base == base:
            yield _row(each, depth)
            yield from _rows_below(each.name, declared, depth + 1)


def _row(each: Declared, depth: int) -> str:
    branch = "&emsp;" * depth
    return f"| {branch}`{each.name}` | `{each.module}` | {cell(each.meaning)} |\n"


def _classes(folders: Iterable[Path]) -> Iterator[Declared]:
    """Yield the public classes with a base, each once for every base."""
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            module = ".".join(file.relative_to(folder).with_suffix("").parts)
            for name, bases, meaning in _CLASS.findall(file.read_text()):
                for base in bases.split(","):
                    yield Declared(name, base.strip(), module, meaning)
