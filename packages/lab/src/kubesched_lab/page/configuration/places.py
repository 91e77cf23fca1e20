"""Positions of a configuration's fields and faults in its text.

From a text and the problems found while loading it to faults: line, column, field, sentence.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import yaml

from kubesched.config.document import MAX_DEPTH, DocumentError
from kubesched.config.errors import ConfigError

FieldPath = tuple[str | int, ...]

_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_UNKNOWN = re.compile(r'^unknown field "([^"]+)"')
_LEADING = re.compile(r"^([A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z0-9/_-]+|\[\d+\])*): ")
_LINE = re.compile(r"^(?:yaml|json): line (\d+)")
_PROFILE = re.compile(r"^(?:initializing profiles: )?creating profile for scheduler name ([^:]*): ")
_PLUGIN = re.compile(r'(?:plugin|Plugin) "([^"]+)"')
_ARGUMENT = re.compile(r'initializing plugin "[^"]+": \[?([A-Za-z][\w.\[\]]*): ')
_MISSING = re.compile(r"^Object '(\w+)' is missing")


class Fault(NamedTuple):
    """A fault in a text; lines and columns count from 1."""

    line: int
    column: int
    field: str
    message: str


def first_document(text: str) -> yaml.Node | None:
    """Return the nodes of the first document, with their positions; None without a document.

    Raises DocumentError for nesting that `parse` would refuse: PyYAML builds nodes recursively, and deep nesting would
    overflow the stack of the process.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.DocumentEndEvent):
            break
        if depth > MAX_DEPTH:
            raise DocumentError(f"nested deeper than {MAX_DEPTH} levels")
    node: yaml.Node | None = next(yaml.compose_all(text, Loader=yaml.CSafeLoader), None)
    return node


def path_of(field: str) -> FieldPath:
    """Return the steps of a field such as `profiles[0].schedulerName`."""
    return tuple(int(number) if number else name for number, name in _PART.findall(field))


def faults_of(text: str, error: ConfigError) -> list[Fault]:
    """Return the faults of a configuration, in the order of the text."""
    try:
        root = first_document(text)
    except (yaml.YAMLError, UnicodeError, DocumentError) as broken:
        return [_broken(broken, message) for message in error.errors]
    return sorted(_fault(root, message) for message in error.errors)


def _broken(broken: Exception, message: str) -> Fault:
    """Return the fault of a text that is not valid YAML."""
    mark = getattr(broken, "problem_mark", None) or getattr(broken, "context_mark", None)
    if mark is not None:
        return Fault(mark.line + 1, mark.column + 1, "", message)
    return Fault(_line_in(message), 1, "", message)


def _line_in(message: str) -> int:
    found = _LINE.match(message)
    return int(found[1]) if found else 1


def _fault(root: yaml.Node | None, message: str) -> Fault:
    path = _path_in(root, message)
    if not path:
        missing = _MISSING.match(message)
        return Fault(_line_in(message), 1, missing[1] if missing else "", message)
    line, column = place_of(root, path, key=message.startswith("unknown field"))
    return Fault(line, column, _field(path), message)


def _field(path: FieldPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _path_in(root: yaml.Node | None, message: str) -> FieldPath:
    """Return the field that a sentence names; an empty path if it names none."""
    if found := _UNKNOWN.match(message) or _LEADING.match(message):
        return () if found[1] in ("yaml", "json") else path_of(found[1])
    found = _PROFILE.match(message)
    if not found:
        return ()
    profile = _path_by_name(root, ("profiles",), "schedulerName", found[1]) or ("profiles", 0)
    plugin = _PLUGIN.search(message)
    if plugin is None:
        return profile
    if argument := _ARGUMENT.search(message):
        entry = _path_by_name(root, (*profile, "pluginConfig"), "name", plugin[1])
        return (*(entry or profile), "args", *path_of(argument[1]))
    return _path_of_plugin(root, (*profile, "plugins"), plugin[1]) or profile


def _path_of_plugin(root: yaml.Node | None, path: FieldPath, plugin: str) -> FieldPath:
    """Return the entry that enables a plugin at some extension point."""
    points = _reached(root, path)[0]
    if not isinstance(points, yaml.MappingNode):
        return ()
    found = (_path_by_name(root, (*path, key.value, "enabled"), "name", plugin) for key, _ in points.value)
    return next(filter(None, found), ())


def _path_by_name(root: yaml.Node | None, path: FieldPath, field: str, name: str) -> FieldPath:
    """Return the entry of a list whose field has a name."""
    node, rest = _reached(root, path)
    if rest or not isinstance(node, yaml.SequenceNode):
        return ()
    for index, item in enumerate(node.value):
        for key, value in _entries(item):
            if key.value == field and value.value == name:
                return (*path, index)
    return ()


def _entries(node: yaml.Node | None) -> Iterable[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else ()


def place_of(root: yaml.Node | None, path: FieldPath, *, key: bool = False) -> tuple[int, int]:
    """Return line and column of a field, or of its nearest existing parent; with `key`, the position of its name."""
    if root is None:
        return 1, 1
    mark = root.start_mark
    for name, value in _way(root, path):
        mark = value.start_mark if name is None or (isinstance(value, yaml.ScalarNode) and not key) else name.start_mark
    return mark.line + 1, mark.column + 1


def _reached(root: yaml.Node | None, path: FieldPath) -> tuple[yaml.Node | None, FieldPath]:
    """Return the node at the end of a path, or the last node that exists and the rest of the path."""
    node = root
    steps = 0
    for _, value in _way(root, path):
        node = value
        steps += 1
    return node, path[steps:]


def node_at(root: yaml.Node | None, path: FieldPath) -> yaml.Node | None:
    """Return the node at a path; None if there is none."""
    node, rest = _reached(root, path)
    return None if rest else node


def _way(root: yaml.Node | None, path: FieldPath) -> Iterator[tuple[yaml.Node | None, yaml.Node]]:
    """Yield the name (of an entry of a mapping) and the value of each step, as far as the path exists."""
    node = root
    for part in path:
        if isinstance(part, int):
            if not isinstance(node, yaml.SequenceNode) or part >= len(node.value):
                return
            node = node.value[part]
            yield None, node
        else:
            found = (
                next(((name, value) for name, value in _entries(node) if name.value == part), None) if node else None
            )
            if found is None:
                return
            node = found[1]
            yield found
