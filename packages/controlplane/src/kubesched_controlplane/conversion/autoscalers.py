"""Autoscalers of autoscaling/v1: the CPU utilization is a field, other metrics and behaviour are in annotations.

From autoscaling/v1 to autoscaling/v2, the storage version, and back. Annotations that cannot be read are ignored.
"""

# upstream: pkg/apis/autoscaling/v1/conversion.go, pkg/apis/autoscaling/{annotations,helpers}.go (v1.36)

from collections.abc import Callable
from typing import Any

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.schema import decoder_of, library
from kubesched_controlplane.schema.strict_decoder import ShapeError

_PLACE = "autoscaling.alpha.kubernetes.io"
_METRICS, _CURRENT = f"{_PLACE}/metrics", f"{_PLACE}/current-metrics"
_BEHAVIOR, _CONDITIONS = f"{_PLACE}/behavior", f"{_PLACE}/conditions"
# no longer written, but removed where they are found
_OLD = (f"{_PLACE}/scale-down-tolerance", f"{_PLACE}/scale-up-tolerance")
_DEFAULT_SHARE = 80
# the fields and their order in the annotation, so that equal behaviours have equal texts
_DIRECTIONS = ("scaleUp", "scaleDown")
_RULES = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
# metric source -> field in autoscaling/v1 -> path in autoscaling/v2
_TARGETS: dict[str, dict[str, str]] = {
    "object": {
        "target": "describedObject",
        "metricName": "metric.name",
        "targetValue": "target.value",
        "selector": "metric.selector",
        "averageValue": "target.averageValue",
    },
    "pods": {
        "metricName": "metric.name",
        "targetAverageValue": "target.averageValue",
        "selector": "metric.selector",
    },
    "resource": {
        "name": "name",
        "targetAverageUtilization": "target.averageUtilization",
        "targetAverageValue": "target.averageValue",
    },
    "external": {
        "metricName": "metric.name",
        "metricSelector": "metric.selector",
        "targetValue": "target.value",
        "targetAverageValue": "target.averageValue",
    },
}
_TARGETS["containerResource"] = {**_TARGETS["resource"], "container": "container"}


def to_second(document: Document) -> Document:
    """Convert an autoscaler from autoscaling/v1 to autoscaling/v2."""
    given = document["metadata"].get("annotations") or {}
    spec = dict(document.get("spec") or {})
    share = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = _decoded(given.get(_METRICS), "spec.metrics", _second_target) or []
    metrics += [] if share is None else [_processor("target", {"type": "Utilization", "averageUtilization": share})]
    if not metrics:
        metrics.append(_processor("target", {"type": "Utilization", "averageUtilization": _DEFAULT_SHARE}))
    spec["metrics"] = metrics
    behavior = _decoded(given.get(_BEHAVIOR), "spec.behavior", lambda found: _renamed(found, str.lower))
    if behavior:
        spec["behavior"] = behavior
    found = {
        **document,
        "apiVersion": "autoscaling/v2",
        "metadata": _without_places(document["metadata"]),
        "spec": spec,
    }
    if document.get("status") is not None:
        found["status"] = _second_status(document["status"], given)
    return found


def _second_status(first: Document, given: Document) -> Document:
    status = dict(first)
    share = status.pop("currentCPUUtilizationPercentage", None)
    if share is not None:
        status["currentMetrics"] = [_processor("current", {"averageUtilization": share})]
    for annotation, field, change in (
        (_CURRENT, "currentMetrics", _second_current),
        (_CONDITIONS, "conditions", lambda found: found),
    ):
        found = _decoded(given.get(annotation), f"status.{field}", change)
        if found is not None:
            status[field] = found
    return status


def to_first(document: Document) -> Document:
    """Convert an autoscaler from autoscaling/v2 to autoscaling/v1."""
    spec, status = dict(document.get("spec") or {}), document.get("status")
    meta, kept = _without_places(document["metadata"]), {}
    metrics, behavior = spec.pop("metrics", None) or [], spec.pop("behavior", None)
    shares = [metric["resource"]["target"]["averageUtilization"] for metric in metrics if _is_processor_share(metric)]
    if shares:
        spec["targetCPUUtilizationPercentage"] = shares[0]
    others = [_first(metric, "target") for metric in metrics if not _is_processor_share(metric)]
    if others:
        kept[_METRICS] = _text(others)
    if behavior is not None:
        rules = {direction: _in_order(behavior.get(direction), _RULES) for direction in _DIRECTIONS}
        kept[_BEHAVIOR] = _text(_renamed(rules, str.upper))
    found = {**document, "apiVersion": "autoscaling/v1", "metadata": meta, "spec": spec}
    if status is not None:
        found["status"] = _first_status(dict(status), kept)
    if kept:
        meta["annotations"] = {**(meta.get("annotations") or {}), **kept}
    return found


