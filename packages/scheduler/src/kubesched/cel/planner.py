"""From a checked tree to a program: closures over a frame.

A frame is a list: the cost so far, the variables (of a selector, the device), then a slot for each variable of a
comprehension. Errors are exceptions; `||` and `&&` absorb CelValueErrors. Constants are folded where the reference
folds them, since an error there is an error of the whole program.
"""

# upstream: cel-go interpreter/{planner,interpretable,decorators,optimizations}.go (v0.26)

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from kubesched.cel import types
from kubesched.cel.attributes import KEY_TYPES, checked_key, find, get
from kubesched.cel.comprehensions import Variable, plan_bind, plan_fold
from kubesched.cel.cost import NEW_LIST, NEW_MAP, cost_of
from kubesched.cel.declarations import FUNCTIONS
from kubesched.cel.dispatch import (
    bounded,
    conditional,
    counted,
    equals,
    implementation_of,
    logical_and,
    logical_or,
    not_equals,
    or_else,
    with_pattern,
)
from kubesched.cel.errors import CelAbortError, CelCompileError, CelRuntimeError, CelValueError
from kubesched.cel.functions.arithmetic import contained
from kubesched.cel.functions.library import CONVERSIONS, PURE
from kubesched.cel.functions.regex import RegexError
from kubesched.cel.go_format import shown
from kubesched.cel.limits import LIMIT, LIMIT_EXCEEDED
from kubesched.cel.messages import COST as MESSAGE_COST
from kubesched.cel.messages import MessageValue
from kubesched.cel.syntax import (
    Call,
    Comprehension,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Message,
    Node,
    Select,
    descendants,
)
from kubesched.cel.values import MISSING, NONE, CelMap, Opaque, Optional, Uint, go_type_name
from kubesched.cel.work import work_of

Frame = list[Any]
Run = Callable[[Frame], Any]

COST: Final = 0
# where the variables begin
FIRST: Final = 1
# How many nodes of an expression, free ones included, can be evaluated for one unit of cost.
_NODES_A_UNIT: Final = 4


class Program(NamedTuple):
    """The closure of an expression, and the length of its frame."""

    run: Run
    frame_length: int

    def evaluate(self, *values: Any) -> tuple[Any, int]:
        """Evaluate it for the values of its variables; return the result and its cost, or raise CelRuntimeError."""
        frame: list[Any] = [0] * self.frame_length
        frame[FIRST : FIRST + len(values)] = values
        try:
            result = self.run(frame)
        except RecursionError:
            raise _after(CelAbortError("expression recursion limit exceeded"), frame[0]) from None
        except CelRuntimeError as error:
            if frame[0] > LIMIT or str(error) == LIMIT_EXCEEDED:
                raise _after(CelAbortError(LIMIT_EXCEEDED), LIMIT) from None
            _after(error, frame[0])
            raise
        if frame[0] > LIMIT:
            raise _after(CelAbortError(LIMIT_EXCEEDED), LIMIT)
        return result, frame[0]


def _after(error: CelRuntimeError, cost: int) -> CelRuntimeError:
    """Return an error with the cost so far."""
    error.cost = cost
    return error


class _Plan:
    """A part of a program; an attribute that a conditional selects has no extra cost."""

    __slots__ = ("constant", "run", "uncharged")

    def __init__(self, run: Run, uncharged: Run | None = None, constant: Any = MISSING) -> None:
        self.run = run
        self.uncharged = run if uncharged is None else uncharged
        self.constant = constant


class _Qualifier(NamedTuple):
    """One step into a value: a constant key, or one to be computed."""

    key: Any
    key_run: Run | None
    optional: bool


def plan(root: Node, names: Sequence[str] = ("device",)) -> Program:
    """Return the program of a checked tree with variables of these names, or raise CelCompileError."""
    planner = _Planner(names)
    run = planner.plan(root).run
    return Program(run, planner.frame_length)


