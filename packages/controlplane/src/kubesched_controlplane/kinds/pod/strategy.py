"""The strategy of pods.

From pods as clients send them to pods that are defaulted, admitted and valid, and that change only as `pod.updates`
allows.
"""

# upstream: pkg/registry/core/pod/strategy.go (v1.36)

from typing import Final

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.pod.admission import admit_changed, admit_new
from kubesched_controlplane.kinds.pod.amounts import class_of_service
from kubesched_controlplane.kinds.pod.defaults import default_pod, default_status
from kubesched_controlplane.kinds.pod.status import keep_from_old, set_condition, status_problems
from kubesched_controlplane.kinds.pod.updates import annotation_change_problems, change_problems
from kubesched_controlplane.kinds.pod.validation import new_pod_problems, pod_problems
from kubesched_controlplane.kinds.pod.warnings import name_warnings, pod_warnings
from kubesched_controlplane.registry.strategy import Strategy, StrategyContext

_GATED: Final = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
_SELECTABLE: Final = frozenset(
    (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    )
)


class PodStrategy(Strategy):
    """The strategy of pods."""

    marks_deletion = True
    returns_deleted = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, admit the pod, and set its first status."""
        default_pod(new)
        admit_new(new, context)
        spec = new["spec"]
        status: Document = {"phase": "Pending", "qosClass": class_of_service(spec)}
        if spec.get("schedulingGates"):
            set_condition(status, _GATED, context.now)
        new["status"] = status

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new pod."""
        return new_pod_problems(new)

    def warnings(self, new: Document, old: Document | None) -> list[str]:
        """Return warnings about a new pod."""
        return [] if old is not None else [*name_warnings(new["metadata"]["name"]), *pod_warnings(new)]

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults, and admit the changed pod."""
        default_pod(new)
        admit_changed(new, old)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a changed pod, and of the change."""
        return pod_problems(new) + change_problems(new, old)

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep the spec, the owner references, and fields of the status that the client leaves out; set defaults."""
        super().prepare_status(new, old, context)
        meta, before = new["metadata"], old["metadata"]
        meta.pop("ownerReferences", None)
        if "ownerReferences" in before:
            meta["ownerReferences"] = before["ownerReferences"]
        new["status"] = new.get("status") or {}
        default_status(new["status"])
        keep_from_old(new["status"], old.get("status") or {})

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of a pod's status."""
        return annotation_change_problems(new, old) + status_problems(new, old)

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields; status.podIPs is always empty, as in the reference."""
        spec, status = document.get("spec") or {}, document.get("status") or {}
        return {
            "spec.nodeName": spec.get("nodeName") or "",
            "spec.restartPolicy": spec.get("restartPolicy") or "",
            "spec.schedulerName": spec.get("schedulerName") or "",
            "spec.serviceAccountName": spec.get("serviceAccountName") or "",
            "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
            "status.phase": status.get("phase") or "",
            "status.podIP": status.get("podIP") or "",
            "status.nominatedNodeName": status.get("nominatedNodeName") or "",
        }

    def selectable(self) -> frozenset[str]:
        """Return the names of the selectable fields."""
        return _SELECTABLE

    def kept_field(self, field: str, resource: Resource) -> str:
        """Return the current name of a selectable field: `spec.host` is `spec.nodeName`."""
        return "spec.nodeName" if field == "spec.host" else field

    def grace_seconds(self, document: Document, wanted: int | None) -> int:
        """Return the grace period of a pod: as requested, or as in its spec; 0 without a node, or if it is terminal."""
        spec = document.get("spec") or {}
        phase = (document.get("status") or {}).get("phase")
        if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
            return 0
        if wanted is None:
            wanted = int(spec.get("terminationGracePeriodSeconds") or 0)
        return wanted if wanted >= 0 else 1
