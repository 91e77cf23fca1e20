"""The strategy of flow schemas and priority levels, which are stored but not applied to requests."""

# upstream: pkg/apis/flowcontrol/{v1/defaults.go,validation/validation.go}, pkg/registry/flowcontrol (v1.36)

from collections.abc import Sequence
from math import ceil, log2

from kubesched.api.field_errors import as_json, child, duplicate, forbidden, index, invalid, not_supported, required
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.checks import dns_label_problems, one_of, part, text_problems
from kubesched_controlplane.kinds.flow_control_defaults import EXEMPT, MANDATORY_LEVELS, MANDATORY_SCHEMAS
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

SCHEMAS = "flowschemas.flowcontrol.apiserver.k8s.io"
LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
_PRECEDENCE, _LAST_PRECEDENCE = 1000, 10_000
_SHARES, _QUEUING = 30, {"handSize": 8, "queues": 64, "queueLengthLimit": 50}
_MOST_QUEUES, _MOST_BITS = 10_000_000, 60
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_METHODS = ("ByNamespace", "ByUser")
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_PERCENT = "must be between 0 and 100, inclusive"
_NOT_NEGATIVE = "must be a non-negative integer"


class _BootstrapStrategy(KindStrategy):
    """The base class of the strategies of flow schemas and priority levels."""

    has_generation = True
    status_keeps_metadata = True

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        problems, seen = [], set()
        for number, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
            here, kind = child(index("status.conditions", number), "type"), condition.get("type") or ""
            if kind in seen:
                problems.append(duplicate(here, kind))
            seen.add(kind)
            if not kind:
                problems.append(required(here))
        return problems


class FlowSchemaStrategy(_BootstrapStrategy):
    """The strategy of flow schemas."""

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        spec["matchingPrecedence"] = spec.get("matchingPrecedence") or _PRECEDENCE

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and the condition Dangling."""
        super().prepare_create(new, context)
        level = (new["spec"].get("priorityLevelConfiguration") or {}).get("name") or ""
        found = context.store.get(LEVELS, "", level) is not None
        new["status"] = {"conditions": [dangling(level, found=found, time=timestamp(context.now))]}

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a flow schema."""
        spec, name = document["spec"], document["metadata"].get("name", "")
        precedence, path = spec["matchingPrecedence"], "spec.matchingPrecedence"
        problems = []
        if precedence <= 0:
            problems.append(invalid(path, precedence, "must be a positive value"))
        if precedence > _LAST_PRECEDENCE:
            problems.append(invalid(path, precedence, f"must not be greater than {_LAST_PRECEDENCE}"))
        if precedence == 1 and name != EXEMPT:
            why = "only the schema named 'exempt' may have matchingPrecedence 1"
            problems.append(invalid(path, precedence, why))
        method = spec.get("distinguisherMethod")
        if method is not None and method.get("type") not in _METHODS:
            problems.append(not_supported("spec.distinguisherMethod.type", as_json(method), _METHODS))
        path, level = "spec.priorityLevelConfiguration.name", spec.get("priorityLevelConfiguration") or {}
        if level.get("name"):
            problems += text_problems(path, level["name"], subdomain_problems)
        else:
            problems.append(required(path, "must reference a priority level"))
        for number, rule in enumerate(spec.get("rules") or ()):
            problems += _rule_problems(index("spec.rules", number), rule)
        fixed = MANDATORY_SCHEMAS.get(name)
        if fixed is not None and spec != fixed["spec"]:
            problems.append(invalid("spec", as_json(spec), f"spec of '{name}' must equal the fixed value"))
        return problems


def dangling(level: str, *, found: bool, time: str) -> Document:
    """Return the condition Dangling of a flow schema: whether its priority level is missing."""
    end = "and it exists" if found else "but there is no such object"
    message = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" {end}'
    return {
        "type": "Dangling",
        "status": "False" if found else "True",
        "lastTransitionTime": time,
        "reason": "Found" if found else "NotFound",
        "message": message,
    }