def _constant(value: Any) -> _Plan:
    return _Plan(lambda _: value, constant=value)


class _Planner:
    """Plans nodes; keeps the indices of variables in the frame."""

    def __init__(self, names: Sequence[str]) -> None:
        self.frame_length = 1 + len(names)
        self._scopes: list[dict[str, Variable]] = [{name: Variable(at) for at, name in enumerate(names, 1)}]

    def plan(self, node: Node) -> _Plan:
        """Return the plan of a node."""
        match node:
            case Literal():
                return _constant(node.value)
            case Ident() | Select():
                return _constant(node.constant) if node.constant is not None else self._attribute(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Comprehension():
                return self._comprehension(node)
            case Message():
                return self._message(node)
        raise AssertionError(node)

    # -- attributes

    def _variable(self, name: str) -> Variable:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        raise AssertionError(name)

    def _attribute(self, node: Node) -> _Plan:
        qualifiers: list[_Qualifier] = []
        test_only = isinstance(node, Select) and node.test_only
        while True:
            step = self._qualifier(node)
            if step is None:
                break
            qualifiers.append(step[0])
            node = step[1]
        qualifiers.reverse()
        if isinstance(node, Ident) and node.constant is None:
            root, own = self._variable(node.name).read(), 1
        else:
            # the result of a conditional is an attribute itself
            picked = isinstance(node, Call) and node.function == "_?_:_"
            root, own = self.plan(node).run, 0 if picked else 1
        if test_only:
            return _Plan(_charged(_presence(root, qualifiers), len(qualifiers)))
        access = _access(root, qualifiers)
        charged = _charged(access, len(qualifiers) + own)
        return _Plan(charged, _charged(access, len(qualifiers)))

    def _qualifier(self, node: Node) -> tuple[_Qualifier, Node] | None:
        """Return the last step into a value and its operand, or None if there is no step."""
        if isinstance(node, Select):
            return None if node.constant is not None else (_Qualifier(node.name, None, False), node.operand)
        if not isinstance(node, Call) or node.function not in ("_[_]", "_[?_]", "_?._"):
            return None
        index = self.plan(node.args[1])
        optional = node.function != "_[_]"
        if index.constant is MISSING:
            return _Qualifier(None, index.uncharged, optional), node.args[0]
        if type(index.constant) not in KEY_TYPES:
            problem = f"invalid qualifier type: {go_type_name(index.constant)}"
            raise CelCompileError(f"program instantiation failed: {problem}")
        return _Qualifier(index.constant, None, optional), node.args[0]

    # -- calls

    def _call(self, node: Call) -> _Plan:
        function = node.function
        if function in ("_[_]", "_[?_]", "_?._"):
            return self._attribute(node)
        parts = [self.plan(each) for each in node.children()]
        runs = [part.run for part in parts]
        match function:
            case "_&&_":
                return _Plan(logical_and(*runs))
            case "_||_":
                return _Plan(logical_or(*runs))
            case "_?_:_":
                return _Plan(conditional(runs[0], parts[1].uncharged, parts[2].uncharged))
            case "_==_":
                return _Plan(equals(*runs))
            case "_!=_":
                return _Plan(not_equals(*runs))
            case "or" | "orValue":
                return _Plan(or_else(runs[0], runs[1], unwrap=function == "orValue"))
        constants = [part.constant for part in parts]
        if function == "@in" and len(node.overloads) == 1 and node.overloads[0].id == "in_list":
            found = _membership(runs[0], constants[1])
            if found is not None:
                return found
        return self._function(node, runs, constants)

    def _function(self, node: Call, runs: list[Run], constants: list[Any]) -> _Plan:
        function = node.function
        overload = node.overloads[0].id if len(node.overloads) == 1 else ""
        implementation = implementation_of(
            FUNCTIONS[function], node.overloads, [_type(each) for each in node.children()]
        )
        known = MISSING not in constants
        if known and function in CONVERSIONS and len(constants) == 1:
            try:
                return _constant(implementation(constants[0]))
            except CelRuntimeError as error:
                raise CelCompileError(f"program instantiation failed: {error}") from None
        if function in ("matches", "find", "findAll") and type(constants[1]) is str:
            try:
                implementation = with_pattern(function, constants[1])
            except RegexError as error:
                raise CelCompileError(f"program instantiation failed: {error}") from None
        cost = cost_of(function, overload)
        if known and function in PURE:
            try:
                value = implementation(*constants)
            except CelValueError:
                pass
            else:
                charge = cost if isinstance(cost, int) else cost(constants, value)
                return _Plan(_charged(lambda _: value, charge))
        work = work_of(function, overload)
        if work is not None:
            return _Plan(bounded(function, implementation, runs, cost, work))
        return _Plan(counted(implementation, runs, cost))

    # -- aggregates and folds

    def _list(self, node: ListNode) -> _Plan:
        parts = [self.plan(element) for element in node.elements]
        constants = [part.constant for part in parts]
        if MISSING not in constants and not node.optional:
            return _constant(constants)
        runs = [part.run for part in parts]
        optional = node.optional
        if not optional:
            return _Plan(_charged(lambda frame: [run(frame) for run in runs], NEW_LIST))

        def build(frame: Frame) -> list[Any]:
            found: list[Any] = []
            for index, run in enumerate(runs):
                value = run(frame)
                if index in optional:
                    if type(value) is not Optional:
                        words = "cannot initialize optional list element from non-optional value"
                        raise CelValueError(f"{words} {shown(value)}")
                    if not value.present:
                        continue
                    value = value.value
                found.append(value)
            return found

        return _Plan(_charged(build, NEW_LIST))

    def _map(self, node: MapNode) -> _Plan:
        parts = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]
        known = all(MISSING not in (key.constant, value.constant) and not optional for key, value, optional in parts)
        entries = [(key.run, value.run, optional) for key, value, optional in parts]

        def build(frame: Frame) -> CelMap:
            found = CelMap()
            for key_run, value_run, optional in entries:
                key, value = key_run(frame), value_run(frame)
                if optional:
                    if type(value) is not Optional:
                        words = f"cannot initialize optional entry '{shown(key)}' from non-optional value"
                        raise CelValueError(f"{words} {shown(value)}")
                    if not value.present:
                        found.drop(key)
                        continue
                    value = value.value
                found.put(key, value)
            return found

        return _constant(build([])) if known else _Plan(_charged(build, NEW_MAP))

    def _message(self, node: Message) -> _Plan:
        described = node.type
        assert described is not None
        entries = [(entry.key, self.plan(entry.value).run, entry.optional) for entry in node.entries]

        def build(frame: Frame) -> MessageValue:
            found = MessageValue(described)
            for key, run, optional in entries:
                value = run(frame)
                if optional and type(value) is Optional:
                    if not value.present:
                        continue
                    value = value.value
                assert isinstance(key, Literal)
                found.put(key.value, value)
            return found

        return _Plan(_charged(build, MESSAGE_COST))

    def _comprehension(self, node: Comprehension) -> _Plan:
        init = self.plan(node.accu_init).run
        accumulator = Variable(self._place(), init)
        if isinstance(node.iter_range, ListNode) and not node.iter_range.elements:
            self._scopes.append({node.accu_var: accumulator})
            result = self.plan(node.result).run
            self._scopes.pop()
            return _Plan(plan_bind(accumulator, result))
        over = self.plan(node.iter_range).run
        places = [self._place() for _ in range(2 if node.iter_var2 else 1)]
        self._scopes.append({node.accu_var: accumulator})
        self._scopes.append(dict(zip((node.iter_var, node.iter_var2), map(Variable, places), strict=False)))
        condition, step = self.plan(node.condition).run, self.plan(node.step).run
        self._scopes.pop()
        result = self.plan(node.result).run
        self._scopes.pop()
        least = sum(1 for part in (node.condition, node.step) for _ in descendants(part)) // _NODES_A_UNIT
        return _Plan(plan_fold(over, accumulator, places, (condition, step, result), least))

    def _place(self) -> int:
        self.frame_length += 1
        return self.frame_length - 1


