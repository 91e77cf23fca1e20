"""Validation of a pod's scheduling fields: affinity, tolerations, spread constraints, gates, claims, groups.

From the fields of a spec that a scheduler reads to problems.
"""

# upstream: pkg/apis/core/validation/validation.go (v1.36)

import re
from collections.abc import Sequence
from typing import Any

from kubesched.api.field_errors import as_json, duplicate, forbidden, invalid, not_supported, required
from kubesched.api.labels import label_key_problems, label_value_problems, parse_int64, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    dns_label_problems,
    label_selector_problems,
    node_selector_problems,
    node_term_problems,
    one_of,
    text_problems,
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_DECIMAL_PATTERN = re.compile("0|-?[1-9][0-9]*")
_INTEGER_PATTERN = re.compile("[+-]?[0-9]+")
MIRROR_POD = "kubernetes.io/config.mirror"


def affinity_problems(path: str, affinity: Document) -> list[str]:
    """Return the problems of an affinity."""
    problems = []
    nodes = affinity.get("nodeAffinity")
    if nodes:
        problems += _node_affinity_problems(f"{path}.nodeAffinity", nodes)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        for number, term in enumerate(terms.get(_REQUIRED) or ()):
            problems += _pod_term_problems(f"{path}.{kind}.{_REQUIRED}[{number}]", term)
        for number, term in enumerate(terms.get(_PREFERRED) or ()):
            here = f"{path}.{kind}.{_PREFERRED}[{number}]"
            problems += _weight_problems(here, term)
            problems += _pod_term_problems(f"{here}.podAffinityTerm", term.get("podAffinityTerm") or {})
    return problems


def _node_affinity_problems(path: str, affinity: Document) -> list[str]:
    problems = []
    if affinity.get(_REQUIRED) is not None:
        problems += node_selector_problems(f"{path}.{_REQUIRED}", affinity[_REQUIRED])
    for number, term in enumerate(affinity.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{number}]"
        problems += _weight_problems(here, term)
        problems += node_term_problems(f"{here}.preference", term.get("preference") or {}, any_value=True)
    return problems


def _weight_problems(path: str, term: Document) -> list[str]:
    weight = term.get("weight", 0)
    return [] if 0 < weight <= 100 else [invalid(f"{path}.weight", weight, "must be in the range 1-100")]


def _pod_term_problems(path: str, term: Document) -> list[str]:
    problems = label_selector_problems(f"{path}.labelSelector", term.get("labelSelector"))
    problems += label_selector_problems(f"{path}.namespaceSelector", term.get("namespaceSelector"))
    for name in term.get("namespaces") or ():
        problems += text_problems(f"{path}.namespace", name, dns_label_problems)
    problems += _label_keys_problems(path, term)
    topology_key = term.get("topologyKey") or ""
    if not topology_key:
        problems.append(required(f"{path}.topologyKey", "can not be empty"))
    return problems + text_problems(f"{path}.topologyKey", topology_key, label_key_problems)