def _rule_problems(path: str, rule: Document) -> list[str]:
    problems = []
    for number, subject in enumerate(rule.get("subjects") or ()):
        problems += _subject_problems(index(child(path, "subjects"), number), subject)
    if not rule.get("subjects"):
        problems.append(required(child(path, "subjects"), "subjects must contain at least one value"))
    of_resources, of_others = rule.get("resourceRules") or (), rule.get("nonResourceRules") or ()
    if not of_resources and not of_others:
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        problems.append(required(path, why))
    for number, each in enumerate(of_resources):
        problems += _resource_problems(index(child(path, "resourceRules"), number), each)
    for number, each in enumerate(of_others):
        problems += _path_rule_problems(index(child(path, "nonResourceRules"), number), each)
    return problems


def _subject_problems(path: str, subject: Document) -> list[str]:
    kind = subject.get("kind") or ""
    if kind not in _SUBJECTS:
        return [not_supported(child(path, "kind"), kind, sorted(_SUBJECTS))]
    field = _SUBJECTS[kind]
    who, here = subject.get(field), child(path, field)
    if who is None:
        problems = [required(here, f"{field} is required when subject kind is '{kind}'")]
    elif not who.get("name"):
        problems = [required(child(here, "name"))]
    else:
        problems = []
    if who is not None and kind == "ServiceAccount":
        if who.get("name") and who["name"] != "*":
            problems += text_problems(child(here, "name"), who["name"], subdomain_problems)
        where = child(here, "namespace")
        if who.get("namespace"):
            problems += text_problems(where, who["namespace"], dns_label_problems)
        else:
            problems.append(required(where, "must specify namespace for service account"))
    for other_kind, other in _SUBJECTS.items():
        if other != field and subject.get(other) is not None:
            why = f"{other} is forbidden when subject kind is not '{other_kind}'"
            problems.append(forbidden(child(path, other), why))
    return problems


def _verb_problems(path: str, verbs: Sequence[str]) -> list[str]:
    if not verbs:
        return [required(path, "verbs must contain at least one value")]
    if "*" in verbs:
        return _alone(path, verbs, "verbs")
    return [] if set(verbs) <= set(_VERBS) else [not_supported(path, as_json(verbs), _VERBS)]


def _alone(path: str, values: Sequence[str], what: str) -> list[str]:
    """Return the problem of a wildcard among other values."""
    if len(values) > 1 and "*" in values:
        return [invalid(path, as_json(values), f"if '*' is present, must not specify other {what}")]
    return []


def _resource_problems(path: str, rule: Document) -> list[str]:
    problems = _verb_problems(child(path, "verbs"), rule.get("verbs") or [])
    for field, one, several in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values = rule.get(field) or []
        here = child(path, field)
        if not values:
            problems.append(required(here, f"resource rules must supply at least one {one}"))
        problems += _alone(here, values, several)
    here, namespaces = child(path, "namespaces"), rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        why = "resource rules that are not cluster scoped must supply at least one namespace"
        problems.append(required(here, why))
    elif "*" in namespaces:
        problems += _alone(here, namespaces, "namespaces")
    else:
        for number, name in enumerate(namespaces):
            start = "each member of this list must be '*' or a DNS-1123 label; "
            problems += [invalid(index(here, number), name, start + why) for why in dns_label_problems(name)]
    return problems


def _path_rule_problems(path: str, rule: Document) -> list[str]:
    problems = _verb_problems(child(path, "verbs"), rule.get("verbs") or [])
    here, paths = child(path, "nonResourceURLs"), rule.get("nonResourceURLs") or []
    if not paths:
        problems.append(required(here, "nonResourceURLs must contain at least one value"))
    elif "*" in paths:
        problems += _alone(here, paths, "non-resource URLs")
    else:
        for number, each in enumerate(paths):
            why = _wrong_path(each)
            if why:
                problems.append(invalid(index(here, number), each, why))
    return problems


def _wrong_path(path: str) -> str:
    if not path:
        return "must not be empty"
    if path == "/":
        return ""
    if not path.startswith("/"):
        return "must start with slash"
    if " " in path:
        return "must not contain white-space"
    if "//" in path:
        return "must not contain double slash"
    stars = path.count("*")
    return "wildcard can only do suffix matching" if stars > 1 or (stars == 1 and not path.endswith("/*")) else ""


