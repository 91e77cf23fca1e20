"""The strategy of horizontal pod autoscalers."""

# upstream: pkg/registry/{autoscaling/horizontalpodautoscaler,node/runtimeclass}, pkg/apis/autoscaling/{v2/defaults.go,
# validation/validation.go}, pkg/apis/node/validation (v1.36)

import copy
from typing import Any

from kubesched.api.field_errors import child, forbidden, invalid, not_supported, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    amount,
    dns_label_problems,
    not_negative,
    part,
    text_problems,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.requirements import container_resource_problems
from kubesched_controlplane.kinds.rbac import path_segment_problems
from kubesched_controlplane.registry.strategy import StrategyContext

_PERIOD = 15
_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": _PERIOD},
        {"type": "Percent", "value": 100, "periodSeconds": _PERIOD},
    ],
}
_DOWN = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": _PERIOD}]}
_CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
_LONGEST_WINDOW, _LONGEST_PERIOD = 3600, 1800
# type -> field
_SOURCES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_TARGETS = ("Utilization", "Value", "AverageValue")


class HorizontalPodAutoscalerStrategy(KindStrategy):
    """Defaulting and validation of horizontal pod autoscalers, as in autoscaling/v2."""

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and an empty status."""
        self.fill_in(new, context)
        new["status"] = {"desiredReplicas": 0, "currentMetrics": None}

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        if spec.get("minReplicas") is None:
            spec["minReplicas"] = 1
        if not spec.get("metrics"):
            spec["metrics"] = [copy.deepcopy(_CPU)]
        behavior = spec.get("behavior")
        if behavior is not None:
            for field, rules in (("scaleUp", _UP), ("scaleDown", _DOWN)):
                given = {name: value for name, value in (behavior.get(field) or {}).items() if value is not None}
                behavior[field] = {**copy.deepcopy(rules), **given}

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new autoscaler."""
        return _spec_problems(new["spec"], is_known=False)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a changed autoscaler; an unchanged kind of target is not checked."""
        now, before = (each["spec"].get("scaleTargetRef") or {} for each in (new, old))
        is_known = all(now.get(field) == before.get(field) for field in ("apiVersion", "kind"))
        return _spec_problems(new["spec"], is_known=is_known)

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        fields = ("currentReplicas", "desiredReplicas")
        return [problem for field in fields for problem in not_negative(f"status.{field}", status.get(field))]


def _spec_problems(spec: Document, *, is_known: bool) -> list[str]:
    least, most = spec["minReplicas"], spec.get("maxReplicas") or 0
    problems = []
    if least < 1:
        problems.append(invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most == 0:
        problems.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        problems.append(invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if most < least:
        problems.append(invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    reference = spec.get("scaleTargetRef") or {}
    problems += _reference_problems("spec.scaleTargetRef", reference)
    if not is_known:
        # the only kind of the core group that can be scaled
        is_core = reference.get("kind") == "ReplicationController"
        problems += _group_problems("spec.scaleTargetRef", reference, any_group=is_core)
    for number, metric in enumerate(spec["metrics"]):
        problems += _metric_problems(f"spec.metrics[{number}]", metric)
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in spec["metrics"]):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        problems.append(forbidden("spec.metrics", why))
    for field in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(field)
        if rules is not None:
            problems += _rules_problems(f"spec.behavior.{field}", rules)
    return problems


def _reference_problems(path: str, reference: Document) -> list[str]:
    problems = []
    for field in ("kind", "name"):
        text = reference.get(field) or ""
        here = child(path, field)
        problems += text_problems(here, text, path_segment_problems) if text else [required(here)]
    return problems


def _group_problems(path: str, reference: Document, *, any_group: bool) -> list[str]:
    version, here = reference.get("apiVersion") or "", child(path, "apiVersion")
    if version.count("/") > 1:
        return [invalid(here, version, f"unexpected GroupVersion string: {version}")]
    if not any_group and not version.rpartition("/")[0]:
        return [invalid(here, version, "apiVersion must specify API group")]
    return []


def _metric_problems(path: str, metric: Document) -> list[str]:
    kind = metric.get("type") or ""
    if kind not in _SOURCES:
        problems = [] if kind else [required(child(path, "type"), "must specify a metric source type")]
        return [*problems, not_supported(child(path, "type"), kind, tuple(_SOURCES))]
    field = _SOURCES[kind]
    if metric.get(field) is None:
        return [required(child(path, field), "must populate information for the given metric source")]
    others = [other for other in _SOURCES.values() if other != field and metric.get(other) is not None]
    problems = [forbidden(child(path, other), "must populate the given metric source only") for other in others]
    return problems + _source_problems(child(path, field), metric[field], field)


def _source_problems(path: str, source: Document, field: str) -> list[str]:
    problems = []
    target, here = source.get("target") or {}, child(path, "target")
    if field == "object":
        object_ = source.get("describedObject") or {}
        problems += _reference_problems(child(path, "describedObject"), object_)
        problems += _group_problems(child(path, "describedObject"), object_, any_group=True)
    if field in ("resource", "containerResource"):
        if not source.get("name"):
            problems.append(required(child(path, "name"), "must specify a resource name"))
        elif field == "containerResource":
            problems += container_resource_problems(child(path, "name"), source["name"])
        if field == "containerResource":
            name, where = source.get("container") or "", child(path, "container")
            needed = required(where, "must specify a container")
            problems += text_problems(where, name, dns_label_problems) if name else [needed]
    else:
        name, where = (source.get("metric") or {}).get("name") or "", child(path, "metric", "name")
        needed = required(where, "must specify a metric name")
        problems += text_problems(where, name, path_segment_problems) if name else [needed]
    return problems + _target_problems(here, target) + _choice_problems(here, target, field)


def _choice_problems(path: str, target: Document, field: str) -> list[str]:
    """Return the problems of the choice of a target's value, averageValue or averageUtilization."""
    value, average, share = (target.get(each) for each in ("value", "averageValue", "averageUtilization"))
    if field in ("resource", "containerResource"):
        if share is None and average is None:
            why = "must set either a target raw value or a target utilization"
            return [required(child(path, "averageUtilization"), why)]
        if share is not None and average is not None:
            why = "may not set both a target raw value and a target utilization"
            return [forbidden(child(path, "averageValue"), why)]
    elif field == "pods":
        if average is None:
            return [required(child(path, "averageValue"), "must specify a positive target averageValue")]
    elif value is None and average is None:
        per_pod = "for metric or a per-pod target" if field == "external" else "or averageValue"
        return [required(child(path, "averageValue"), f"must set either a target value {per_pod}")]
    elif field == "external" and value is not None and average is not None:
        why = "may not set both a target value for metric and a per-pod target"
        return [forbidden(child(path, "value"), why)]
    return []


