"""The strategies of replication controllers, replica sets and stateful sets.

The controllers that create their pods are in `controllers.workloads`.
"""

# upstream: pkg/registry/{core/replicationcontroller,apps/replicaset,apps/statefulset}, pkg/apis/apps/{v1/defaults.go,
# validation/validation.go} (v1.36)

from collections.abc import Sequence

from kubesched.api.field_errors import as_json, child, forbidden, index, invalid, required
from kubesched.api.labels import selector_from_set
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import dns_label_problems, not_negative, one_of, part, text_problems
from kubesched_controlplane.kinds.pod.defaults import default_spec
from kubesched_controlplane.kinds.volume.claims import claim_spec_problems, default_claim_spec
from kubesched_controlplane.kinds.workload.templates import (
    TemplateStrategy,
    count_problems,
    lasting_template_problems,
    selector_problems,
    share_problems,
    share_value,
    too_large_share_problems,
)
from kubesched_controlplane.registry.strategy import StrategyContext

_TOO_GREAT = "cannot be greater than status.replicas"
_STATEFUL_CHANGES = (
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
)
_STATEFUL_REFUSAL = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


class _ReplicaStrategy(TemplateStrategy):
    """The base class of the strategies of workloads with replicas."""

    has_generation = True
    # counts in the status that may not be negative, nor greater than replicas
    counts: tuple[str, ...] = ()
    # counts in the status of a new object
    first_counts: tuple[str, ...] = ("replicas",)
    # whether a missing template is added
    needs_template = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, and a status of zeros."""
        self.fill_in(new, context)
        new["status"] = dict.fromkeys(self.first_counts, 0)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        super().fill_in(document, context)
        spec = document["spec"]
        if spec.get("template") is not None or self.needs_template:
            default_spec(part(part(spec, "template"), "spec"))

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        problems = []
        replicas, ready = status.get("replicas") or 0, status.get("readyReplicas") or 0
        for field in ("replicas", *self.counts, "observedGeneration"):
            problems += not_negative(child("status", field), status.get(field))
        for field in self.counts:
            if (count := status.get(field) or 0) > replicas:
                problems.append(invalid(child("status", field), count, _TOO_GREAT))
        if (available := status.get("availableReplicas") or 0) > ready:
            why = "cannot be greater than readyReplicas"
            problems.append(invalid("status.availableReplicas", available, why))
        return problems

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        return {"status.replicas": str((document.get("status") or {}).get("replicas") or 0)}


class ReplicationControllerStrategy(_ReplicaStrategy):
    """The strategy of replication controllers."""

    propagation = "Orphan"
    needs_template = False
    counts = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults; selector and labels default to the labels of the template."""
        super().fill_in(document, context)
        spec = document["spec"]
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
        if labels:
            spec["selector"] = spec.get("selector") or dict(labels)
            document["metadata"]["labels"] = document["metadata"].get("labels") or dict(labels)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a replication controller."""
        spec = document["spec"]
        problems = count_problems(spec)
        selector = spec.get("selector") or {}
        if not selector:
            problems.append(required("spec.selector"))
        found = selector_from_set(selector)
        return problems + lasting_template_problems(spec.get("template"), found, "ReplicationController")


class ReplicaSetStrategy(_ReplicaStrategy):
    """The strategy of replica sets."""

    counts = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a replica set."""
        spec = document["spec"]
        problems, selector = selector_problems(spec.get("selector"), "deployment", "invalid label selector")
        problems = count_problems(spec) + problems
        if selector is not None:
            problems += lasting_template_problems(spec.get("template"), selector, "ReplicaSet")
        return problems


