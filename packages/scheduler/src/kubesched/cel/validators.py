"""Validation of checked expressions: constants that cannot be parsed, mixed lists and maps."""

# upstream: cel-go cel/validator.go, ext/formatting.go (v0.26)

from collections.abc import Iterator
from typing import Final

from kubesched.cel import types
from kubesched.cel.errors import CelRuntimeError
from kubesched.cel.functions.conversions import to_duration, to_timestamp
from kubesched.cel.functions.formatting import CLAUSE_KINDS, ClauseError, clause_rule, read_clauses
from kubesched.cel.functions.regex import TOO_LARGE, RegexError, RegexTooLargeError, compile_regex
from kubesched.cel.source import Problems
from kubesched.cel.syntax import Call, ListNode, Literal, MapNode, Node, descendants
from kubesched.cel.types import Type, shown, unwrap_optional

# The most steps of the programs of all patterns of an expression.
_MOST_STEPS: Final = 100_000


def validate(root: Node, problems: Problems) -> None:
    """Report the problems of a checked tree."""
    calls = [node for node in descendants(root) if isinstance(node, Call)]
    _check_aggregates(root, problems)
    if not _check_patterns(calls, problems):
        return
    for function, read in (("duration", to_duration), ("timestamp", to_timestamp), ("matches", _pattern)):
        for call in calls:
            if call.function == function and call.args and isinstance(call.args[0], Literal):
                try:
                    read(call.args[0].value)
                except (CelRuntimeError, RegexError):
                    problems.report(call.args[0].offset, f"invalid {function} argument")
    for call in calls:
        if call.function == "format":
            _check_format(call, problems)


def _check_patterns(calls: list[Call], problems: Problems) -> bool:
    """Return whether the patterns are small enough to compile; report if they are not."""
    size = 0
    for call in calls:
        if call.function in ("matches", "find", "findAll") and call.args and isinstance(call.args[0], Literal):
            try:
                size += compile_regex(call.args[0].value).size
            except RegexTooLargeError:
                size += TOO_LARGE
            except (RegexError, AttributeError):
                # reported elsewhere
                continue
            if size > _MOST_STEPS:
                problems.report(call.args[0].offset, f"regular expressions of more than {_MOST_STEPS} steps together")
                return False
    return True


def _pattern(text: str) -> object:
    return compile_regex(text)


def _check_aggregates(root: Node, problems: Problems) -> None:
    """Report lists and maps of mixed types, except arguments of `format`."""
    found = list(_outside_format(root))
    for node in found:
        if isinstance(node, ListNode):
            _check_list(node, problems)
    for node in found:
        if isinstance(node, MapNode):
            _check_map(node, problems)


def _outside_format(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        if not (isinstance(current, Call) and current.function == "format"):
            pending.extend(reversed(list(current.children())))


def _check_list(node: ListNode, problems: Problems) -> None:
    first: Type | None = None
    for index, element in enumerate(node.elements):
        found = _type(element)
        if index in node.optional:
            found = unwrap_optional(found)[0]
        first = found if first is None else first
        if found != first:
            _mismatch(element, first, found, problems)
            return


def _check_map(node: MapNode, problems: Problems) -> None:
    first: tuple[Type, Type] | None = None
    for entry in node.entries:
        key, value = _type(entry.key), _type(entry.value)
        if entry.optional:
            value = unwrap_optional(value)[0]
        first = (key, value) if first is None else first
        if key != first[0]:
            _mismatch(entry.key, first[0], key, problems)
        if value != first[1]:
            _mismatch(entry.value, first[1], value, problems)


def _mismatch(node: Node, expected: Type, found: Type, problems: Problems) -> None:
    problems.report(node.offset, f"expected type '{shown(expected)}' but found '{shown(found)}'")


def _check_format(call: Call, problems: Problems) -> None:
    """Report the problems of a constant format text and the list of its arguments."""
    text, listed = call.target, call.args[0] if call.args else None
    if not isinstance(text, Literal) or not isinstance(text.value, str) or not isinstance(listed, ListNode):
        return
    seen = 0

    def check(letter: str, _: int | None, index: int) -> str:
        nonlocal seen
        seen = index + 1
        bad = _unfit(listed.elements[index], letter.lower())
        if bad is not None:
            problems.report(bad.offset, clause_rule(letter, _type(bad).name))
            raise ClauseError("")
        return ""

    try:
        read_clauses(text.value, len(listed.elements), check)
    except ClauseError as error:
        if str(error):
            problems.report(call.offset, str(error))
        return
    if len(listed.elements) > seen:
        words = f"too many arguments supplied to string.format (expected {seen}, got {len(listed.elements)})"
        problems.report(call.offset, words)


def _unfit(node: Node, letter: str) -> Node | None:
    """Return the part of an argument that a clause cannot format, or None."""
    found = _type(node)
    if found != types.DYN and found.kind not in CLAUSE_KINDS[letter]:
        return node
    if letter == "s" and isinstance(node, ListNode | MapNode):
        return next((bad for child in node.children() if (bad := _unfit(child, letter)) is not None), None)
    return None


def _type(node: Node) -> Type:
    assert node.type is not None
    return node.type
