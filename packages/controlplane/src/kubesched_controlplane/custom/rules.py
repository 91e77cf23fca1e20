"""Validation rules of schemas (x-kubernetes-validations): CEL expressions that must be true for an object.

From schemas to rules, compiled once; from objects to problems. A rule reads the value at its place in the schema
(`self`) and, if that can be correlated, the old value (`oldSelf`).
"""

# upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/{validation,compilation}.go (v1.36)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubesched.api.field_errors import Shown, as_json, child, duplicate, forbidden, index, invalid, required
from kubesched.cel import types
from kubesched.cel.errors import CelCompileError, CelRuntimeError
from kubesched.cel.rules import Rule
from kubesched.cel.values import Optional
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.custom.list_types import LIST_TYPE
from kubesched_controlplane.custom.rule_types import Declared, as_resource, value_of
from kubesched_controlplane.custom.structural_checks import VALIDATIONS
from kubesched_controlplane.custom.structure import Schema
from kubesched_controlplane.custom.validating import MISSING, by_keys, key_of
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED

BUDGET = 10_000_000
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_LIMIT = "operation cancelled: actual cost limit exceeded"


class RuleError(ValueError):
    """A rule that cannot be compiled; with `message`, its messageExpression cannot."""

    def __init__(self, words: str, *, message: bool = False) -> None:
        super().__init__(words)
        self.message = message


class CompiledRule:
    """A compiled validation rule."""

    def __init__(self, rule: Document, declared: Declared) -> None:
        """Compile a rule; raises RuleError."""
        self.optional = bool(rule.get("optionalOldSelf"))
        self.reason = rule.get("reason")
        self.field = (rule.get("fieldPath") or "").strip().removeprefix(".")
        self.words = (rule.get("message") or "").strip()
        self.text = self.words or rule["rule"].strip()
        if declared.type is None:
            raise RuleError("failed to convert to declType for CEL validation rules")
        old = types.optional_of(declared.type) if self.optional else declared.type
        variables = {"self": declared.type, "oldSelf": old}
        try:
            self._rule = Rule(rule["rule"], variables, declared.fields)
        except CelCompileError as error:
            raise RuleError(str(error)) from None
        if self._rule.type != types.BOOL:
            raise RuleError("cel expression must evaluate to a bool")
        self.uses_old = "oldSelf" in self._rule.names
        self._message = _message(rule.get("messageExpression") or "", variables, declared)

    def run(self, new: Any, old: Any) -> tuple[bool, int]:
        """Return whether the rule holds, and the cost of the evaluation; raises CelRuntimeError."""
        result, cost = self._rule.run((new, self._old(old)))
        return result is True, cost

    def _old(self, old: Any) -> Any:
        if self.optional:
            return Optional() if old is MISSING else Optional(old)
        return None if old is MISSING else old

    def detail(self, new: Any, old: Any) -> str:
        """Return the message for a value that breaks the rule."""
        if self._message is not None:
            try:
                found = self._message.run((new, self._old(old)))[0]
            except CelRuntimeError:
                found = ""
            if isinstance(found, str) and found.strip() and "\n" not in found:
                return found.strip()
        return self.words or f"failed rule: {self.text}"


def _message(text: str, variables: dict[str, types.Type], declared: Declared) -> Rule | None:
    if not text:
        return None
    try:
        found = Rule(text, variables, declared.fields)
    except CelCompileError as error:
        raise RuleError(f"messageExpression {error}", message=True) from None
    if found.type != types.STRING:
        raise RuleError("messageExpression must evaluate to a string", message=True)
    return found


class _Node:
    """The rules of a schema node and of the nodes below it."""

    def __init__(self, schema: Schema, *, resource: bool = False) -> None:
        self.schema = as_resource(schema) if resource or schema.get(EMBEDDED) else schema
        self.rules: list[CompiledRule] = []
        self.error = ""
        wanted = schema.get(VALIDATIONS) or ()
        declared = Declared(self.schema) if wanted else None
        for rule in wanted:
            assert declared is not None
            try:
                self.rules.append(CompiledRule(rule, declared))
            except RuleError as error:
                self.error = f"rule compile error: {error}"
        self.named = {
            name: node for name, each in schema.get("properties", {}).items() if (node := _node(each)) is not None
        }
        further, items = schema.get("additionalProperties"), schema.get("items")
        self.further = _node(further) if isinstance(further, dict) else None
        self.items = _node(items) if isinstance(items, dict) else None

    def __bool__(self) -> bool:
        return bool(self.rules or self.error or self.named or self.further or self.items)


