"""The strategy of admission policies and their bindings."""

# upstream: pkg/apis/admissionregistration/{v1/defaults.go,validation/validation.go},
# pkg/registry/admissionregistration/*/strategy.go (v1.36)

import re
from typing import Any

from kubesched.api.field_errors import as_json, child, duplicate, forbidden, index, invalid, not_supported, required
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched.cel.errors import CelCompileError
from kubesched.cel.parser import RESERVED
from kubesched.cel.types import DYN, Type
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.admission.expressions import (
    ANYTHING,
    AUDITED,
    CONDITION,
    CONFIGURATION,
    MESSAGE,
    OPERATIONS,
    Names,
    compiled,
    variable_type,
)
from kubesched_controlplane.kinds.admission.rules import MARKS, condition_problems, expression_problems, rule_problems
from kubesched_controlplane.kinds.checks import (
    conditions_problems,
    dns_1035_problems,
    one_of,
    path_segment_problems,
    text_problems,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields
from kubesched_controlplane.registry.strategy import StrategyContext

_MOST_ANNOTATIONS, _LONGEST_VALUE = 20, 5 * 1024
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS = ("Audit", "Deny", "Warn")
_CHANGING = ("*", "CONNECT", "CREATE", "UPDATE")
_ONE_NEEDED = "validations or auditAnnotations must contain at least one item"
_IDENTIFIER = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")


class _PolicyStrategy(KindStrategy):
    """The base class of the strategies of validating and mutating policies."""

    marks = MARKS
    unconditional_update = False
    qualifies_finalizers = False
    has_generation = True
    status_keeps_metadata = True


@MARKS.rule("ValidatingAdmissionPolicySpec", "MutatingAdmissionPolicySpec")
def _shared_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems, match = fields("failurePolicy", "paramKind", "matchConstraints"), spec.get("matchConstraints")
    if match is not None and not match.get("resourceRules"):
        problems.append(required("spec.matchConstraints.resourceRules"))
    conditions, has_params = spec.get("matchConditions") or (), spec.get("paramKind") is not None
    return problems + condition_problems("spec.matchConditions", conditions, params=has_params)


class ValidatingAdmissionPolicyStrategy(_PolicyStrategy):
    """The strategy of ValidatingAdmissionPolicies."""

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a policy."""
        spec = document["spec"]
        names, problems = variables_of(spec)
        problems = super().problems(document, context) + problems
        validations, annotations = spec.get("validations") or (), spec.get("auditAnnotations") or ()
        if not validations and not annotations:
            problems += [required(f"spec.{field}", _ONE_NEEDED) for field in ("validations", "auditAnnotations")]
        for number, validation in enumerate(validations):
            problems += _validation_problems(index("spec.validations", number), validation, names)
        if len(annotations) > _MOST_ANNOTATIONS:
            why = f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations"
            problems.append(invalid("spec.auditAnnotations", as_json(annotations), why))
        keys = set()
        for number, annotation in enumerate(annotations):
            here, key = index("spec.auditAnnotations", number), annotation.get("key") or ""
            problems += _annotation_problems(here, annotation, document["metadata"].get("name", ""), names)
            if key in keys:
                problems.append(duplicate(child(here, "key"), key))
            keys.add(key)
        return problems

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        problems = []
        warnings = (status.get("typeChecking") or {}).get("expressionWarnings") or ()
        for number, warning in enumerate(warnings):
            here = index("status.typeChecking.expressionWarnings", number)
            problems += [required(child(here, field)) for field in ("warning", "fieldRef") if not warning.get(field)]
        return problems + conditions_problems("status.conditions", status.get("conditions"))


class MutatingAdmissionPolicyStrategy(_PolicyStrategy):
    """The strategy of MutatingAdmissionPolicies."""

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a policy."""
        spec = document["spec"]
        names, wrong = variables_of(spec, always=True)
        problems = super().problems(document, context)
        problems += _operation_problems("spec.matchConstraints", spec.get("matchConstraints")) + wrong
        if not spec.get("mutations"):
            problems.append(required("spec.mutations", "mutations must contain at least one item"))
        for number, mutation in enumerate(spec.get("mutations") or ()):
            problems += _mutation_problems(index("spec.mutations", number), mutation, names.for_changes())
        policy = spec.get("reinvocationPolicy") or ""
        if not policy:
            problems.append(required("spec.reinvocationPolicy"))
        else:
            problems += one_of("spec.reinvocationPolicy", policy, ("IfNeeded", "Never"))
        return problems


class PolicyBindingStrategy(KindStrategy):
    """The strategy of bindings of both kinds of policies."""

    marks = MARKS
    unconditional_update = False
    qualifies_finalizers = False
    has_generation = True


@MARKS.rule("ValidatingAdmissionPolicyBindingSpec")
def _validating_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    return fields() + _action_problems("spec.validationActions", spec.get("validationActions") or [])


@MARKS.rule("MutatingAdmissionPolicyBindingSpec")
def _mutating_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    return fields() + _operation_problems("spec.matchResources", spec.get("matchResources"))


# -- matching


@MARKS.rule("MatchResources")
def _match_problems(path: str, match: Document, fields: Fields) -> list[str]:
    return fields("matchPolicy", "namespaceSelector", "objectSelector", "resourceRules", "excludeResourceRules")


@MARKS.rule("NamedRuleWithOperations")
def _named_rule_problems(path: str, rule: Document, fields: Fields) -> list[str]:
    problems = []
    names = rule.get("resourceNames") or []
    for place, name in enumerate(names):
        where = index(child(path, "resourceNames"), place)
        problems += text_problems(where, name, path_segment_problems)
        if name in names[:place]:
            problems.append(duplicate(where, name))
    return problems + rule_problems(path, rule, fields)


def _operation_problems(path: str, match: Document | None) -> list[str]:
    """Return the problems of operations that mutating policies do not support."""
    here = child(path, "resourceRules", "operations")
    rules = (match or {}).get("resourceRules") or ()
    operations = [operation for rule in rules for operation in rule.get("operations") or ()]
    return [not_supported(here, operation, _CHANGING) for operation in operations if operation not in _CHANGING]


# -- parameters


@MARKS.rule("ParamKind")
def _param_kind_problems(path: str, kind: Document, fields: Fields) -> list[str]:
    here, version = child(path, "apiVersion"), kind.get("apiVersion") or ""
    problems = []
    group, slash, number = version.partition("/") if "/" in version else ("", "", version)
    if not version:
        problems.append(required(here))
    elif "/" in number:
        problems.append(invalid(here, version, f"unexpected GroupVersion string: {version}"))
    else:
        if slash and group:
            problems += [invalid(here, group, ",".join(wrong)) for wrong in [subdomain_problems(group)] if wrong]
        if not number:
            problems.append(invalid(here, version, "version must be specified"))
        elif wrong := dns_1035_problems(number):
            problems.append(invalid(here, number, ",".join(wrong)))
    here, name = child(path, "kind"), kind.get("kind") or ""
    if not name:
        problems.append(required(here))
    elif wrong := dns_1035_problems(name.lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        problems.append(invalid(here, name, why))
    return problems


@MARKS.rule("ParamRef")
def _param_problems(path: str, reference: Document, fields: Fields) -> list[str]:
    name, selector = reference.get("name") or "", reference.get("selector")
    exclusive = "name and selector are mutually exclusive"
    problems = fields("name")
    if name and selector is not None:
        problems.append(forbidden(child(path, "name"), exclusive))
    problems += fields("selector")
    if name and selector is not None:
        problems.append(forbidden(child(path, "selector"), exclusive))
    if not name and selector is None:
        problems.append(required(path, "one of name or selector must be specified"))
    if not reference.get("parameterNotFoundAction"):
        return [*problems, required(child(path, "parameterNotFoundAction"))]
    return problems + fields("parameterNotFoundAction")


def _action_problems(path: str, actions: list[str]) -> list[str]:
    problems = []
    for number, action in enumerate(actions):
        problems += one_of(index(path, number), action, _ACTIONS)
        if action in actions[:number]:
            problems.append(duplicate(index(path, number), action))
    if "Deny" in actions and "Warn" in actions:
        why = "repeating the same validation failure information in the API response and headers serves no purpose"
        problems.append(invalid(path, as_json(actions), f"must not contain both Deny and Warn ({why})"))
    return problems if actions else [*problems, required(path, "at least one validation action is required")]


# -- expressions


def variables_of(spec: Document, *, always: bool = False) -> tuple[Names, list[str]]:
    """Return the names in scope of a policy's expressions, and the problems of its variables."""
    params = spec.get("paramKind") is not None
    declared: dict[str, Type] = {}
    problems: list[str] = []
    for number, variable in enumerate(spec.get("variables") or ()):
        here = index("spec.variables", number)
        name, text = variable.get("name") or "", variable.get("expression") or ""
        if not name.strip():
            problems.append(required(child(here, "name"), "name is not specified"))
        elif not _IDENTIFIER.fullmatch(name) or name in RESERVED:
            problems.append(invalid(child(here, "name"), name, "must be a valid CEL identifier"))
        if not text.strip():
            problems.append(required(child(here, "expression"), "expression is not specified"))
            continue
        try:
            found = variable_type(compiled(text, Names(params=params, variables=dict(declared)), ANYTHING).type)
        except CelCompileError as error:
            problems.append(invalid(child(here, "expression"), text, str(error)))
            found = DYN
        declared[name] = found
    return Names(params=params, variables=declared if spec.get("variables") or always else None), problems


def _validation_problems(path: str, validation: Document, names: Names) -> list[str]:
    text, message = validation.get("expression") or "", validation.get("message") or ""
    written = validation.get("messageExpression") or ""
    here = child(path, "expression")
    if not text.strip():
        problems = [required(here, "expression is not specified")]
    else:
        problems = expression_problems(here, text, names, CONDITION)
    here = child(path, "messageExpression")
    if written and not written.strip():
        problems.append(invalid(here, written, "must be non-empty if specified"))
    elif written:
        problems += expression_problems(here, written, names.without_authorizer(), MESSAGE)
    here = child(path, "message")
    if message and not message.strip():
        problems.append(invalid(here, message, "must be non-empty if specified"))
    elif re.search(r"[\n\r]", message.strip()):
        problems.append(invalid(here, message, "must not contain line breaks"))
    reason = validation.get("reason")
    return problems + ([] if reason is None else one_of(child(path, "reason"), reason, _REASONS))


def _annotation_problems(path: str, annotation: Document, policy: str, names: Names) -> list[str]:
    key, text = annotation.get("key") or "", annotation.get("valueExpression") or ""
    here = child(path, "key")
    if policy:
        problems = text_problems(here, f"{policy}/{key}", label_key_problems)
    else:
        problems = [invalid(here, key, "requires metadata.name be non-empty")]
    here, trimmed = child(path, "valueExpression"), text.strip()
    if not trimmed:
        problems.append(required(here, "valueExpression is not specified"))
    elif len(trimmed.encode()) > _LONGEST_VALUE:
        problems.append(required(here, f"must not exceed {_LONGEST_VALUE} bytes in length"))
    else:
        problems += expression_problems(here, trimmed, names, AUDITED)
    return problems


# by patch type: its own field, the field of the other type, the result types of the expression
_PATCHES: dict[str, tuple[str, str, tuple[Type, ...]]] = {
    "ApplyConfiguration": ("applyConfiguration", "jsonPatch", CONFIGURATION),
    "JSONPatch": ("jsonPatch", "applyConfiguration", OPERATIONS),
}


def _mutation_problems(path: str, mutation: Document, names: Names) -> list[str]:
    kind = mutation.get("patchType") or ""
    if not kind:
        return [required(child(path, "patchType"))]
    if kind not in _PATCHES:
        return [not_supported(child(path, "patchType"), kind, sorted(_PATCHES))]
    own, other, results = _PATCHES[kind]
    patch: Any = mutation.get(own)
    problems = []
    if patch is None:
        problems.append(required(child(path, own), f"must be specified when patchType is {kind}"))
    elif text := (patch.get("expression") or "").strip():
        problems += expression_problems(child(path, own, "expression"), text, names, results)
    else:
        problems.append(required(child(path, own, "expression")))
    if mutation.get(other) is not None:
        why = f"must not be specified when patchType is {kind}"
        problems.append(invalid(child(path, other), f"{{{other}}}", why))
    return problems
