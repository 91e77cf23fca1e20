"""Marks in the code and rows in docs/reference/differences.md belong together."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"# differs(?: \((.*?)\))?:")
ROWS = [
    line.split(" | ")[0].removeprefix("| ")
    for line in (ROOT / "docs/reference/differences.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| what |")
]


def marks() -> list[tuple[str, str]]:
    """Return where each mark is, and the row that it names."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        # a mark may go on in the next line
        text = re.sub(r"\n *# (?!upstream|differs)", " ", path.read_text())
        found += [(str(path.relative_to(ROOT / "src")), named or "") for named in MARK.findall(text)]
    return found


@pytest.mark.parametrize(("path", "named"), sorted(set(marks())))
def test_a_mark_names_one_row(path: str, named: str) -> None:
    assert named, (
        f"{path}: write `# differs (part of the first column of its row in docs/reference/differences.md): ...`"
    )
    assert len([row for row in ROWS if named in row]) == 1, f"{path}: rows with {named!r} in their first column"


def test_no_row_is_there_twice() -> None:
    assert sorted(set(ROWS)) == sorted(ROWS)
