"""Types of expressions: their texts, whether one is assignable to another, and the substitutions of type variables.

From types of arguments and parameters to substitutions. `any` and `dyn` match everything; an error type matches
everything, too, so that one mistake is reported once.
"""

# upstream: cel-go common/types/types.go, checker/{types,mapping,format}.go (v0.26)

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple


class Type(NamedTuple):
    """A kind, the name it has when a program runs, and its parameters."""

    kind: str
    name: str
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        """Return the type as the reference shows the type of a whole expression."""
        if self.kind == "param":
            return f"<{self.name}>"
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"


DYN: Final = Type("dyn", "dyn")
ANY: Final = Type("any", "google.protobuf.Any")
ERROR: Final = Type("error", "error")
BOOL: Final = Type("bool", "bool")
BYTES: Final = Type("bytes", "bytes")
DOUBLE: Final = Type("double", "double")
INT: Final = Type("int", "int")
NULL: Final = Type("null", "null_type")
STRING: Final = Type("string", "string")
UINT: Final = Type("uint", "uint")
DURATION: Final = Type("duration", "google.protobuf.Duration")
TIMESTAMP: Final = Type("timestamp", "google.protobuf.Timestamp")
TYPE: Final = Type("type", "type")
QUANTITY: Final = Type("struct", "kubernetes.Quantity")
SEMVER: Final = Type("struct", "kubernetes.Semver")
URL: Final = Type("struct", "kubernetes.URL")
NAMED_FORMAT: Final = Type("struct", "kubernetes.NamedFormat")
DEVICE: Final = Type("struct", "kubernetes.DRADevice")
IP: Final = Type("opaque", "net.IP")
CIDR: Final = Type("opaque", "net.CIDR")
AUTHORIZER: Final = Type("struct", "kubernetes.authorization.Authorizer")
PATH_CHECK: Final = Type("struct", "kubernetes.authorization.PathCheck")
GROUP_CHECK: Final = Type("struct", "kubernetes.authorization.GroupCheck")
RESOURCE_CHECK: Final = Type("struct", "kubernetes.authorization.ResourceCheck")
DECISION: Final = Type("struct", "kubernetes.authorization.Decision")

_SHOWN: Final = {"any": "any", "duration": "duration", "error": "!error!", "null": "null", "timestamp": "timestamp"}
_NULLABLE: Final = frozenset({"opaque", "struct", "any", "duration", "timestamp"})
_WITH_PARAMETERS: Final = frozenset({"opaque", "list", "map", "type"})


def list_of(element: Type) -> Type:
    """Return the type of lists of an element type."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps from a key type to a value type."""
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type of optional values of a type."""
    return Type("opaque", "optional_type", (value,))


def type_of_type(described: Type) -> Type:
    """Return the type of a type."""
    return Type("type", "type", (described,))


def type_parameter(name: str) -> Type:
    """Return a type variable."""
    return Type("param", name)


LIST: Final = list_of(DYN)
MAP: Final = map_of(DYN, DYN)
OPTIONAL: Final = Type("opaque", "optional_type")

_NAMED: Final = {
    "dyn": DYN,
    "any": ANY,
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "int": INT,
    "null_type": NULL,
    "string": STRING,
    "uint": UINT,
    "duration": DURATION,
    "timestamp": TIMESTAMP,
    "type": TYPE,
    "Quantity": QUANTITY,
    "Semver": SEMVER,
    "URL": URL,
    "NamedFormat": NAMED_FORMAT,
    "IP": IP,
    "CIDR": CIDR,
    "Authorizer": AUTHORIZER,
    "PathCheck": PATH_CHECK,
    "GroupCheck": GROUP_CHECK,
    "ResourceCheck": RESOURCE_CHECK,
    "Decision": DECISION,
}


@lru_cache(maxsize=512)
def parse_type(text: str) -> Type:
    """Return the type that a declaration writes as `map(string, list(A))`; single capitals are variables."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return _NAMED.get(name) or (type_parameter(name) if len(name) == 1 else Type("opaque", name))
    parameters = tuple(parse_type(part) for part in split_types(rest[:-1]))
    if name in ("list", "map", "type"):
        return Type(name, name, parameters)
    return Type("opaque", "optional_type" if name == "optional" else name, parameters)


def split_types(text: str) -> list[str]:
    """Return the types of a comma-separated list."""
    parts: list[str] = []
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def shown(described: Type) -> str:
    """Return the type as messages of the checker show it."""
    if described.kind in _SHOWN:
        return _SHOWN[described.kind]
    if not described.parameters:
        return described.name
    return f"{described.name}({', '.join(map(shown, described.parameters))})"


def shown_signature(arguments: Sequence[Type], *, member: bool) -> str:
    """Return argument types as `(int, int)`, or `string.(int)` with a target."""
    target = f"{shown(arguments[0])}." if member else ""
    return f"{target}({', '.join(map(shown, arguments[1 if member else 0 :]))})"


