"""Another value of a YAML text, with as few changed lines as possible: comments elsewhere stay.

From a text and the value that it should have to a text with that value. Differences are edited one after the other. If
an edit in place is not possible (aliases, mixed styles), the whole text is rewritten.
"""

from typing import Any, NamedTuple

import yaml

from kubesched.config.document import DocumentError, dump, parse
from kubesched_lab.page.configuration.places import FieldPath, first_document, node_at

# differences that are edited in place
MOST_STEPS = 50


class Rewritten(NamedTuple):
    """A text with another value; `anew` says that the whole text was rewritten, without its comments."""

    text: str
    anew: bool = False


def rewritten(text: str, value: Any) -> Rewritten:
    """Return a text that reads as `value`."""
    now = text
    try:
        for _ in range(MOST_STEPS):
            old = parse(now)
            if old == value and _same_types(old, value):
                return Rewritten(now)
            path = _difference(old, value, ())
            now = _edited(now, old, value, path)
    except (DocumentError, yaml.YAMLError, _NotInPlaceError):
        pass
    return Rewritten(dump(value, sort_keys=False), anew=True)


class _NotInPlaceError(Exception):
    """A difference that cannot be edited in place."""


def _same_types(old: Any, new: Any) -> bool:
    """Return whether equal values have equal types, too: True is 1 in Python."""
    if isinstance(old, dict):
        return all(_same_types(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return all(map(_same_types, old, new))
    return type(old) is type(new)


def _difference(old: Any, new: Any, path: FieldPath) -> FieldPath:
    """Return the path of the first difference: a field to change, remove or add."""
    if isinstance(old, dict) and isinstance(new, dict) and old and new:
        for key in (*old, *new):
            if key not in old or key not in new:
                return (*path, key)
            if old[key] != new[key] or not _same_types(old[key], new[key]):
                return _difference(old[key], new[key], (*path, key))
    if isinstance(old, list) and isinstance(new, list) and old and new:
        for index, (one, other) in enumerate(zip(old, new, strict=False)):
            if one != other or not _same_types(one, other):
                shorter = len(new) < len(old)
                return (*path, index) if shorter else _difference(one, other, (*path, index))
        return (*path, min(len(old), len(new)))
    return path


def _at(value: Any, path: FieldPath) -> Any:
    """Return the value at a path; raises KeyError or IndexError if it is missing."""
    for part in path:
        value = value[part]
    return value


def _has(value: Any, path: FieldPath) -> bool:
    try:
        _at(value, path)
    except (KeyError, IndexError):
        return False
    return True


def _edited(text: str, old: Any, new: Any, path: FieldPath) -> str:
    """Return the text with the first difference edited."""
    root = first_document(text)
    if not path or root is None:
        raise _NotInPlaceError
    parent = node_at(root, path[:-1])
    if not isinstance(parent, yaml.CollectionNode) or not parent.value:
        raise _NotInPlaceError
    if parent.flow_style:
        target = _at(new, path[:-1])
        return _spliced(text, parent.start_mark.index, parent.end_mark.index, dump(target, flow=True).strip())
    if not _has(old, path):
        return _added(text, parent, path[-1], _at(new, path))
    if not _has(new, path) or (isinstance(path[-1], int) and len(_at(new, path[:-1])) < len(_at(old, path[:-1]))):
        return _removed(text, parent, path[-1])
    return _replaced(text, root, path, _at(new, path))


def _spliced(text: str, start: int, end: int, middle: str) -> str:
    return text[:start] + middle + text[end:]


def _added(text: str, parent: yaml.CollectionNode, part: str | int, value: Any) -> str:
    """Return the text with an entry added after the last one of a block."""
    lines = dump({part: value} if isinstance(part, str) else [value], sort_keys=False)
    at = _line_end(text, _end(parent))
    before = "" if at and text[at - 1] == "\n" else "\n"
    return _spliced(text, at, at, before + _indented(lines, _column(parent)))


def _removed(text: str, parent: yaml.CollectionNode, part: str | int) -> str:
    """Return the text without an entry of a block; all lines of the entry are removed."""
    if len(parent.value) == 1:
        raise _NotInPlaceError
    if isinstance(parent, yaml.MappingNode):
        key, value = next((key, value) for key, value in parent.value if key.value == part)
        start = key.start_mark
    else:
        value = parent.value[part]
        start = value.start_mark
    line = text.rfind("\n", 0, start.index) + 1
    dashes = text[line : start.index].strip(" ")
    if dashes != ("" if isinstance(parent, yaml.MappingNode) else "-"):
        raise _NotInPlaceError
    return _spliced(text, line, _line_end(text, _end(value)), "")


def _replaced(text: str, root: yaml.Node, path: FieldPath, value: Any) -> str:
    """Return the text with another value of a field."""
    node = node_at(root, path)
    if node is None:
        raise _NotInPlaceError
    start, end = node.start_mark.index, _end(node)
    is_plain = isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">")
    if is_plain and not isinstance(value, dict | list):
        space = " " if start == end and not text[:start].endswith((" ", "\n")) else ""
        return _spliced(text, start, end, space + dump([value], flow=True).strip()[1:-1])
    if isinstance(node, yaml.CollectionNode) and node.flow_style:
        return _spliced(text, start, end, dump(value, flow=True).strip())
    parent = node_at(root, path[:-1])
    if not isinstance(parent, yaml.MappingNode):
        raise _NotInPlaceError
    key = next(key for key, _ in parent.value if key.value == path[-1])
    lines = _indented(dump({path[-1]: value}, sort_keys=False), _column(parent)).strip(" ")
    return _spliced(text, key.start_mark.index, _line_end(text, end), lines)


def _column(parent: yaml.CollectionNode) -> int:
    column: int = parent.start_mark.column
    return column


def _indented(lines: str, column: int) -> str:
    return "".join(f"{' ' * column}{line}" for line in lines.splitlines(keepends=True))


def _end(node: yaml.Node) -> int:
    """Return where the content of a node ends; for the parser, a block ends where the next token begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    end: int = node.end_mark.index
    return end


def _line_end(text: str, index: int) -> int:
    """Return the end of the line that has this character, after its line break."""
    if index and text[index - 1] == "\n":
        return index
    found = text.find("\n", index)
    return len(text) if found == -1 else found + 1
