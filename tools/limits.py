"""Write docs/reference/limits.md: `python -m tools.limits docs/reference/limits.md`.

A limit is a number at the top of a module, under a name in capitals with a word of WORDS, such as MOST or SECONDS.
`tools/limits.txt` lists each of them under a heading of the page, with its meaning; other constants may be listed, too.
The end of that file names those that stay out of the page, and OTHER_FOLDERS the folders that are not searched.
"""

import ast
import operator
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).parents[1] / "packages/scheduler/src/kubesched"
# files of the scheduler are named below its package, others with theirs
FOLDERS = (PACKAGE, *(PACKAGE.parents[2] / each / "src" for each in ("controlplane", "answers", "lab")))
LISTED = Path(__file__).with_name("limits.txt")
WORDS = re.compile(
    r"(?:^|_)(?:MAX|MOST|LARGEST|LONGEST|DEEPEST|WIDEST|HIGHEST|LIMIT|LATEST|SECONDS|BYTES|CAPACITY|BACKLOG|TRIES"
    r"|REMEMBERED|DIGESTS|CLASSES|QUESTIONS|CELLS|MEMORY|HEAVY|BUDGET|KEPT)(?:_|$)"
)
# folder -> why its limits are not in the page
OTHER_FOLDERS = {
    "testing": "tools for tests",
    "kubesched_controlplane/testing": "tools for tests",
    "kubesched_lab/bench": "tools for measuring",
    "kubesched_answers": "the extent of an answer, which each answer states",
    "model": "the extent of an answer, which each answer states",
    "sources": "the extent of an answer, which each answer states",
    "reports": "the extent of what is printed",
    "kubesched_controlplane/cli": "the extent of what is printed",
    "cli": "the extent of what is printed",
    "shadow": "the extent of a comparison, which its report states",
    "kubesched_controlplane/kinds": "the validation of Kubernetes, with the numbers of the reference",
    "kubesched_controlplane/controllers": "the controllers of Kubernetes, with the numbers of the reference",
    "kubesched_controlplane/custom": "the validation of Kubernetes, with the numbers of the reference",
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], float]] = {
    ast.Mult: operator.mul,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}
_LINE = re.compile(r"(\S+\.py) (\w+): (.+)")
_HEADING, _OUT = "# ", "# not in the page: "
_BYTES = "[bytes] "
_TITLE = """# Limits

This page lists the limits of kubesched: queues, caches, retries, timeouts, buffers, uploads, connections and logs.
They keep memory and time bounded for all input of tenants, servers and clients. Each limit is a constant in the code,
and `make docs` writes this page from the code.

The page leaves out pauses between two checks, ranges of numbers, and the extent of printed output. The validation of
the embedded API server has the limits of kube-apiserver.
"""


class Limit(NamedTuple):
    """A line of `limits.txt`: the heading above it, where the constant is, and its meaning."""

    heading: str
    module: str
    name: str
    meaning: str


def numbers(path: Path) -> Iterator[tuple[str, float]]:
    """Yield the constants of a module that are numbers, also products of numbers."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=expression)
                | ast.AnnAssign(target=ast.Name(id=name), value=expression)
            ) if name.isupper() and (value := _number(expression)) is not None:
                yield name, value


def _number(node: ast.expr | None) -> float | None:
    """Return the value of a number, or of an expression of numbers with an operator of _OPERATORS."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            a, b = _number(left), _number(right)
            return None if a is None or b is None else _OPERATORS[type(op)](a, b)
    return None


@cache
def constants() -> dict[tuple[str, str], float]:
    """Return every constant of the package that is a number, by module and name."""
    return {
        (path.relative_to(folder).as_posix(), name): value
        for folder in FOLDERS
        for path in sorted(folder.rglob("*.py"))
        for name, value in numbers(path)
    }


def searched(module: str, name: str) -> bool:
    """Return whether a constant has the name of a limit, in a folder that is searched."""
    return bool(WORDS.search(name)) and not any(module.startswith(f"{folder}/") for folder in OTHER_FOLDERS)


def listed() -> tuple[list[Limit], set[tuple[str, str]]]:
    """Return the limits of the page, and the constants that stay out of it."""
    found: list[Limit] = []
    out: set[tuple[str, str]] = set()
    heading = ""
    for line in LISTED.read_text().splitlines():
        if line.startswith(_HEADING):
            heading = line
        elif heading.startswith(_OUT):
            module, _, names = line.partition(" ")
            out.update((module, name) for name in names.split())
        elif parts := _LINE.fullmatch(line):
            found.append(Limit(heading.removeprefix(_HEADING), *parts.groups()))
        elif line:
            raise ValueError(f"{LISTED.name}: {line!r} is no limit")
    return found, out


def page() -> str:
    """Return the page as Markdown."""
    values = constants()
    parts, heading = [_TITLE], ""
    for limit in listed()[0]:
        if limit.heading != heading:
            heading = limit.heading
            parts.append(f"\n## {heading}\n\n| limit | value | constant |\n|---|---|---|\n")
        value = values[limit.module, limit.name]
        meaning = limit.meaning.removeprefix(_BYTES)
        shown = _shown(value, limit.name, is_bytes=meaning != limit.meaning)
        parts.append(f"| {meaning} | {shown} | `{limit.module}: {limit.name}` |\n")
    return "".join(parts)


def _shown(value: float, name: str, *, is_bytes: bool) -> str:
    """Return a number with its unit."""
    if is_bytes or "BYTES" in name.split("_"):
        for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
            if value >= size and value % size == 0:
                return f"{int(value) // size} {unit}"
        return f"{_plain(value)} bytes"
    if "SECONDS" in name.split("_"):
        if value >= 120 and value % 60 == 0:
            return f"{int(value) // 60} min"
        return f"{_plain(value)} s" if value >= 1 else f"{_plain(value * 1000)} ms"
    return _plain(value)


def _plain(value: float) -> str:
    number = int(value) if value == int(value) else round(value, 6)
    return f"{number:,}".replace(",", " ") if isinstance(number, int) and number >= 10_000 else str(number)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