class StatefulSetStrategy(_ReplicaStrategy):
    """The strategy of stateful sets."""

    counts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    first_counts = ("replicas", "availableReplicas")

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name, which must be a DNS label, since pods are named after it."""
        return tuple(dns_label_problems(name))

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        super().fill_in(document, context)
        spec = document["spec"]
        updates = part(spec, "updateStrategy")
        if not updates.get("type"):
            updates["type"] = "RollingUpdate"
            part(updates, "rollingUpdate")
        if updates["type"] == "RollingUpdate" and updates.get("rollingUpdate") is not None:
            updates["rollingUpdate"].setdefault("partition", 0)
        for claim in spec.get("volumeClaimTemplates") or ():
            claim |= {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}
            default_claim_spec(part(claim, "spec"))
            part(claim, "status").setdefault("phase", "Pending")

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a stateful set."""
        spec = document["spec"]
        problems = []
        policy, updates = spec["podManagementPolicy"], spec["updateStrategy"]
        if policy not in ("OrderedReady", "Parallel"):
            why = "must be 'OrderedReady' or 'Parallel'"
            problems.append(invalid("spec.podManagementPolicy", policy, why))
        if updates["type"] == "OnDelete" and updates.get("rollingUpdate") is not None:
            path, why = "spec.updateStrategy.rollingUpdate", "only allowed for updateStrategy 'RollingUpdate'"
            problems.append(invalid(path, as_json(updates["rollingUpdate"]), why))
        elif updates["type"] == "RollingUpdate" and updates.get("rollingUpdate") is not None:
            problems += _rolling_problems("spec.updateStrategy.rollingUpdate", updates["rollingUpdate"])
        elif updates["type"] not in ("OnDelete", "RollingUpdate"):
            why = "must be 'RollingUpdate' or 'OnDelete'"
            problems.append(invalid("spec.updateStrategy", as_json(updates), why))
        for moment, value in spec["persistentVolumeClaimRetentionPolicy"].items():
            problems += one_of(f"spec.persistentVolumeClaimRetentionPolicy.{moment}", value, ("Retain", "Delete"))
        problems += count_problems(spec)
        problems += not_negative("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
        if spec.get("serviceName"):
            problems += text_problems("spec.serviceName", spec["serviceName"], dns_label_problems)
        more, selector = selector_problems(spec.get("selector"), "statefulset", "")
        problems += more
        if selector is not None:
            template = _with_claimed_volumes(spec["template"], spec.get("volumeClaimTemplates") or ())
            problems += lasting_template_problems(template, selector, "StatefulSet")
        return problems

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new stateful set, its volume claims included."""
        problems = self.problems(new, context)
        for number, claim in enumerate(new["spec"].get("volumeClaimTemplates") or ()):
            here = index("spec.volumeClaimTemplates", number)
            problems += claim_spec_problems(child(here, "spec"), claim.get("spec") or {})
        return problems

    def warnings(self, new: Document, old: Document | None) -> list[str]:
        """Return warnings about the template, and about a history without a limit."""
        found = super().warnings(new, old)
        if (new["spec"].get("revisionHistoryLimit") or 0) < 0:
            why = "a negative value retains all historical revisions; a value >= 0 is recommended"
            found.append(f"spec.revisionHistoryLimit: {why}")
        return found

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        fields = {*new["spec"], *old["spec"]} - {*_STATEFUL_CHANGES}
        if any(new["spec"].get(field) != old["spec"].get(field) for field in fields):
            return [forbidden("spec", _STATEFUL_REFUSAL)]
        return []

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        return {}


def _rolling_problems(path: str, rolling: Document) -> list[str]:
    problems = not_negative(child(path, "partition"), rolling.get("partition"))
    share = rolling.get("maxUnavailable")
    if share is not None:
        here = child(path, "maxUnavailable")
        problems += share_problems(here, share)
        if not share_value(share):
            problems.append(invalid(here, share, "cannot be 0"))
        problems += too_large_share_problems(here, share)
    return problems


def _with_claimed_volumes(template: Document, claims: Sequence[Document]) -> Document:
    """Return a template with the volumes of its claim templates."""
    names = {(claim.get("metadata") or {}).get("name") or "" for claim in claims}
    if not names:
        return template
    pod = template["spec"]
    given = [volume for volume in pod.get("volumes") or () if volume.get("name") not in names]
    claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in sorted(names)]
    return {**template, "spec": {**pod, "volumes": [*claimed, *given]}}
