"""Macros: calls that the parser replaces by folds, `cel.bind` and `has` among them.

From a call's target and arguments to its expansion, or to the offset and text of its error.
"""

# upstream: cel-go parser/macro.go, cel/library.go, ext/{bindings,comprehensions,lists}.go (v0.26)

import copy
from collections.abc import Callable
from itertools import islice
from typing import Final

from kubesched.cel.syntax import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select, descendants

ACCUMULATOR: Final = "@result"
_OLD_ACCUMULATOR: Final = "__result__"
_UNUSED: Final = "#unused"


class MacroError(Exception):
    """A macro with invalid arguments."""

    def __init__(self, node: Node, message: str) -> None:
        super().__init__(message)
        self.offset = node.offset


Expander = Callable[[int, Node, list[Node]], Node | None]


def expand(offset: int, function: str, target: Node | None, args: list[Node]) -> Node | None:
    """Return the expansion of a call, or None if it is no macro."""
    if target is None:
        return _has(offset, args) if function == "has" and len(args) == 1 else None
    expander = _MEMBERS.get((function, len(args)))
    return None if expander is None else expander(offset, target, args)


def _has(offset: int, args: list[Node]) -> Node:
    selected = args[0]
    if not isinstance(selected, Select):
        raise MacroError(selected, "invalid argument to has() macro")
    return Select(offset, selected.operand, selected.name, test_only=True)


def _variable(node: Node, problem: str) -> str:
    if not isinstance(node, Ident):
        raise MacroError(node, problem)
    return node.name


def _iteration_variable(node: Node, problem: str) -> str:
    name = _variable(node, problem)
    if name in (ACCUMULATOR, _OLD_ACCUMULATOR):
        raise MacroError(node, "iteration variable overwrites accumulator variable")
    return name


def _two_variables(args: list[Node]) -> tuple[str, str]:
    first = _variable(args[0], "argument must be a simple name")
    second = _variable(args[1], "argument must be a simple name")
    if first == second:
        raise MacroError(args[1], f"duplicate variable name: {first}")
    for node in args[:2]:
        _iteration_variable(node, "")
    return first, second


def _call(offset: int, function: str, *args: Node) -> Call:
    return Call(offset, function, None, list(args))


def _accumulator(offset: int) -> Ident:
    return Ident(offset, ACCUMULATOR)


def _fold(
    offset: int, over: Node, variables: tuple[str, str], parts: tuple[Node, Node, Node], result: Node | None = None
) -> Comprehension:
    init, condition, step = parts
    return Comprehension(
        offset, over, *variables, ACCUMULATOR, init, condition, step, _accumulator(offset) if result is None else result
    )


# The folds of the quantifiers, given the predicate.


def _all_of(offset: int, predicate: Node) -> tuple[Node, Node, Node]:
    condition = _call(offset, "@not_strictly_false", _accumulator(offset))
    return Literal(offset, True), condition, _call(offset, "_&&_", _accumulator(offset), predicate)


def _any_of(offset: int, predicate: Node) -> tuple[Node, Node, Node]:
    condition = _call(offset, "@not_strictly_false", _call(offset, "!_", _accumulator(offset)))
    return Literal(offset, False), condition, _call(offset, "_||_", _accumulator(offset), predicate)


def _count_of(offset: int, predicate: Node) -> tuple[Node, Node, Node]:
    counted = _call(offset, "_+_", _accumulator(offset), Literal(offset, 1))
    return Literal(offset, 0), Literal(offset, True), _where(offset, predicate, counted)


def _where(offset: int, condition: Node | None, step: Node) -> Node:
    return step if condition is None else _call(offset, "_?_:_", condition, step, _accumulator(offset))


def _is_one(offset: int) -> Node:
    return _call(offset, "_==_", _accumulator(offset), Literal(offset, 1))


def _all(offset: int, target: Node, args: list[Node]) -> Node:
    name = _iteration_variable(args[0], "argument must be a simple name")
    return _fold(offset, target, (name, ""), _all_of(offset, args[1]))


def _exists(offset: int, target: Node, args: list[Node]) -> Node:
    name = _iteration_variable(args[0], "argument must be a simple name")
    return _fold(offset, target, (name, ""), _any_of(offset, args[1]))


def _exists_one(offset: int, target: Node, args: list[Node]) -> Node:
    name = _iteration_variable(args[0], "argument must be a simple name")
    return _fold(offset, target, (name, ""), _count_of(offset, args[1]), _is_one(offset))


def _all2(offset: int, target: Node, args: list[Node]) -> Node:
    return _fold(offset, target, _two_variables(args), _all_of(offset, args[2]))


