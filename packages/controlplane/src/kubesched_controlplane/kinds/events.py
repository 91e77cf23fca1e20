"""The strategy of events, in both versions: core/v1 is lenient, events.k8s.io/v1 is strict.

Events are stored as core/v1; the version of a request is that of its resource.
"""

# upstream: pkg/registry/core/event/strategy.go, pkg/apis/core/validation/events.go (v1.36)

from kubesched.api.field_errors import invalid, required
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.checks import immutable, path_segment_problems, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

_LONGEST_NOTE = 1024
_LONGEST = 128
_ELSEWHERE = "does not match event.namespace"
_UNSET = "needs to be unset"
_REGARDING = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
# stored fields that are immutable in the strict version; a zero value counts as not set
_FROZEN = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingController",
    "reportingInstance",
)
_TEXTS = ("reason", "message", "type", "action", "reportingController", "reportingInstance")
# always present, if only as null, so that clients can sort by them (kubectl get events --sort-by=.lastTimestamp)
_TIMES = ("firstTimestamp", "lastTimestamp", "eventTime")
# selectable fields of events.k8s.io/v1, with their names in core/v1
_STRICT_FIELDS = {
    **{f"regarding.{field}": f"involvedObject.{field}" for field in _REGARDING},
    "reportingController": "reportingComponent",
    "reason": "reason",
    "type": "type",
}


class EventStrategy(KindStrategy):
    """The strategy of events."""

    create_on_update = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return path_segment_problems(name)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing involvedObject, and missing times as null."""
        if document.get("involvedObject") is None:
            document["involvedObject"] = {}
        for field in _TIMES:
            document.setdefault(field, None)

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new event."""
        problems = _common_problems(new, context)
        if not context.resource.group:
            return problems
        problems += _series_problems(new)
        if not new.get("eventTime"):
            problems.append(required("eventTime"))
        if new.get("type") not in ("Normal", "Warning"):
            problems.append(invalid("type", "", f"has invalid value: {new.get('type') or ''}"))
        for field in ("firstTimestamp", "lastTimestamp", "count"):
            if new.get(field):
                problems.append(invalid(field, "", _UNSET))
        source = new.get("source") or {}
        if source.get("component") or source.get("host"):
            problems.append(invalid("source", "", _UNSET))
        return problems

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a changed event."""
        problems = _common_problems(new, context)
        if not context.resource.group:
            return problems
        if new.get("series") != old.get("series"):
            problems += _series_problems(new)
        for field in _FROZEN:
            stored = "reportingComponent" if field == "reportingController" else field
            problems += immutable(
                field, *(each.get(stored) or ("" if field in _TEXTS else None) for each in (new, old))
            )
        return problems

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        regarding = document.get("involvedObject") or {}
        reporter = document.get("reportingComponent") or ""
        return {
            **{f"involvedObject.{field}": regarding.get(field) or "" for field in _REGARDING},
            "reason": document.get("reason") or "",
            "reportingComponent": reporter,
            "source": (document.get("source") or {}).get("component") or reporter,
            "type": document.get("type") or "",
        }

    def kept_field(self, field: str, resource: Resource) -> str:
        """Return the name in core/v1 of a selectable field, an empty text if there is none."""
        if not resource.group:
            return field
        return _STRICT_FIELDS.get(field, "")


def _common_problems(event: Document, context: StrategyContext) -> list[str]:
    namespace = event["metadata"].get("namespace") or ""
    regarding = event["involvedObject"].get("namespace") or ""
    elsewhere = invalid("involvedObject.namespace", regarding, _ELSEWHERE)
    problems = []
    if not event.get("eventTime"):
        if namespace != regarding and (regarding or namespace not in ("", "default")):
            problems.append(elsewhere)
    else:
        if not regarding and namespace not in ("default", "kube-system"):
            problems.append(elsewhere)
        if name := event["metadata"].get("name"):
            problems += text_problems("metadata.name", name, subdomain_problems)
        problems += _reporter_problems(event, "reportingController" if context.resource.group else "reportingComponent")
    return problems + text_problems("namespace", namespace, subdomain_problems)


def _reporter_problems(event: Document, reporter: str) -> list[str]:
    """Return the problems of the reporter and the texts of an event with an eventTime."""
    name = event.get("reportingComponent") or ""
    problems = [] if name else [required(reporter)]
    problems += text_problems(reporter, name, label_key_problems)
    for field in ("reportingInstance", "action", "reason"):
        text = event.get(field) or ""
        if not text:
            problems.append(required(field))
        elif len(text.encode()) > _LONGEST:
            problems.append(invalid(field, "", f"can have at most {_LONGEST} characters"))
    if len((event.get("message") or "").encode()) > _LONGEST_NOTE:
        problems.append(invalid("message", "", f"can have at most {_LONGEST_NOTE} characters"))
    return problems


def _series_problems(event: Document) -> list[str]:
    series = event.get("series")
    if series is None:
        return []
    problems = []
    if (series.get("count") or 0) < 2:
        problems.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        problems.append(required("series.lastObservedTime"))
    return problems
