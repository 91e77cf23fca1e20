"""Find English that readers have to read twice: `python -m tools.prose --list`.

From README, the documents and docstrings to the places with patterns that the style guide in CONTRIBUTING.md bans.
`make check` fails where a file has more places than prose_allowed.json grants, and where the list grants more than the
file has; `--write` shrinks the list.
"""

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ALLOWED = Path(__file__).with_name("prose_allowed.json")
# what the style guide asks for, and the pattern that shows the need
BANNED = {
    "name the noun": r"\b(?:what (?:is|it|they|was|has|are|happens|becomes|the|a|can|cannot|could|others|runs)"
    r"|whoever|whom|whatever|those (?:that|who|of)|ones? that)\b",
    "name the actor": r"\b(?:somebody|nobody|anybody|others)\b",
    "say custom, separate or alone": r"\b(?:by (?:it|them)sel(?:f|ves)|of (?:its|their|our|one's) own)\b",
    "use the verb of the field": r"\b(?:bears?|heeds?|mend(?:ed|s)?|tells?|told|taken? back|goes? on|made anew"
    r"|(?:is|are) (?:there|away|gone))\b",
}
_PATTERN = re.compile("|".join(f"({pattern})" for pattern in BANNED.values()), re.IGNORECASE)
# in Markdown: front matter, blocks of code, comments, tables and headings, and code between backticks
_NO_PROSE = re.compile(
    r"^---\n.*?\n---\n|^```.*?^```|<!--.*?-->|^\s*\|[^\n]*$|^#[^\n]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE
)
# pages that `make docs` writes from the code
_GENERATED = {
    f"docs/reference/{page}.md"
    for page in ("api-compatibility", "commands", "configuration", "limits", "messages", "metrics", "plugin-api")
}


class Place(NamedTuple):
    """A banned pattern in a file."""

    path: str
    line: int
    words: str
    advice: str


def places(root: Path = ROOT) -> Iterator[Place]:
    """Yield each banned pattern in the documents and docstrings below a folder."""
    documents = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    for path in documents:
        name = path.relative_to(root).as_posix()
        if name not in _GENERATED and not name.startswith("docs/reference/commands/"):
            yield from _found(name, 1, _prose(path.read_text()))
    for path in sorted((root / "packages").glob("*/src/**/*.py")):
        name = path.relative_to(root).as_posix()
        for line, text in docstrings(path.read_text()):
            yield from _found(name, line, text)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module, each with its first line's number."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text:
                yield node.body[0].lineno, re.sub(r"`[^`\n]*`", "", text)


def _prose(text: str) -> str:
    """Return a Markdown text with blanks in place of code, tables and headings, on the same lines."""
    return _NO_PROSE.sub(lambda match: "\n" * match[0].count("\n"), text)


def _found(path: str, first: int, text: str) -> Iterator[Place]:
    for match in _PATTERN.finditer(text):
        assert match.lastindex is not None  # every alternative is a group
        advice = list(BANNED)[match.lastindex - 1]
        yield Place(path, first + text.count("\n", 0, match.start()), match[0], advice)


def _line(place: Place) -> str:
    return f"{place.path}:{place.line}: {place.words!r}: {place.advice}"


def problems(found: list[Place], allowed: dict[str, int]) -> list[str]:
    """Return a sentence for each file that has more, or fewer, banned patterns than the allow-list grants."""
    counts = Counter(place.path for place in found)
    answer = []
    for path in sorted({*counts, *allowed}):
        count, granted = counts[path], allowed.get(path, 0)
        if count > granted:
            answer += [
                f"{place.path}:{place.line}: {place.words!r}: {place.advice}" for place in found if place.path == path
            ]
            answer.append(f"{path}: {count} places, {granted} allowed; see the style guide in CONTRIBUTING.md")
        elif count < granted:
            answer.append(f"{path}: {count} places, {granted} allowed; run `python -m tools.prose --write`")
    return answer


def main() -> None:
    """Check the texts, list the places, or shrink the allow-list."""
    parser = argparse.ArgumentParser(description="Find English that readers have to read twice.")
    parser.add_argument("--write", action="store_true", help="shrink the allow-list to the places that are left")
    parser.add_argument("--list", action="store_true", help="list all places, allowed ones too")
    options = parser.parse_args()
    found = list(places())
    allowed: dict[str, int] = json.loads(ALLOWED.read_text())
    if options.list:
        print("\n".join(map(_line, found)))
        return
    if options.write:
        counts = Counter(place.path for place in found)
        left = {path: min(counts[path], granted) for path, granted in sorted(allowed.items()) if counts[path]}
        ALLOWED.write_text(json.dumps(left, indent=1) + "\n")
        allowed = left
    sentences = problems(found, allowed)
    if sentences:
        sys.exit("\n".join(sentences))


if __name__ == "__main__":
    main()
