"""Validation rules in schemas: whether they can be compiled.

From schemas to problems.
"""

# upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go
# (ValidateCustomResourceDefinitionOpenAPISchema) (v1.36)

from collections.abc import Iterator

from kubesched.api.field_errors import Shown, as_json, child, index, invalid
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.custom.list_types import LIST_TYPE
from kubesched_controlplane.custom.rule_forms import go_struct
from kubesched_controlplane.custom.rule_types import Declared, as_resource
from kubesched_controlplane.custom.rules import CompiledRule, RuleError
from kubesched_controlplane.custom.structural_checks import MAP_TYPE, VALIDATIONS
from kubesched_controlplane.custom.structure import Schema
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED


def rule_problems(path: str, schema: Schema) -> list[str]:
    """Return the problems of the validation rules in a schema."""
    return list(_problems(path, schema, "", root=True))


def _problems(path: str, schema: Schema, untold: str, *, root: bool = False) -> Iterator[str]:
    rules = schema.get(VALIDATIONS) or ()
    if rules:
        declared = Declared(as_resource(schema) if root or schema.get(EMBEDDED) else schema)
        for number, rule in enumerate(rules):
            yield from _rule(index(child(path, VALIDATIONS), number), rule, declared, untold)
    further, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(further, dict):
        yield from _problems(child(path, "additionalProperties"), further, untold)
    inner = untold or (path if schema.get(MAP_TYPE) == "atomic" else "")
    for name, each in schema.get("properties", {}).items():
        yield from _problems(index(child(path, "properties"), name), each, inner)
    if isinstance(items, dict):
        # elements of other lists have no key, so their old values are unknown
        inner = untold or (path if schema.get(LIST_TYPE) != "map" else "")
        yield from _problems(child(path, "items"), items, inner)


def _rule(path: str, rule: Document, declared: Declared, untold: str) -> Iterator[str]:
    try:
        found = CompiledRule(rule, declared)
    except RuleError as error:
        where = child(path, "messageExpression" if error.message else "rule")
        yield invalid(where, Shown(_as_the_reference_shows(rule)), str(error))
        return
    if found.uses_old and untold:
        words = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {untold}"
        yield invalid(child(path, "rule"), rule["rule"], words)
    if not found.uses_old and rule.get("optionalOldSelf") is not None:
        words = "may not be set if oldSelf is not used in rule"
        yield invalid(child(path, "optionalOldSelf"), as_json(rule["optionalOldSelf"]), words)


def _as_the_reference_shows(rule: Document) -> str:
    texts = {name: rule.get(name) or "" for name in ("rule", "message", "messageExpression")}
    field, rest = rule.get("fieldPath") or "", {"optionalOldSelf": rule.get("optionalOldSelf")}
    return go_struct({**texts, "reason": rule.get("reason"), "fieldPath": field, **rest})
