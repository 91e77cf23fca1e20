"""Validation that webhook configurations and admission policies share: rules and match conditions.

From documents to problems.
"""

# upstream: pkg/apis/admissionregistration/validation/validation.go (v1.36)

from collections.abc import Sequence

from kubesched.api.field_errors import as_json, child, duplicate, index, invalid, required
from kubesched.api.labels import label_key_problems
from kubesched.cel.errors import CelCompileError
from kubesched.cel.types import Type
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.admission.expressions import CONDITION, Names, compiled
from kubesched_controlplane.kinds.checks import text_problems, too_many
from kubesched_controlplane.kinds.marks import Fields, Marks

MARKS = Marks()
_MOST_CONDITIONS = 64


@MARKS.rule("RuleWithOperations")
def rule_problems(path: str, rule: Document, fields: Fields) -> list[str]:
    """Return the problems of a rule with operations and resources."""
    problems = fields("operations", "apiGroups", "apiVersions")
    return [*problems, *_resource_problems(child(path, "resources"), rule.get("resources") or []), *fields("scope")]


def _resource_problems(path: str, resources: list[str]) -> list[str]:
    problems = [] if resources else [required(path)]
    # the resources of `x/*`, and the subresources of `*/x`
    whole, everywhere = set(), set()
    last_is_plain = False
    for number, text in enumerate(resources):
        here = index(path, number)
        if not text:
            problems.append(required(here))
            continue
        resource, slash, subresource = text.partition("/")
        if not slash:
            last_is_plain = text != "*"
            continue
        if resource in whole:
            problems.append(invalid(here, text, f"if '{resource}/*' is present, must not specify {text}"))
        if subresource in everywhere:
            problems.append(invalid(here, text, f"if '*/{subresource}' is present, must not specify {text}"))
        if subresource == "*":
            whole.add(resource)
        if resource == "*":
            everywhere.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        why = "if '*/*' is present, must not specify other resources"
        problems.append(invalid(path, as_json(resources), why))
    if "*" in resources and last_is_plain:
        why = "if '*' is present, must not specify other resources without subresources"
        problems.append(invalid(path, as_json(resources), why))
    return problems


def condition_problems(path: str, conditions: Sequence[Document], *, params: bool = False) -> list[str]:
    """Return the problems of match conditions, which may use `params` in policies with a paramKind."""
    problems = [too_many(path, len(conditions), _MOST_CONDITIONS)] if len(conditions) > _MOST_CONDITIONS else []
    names = set()
    for number, condition in enumerate(conditions):
        here = index(path, number)
        name, text = condition.get("name") or "", (condition.get("expression") or "").strip()
        if not text:
            problems.append(required(child(here, "expression")))
        else:
            problems += expression_problems(child(here, "expression"), text, Names(params=params), CONDITION)
        where = child(here, "name")
        problems += text_problems(where, name, label_key_problems) if name else [required(where)]
        if name and name in names:
            problems.append(duplicate(where, name))
        names.add(name)
    return problems


def expression_problems(path: str, text: str, names: Names, results: tuple[Type, ...]) -> list[str]:
    """Return the problem of an expression that does not compile."""
    try:
        compiled(text, names, results)
    except CelCompileError as error:
        return [invalid(path, text, str(error))]
    return []