def is_dyn(described: Type) -> bool:
    """Return whether the type is only known at run time."""
    return described.kind in ("dyn", "any")


def is_dyn_or_error(described: Type) -> bool:
    """Return whether the type matches everything."""
    return described.kind in ("dyn", "any", "error")


def unwrap_optional(described: Type) -> tuple[Type, bool]:
    """Return the parameter of an optional type, or the type itself, and whether it is optional."""
    if described.kind == "opaque" and described.name == "optional_type":
        return described.parameters[0], True
    return described, False


class Substitutions:
    """The substitutions of type variables, found while arguments are matched with parameters."""

    __slots__ = ("_before", "_known", "_variables")

    def __init__(self) -> None:
        self._known: dict[Type, Type] = {}
        # the substitutions before the current attempt, to undo it
        self._before: list[tuple[Type, Type | None]] = []
        self._variables = 0

    def new_variable(self) -> Type:
        """Return a new variable without a substitution."""
        self._variables += 1
        return type_parameter(f"_var{self._variables - 1}")

    def fits(self, one: Type, other: Type) -> bool:
        """Return whether the types can be unified; if so, keep the substitutions of their variables."""
        return self.fit_all((one,), (other,))

    def fit_all(self, ones: Sequence[Type], others: Sequence[Type]) -> bool:
        """Return whether the types can be unified, pair by pair; if not, no substitution is kept."""
        self._before.clear()
        if self._all_assignable(ones, others):
            return True
        for variable, known in reversed(self._before):
            if known is None:
                del self._known[variable]
            else:
                self._known[variable] = known
        return False

    def _learn(self, variable: Type, known: Type) -> None:
        self._before.append((variable, self._known.get(variable)))
        self._known[variable] = known

    def resolve(self, described: Type, *, open_to_dyn: bool = False) -> Type:
        """Return the type with its variables substituted; variables without a substitution stay, or become dyn."""
        known = self._known.get(described)
        if known is not None:
            return self.resolve(known, open_to_dyn=open_to_dyn)
        if described.kind == "param":
            return DYN if open_to_dyn else described
        if described.kind in _WITH_PARAMETERS and described.parameters:
            inner = tuple(self.resolve(each, open_to_dyn=open_to_dyn) for each in described.parameters)
            return described._replace(parameters=inner)
        return described

    def _all_assignable(self, ones: Sequence[Type], others: Sequence[Type]) -> bool:
        return len(ones) == len(others) and all(map(self._assignable, ones, others))

    def _assignable(self, one: Type, other: Type) -> bool:
        if other.kind == "param":
            valid, has_substitution = self._substitutes(one, other)
            if valid:
                return True
            if has_substitution:
                return False
        if one.kind == "param":
            return self._substitutes(other, one)[0]
        if is_dyn_or_error(one) or is_dyn_or_error(other):
            return True
        if one.kind == "null" or other.kind == "null":
            rest = other if one.kind == "null" else one
            return rest.kind == "null" or rest.kind in _NULLABLE
        if one.kind == "type":
            return other.kind == "type"
        if one.kind in ("opaque", "list", "map"):
            return (
                one.kind == other.kind
                and one.name == other.name
                and self._all_assignable(one.parameters, other.parameters)
            )
        return one == other

    def _substitutes(self, one: Type, variable: Type) -> tuple[bool, bool]:
        """Return whether the type can be the variable's substitution, and whether the variable has one."""
        if one == variable:
            return True, True
        known = self._known.get(variable)
        if known is not None:
            if one == known:
                return True, True
            if self._assignable(one, known):
                general = most_general(one, known)
                if self._not_within(variable, general):
                    self._learn(variable, general)
                return True, True
            return False, True
        if self._not_within(variable, one):
            self._learn(variable, one)
            return True, False
        return False, False

    def _not_within(self, variable: Type, within: Type) -> bool:
        """Return whether the variable does not occur in the type."""
        if variable == within:
            return False
        if within.kind == "param":
            known = self._known.get(within)
            return known is None or self._not_within(variable, known)
        if within.kind in _WITH_PARAMETERS:
            return all(self._not_within(variable, each) for each in within.parameters)
        return True


def most_general(one: Type, other: Type) -> Type:
    """Return the less specific of two types."""
    return one if _equal_or_less_specific(one, other) else other


def _equal_or_less_specific(one: Type, other: Type) -> bool:
    if is_dyn(one) or one.kind == "param":
        return True
    if is_dyn(other) or other.kind == "param" or one.kind != other.kind:
        return False
    if one.kind in ("opaque", "list", "map"):
        return (
            one.name == other.name
            and len(one.parameters) == len(other.parameters)
            and all(map(_equal_or_less_specific, one.parameters, other.parameters))
        )
    return one.kind == "type" or one == other
