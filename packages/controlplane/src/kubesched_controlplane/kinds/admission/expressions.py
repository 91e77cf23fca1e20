"""CEL expressions of admission policies and match conditions: names in scope, result types, evaluation.

From texts to compiled expressions, or to an error with the reference's message; from the values of a request to
results, within a cost budget.
"""

# upstream: apiserver/pkg/admission/plugin/cel/{compile,composition,activation}.go, pkg/apis/cel/config.go (v1.36)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from kubesched.cel import types
from kubesched.cel.errors import CelAbortError, CelCompileError, CelRuntimeError, CelValueError
from kubesched.cel.messages import JSON_PATCH, OBJECT
from kubesched.cel.rules import Rule
from kubesched.cel.types import Type, list_of, map_of
from kubesched.cel.values import MISSING, CelMap

# the cost budgets for one request: of all expressions of a policy, and of all match conditions
BUDGET: Final = 10_000_000
CONDITIONS_BUDGET: Final = 2_500_000
_OUT_OF_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"
_MOST_KEPT: Final = 2048


def _struct(name: str) -> Type:
    return Type("struct", f"kubernetes.{name}")


_TEXTS: Final = list_of(types.STRING)
_LABELS: Final = map_of(types.STRING, types.STRING)
_VARIABLES: Final = _struct("variables")
_FIELDS: Final[Mapping[str, Mapping[str, Type]]] = {
    "kubernetes.GroupVersionKind": dict.fromkeys(("group", "version", "kind"), types.STRING),
    "kubernetes.GroupVersionResource": dict.fromkeys(("group", "version", "resource"), types.STRING),
    "kubernetes.UserInfo": {
        "username": types.STRING,
        "uid": types.STRING,
        "groups": _TEXTS,
        "extra": map_of(types.STRING, _TEXTS),
    },
    "kubernetes.AdmissionRequest": {
        "kind": _struct("GroupVersionKind"),
        "resource": _struct("GroupVersionResource"),
        "subResource": types.STRING,
        "requestKind": _struct("GroupVersionKind"),
        "requestResource": _struct("GroupVersionResource"),
        "requestSubResource": types.STRING,
        "name": types.STRING,
        "namespace": types.STRING,
        "operation": types.STRING,
        "userInfo": _struct("UserInfo"),
        "dryRun": types.BOOL,
        "options": types.DYN,
    },
    "kubernetes.NamespaceSpec": {"finalizers": _TEXTS},
    "kubernetes.NamespaceCondition": {
        **dict.fromkeys(("status", "type", "message", "reason"), types.STRING),
        "lastTransitionTime": types.TIMESTAMP,
    },
    "kubernetes.NamespaceStatus": {"conditions": list_of(_struct("NamespaceCondition")), "phase": types.STRING},
    "kubernetes.NamespaceMetadata": {
        **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), types.STRING),
        **dict.fromkeys(("labels", "annotations"), _LABELS),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), types.TIMESTAMP),
        **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), types.INT),
        "finalizers": _TEXTS,
    },
    "kubernetes.Namespace": {
        "metadata": _struct("NamespaceMetadata"),
        "spec": _struct("NamespaceSpec"),
        "status": _struct("NamespaceStatus"),
    },
}
_ALWAYS: Final = {
    "object": types.DYN,
    "oldObject": types.DYN,
    "namespaceObject": _struct("Namespace"),
    "request": _struct("AdmissionRequest"),
}
_AUTHORIZER: Final = {"authorizer": types.AUTHORIZER, "authorizer.requestResource": types.RESOURCE_CHECK}

# the allowed result types of expressions, by their purpose
CONDITION: Final = (types.BOOL,)
MESSAGE: Final = (types.STRING,)
AUDITED: Final = (types.STRING, types.NULL)
CONFIGURATION: Final = (OBJECT,)
OPERATIONS: Final = (list_of(JSON_PATCH),)
ANYTHING: Final[tuple[Type, ...]] = ()


class Names:
    """The names in scope of an expression besides the request and its objects; policies declare `variables`."""

    __slots__ = ("authorizer", "makes_objects", "params", "variables")

    def __init__(
        self,
        *,
        params: bool = False,
        authorizer: bool = True,
        variables: Mapping[str, Type] | None = None,
        makes_objects: bool = False,
    ) -> None:
        self.makes_objects = makes_objects
        self.params = params
        self.authorizer = authorizer
        self.variables = variables

    def without_authorizer(self) -> Names:
        """Return these names without the authorizer."""
        return Names(params=self.params, authorizer=False, variables=self.variables)

    def for_changes(self) -> Names:
        """Return these names for expressions of mutations, which may construct objects."""
        return Names(params=self.params, variables=self.variables, makes_objects=True)

    def types(self) -> dict[str, Type]:
        """Return the types of the names in scope."""
        return {
            **_ALWAYS,
            **({"params": types.DYN} if self.params else {}),
            **(_AUTHORIZER if self.authorizer else {}),
            **({"variables": _VARIABLES} if self.variables is not None else {}),
        }


