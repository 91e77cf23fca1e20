"""The strategy of horizontal pod autoscalers."""

# upstream: pkg/registry/{autoscaling/horizontalpodautoscaler,node/runtimeclass}, pkg/apis/autoscaling/{v2/defaults.go,
# validation/validation.go}, pkg/apis/node/validation (v1.36)

import copy

from kubesched.api.field_errors import child, forbidden, invalid, not_supported, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import amount
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.kinds.pod.requirements import container_resource_problems
from kubesched_controlplane.registry.strategy import StrategyContext

MARKS = Marks()
MARKS.format("containerresource")(container_resource_problems)
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

    marks = MARKS

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and an empty status."""
        self.fill_in(new, context)
        new["status"] = {"desiredReplicas": 0, "currentMetrics": None}

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        super().fill_in(document, context)
        spec = document["spec"]
        if not spec.get("metrics"):
            spec["metrics"] = [copy.deepcopy(_CPU)]
        behavior = spec.get("behavior")
        if behavior is not None:
            for field, rules in (("scaleUp", _UP), ("scaleDown", _DOWN)):
                given = {name: value for name, value in (behavior.get(field) or {}).items() if value is not None}
                behavior[field] = {**copy.deepcopy(rules), **given}

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a changed autoscaler; the group of an unchanged kind of target is not checked."""
        problems = self.problems(new, context)
        now, before = (each["spec"].get("scaleTargetRef") or {} for each in (new, old))
        if any(now.get(field) != before.get(field) for field in ("apiVersion", "kind")):
            return problems
        return [problem for problem in problems if not problem.startswith("spec.scaleTargetRef.apiVersion:")]


@MARKS.rule("HorizontalPodAutoscalerSpec")
def _spec_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    least, most = spec["minReplicas"], spec.get("maxReplicas") or 0
    problems = fields("minReplicas", "maxReplicas")
    if most < least:
        problems.append(invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    reference = spec.get("scaleTargetRef") or {}
    # the only kind of the core group that can be scaled
    is_core = reference.get("kind") == "ReplicationController"
    problems += fields("scaleTargetRef") + _group_problems("spec.scaleTargetRef", reference, any_group=is_core)
    problems += fields("metrics")
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in spec["metrics"]):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        problems.append(forbidden("spec.metrics", why))
    return problems + fields("behavior")


def _group_problems(path: str, reference: Document, *, any_group: bool) -> list[str]:
    version, here = reference.get("apiVersion") or "", child(path, "apiVersion")
    if version.count("/") > 1:
        return [invalid(here, version, f"unexpected GroupVersion string: {version}")]
    if not any_group and not version.rpartition("/")[0]:
        return [invalid(here, version, "apiVersion must specify API group")]
    return []


@MARKS.rule("MetricSpec")
def _metric_problems(path: str, metric: Document, fields: Fields) -> list[str]:
    kind = metric.get("type") or ""
    if kind not in _SOURCES:
        problems = [] if kind else [required(child(path, "type"), "must specify a metric source type")]
        return [*problems, not_supported(child(path, "type"), kind, tuple(_SOURCES))]
    field = _SOURCES[kind]
    if metric.get(field) is None:
        return [required(child(path, field), "must populate information for the given metric source")]
    others = [other for other in _SOURCES.values() if other != field and metric.get(other) is not None]
    problems = [forbidden(child(path, other), "must populate the given metric source only") for other in others]
    return [
        *problems,
        *fields(field),
        *_choice_problems(child(path, field, "target"), metric[field].get("target") or {}, field),
    ]


@MARKS.rule("ObjectMetricSource")
def _object_problems(path: str, source: Document, fields: Fields) -> list[str]:
    described = source.get("describedObject") or {}
    group = _group_problems(child(path, "describedObject"), described, any_group=True)
    return [*fields("describedObject"), *group, *fields("metric", "target")]


@MARKS.rule("ContainerResourceMetricSource")
def _container_problems(path: str, source: Document, fields: Fields) -> list[str]:
    return fields("name", "container", "target")


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


@MARKS.rule("MetricTarget")
def _target_problems(path: str, target: Document, fields: Fields) -> list[str]:
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


@MARKS.rule("HPAScalingRules")
def _rules_problems(path: str, rules: Document, fields: Fields) -> list[str]:
    problems = fields()
    if rules.get("tolerance") is not None and amount(rules["tolerance"]).sign() < 0:
        why = "must be greater than or equal to 0"
        problems.append(invalid(child(path, "tolerance"), str(amount(rules["tolerance"])), why))
    return problems
