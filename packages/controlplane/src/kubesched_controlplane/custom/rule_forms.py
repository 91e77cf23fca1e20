"""Validation rules in schemas: whether their fields are well-formed, before the expressions are compiled.

From rules to problems.
"""

# upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go
# (ValidateCustomResourceDefinitionOpenAPISchema) (v1.36)

from collections.abc import Iterator
from typing import Any

from kubesched.api.field_errors import as_json, child, invalid, not_supported, required
from kubesched.api.go_text import to_json
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.custom.structure import Schema

_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_NON_EMPTY, _NO_BREAKS = "must be non-empty if specified", "must not contain line breaks"


def form_problems(path: str, rule: Document, schema: Schema) -> Iterator[str]:
    """Yield the problems of the fields of a rule; its expressions are compiled later."""
    text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    if not text:
        yield required(child(path, "rule"), "rule is not specified")
    elif message and not message.strip():
        yield invalid(child(path, "message"), message, _NON_EMPTY)
    elif _has_breaks(message.strip()):
        yield invalid(child(path, "message"), message, _NO_BREAKS)
    elif _has_breaks(text) and not message.strip():
        yield required(child(path, "message"), "message must be specified if rule contains line breaks")
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        yield required(child(path, "messageExpression"), f"messageExpression {_NON_EMPTY}")
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        yield not_supported(child(path, "reason"), as_json(reason), _REASONS)
    field = rule.get("fieldPath") or ""
    if field and not field.strip():
        yield invalid(child(path, "fieldPath"), field, _NON_EMPTY)
    if _has_breaks(field):
        yield invalid(child(path, "fieldPath"), field, _NO_BREAKS)
    if field and not _leads_somewhere(field, schema):
        yield invalid(child(path, "fieldPath"), field, "must be a valid path")


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _leads_somewhere(path: str, schema: Schema) -> bool:
    if not path.startswith((".", "[")):
        return False
    found: Any = schema
    for part in path.replace("['", ".").replace("']", "").removeprefix(".").split("."):
        further = found.get("additionalProperties")
        found = found.get("properties", {}).get(part) or (further if isinstance(further, dict) else None)
        if found is None:
            return False
    return True


def go_struct(fields: Document) -> str:
    """Format fields as Go prints a struct without JSON tags."""
    return to_json({name[:1].upper() + name[1:]: each for name, each in fields.items()}, sort_keys=False)
