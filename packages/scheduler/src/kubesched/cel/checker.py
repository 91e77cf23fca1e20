"""The type checker: a tree in, the same tree with types and overloads out; type errors are reported.

Declared are the variables of an expression (`device` in a selector), the types, and the functions of `declarations`.
"""

# upstream: cel-go checker/{checker,env,errors}.go (v0.26)

from collections.abc import Mapping
from typing import Final

from kubesched.cel import messages as made
from kubesched.cel import types
from kubesched.cel.declarations import FUNCTIONS, Function, Overload
from kubesched.cel.source import Problems
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
    qualified_name,
)
from kubesched.cel.types import (
    Substitutions,
    Type,
    is_dyn,
    is_dyn_or_error,
    list_of,
    map_of,
    most_general,
    optional_of,
    shown,
    shown_signature,
    type_of_type,
    unwrap_optional,
)
from kubesched.cel.values import type_of

# type with fields -> its fields -> their types
Fields = Mapping[str, Mapping[str, Type]]

TYPE_NAMES: Final[dict[str, Type]] = {
    each.name: each
    for each in (
        types.BOOL,
        types.BYTES,
        types.DOUBLE,
        types.DURATION,
        types.INT,
        types.LIST,
        types.MAP,
        types.NULL,
        types.STRING,
        types.TIMESTAMP,
        types.TYPE,
        types.UINT,
        types.OPTIONAL,
        types.IP,
        types.CIDR,
    )
}


def device_fields(*, list_attributes: bool) -> dict[str, Type]:
    """Return the fields of `device`; if attributes can be lists, their type can be iterated over."""
    attribute = types.DYN if list_attributes else types.ANY
    return {
        "driver": types.STRING,
        "allowMultipleAllocations": types.BOOL,
        "attributes": map_of(types.STRING, map_of(types.STRING, attribute)),
        "capacity": map_of(types.STRING, map_of(types.STRING, types.QUANTITY)),
    }


def check(root: Node, problems: Problems, *, list_attributes: bool) -> Type:
    """Return the type of a selector, with the types of all its parts filled in."""
    fields = {types.DEVICE.name: device_fields(list_attributes=list_attributes)}
    return check_names(root, problems, {"device": types.DEVICE}, fields)


def check_names(
    root: Node, problems: Problems, variables: dict[str, Type], fields: Fields, *, messages: bool = False
) -> Type:
    """Return the type of a tree over some variables, with the types of all its parts filled in.

    With `messages` the tree may construct objects.
    """
    checker = _Checker(problems, variables, fields, messages=messages)
    checker.check(root)
    for node in descendants(root):
        if node.type is not None:
            node.type = checker.known.resolve(node.type, open_to_dyn=True)
    return root.type or types.ERROR