def _label_keys_problems(path: str, holder: Document) -> list[str]:
    """Return the problems of matchLabelKeys and mismatchLabelKeys, after their values were added to the selector."""
    matched, mismatched = holder.get("matchLabelKeys") or (), holder.get("mismatchLabelKeys") or ()
    selector = holder.get("labelSelector")
    problems = []
    for field, keys in (("matchLabelKeys", matched), ("mismatchLabelKeys", mismatched)):
        if keys and selector is None:
            problems.append(forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set"))
        elif keys:
            for number, key in enumerate(keys):
                problems += text_problems(f"{path}.{field}[{number}]", key, label_key_problems)
    if matched and selector is not None:
        seen = set(selector.get("matchLabels") or {})
        for requirement in selector.get("matchExpressions") or ():
            key = requirement.get("key") or ""
            if key in matched and key in seen:
                number = len(matched) - 1 - list(reversed(matched)).index(key)
                why = "exists in both matchLabelKeys and labelSelector"
                problems.append(invalid(f"{path}[{number}]", key, why))
            seen.add(key)
    for number, key in enumerate(matched):
        if key in mismatched:
            why = "exists in both matchLabelKeys and mismatchLabelKeys"
            problems.append(invalid(f"{path}.matchLabelKeys[{number}]", key, why))
    return problems


def tolerations_problems(path: str, tolerations: Sequence[Document]) -> list[str]:
    """Return the problems of tolerations."""
    problems = []
    for number, toleration in enumerate(tolerations):
        here = f"{path}[{number}]"
        key, operator = toleration.get("key") or "", toleration.get("operator") or ""
        effect = toleration.get("effect") or ""
        if key:
            problems += text_problems(f"{here}.key", key, label_key_problems)
        elif operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            problems.append(invalid(f"{here}.operator", operator, why))
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            problems.append(invalid(f"{here}.effect", effect, why))
        problems += _value_problems(here, operator, toleration.get("value") or "")
        if effect:
            problems += one_of(f"{here}.effect", effect, EFFECTS)
    return problems


def _value_problems(path: str, operator: str, value: str) -> list[str]:
    if operator in ("", "Equal"):
        found = label_value_problems(value)
        return [invalid(f"{path}.operator", value, ";".join(found))] if found else []
    if operator == "Exists":
        why = "value must be empty when `operator` is 'Exists'"
        return [invalid(f"{path}.operator", value, why)] if value else []
    if operator in ("Lt", "Gt"):
        # differs (D-144): the gate TaintTolerationComparisonOperators counts as on, because schedulers may have it on
        return _number_problems(f"{path}.value", value)
    return [not_supported(f"{path}.operator", operator, ("Equal", "Exists"))]


def _number_problems(path: str, value: str) -> list[str]:
    problems = []
    if not value:
        problems.append(invalid(path, value, "must be non-empty"))
    elif not _DECIMAL_PATTERN.fullmatch(value):
        problems.append(invalid(path, value, "must be a valid decimal integer in canonical form"))
    if parse_int64(value) is None:
        why = "value out of range" if _INTEGER_PATTERN.fullmatch(value) else "invalid syntax"
        problems.append(invalid(path, value, f'strconv.ParseInt: parsing "{value}": {why}'))
    return problems


def spread_problems(path: str, constraints: Sequence[Document]) -> list[str]:
    """Return the problems of topology spread constraints."""
    problems = []
    kinds = [(each.get("topologyKey") or "", each.get("whenUnsatisfiable") or "") for each in constraints]
    for number, constraint in enumerate(constraints):
        here = f"{path}[{number}]"
        key, action = kinds[number]
        problems += _positive_problems(f"{here}.maxSkew", constraint.get("maxSkew", 0))
        if not key:
            problems.append(required(f"{here}.topologyKey", "can not be empty"))
        problems += one_of(f"{here}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway"))
        if kinds[number] in kinds[number + 1 :]:
            problems.append(duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
        least = constraint.get("minDomains")
        if least is not None:
            problems += _positive_problems(f"{here}.minDomains", least)
            if action != "DoNotSchedule":
                why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
                problems.append(invalid(f"{here}.minDomains", least, why))
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(field)
            if policy is not None:
                problems += one_of(f"{here}.{field}", policy, ("Honor", "Ignore"))
        problems += _label_keys_problems(here, {**constraint, "mismatchLabelKeys": ()})
        problems += label_selector_problems(f"{here}.labelSelector", constraint.get("labelSelector"))
    return problems


def _positive_problems(path: str, number: int) -> list[str]:
    return [] if number > 0 else [invalid(path, number, "must be greater than zero")]


def gates_problems(path: str, gates: Sequence[Document]) -> list[str]:
    """Return the problems of scheduling gates."""
    problems = []
    seen = set()
    for number, gate in enumerate(gates):
        name = gate.get("name") or ""
        problems += text_problems(f"{path}[{number}]", name, label_key_problems)
        if name in seen:
            problems.append(duplicate(f"{path}[{number}]", name))
        seen.add(name)
    return problems


def claims_problems(path: str, claims: Sequence[Document], annotations: Any) -> list[str]:
    """Return the problems of a pod's resource claims."""
    if claims and MIRROR_POD in annotations:
        return [forbidden("", "static pods do not support resource claims")]
    problems = []
    seen = set()
    for number, claim in enumerate(claims):
        here = f"{path}[{number}]"
        name = claim.get("name") or ""
        if not name:
            problems.append(required(f"{here}.name"))
        elif name in seen:
            problems.append(duplicate(f"{here}.name", name))
        else:
            problems += text_problems(f"{here}.name", name, dns_label_problems)
            seen.add(name)
        sources = {field: claim.get(field) for field in ("resourceClaimName", "resourceClaimTemplateName")}
        given = [field for field, source in sources.items() if source is not None]
        if len(given) != 1:
            shown = as_json(
                {
                    "Name": name,
                    "ResourceClaimName": sources["resourceClaimName"],
                    "ResourceClaimTemplateName": sources["resourceClaimTemplateName"],
                }
            )
            why = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                if given
                else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
            problems.append(invalid(here, shown, why))
        for field in given:
            problems += text_problems(f"{here}.{field}", claim[field], subdomain_problems)
    return problems


def group_problems(path: str, group: Document) -> list[str]:
    """Return the problems of a pod's scheduling group."""
    name = group.get("podGroupName")
    if name is None:
        return [invalid(f"{path}.podGroupName", None, "must specify one of: `podGroupName`")]
    return text_problems(f"{path}.podGroupName", name, subdomain_problems)