def _type(node: Node) -> types.Type:
    return node.type or types.DYN


def _charged(run: Run, cost: int) -> Run:
    if not cost:
        return run

    def apply(frame: Frame) -> Any:
        frame[0] += cost
        return run(frame)

    return apply


def _access(root: Run, qualifiers: Sequence[_Qualifier]) -> Run:
    """Return the closure that follows the steps into a value."""
    if not qualifiers:
        return root
    if all(step.key_run is None and not step.optional and type(step.key) is str for step in qualifiers):
        return _plain_access(root, tuple(str(step.key) for step in qualifiers))
    steps = tuple(qualifiers)

    def apply(frame: Frame) -> Any:
        value = root(frame)
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return value
            value = value.value
        for key, key_run, may_be_absent in steps:
            optional = optional or may_be_absent
            if key_run is not None:
                key = checked_key(key_run(frame))
            if optional:
                value = find(value, key)
                if value is MISSING:
                    return NONE
            else:
                value = get(value, key)
        return Optional(value) if optional else value

    return apply


def _plain_access(root: Run, keys: tuple[str, ...]) -> Run:
    """Return the closure for the common case: constant names, none of them optional."""

    def apply(frame: Frame) -> Any:
        value = root(frame)
        if type(value) is Optional:
            return _optional_access(value, keys)
        for key in keys:
            if type(value) is CelMap:
                found = value.entries.get(key, MISSING)
                if found is MISSING and (found := value.default) is MISSING:
                    raise CelValueError(f"no such key: {key}")
                value = found
            else:
                value = get(value, key)
        return value

    return apply