class Expression:
    """One compiled expression."""

    __slots__ = ("_names", "_rule", "text", "type")

    def __init__(self, text: str, names: Names, results: tuple[Type, ...]) -> None:
        """Compile an expression. Raises CelCompileError unless its result is one of the types; no types allow any."""
        self.text = text
        variables = names.types()
        fields = _FIELDS if names.variables is None else {**_FIELDS, _VARIABLES.name: names.variables}
        self._rule = Rule(text, variables, fields, messages=names.makes_objects)
        self._names = tuple(variables)
        self.type = self._rule.type
        if results and self.type not in results:
            wanted = str(results[0]) if len(results) == 1 else f"one of [{' '.join(map(str, results))}]"
            raise CelCompileError(f"must evaluate to {wanted} but got {self.type}")

    def run(self, values: Mapping[str, Any]) -> tuple[Any, int]:
        """Return the value of the expression and its cost. Raises CelRuntimeError."""
        return self._rule.run([values.get(name) for name in self._names])


# the hashable form of Names, as a cache key
_Key = tuple[bool, bool, tuple[tuple[str, Type], ...] | None, bool]


@lru_cache(maxsize=_MOST_KEPT)
def _compiled(text: str, key: _Key, results: tuple[Type, ...]) -> Expression | CelCompileError:
    params, authorizer, declared, makes_objects = key
    variables = None if declared is None else dict(declared)
    names = Names(params=params, authorizer=authorizer, variables=variables, makes_objects=makes_objects)
    try:
        return Expression(text, names, results)
    except CelCompileError as error:
        return error


def compiled(text: str, names: Names, results: tuple[Type, ...]) -> Expression:
    """Return a compiled expression, from the cache if possible. Raises CelCompileError."""
    variables = None if names.variables is None else tuple(names.variables.items())
    found = _compiled(text, (names.params, names.authorizer, variables, names.makes_objects), results)
    if isinstance(found, CelCompileError):
        raise CelCompileError(str(found))
    return found


def variable_type(found: Type | None) -> Type:
    """Return the type of a policy's variable in the expressions that follow it."""
    if found is None or found.kind in ("struct", "opaque", "type", "param", "error"):
        return types.DYN
    return found


class BudgetError(Exception):
    """The expressions of a request have exceeded their cost budget."""

    def __init__(self) -> None:
        super().__init__(_OUT_OF_BUDGET)


class EvaluationError(Exception):
    """An expression that cannot be evaluated for a request."""


class PolicyEvaluation:
    """The values of one request, and the rest of its cost budget."""

    def __init__(self, values: Mapping[str, Any], budget: int = BUDGET) -> None:
        self.values = dict(values)
        self.left = budget

    def declare(self, variables: Mapping[str, Expression | CelCompileError]) -> None:
        """Add variables, which are evaluated when an expression first uses them."""
        self.values["variables"] = _LazyVariables(variables, self._variable)

    def _variable(self, name: str, expression: Expression | CelCompileError) -> Any:
        if isinstance(expression, CelCompileError):
            raise CelValueError(f"composited variable {_quoted(name)} fails to compile: {expression}")
        try:
            value, cost = expression.run(self.values)
        except CelAbortError:
            raise
        except CelRuntimeError as error:
            raise CelValueError(f"composited variable {_quoted(name)} fails to evaluate: {error}") from None
        self.left -= cost
        return value

    def run(self, expression: Expression) -> Any:
        """Return the value of an expression. Raises EvaluationError, or BudgetError, which ends the evaluation."""
        try:
            value, cost = expression.run(self.values)
        except CelRuntimeError as error:
            self._charge(0)
            raise EvaluationError(f"expression '{expression.text}' resulted in error: {error}") from None
        self._charge(cost)
        return value

    def _charge(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise BudgetError


class _LazyVariables(CelMap):
    """The value of `variables`, whose entries are evaluated on first use."""

    __slots__ = ("_expressions", "_make")
    type: Final[Type] = _VARIABLES

    def __init__(
        self,
        expressions: Mapping[str, Expression | CelCompileError],
        make: Callable[[str, Expression | CelCompileError], Any],
    ) -> None:
        super().__init__()
        self._expressions = expressions
        self._make = make

    def look_up(self, key: Any) -> Any:
        """Return the value of a variable, MISSING if it is not declared."""
        if key in self.entries:
            return self.entries[key]
        expression = self._expressions.get(key)
        if expression is None:
            return MISSING
        value = self.entries[key] = self._make(key, expression)
        return value


def value_of(document: Any) -> Any:
    """Convert JSON to a value of expressions."""
    if isinstance(document, dict):
        return CelMap({name: value_of(each) for name, each in document.items()})
    if isinstance(document, Sequence) and not isinstance(document, str | bytes):
        return [value_of(each) for each in document]
    return document


def document_of(value: Any) -> Any:
    """Convert a value of an expression to JSON."""
    if isinstance(value, CelMap):
        return {str(name): document_of(each) for name, each in value.items()}
    if isinstance(value, list):
        return [document_of(each) for each in value]
    return value


def _quoted(name: str) -> str:
    return f'"{name}"'
