"""Conditions in the status of workloads.

From lists of conditions to lists with a condition added, replaced or removed.
"""

# upstream: pkg/controller/deployment/util/deployment_util.go (SetDeploymentCondition) (v1.36)

from collections.abc import Iterable

from kubesched_controlplane.api.documents import Document


def find_condition(status: Document, kind: str) -> Document | None:
    """Return the condition of a type, None if the status has none."""
    for condition in status.get("conditions") or ():
        if condition.get("type") == kind:
            found: Document = condition
            return found
    return None


def set_condition(status: Document, condition: Document) -> None:
    """Set a condition unless its status and reason are unchanged; an unchanged status keeps its transition time."""
    old = find_condition(status, condition["type"])
    if old is not None and old.get("status") == condition["status"]:
        if old.get("reason") == condition.get("reason"):
            return
        condition = {**condition, "lastTransitionTime": old.get("lastTransitionTime")}
    status["conditions"] = [*without(status, condition["type"]), condition]


def drop_condition(status: Document, kind: str) -> None:
    """Remove the condition of a type."""
    kept = without(status, kind)
    if kept:
        status["conditions"] = kept
    else:
        status.pop("conditions", None)


def without(status: Document, kind: str) -> list[Document]:
    """Return the conditions of other types."""
    conditions: Iterable[Document] = status.get("conditions") or ()
    return [condition for condition in conditions if condition.get("type") != kind]