def _optional_access(value: Optional, keys: tuple[str, ...]) -> Optional:
    for key in keys:
        if not value.present:
            return value
        found = find(value.value, key)
        value = NONE if found is MISSING else Optional(found)
    return value


def _presence(root: Run, qualifiers: Sequence[_Qualifier]) -> Run:
    """Return the closure that returns whether the value of the last step exists."""
    before = _access(root, qualifiers[:-1])
    name = qualifiers[-1].key

    def apply(frame: Frame) -> bool:
        value = before(frame)
        if type(value) is Optional:
            if not value.present:
                return False
            value = value.value
        return find(value, name) is not MISSING

    return apply


_UNHASHABLE: Final = (types.SEMVER, types.NAMED_FORMAT)


def _membership(element: Run, container: Any) -> _Plan | None:
    """Return the plan of `x in [constants]`, which is free, or None if the list is not made of simple constants."""
    if not isinstance(container, list):
        return None
    if not container:
        return _constant(False)
    if any(type(each) not in KEY_TYPES for each in container):
        return None
    members = _members(container)

    def apply(frame: Frame) -> bool:
        value = element(frame)
        if type(value) is bytes or (isinstance(value, Opaque) and value.type in _UNHASHABLE):
            # the reference panics here, which nothing absorbs
            raise CelAbortError(f"internal error: runtime error: hash of unhashable type {go_type_name(value)}")
        return type(value) in KEY_TYPES and (type(value), value) in members

    return _Plan(apply)


def _members(container: list[Any]) -> frozenset[tuple[type, Any]]:
    """Return the values that are `in` a list of constants; numbers also match equal ones of other types."""
    found: set[tuple[type, Any]] = set()
    for each in container:
        found.add((type(each), each))
        if type(each) is float and each.is_integer():
            found.update((kind, int(each)) for kind in (int, Uint) if contained(kind(int(each)), [each]))
        elif type(each) in (int, Uint):
            found.add((float, float(each)))
            other = Uint if type(each) is int else int
            if each >= 0:
                found.add((other, int(each)))
    return frozenset(found)
