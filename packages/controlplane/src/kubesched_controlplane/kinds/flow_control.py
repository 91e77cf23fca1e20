"""The strategy of flow schemas and priority levels, which are stored but not applied to requests."""

# upstream: pkg/apis/flowcontrol/{v1/defaults.go,validation/validation.go}, pkg/registry/flowcontrol (v1.36)

from collections.abc import Sequence
from math import ceil, log2

from kubesched.api.field_errors import as_json, child, duplicate, forbidden, index, invalid, not_supported, required
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.checks import dns_label_problems, text_problems
from kubesched_controlplane.kinds.flow_control_defaults import EXEMPT, MANDATORY_LEVELS, MANDATORY_SCHEMAS
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks, wildcard_problems
from kubesched_controlplane.registry.strategy import StrategyContext

MARKS = Marks()
SCHEMAS = "flowschemas.flowcontrol.apiserver.k8s.io"
LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
_MOST_BITS = 60
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_METHODS = ("ByNamespace", "ByUser")
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}


class _BootstrapStrategy(KindStrategy):
    """The base class of the strategies of flow schemas and priority levels."""

    marks = MARKS
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

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and the condition Dangling."""
        super().prepare_create(new, context)
        level = (new["spec"].get("priorityLevelConfiguration") or {}).get("name") or ""
        found = context.store.get(LEVELS, "", level) is not None
        new["status"] = {"conditions": [dangling(level, found=found, time=timestamp(context.now))]}

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a flow schema."""
        spec, name = document["spec"], document["metadata"].get("name", "")
        problems = super().problems(document, context)
        if spec["matchingPrecedence"] == 1 and name != EXEMPT:
            why = "only the schema named 'exempt' may have matchingPrecedence 1"
            problems.insert(0, invalid("spec.matchingPrecedence", 1, why))
        fixed = MANDATORY_SCHEMAS.get(name)
        if fixed is not None and spec != fixed["spec"]:
            problems.append(invalid("spec", as_json(spec), f"spec of '{name}' must equal the fixed value"))
        return problems


@MARKS.rule("FlowSchemaSpec")
def _schema_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems, method = fields("matchingPrecedence"), spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _METHODS:
        problems.append(not_supported("spec.distinguisherMethod.type", as_json(method), _METHODS))
    return problems + fields("priorityLevelConfiguration", "rules")


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


@MARKS.rule("PolicyRulesWithSubjects")
def _rule_problems(path: str, rule: Document, fields: Fields) -> list[str]:
    problems = fields("subjects")
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        problems.append(required(path, why))
    return problems + fields("resourceRules", "nonResourceRules")


@MARKS.rule("Subject")
def _subject_problems(path: str, subject: Document, fields: Fields) -> list[str]:
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
        return wildcard_problems(path, verbs, "verbs")
    return [] if set(verbs) <= set(_VERBS) else [not_supported(path, as_json(verbs), _VERBS)]


@MARKS.rule("ResourcePolicyRule")
def _resource_problems(path: str, rule: Document, fields: Fields) -> list[str]:
    problems = _verb_problems(child(path, "verbs"), rule.get("verbs") or []) + fields("apiGroups", "resources")
    here, namespaces = child(path, "namespaces"), rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        why = "resource rules that are not cluster scoped must supply at least one namespace"
        problems.append(required(here, why))
    elif "*" in namespaces:
        problems += wildcard_problems(here, namespaces, "namespaces")
    else:
        for number, name in enumerate(namespaces):
            start = "each member of this list must be '*' or a DNS-1123 label; "
            problems += [invalid(index(here, number), name, start + why) for why in dns_label_problems(name)]
    return problems


@MARKS.rule("NonResourcePolicyRule")
def _path_rule_problems(path: str, rule: Document, fields: Fields) -> list[str]:
    problems = _verb_problems(child(path, "verbs"), rule.get("verbs") or []) + fields("nonResourceURLs")
    here, paths = child(path, "nonResourceURLs"), rule.get("nonResourceURLs") or []
    if "*" not in paths:
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

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a priority level."""
        spec, name = document["spec"], document["metadata"].get("name", "")
        kind = spec.get("type") or ""
        problems = super().problems(document, context)
        if (name == EXEMPT) != (kind == "Exempt"):
            why = "must be 'Exempt' if and only if `name` is 'exempt'"
            problems.insert(0, invalid("spec.type", kind, why))
        return problems + _fixed_level_problems(name, spec)


@MARKS.rule("PriorityLevelConfigurationSpec")
def _level_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems, exempt, limited = fields("type"), spec.get("exempt"), spec.get("limited")
    match spec.get("type"):
        case "Exempt":
            if limited is not None:
                problems.append(forbidden("spec.limited", "must be nil if the type is not Limited"))
            problems += fields("exempt")
        case "Limited":
            if exempt is not None:
                problems.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
            if limited is None:
                problems.append(required("spec.limited", "must not be empty when type is Limited"))
            problems += fields("limited")
    return problems


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


@MARKS.rule("LimitedPriorityLevelConfiguration")
def _limited_problems(path: str, limited: Document, fields: Fields) -> list[str]:
    return fields("nominalConcurrencyShares", "lendablePercent", "limitResponse", "borrowingLimitPercent")


@MARKS.rule("LimitResponse")
def _response_problems(path: str, response: Document, fields: Fields) -> list[str]:
    queuing, here = response.get("queuing"), child(path, "queuing")
    problems = fields("type")
    match response.get("type"):
        case "Reject":
            if queuing is not None:
                problems.append(forbidden(here, "must be nil if limited.limitResponse.type is not Limited"))
        case "Queue":
            if queuing is None:
                problems.append(required(here, "must not be empty if limited.limitResponse.type is Limited"))
            problems += fields("queuing")
    return problems


@MARKS.rule("QueuingConfiguration")
def _queuing_problems(path: str, queuing: Document, fields: Fields) -> list[str]:
    queues, hand = queuing["queues"], queuing["handSize"]
    problems, here = fields("queueLengthLimit", "queues", "handSize"), child(path, "handSize")
    if hand > max(queues, 0):
        problems.append(invalid(here, hand, f"should not be greater than queues ({queues})"))
    elif hand > 0 and ceil(log2(queues) * hand) > _MOST_BITS:
        why = f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {_MOST_BITS}"
        problems.append(invalid(here, hand, why))
    return problems