def _first_status(status: Document, kept: dict[str, str]) -> Document:
    """Convert a status, in place, to autoscaling/v1; fields that v1 lacks are added as annotations to `kept`."""
    status.setdefault("currentReplicas", 0)
    current, conditions = status.pop("currentMetrics", None) or [], status.pop("conditions", None)
    for metric in current:
        resource = metric.get("resource") or {}
        share = (resource.get("current") or {}).get("averageUtilization")
        if resource.get("name") == "cpu" and share is not None:
            status["currentCPUUtilizationPercentage"] = share
    if current:
        kept[_CURRENT] = _text([_first(metric, "current") for metric in current])
    if conditions:
        kept[_CONDITIONS] = _text(conditions)
    return status


# -- metrics


def _is_processor_share(metric: Document) -> bool:
    resource = metric.get("resource") or {}
    share = (resource.get("target") or {}).get("averageUtilization")
    return metric.get("type") == "Resource" and resource.get("name") == "cpu" and share is not None


def _processor(field: str, value: Document) -> Document:
    return {"type": "Resource", "resource": {"name": "cpu", field: value}}


def _places(source: str, which: str) -> dict[str, str]:
    """Return the v2 paths by v1 field of a metric source, in the spec (`target`) or in the status (`current`)."""
    names = _TARGETS[source]
    if which == "target":
        return names
    return {
        name.replace("target", which) if place.startswith("target.") else name: place.replace("target.", f"{which}.")
        for name, place in names.items()
    }


def _first(metric: Document, which: str) -> Document:
    found: Document = {"type": metric.get("type", "")}
    for source in _TARGETS:
        if metric.get(source) is None:
            continue
        values = {name: _at(metric[source], place) for name, place in _places(source, which).items()}
        found[source] = {name: value for name, value in values.items() if value is not None}
    return found


def _second(metric: Document, which: str) -> Document:
    found: Document = {"type": metric.get("type", "")}
    for source in _TARGETS:
        if metric.get(source) is None:
            continue
        made: Document = {}
        for name, place in _places(source, which).items():
            value = metric[source].get(name)
            outer, _, inner = place.rpartition(".")
            part = made.setdefault(outer, {}) if outer else made
            if value is not None:
                part[inner] = value
        if which == "target":
            made["target"] = {"type": _target_type(made["target"]), **made["target"]}
        found[source] = made
    return found


def _target_type(target: Document) -> str:
    if "averageUtilization" in target:
        return "Utilization"
    return "AverageValue" if "averageValue" in target or "value" not in target else "Value"


def _second_target(metrics: Any) -> Any:
    return [_second(metric, "target") for metric in metrics]


def _second_current(metrics: Any) -> Any:
    return [_second(metric, "current") for metric in metrics]


# -- annotations


def _without_places(meta: Document) -> Document:
    """Return metadata without the annotations that stand for fields of autoscaling/v2."""
    places = (_METRICS, _CURRENT, _BEHAVIOR, _CONDITIONS, *_OLD)
    given = meta.get("annotations") or {}
    if not any(place in given for place in places):
        return dict(meta)
    left = {name: value for name, value in given.items() if name not in places}
    found = {**meta, "annotations": left}
    if not left:
        del found["annotations"]
    return found


def _in_order(rules: Document | None, names: tuple[str, ...]) -> Document | None:
    return None if rules is None else {name: rules.get(name) for name in names}


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _decoded(text: str | None, place: str, change: Callable[[Any], Any]) -> Any:
    """Decode an annotation to the v2 field at a path, after `change`; None if it cannot be decoded."""
    if text is None:
        return None
    shape = library().kind("autoscaling/v2", "HorizontalPodAutoscaler")
    assert shape is not None
    part, _, field = place.partition(".")
    start = {"apiVersion": shape.api_version, "kind": shape.name}
    try:
        value = change(msgspec.json.decode(text))
        found, _problems = decoder_of(shape).decode_patched({**start, part: {field: value}})
    except (msgspec.DecodeError, ShapeError, AttributeError, TypeError, KeyError):
        return None
    return found[part].get(field)


def _at(value: Any, place: str) -> Any:
    for name in place.split("."):
        value = (value or {}).get(name)
    return value


def _renamed(value: Any, first_letter: Callable[[str], str]) -> Any:
    """Change the first letter of all field names: Go writes the behaviour with its own, capitalised field names."""
    if isinstance(value, list):
        return [_renamed(each, first_letter) for each in value]
    if isinstance(value, dict):
        return {first_letter(name[:1]) + name[1:]: _renamed(each, first_letter) for name, each in value.items()}
    return value
