"""The tree of an expression.

Made by the parser (macros are expanded already), annotated by the checker with types and overloads, read by the
planner. `offset` is where the reference sees the node: at the operator, the bracket, the dot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubesched.cel.declarations import Overload
    from kubesched.cel.types import Type


@dataclass(slots=True, eq=False)
class Node:
    """Part of an expression; the checker sets its `type`."""

    offset: int
    type: Type | None = field(default=None, init=False)

    def children(self) -> Iterator[Node]:
        """Yield the parts, in the order of evaluation."""
        yield from ()


@dataclass(slots=True, eq=False)
class Broken(Node):
    """The node in place of a text with a syntax error."""


@dataclass(slots=True, eq=False)
class Literal(Node):
    """A constant."""

    value: Any


@dataclass(slots=True, eq=False)
class Ident(Node):
    """A name; the checker sets `constant` if it names a type."""

    name: str
    constant: Any = field(default=None, init=False)


@dataclass(slots=True, eq=False)
class Select(Node):
    """`operand.name`, or `has(operand.name)`."""

    operand: Node
    name: str
    test_only: bool = False
    constant: Any = field(default=None, init=False)

    def children(self) -> Iterator[Node]:
        """Yield the operand."""
        yield self.operand


@dataclass(slots=True, eq=False)
class Call(Node):
    """A function or operator with its arguments; a member function has a target."""

    function: str
    target: Node | None
    args: list[Node]
    overloads: tuple[Overload, ...] = field(default=(), init=False)

    def children(self) -> Iterator[Node]:
        """Yield target and arguments."""
        if self.target is not None:
            yield self.target
        yield from self.args


@dataclass(slots=True, eq=False)
class ListNode(Node):
    """`[a, ?b]`; the indices of optional elements."""

    elements: list[Node]
    optional: frozenset[int] = frozenset()

    def children(self) -> Iterator[Node]:
        """Yield the elements."""
        yield from self.elements


@dataclass(slots=True, eq=False)
class Entry:
    """`key: value` of a map, or `field: value` of a message, where the key is a literal."""

    offset: int
    key: Node
    value: Node
    optional: bool


@dataclass(slots=True, eq=False)
class MapNode(Node):
    """`{k: v, ?o: p}`."""

    entries: list[Entry]

    def children(self) -> Iterator[Node]:
        """Yield keys and values in turn."""
        for entry in self.entries:
            yield entry.key
            yield entry.value


@dataclass(slots=True, eq=False)
class Message(Node):
    """`Name{field: value}`."""

    name: str
    entries: list[Entry]

    def children(self) -> Iterator[Node]:
        """Yield the values."""
        for entry in self.entries:
            yield entry.value


@dataclass(slots=True, eq=False)
class Comprehension(Node):
    """A fold: the expansion of every macro over lists and maps."""

    iter_range: Node
    iter_var: str
    iter_var2: str
    accu_var: str
    accu_init: Node
    condition: Node
    step: Node
    result: Node

    def children(self) -> Iterator[Node]:
        """Yield the parts."""
        yield self.iter_range
        yield self.accu_init
        yield self.condition
        yield self.step
        yield self.result


def descendants(node: Node) -> Iterator[Node]:
    """Yield the node and everything below it, parents first."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(list(current.children())))


def qualified_name(node: Node) -> str | None:
    """Return the dotted name that an expression is, such as `a.b.c`; None for any other expression."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        names.append(node.name)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    names.append(node.name)
    return ".".join(reversed(names))