def _exists2(offset: int, target: Node, args: list[Node]) -> Node:
    return _fold(offset, target, _two_variables(args), _any_of(offset, args[2]))


def _exists_one2(offset: int, target: Node, args: list[Node]) -> Node:
    return _fold(offset, target, _two_variables(args), _count_of(offset, args[2]), _is_one(offset))


def _appended(offset: int, element: Node) -> Node:
    return _call(offset, "_+_", _accumulator(offset), ListNode(offset, [element]))


def _collect(offset: int, target: Node, variables: tuple[str, str], step: Node) -> Node:
    return _fold(offset, target, variables, (ListNode(offset, []), Literal(offset, True), step))


def _map(offset: int, target: Node, args: list[Node]) -> Node:
    name = _iteration_variable(args[0], "argument is not an identifier")
    condition = args[1] if len(args) == 3 else None
    return _collect(offset, target, (name, ""), _where(offset, condition, _appended(offset, args[-1])))


def _filter(offset: int, target: Node, args: list[Node]) -> Node:
    name = _iteration_variable(args[0], "argument is not an identifier")
    return _collect(offset, target, (name, ""), _where(offset, args[1], _appended(offset, args[0])))


def _transform_list(offset: int, target: Node, args: list[Node]) -> Node:
    variables = _two_variables(args)
    condition = args[2] if len(args) == 4 else None
    return _collect(offset, target, variables, _where(offset, condition, _appended(offset, args[-1])))


def _insert(offset: int, target: Node, args: list[Node], *inserted: Node) -> Node:
    condition = args[2] if len(args) == 4 else None
    step = _where(offset, condition, _call(offset, "cel.@mapInsert", _accumulator(offset), *inserted, args[-1]))
    parts = (MapNode(offset, []), Literal(offset, True), step)
    return _fold(offset, target, _two_variables(args), parts)


def _transform_map(offset: int, target: Node, args: list[Node]) -> Node:
    return _insert(offset, target, args, Ident(offset, _two_variables(args)[0]))


def _transform_map_entry(offset: int, target: Node, args: list[Node]) -> Node:
    return _insert(offset, target, args)


# differs (D-028): the reference copies the target of chained optMap() again and again, without a limit on memory
_MOST_COPIED: Final = 10_000


def _copied(node: Node) -> Node:
    if sum(1 for _ in islice(descendants(node), _MOST_COPIED + 1)) > _MOST_COPIED:
        raise MacroError(node, f"expression size exceeds limit: more than {_MOST_COPIED} nodes to copy")
    return copy.deepcopy(node)


def _bound(offset: int, name: str, value: Node, result: Node) -> Comprehension:
    """Return a fold over nothing, whose accumulator is the bound value."""
    nothing, never = ListNode(offset, []), Literal(offset, False)
    return Comprehension(offset, nothing, _UNUSED, "", name, value, never, Ident(offset, name), result)


def _bind(offset: int, target: Node, args: list[Node]) -> Node | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    name = _variable(args[0], "cel.bind() variable names must be simple identifiers")
    return _bound(offset, name, args[1], args[2])


def _if_present(offset: int, target: Node, present: Node) -> Node:
    return _call(offset, "_?_:_", Call(offset, "hasValue", target, []), present, _call(offset, "optional.none"))


def _opt_flat_map(offset: int, target: Node, args: list[Node]) -> Node:
    name = _variable(args[0], "optFlatMap() variable name must be a simple identifier")
    value = Call(offset, "value", _copied(target), [])
    return _if_present(offset, target, _bound(offset, name, value, args[1]))


def _opt_map(offset: int, target: Node, args: list[Node]) -> Node:
    name = _variable(args[0], "optMap() variable name must be a simple identifier")
    value = Call(offset, "value", _copied(target), [])
    return _if_present(offset, target, _call(offset, "optional.of", _bound(offset, name, value, args[1])))


def _sort_by(offset: int, target: Node, args: list[Node]) -> Node:
    if not isinstance(target, ListNode | Select | Ident | Comprehension | Call):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(target, message)
    name = "@__sortBy_input__"
    keys = _map(offset, Ident(offset, name), args)
    return _bound(offset, name, target, Call(offset, "@sortByAssociatedKeys", Ident(offset, name), [keys]))


_MEMBERS: Final[dict[tuple[str, int], Expander]] = {
    ("all", 2): _all,
    ("exists", 2): _exists,
    ("exists_one", 2): _exists_one,
    ("existsOne", 2): _exists_one,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("all", 3): _all2,
    ("exists", 3): _exists2,
    ("exists_one", 3): _exists_one2,
    ("existsOne", 3): _exists_one2,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("bind", 3): _bind,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
    ("sortBy", 2): _sort_by,
}
