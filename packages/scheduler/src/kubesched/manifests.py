"""Reads manifests: from paths to objects, each with its place.

    paths ──▶ files ──▶ documents ──▶ objects; each item of a list is an object

In: files, folders, `-` for standard input. Out: manifests, and for each that cannot be read a problem that names file,
document and line.
"""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from kubesched.common.files import ended_by_signals, oddity, opened
from kubesched.config.document import DocumentError, parse

Document = dict[str, Any]

STANDARD_INPUT = "-"
PIECE_BYTES = 1 << 20
# larger files are refused, as they are hardly manifests
LARGEST_FILE = 1 << 30
SUFFIXES = (".yaml", ".yml", ".json")
# the names of types in messages
_SHOWN = {type(None): "nothing", str: "text", list: "a list", dict: "an object", bool: "true or false"}


class Manifest(NamedTuple):
    """An object's document, and its place in a file."""

    place: str
    document: Document
    # an item of a list in which other items have UIDs; objects of some kinds have none
    of_export: bool = False

    @property
    def exported(self) -> bool:
        """Return whether the object was exported from a cluster, which has admitted it."""
        return self.of_export or _has_uid(self.document)

    @property
    def kind(self) -> str:
        """Return the kind of the object, an empty text without one."""
        return str(self.document.get("kind", ""))

    @property
    def name(self) -> str:
        """Return the name of the object, or its generateName."""
        meta = self.document.get("metadata")
        return str(meta.get("name") or meta.get("generateName", "")) if isinstance(meta, dict) else ""

    @property
    def named(self) -> str:
        """Return the manifest's name in messages."""
        return f'{self.place}: {self.kind or "an object without a kind"} "{self.name}"'


def read(paths: Sequence[str]) -> tuple[list[Manifest], list[str]]:
    """Return the objects in files, folders and standard input, and the problems of reading them."""
    manifests: list[Manifest] = []
    problems: list[str] = []
    for path in paths:
        try:
            for file in _files(path, problems):
                _read_file(file, manifests, problems)
        except OSError as error:
            problems.append(f"{error.filename or path}: {error.strerror or error}")
    return manifests, problems


def _files(path: str, problems: list[str]) -> Iterator[str]:
    """Yield a file, or the files under a folder in order; other entries, such as pipes, are problems."""
    if path == STANDARD_INPUT or not Path(path).is_dir():
        yield path
        return
    found = 0
    for folder, folders, names in os.walk(path, onerror=_raise):
        folders.sort()
        files = [str(Path(folder, name)) for name in sorted(names) if name.endswith(SUFFIXES)]
        found += len(files)
        for file in files:
            odd = oddity(file)
            if odd:
                # the user did not name it, and reading from a pipe or a device might never end
                problems.append(f"{file}: is {odd}, and no file; name it by itself, or take it out of the folder")
            else:
                yield file
    if not found:
        raise OSError(errno.ENOENT, f"no files that end in {', '.join(SUFFIXES)}", path)


def _raise(error: OSError) -> None:
    raise error


def _read_file(path: str, manifests: list[Manifest], problems: list[str]) -> None:
    with opened_path(path) as stream:
        content = content_of(path, stream)
    found, unread = parsed(path, content)
    manifests += found
    problems += unread


def parsed(path: str, content: bytes) -> tuple[list[Manifest], list[str]]:
    """Return the objects in the content of a file, and the problems of reading them."""
    source = "<stdin>" if path == STANDARD_INPUT else path
    manifests: list[Manifest] = []
    problems: list[str] = []
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [f"{source}: not UTF-8: {error.reason} at byte {error.start}"]
    for number, part in enumerate(_documents(text), 1):
        place = f"{source}: document {number}"
        try:
            manifests += _objects(place, part.value())
        except DocumentError as error:
            problems.append(f"{place}: {error}")
    return manifests, problems


def content_of(path: str, stream: BinaryIO, binary: bytes = b"") -> bytes:
    """Return the content of a file, up to the piece with a zero byte: such a file is not text, and may be endless.

    A file that starts with the bytes `binary` is read to its end.
    """
    pieces: list[bytes] = []
    while piece := stream.read(PIECE_BYTES):
        pieces.append(piece)
        if b"\0" in piece and not (binary and pieces[0].startswith(binary)):
            break
        if len(pieces) * PIECE_BYTES > LARGEST_FILE:
            raise OSError(errno.EFBIG, f"larger than {LARGEST_FILE >> 30} GiB; is it the right file?", path)
    return b"".join(pieces)


@contextmanager
def opened_path(path: str) -> Iterator[BinaryIO]:
    """Open a file or standard input, which may be a terminal."""
    if path == STANDARD_INPUT:
        with ended_by_signals():
            yield sys.stdin.buffer
    else:
        with opened(path) as file:
            yield file


class _Part(NamedTuple):
    """The text of one document, and the number of lines before it."""

    lines_before: int
    text: str

    def value(self) -> Any:
        """Return the parsed text. Raises DocumentError with the line in the file."""
        try:
            return parse(self.text)
        except DocumentError:
            # parse again with the lines before it, so that the error names the line in the file
            parse("\n" * self.lines_before + self.text)
            raise


def _documents(text: str) -> Iterator[_Part]:
    """Yield the documents of a file that are not empty, each with its leading `---`."""
    lines = text.split("\n")
    starts = [0, *(number for number, line in enumerate(lines) if number and _begins_document(line))]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if any(_says_something(line) for line in lines[start:end]):
            yield _Part(start, "\n".join(lines[start:end]))


def _begins_document(line: str) -> bool:
    return line.startswith("---") and not line[3:4].strip()


def _says_something(line: str) -> bool:
    said = line[3:].strip() if _begins_document(line) else line.strip()
    return bool(said) and not said.startswith("#")


def _has_uid(value: Any) -> bool:
    meta = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(meta, dict) and isinstance(meta.get("uid"), str) and bool(meta["uid"])


def _objects(place: str, value: Any, *, of_export: bool = False) -> Iterator[Manifest]:
    """Yield the object of a document, or the objects of a list."""
    if value is None:
        return
    if not isinstance(value, dict):
        raise DocumentError(f"an object was expected, found {shown(value)}")
    kind, items = value.get("kind"), value.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and "items" in value):
        yield Manifest(place, value, of_export)
        return
    if not isinstance(items, list | None):
        raise DocumentError(f"{kind}: items: a list was expected, found {shown(items)}")
    # the items of a PodList need not have an apiVersion and kind
    own = {} if kind == "List" else {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")}
    of_export = of_export or any(map(_has_uid, items or ()))
    for number, item in enumerate(items or ()):
        if not isinstance(item, dict):
            raise DocumentError(f"{kind}: items[{number}]: an object was expected, found {shown(item)}")
        yield from _objects(f"{place}: items[{number}]", {**own, **item}, of_export=of_export)


def shown(value: Any) -> str:
    """Return the name of a value's type."""
    return _SHOWN.get(type(value), "a number")