class PriorityLevelStrategy(_BootstrapStrategy):
    """The strategy of priority levels."""

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        exempt, limited = spec.get("exempt"), spec.get("limited")
        if exempt is not None:
            for field in ("nominalConcurrencyShares", "lendablePercent"):
                if exempt.get(field) is None:
                    exempt[field] = 0
        if limited is not None:
            for field, value in (("nominalConcurrencyShares", _SHARES), ("lendablePercent", 0)):
                if limited.get(field) is None:
                    limited[field] = value
            queuing = (limited.get("limitResponse") or {}).get("queuing")
            if queuing is not None:
                for field, value in _QUEUING.items():
                    queuing[field] = queuing.get(field) or value

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a priority level."""
        spec, name = document["spec"], document["metadata"].get("name", "")
        kind, exempt, limited = spec.get("type") or "", spec.get("exempt"), spec.get("limited")
        problems = []
        if (name == EXEMPT) != (kind == "Exempt"):
            why = "must be 'Exempt' if and only if `name` is 'exempt'"
            problems.append(invalid("spec.type", kind, why))
        match kind:
            case "Exempt":
                if limited is not None:
                    problems.append(forbidden("spec.limited", "must be nil if the type is not Limited"))
                problems += _share_problems("spec.exempt", exempt or {})
            case "Limited":
                if exempt is not None:
                    problems.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
                if limited is None:
                    problems.append(required("spec.limited", "must not be empty when type is Limited"))
                else:
                    problems += _limited_problems("spec.limited", limited)
            case "":
                problems.append(required("spec.type"))
            case _:
                problems += one_of("spec.type", kind, ("Exempt", "Limited"))
        return problems + _fixed_level_problems(name, spec)


def _fixed_level_problems(name: str, spec: Document) -> list[str]:
    fixed = MANDATORY_LEVELS.get(name)
    if fixed is None:
        return []
    wanted, found, but = fixed["spec"], spec, ""
    if name == EXEMPT:
        # the field `exempt` may be changed
        wanted, found, but = {**wanted, "exempt": None}, {**spec, "exempt": None}, " except the 'spec.exempt' field"
    if wanted == found:
        return []
    return [invalid("spec", as_json(spec), f"spec of '{name}'{but} must equal the fixed value")]


def _share_problems(path: str, found: Document) -> list[str]:
    problems = []
    shares, lendable = found.get("nominalConcurrencyShares"), found.get("lendablePercent")
    if shares is not None and shares < 0:
        problems.append(invalid(child(path, "nominalConcurrencyShares"), shares, _NOT_NEGATIVE))
    if lendable is not None and not 0 <= lendable <= 100:
        problems.append(invalid(child(path, "lendablePercent"), lendable, _PERCENT))
    return problems


def _limited_problems(path: str, limited: Document) -> list[str]:
    problems = _share_problems(path, limited)
    here, response = child(path, "limitResponse"), limited.get("limitResponse") or {}
    queuing = response.get("queuing")
    match response.get("type") or "":
        case "Reject":
            if queuing is not None:
                why = "must be nil if limited.limitResponse.type is not Limited"
                problems.append(forbidden(child(here, "queuing"), why))
        case "Queue":
            if queuing is None:
                why = "must not be empty if limited.limitResponse.type is Limited"
                problems.append(required(child(here, "queuing"), why))
            else:
                problems += _queuing_problems(child(here, "queuing"), queuing)
        case "":
            problems.append(required(child(here, "type")))
        case other:
            problems += one_of(child(here, "type"), other, ("Queue", "Reject"))
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        why = f"if specified, {_NOT_NEGATIVE}"
        problems.append(invalid(child(path, "borrowingLimitPercent"), borrowing, why))
    return problems


def _queuing_problems(path: str, queuing: Document) -> list[str]:
    queues, hand = queuing["queues"], queuing["handSize"]
    problems = []
    if queuing["queueLengthLimit"] <= 0:
        problems.append(invalid(child(path, "queueLengthLimit"), queuing["queueLengthLimit"], "must be positive"))
    if queues <= 0:
        problems.append(invalid(child(path, "queues"), queues, "must be positive"))
    elif queues > _MOST_QUEUES:
        problems.append(invalid(child(path, "queues"), queues, f"must not be greater than {_MOST_QUEUES}"))
    here = child(path, "handSize")
    if hand <= 0:
        problems.append(invalid(here, hand, "must be positive"))
    elif hand > queues:
        problems.append(invalid(here, hand, f"should not be greater than queues ({queues})"))
    elif ceil(log2(queues) * hand) > _MOST_BITS:
        why = f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {_MOST_BITS}"
        problems.append(invalid(here, hand, why))
    return problems