def _target_problems(path: str, target: Document) -> list[str]:
    kind = target.get("type") or ""
    problems = [] if kind else [required(child(path, "type"), "must specify a metric target type")]
    if kind not in _TARGETS:
        problems.append(invalid(child(path, "type"), kind, "must be either Utilization, Value, or AverageValue"))
    for field in ("value", "averageValue"):
        if target.get(field) is not None and amount(target[field]).sign() <= 0:
            problems.append(invalid(child(path, field), str(amount(target[field])), "must be positive"))
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        problems.append(invalid(child(path, "averageUtilization"), share, "must be greater than 0"))
    return problems


def _rules_problems(path: str, rules: Document) -> list[str]:
    problems = []
    window, here = rules.get("stabilizationWindowSeconds"), child(path, "stabilizationWindowSeconds")
    if window is not None and window < 0:
        problems.append(invalid(here, window, "must be greater than or equal to zero"))
    if window is not None and window > _LONGEST_WINDOW:
        problems.append(invalid(here, window, f"must be less than or equal to {_LONGEST_WINDOW}"))
    choices = ("Disabled", "Max", "Min")
    if rules["selectPolicy"] not in choices:
        problems.append(not_supported(child(path, "selectPolicy"), rules["selectPolicy"], choices))
    if not rules["policies"]:
        problems.append(required(child(path, "policies"), "must specify at least one Policy"))
    for number, policy in enumerate(rules["policies"]):
        problems += _policy_problems(f"{path}.policies[{number}]", policy)
    if rules.get("tolerance") is not None and amount(rules["tolerance"]).sign() < 0:
        why = "must be greater than or equal to 0"
        problems.append(invalid(child(path, "tolerance"), str(amount(rules["tolerance"])), why))
    return problems


def _policy_problems(path: str, policy: Document) -> list[str]:
    problems = []
    kind: Any = policy.get("type") or ""
    if kind not in ("Percent", "Pods"):
        problems.append(not_supported(child(path, "type"), kind, ("Percent", "Pods")))
    for field in ("value", "periodSeconds"):
        if (number := policy.get(field) or 0) <= 0:
            problems.append(invalid(child(path, field), number, "must be greater than zero"))
    if (period := policy.get("periodSeconds") or 0) > _LONGEST_PERIOD:
        why = f"must be less than or equal to {_LONGEST_PERIOD}"
        problems.append(invalid(child(path, "periodSeconds"), period, why))
    return problems
