"""The files of upstream that comments `# upstream:` name, and which of them changed between two releases."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tools.upstream.sources import Revision

_MARK = re.compile(r"# upstream: (.*)")
_CONTINUED = re.compile(r"\s*# (.*)")
# the end of a mark: the release that it was written for
_END = re.compile(r"\(v\d[\d.]*\)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)+|[\w-]+\.go")
_OTHERS = ("cel-go", "structured-merge-diff", "kube-openapi")
_NO_CODE = ("_test.go", ".md", "OWNERS")


class Mark(msgspec.Struct, frozen=True):
    """One comment: where it is, and the paths that it names."""

    place: str
    paths: tuple[str, ...]


def marks_in(root: Path) -> list[Mark]:
    """Return all marks in the Python files below a directory."""
    found: list[Mark] = []
    for path in sorted(root.rglob("*.py")):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            if mark := _MARK.search(line):
                text = _whole(mark[1], lines[number + 1 :])
                found.append(Mark(f"{path.relative_to(root)}:{number + 1}", tuple(_paths(text))))
    return found


def _whole(text: str, following: list[str]) -> str:
    """Return a mark with the lines on which it goes on."""
    for line in following:
        more = _CONTINUED.fullmatch(line)
        if _END.search(text) or more is None:
            break
        text = f"{text} {more[1]}"
    return _END.split(text)[0]


def _paths(text: str) -> Iterator[str]:
    if text.startswith(_OTHERS):
        return
    directory = ""
    for expanded in _expanded(re.sub(r"\([^)]*\)", " ", text)):
        for path in _PATH.findall(expanded):
            # a name alone stands beside the file before it
            full = path if "/" in path or not directory else f"{directory}/{path}"
            directory = full.rpartition("/")[0]
            yield full


def _expanded(text: str) -> Iterator[str]:
    """Yield the words of a list of paths, a word with braces once for each alternative."""
    joined = _BRACES.sub(lambda found: "{" + re.sub(r"\s+", "", found[1]) + "}", text)
    for word in re.split(r",?\s+|;", joined):
        yield from _alternatives(word)


def _alternatives(word: str) -> Iterator[str]:
    found = _BRACES.search(word)
    if found is None:
        yield word
        return
    for choice in found[1].split(","):
        yield from _alternatives(word[: found.start()] + choice + word[found.end() :])


def changed(marks: list[Mark], newer: Revision, older: str) -> dict[str, list[str]]:
    """Return each file of upstream that changed and is named, with the places that name it."""
    files = [path for path in newer.changed_since(older) if not path.endswith(_NO_CODE) and "/testdata/" not in path]
    found: dict[str, list[str]] = {}
    for mark in marks:
        for name in mark.paths:
            for path in files:
                if names(name, path):
                    found.setdefault(path, []).append(mark.place)
    return {path: sorted(set(places)) for path, places in sorted(found.items())}


def names(name: str, path: str) -> bool:
    """Return whether a name from a mark is that of a file: its end, or the end of a directory that it is in."""
    pattern = re.escape(name).replace(r"\*", "[^/]*")
    directly = "" if name.endswith((".go", ".proto")) else "(?:/[^/]*)?"
    return re.search(rf"(?:^|/){pattern}{directly}$", path) is not None