class _Checker:
    """Sets the type of every node that it checks."""

    def __init__(
        self, problems: Problems, variables: dict[str, Type], fields: Fields, *, messages: bool = False
    ) -> None:
        self.known = Substitutions()
        self._messages = messages
        self._problems = problems
        self._fields = fields
        self._scopes: list[dict[str, Type]] = [variables]

    def check(self, node: Node) -> Type:
        """Return the type of a node."""
        match node:
            case Literal():
                found = type_of(node.value)
            case Ident():
                found = self._ident(node)
            case Select():
                found = self._select(node)
            case Call():
                found = self._call(node)
            case ListNode():
                found = self._list(node)
            case MapNode():
                found = self._map(node)
            case Message():
                found = self._message(node)
            case Comprehension():
                found = self._comprehension(node)
            case _:
                found = types.ERROR
        node.type = found
        return found

    # -- names

    def _look_up(self, name: str) -> tuple[Type, Type | None] | None:
        """Return the type of a name and, if it names a type, that type."""
        name = name.removeprefix(".")
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name], None
        if name in TYPE_NAMES:
            return type_of_type(TYPE_NAMES[name]), TYPE_NAMES[name]
        return None

    def _ident(self, node: Ident) -> Type:
        found = self._look_up(node.name)
        if found is None:
            return self._undeclared(node, node.name)
        node.name = node.name.removeprefix(".")
        node.constant = found[1]
        return found[0]

    def _undeclared(self, node: Node, name: str) -> Type:
        self._problems.report(node.offset, f"undeclared reference to '{name}' (in container '')")
        return types.ERROR

    def _select(self, node: Select) -> Type:
        name = None if node.test_only else qualified_name(node)
        if name is not None and (found := self._look_up(name)) is not None:
            node.constant = found[1]
            return found[0]
        found_type = self._field(node, node.operand, node.name, optional=False)
        return types.BOOL if node.test_only else self.known.resolve(found_type)

    def _field(self, node: Node, operand: Node, name: str, *, optional: bool) -> Type:
        target, was_optional = unwrap_optional(self.known.resolve(self.check(operand)))
        result = types.DYN
        if target.kind == "map":
            result = target.parameters[1]
        elif target.kind == "struct":
            result = self._struct_field(node, target, name)
        elif target.kind == "param":
            self.known.fits(types.DYN, target)
        elif not is_dyn_or_error(target):
            self._problems.report(node.offset, f"type '{shown(target)}' does not support field selection")
        return optional_of(result) if was_optional or optional else result

    def _struct_field(self, node: Node, target: Type, name: str) -> Type:
        fields = self._fields.get(target.name)
        if self._messages and made.is_message(target.name):
            return made.field_type(target.name, name) or self._undefined(node, name)
        if fields is None:
            self._problems.report(node.offset, f"unexpected failed resolution of '{target.name}'")
            return types.ERROR
        return fields.get(name) or self._undefined(node, name)

    def _undefined(self, node: Node, name: str) -> Type:
        self._problems.report(node.offset, f"undefined field '{name}'")
        return types.ERROR

    # -- calls

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            return self._optional_select(node)
        for argument in node.args:
            self.check(argument)
        if node.target is None:
            node.function = node.function.removeprefix(".")
            function = FUNCTIONS.get(node.function)
            return self._undeclared(node, node.function) if function is None else self._resolved(node, function)
        prefix = qualified_name(node.target)
        if prefix is not None:
            function = FUNCTIONS.get(f"{prefix.removeprefix('.')}.{node.function}")
            if function is not None and (self._messages or function.name not in made.FUNCTION_NAMES):
                # the name of a function, not a target
                node.function, node.target = function.name, None
                return self._resolved(node, function)
        self.check(node.target)
        function = FUNCTIONS.get(node.function)
        return self._undeclared(node, node.function) if function is None else self._resolved(node, function)

    def _optional_select(self, node: Call) -> Type:
        operand, name = node.args
        assert isinstance(name, Literal)
        name.type = types.STRING
        return self.known.resolve(self._field(node, operand, name.value, optional=True))

    def _resolved(self, node: Call, function: Function) -> Type:
        arguments = [self._type(each) for each in node.children()]
        if node.function in ("_&&_", "_||_"):
            return self._logical(node, function, arguments)
        matching: list[Overload] = []
        result: Type | None = None
        for overload in function.overloads:
            if overload.member != (node.target is not None) or len(overload.arguments) != len(arguments):
                continue
            parameters, declared = self._instance(overload)
            if not self.known.fit_all(arguments, parameters):
                continue
            matching.append(overload)
            found = self.known.resolve(declared)
            if result is None:
                result = found
            elif not is_dyn(result) and found != result:
                result = types.DYN
        if result is None:
            signature = shown_signature(
                [self.known.resolve(each, open_to_dyn=True) for each in arguments], member=node.target is not None
            )
            message = f"found no matching overload for '{function.name}' applied to '{signature}'"
            self._problems.report(node.offset, message)
            return types.ERROR
        node.overloads = tuple(matching)
        return result

    def _logical(self, node: Call, function: Function, arguments: list[Type]) -> Type:
        result = types.BOOL
        for argument, found in zip(node.args, arguments, strict=True):
            if not self.known.fits(found, types.BOOL):
                self._mismatch(argument, types.BOOL, found)
                result = types.ERROR
        node.overloads = function.overloads
        return result

    def _instance(self, overload: Overload) -> tuple[list[Type], Type]:
        """Return parameters and result of an overload, with fresh type variables."""
        if not overload.parameters:
            return list(overload.arguments), overload.result
        fresh = {each: self.known.new_variable() for each in overload.parameters}
        return [_renamed(each, fresh) for each in overload.arguments], _renamed(overload.result, fresh)

    # -- aggregates

    def _list(self, node: ListNode) -> Type:
        joined: Type | None = None
        for index, element in enumerate(node.elements):
            found = self.check(element)
            if index in node.optional:
                found = self._present(element, found)
            joined = self._joined(joined, found)
        return list_of(self.known.new_variable() if joined is None else joined)

    def _map(self, node: MapNode) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            keys = self._joined(keys, self.check(entry.key))
            found = self.check(entry.value)
            if entry.optional:
                found = self._present(entry.value, found)
            values = self._joined(values, found)
        if keys is None or values is None:
            return map_of(self.known.new_variable(), self.known.new_variable())
        return map_of(keys, values)

    def _present(self, node: Node, found: Type) -> Type:
        """Return the type of the value in an optional element."""
        held, is_optional = unwrap_optional(found)
        if not is_optional and not is_dyn(held):
            self._mismatch(node, optional_of(held), held)
        return held

    def _joined(self, before: Type | None, found: Type) -> Type:
        """Return the common type of the elements so far; the validators report mixed types."""
        if before is None:
            return found
        return most_general(before, found) if self.known.fits(before, found) else types.DYN

    def _message(self, node: Message) -> Type:
        for entry in node.entries:
            self.check(entry.value)
        name = node.name.removeprefix(".")
        if self._messages and made.is_message(name):
            self._check_fields(node, name)
            return Type("struct", name)
        if not node.name.removeprefix(".").startswith("google.protobuf."):
            return self._undeclared(node, node.name)
        # differs (D-029): the reference can construct protocol buffer messages, which a device selector does not need
        self._problems.report(node.offset, f"kubesched does not construct messages: '{node.name}'")
        return types.ERROR

    def _check_fields(self, node: Message, name: str) -> None:
        for entry in node.entries:
            assert isinstance(entry.key, Literal)
            expected, found = made.field_type(name, entry.key.value), self._type(entry.value)
            if entry.optional:
                found = self._present(entry.value, found)
            if expected is None or not self.known.fits(expected, found):
                wanted = "" if expected is None else shown(expected)
                words = f"expected type of field '{entry.key.value}' is '{wanted}' but provided type is"
                self._problems.report(entry.offset, f"{words} '{shown(found)}'")

    # -- folds

    def _comprehension(self, node: Comprehension) -> Type:
        self.check(node.iter_range)
        accumulated = self.check(node.accu_init)
        first, second = self._iterated(node)
        self._scopes.append({node.accu_var: accumulated})
        self._scopes.append({node.iter_var: first, **({node.iter_var2: second} if node.iter_var2 else {})})
        self.check(node.condition)
        self._assert(node.condition, types.BOOL)
        self.check(node.step)
        self._assert(node.step, accumulated)
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self.known.resolve(result)

    def _iterated(self, node: Comprehension) -> tuple[Type, Type]:
        """Return the types of the iteration variables."""
        over = self.known.resolve(self._type(node.iter_range))
        if over.kind == "list":
            return (types.INT, over.parameters[0]) if node.iter_var2 else (over.parameters[0], types.DYN)
        if over.kind == "map":
            return over.parameters[0], over.parameters[1]
        # not `any`: it cannot be iterated over
        if over.kind in ("dyn", "error", "param"):
            self.known.fits(types.DYN, over)
            return types.DYN, types.DYN
        message = f"expression of type '{shown(over)}' cannot be range of a comprehension"
        self._problems.report(node.iter_range.offset, f"{message} (must be list, map, or dynamic)")
        return types.ERROR, types.ERROR

    def _assert(self, node: Node, expected: Type) -> None:
        found = self._type(node)
        if not self.known.fits(expected, found):
            self._mismatch(node, expected, found)

    def _mismatch(self, node: Node, expected: Type, found: Type) -> None:
        self._problems.report(node.offset, f"expected type '{shown(expected)}' but found '{shown(found)}'")

    def _type(self, node: Node) -> Type:
        assert node.type is not None
        return node.type


def _renamed(described: Type, names: dict[Type, Type]) -> Type:
    if described.kind == "param":
        return names[described]
    if not described.parameters:
        return described
    return described._replace(parameters=tuple(_renamed(each, names) for each in described.parameters))