def _node(schema: Schema) -> _Node | None:
    found = _Node(schema)
    return found if found else None


class ValidationRules:
    """The rules in the schema of a kind."""

    def __init__(self, schema: Schema) -> None:
        self._root = _Node(schema, resource=True)

    def problems(self, new: Any, old: Any = None) -> list[str]:
        """Return the problems that the rules find in an object or its update; `old` is None for a new object."""
        return list(_Asking().of_node(self._root, new, MISSING if old is None else old, "", unchanged=False))


class _Asking:
    """One evaluation of all rules for an object, within a cost budget."""

    def __init__(self) -> None:
        self._left = BUDGET

    def of_node(self, node: _Node, new: Any, old: Any, path: str, *, unchanged: bool) -> Iterator[str]:
        """Yield the problems by the rules of a node and below; unchanged values only by rules that use oldSelf."""
        if new is None or self._left < 0:
            return
        unchanged = unchanged or (old is not MISSING and old == new)
        yield from self._of_rules(node, new, MISSING if old is None else old, path, unchanged=unchanged)
        if isinstance(new, dict):
            before = old if isinstance(old, dict) else {}
            for name, each in new.items():
                inner = node.named.get(name)
                where = child(path, name)
                if inner is None and name not in node.schema.get("properties", {}):
                    inner, where = node.further, index(path, name)
                if inner is not None:
                    yield from self.of_node(inner, each, before.get(name, MISSING), where, unchanged=unchanged)
        elif isinstance(new, list) and node.items is not None:
            earlier = by_keys(old, node.schema) if node.schema.get(LIST_TYPE) == "map" else {}
            for number, each in enumerate(new):
                was = earlier.get(key_of(each, node.schema), MISSING) if earlier else MISSING
                yield from self.of_node(node.items, each, was, index(path, number), unchanged=unchanged)

    def _of_rules(self, node: _Node, new: Any, old: Any, path: str, *, unchanged: bool) -> Iterator[str]:
        kind = node.schema.get("type") or ""
        if node.error:
            yield invalid(path, kind, node.error)
        if not node.rules:
            return
        value = before = MISSING
        for rule in node.rules:
            if rule.uses_old and old is MISSING and not rule.optional:
                continue
            try:
                if value is MISSING:
                    value = value_of(new, node.schema)
                    before = value_of(old, node.schema) if old is not MISSING else MISSING
                holds, cost = rule.run(value, before)
            except CelRuntimeError as error:
                yield invalid(path, kind, _failed(str(error), rule))
                if str(error).startswith(_LIMIT):
                    self._left = -1
                    return
                continue
            self._left -= cost
            if self._left < 0:
                yield invalid(path, kind, _OUT_OF_BUDGET)
                return
            if not holds and (rule.uses_old or not unchanged):
                yield _problem(rule, child(path, rule.field) if rule.field else path, kind, new, (value, before))


def _failed(words: str, rule: CompiledRule) -> str:
    if words.startswith("no such overload"):
        why = "call arguments did not match a supported operator, function or macro signature for rule"
        return f"'{words}': {why}: {rule.text}"
    if words.startswith(_LIMIT):
        return (
            f"'{words}': no further validation rules will be run due to call cost exceeds limit for rule: {rule.text}"
        )
    return f"{words} evaluating rule: {rule.text}"


def _problem(rule: CompiledRule, path: str, kind: str, value: Any, both: tuple[Any, Any]) -> str:
    """Return the problem of a value that breaks a rule, by the reason of the rule."""
    detail = rule.detail(*both)
    shown = value if isinstance(value, str) else as_json(value)
    match rule.reason:
        case "FieldValueForbidden":
            return forbidden(path or "<nil>", detail)
        case "FieldValueRequired":
            return required(path or "<nil>", detail)
        case "FieldValueDuplicate":
            return duplicate(path, Shown("") if kind in ("object", "array") else shown)
    if kind in ("object", "array"):
        # objects and lists are not shown
        return f"{path or '<nil>'}: Invalid value: {detail}"
    return invalid(path, shown, detail)
