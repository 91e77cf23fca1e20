"""The rules of what keeps pods in number: replication controllers, replica sets, stateful sets; and their scale.

Nothing here makes pods; the scheduler and disruption budgets read selectors, templates and numbers.
"""

# upstream: pkg/registry/{core/replicationcontroller,apps/replicaset,apps/statefulset}, pkg/apis/apps/{v1/defaults.go,
# validation/validation.go} (v1.36)

from collections.abc import Sequence
from typing import Any

import msgspec

from kubesched.api.field_errors import as_json, child, forbidden, index, invalid, not_supported, required
from kubesched.api.labels import InvalidSelectorError, Selector, from_label_selector, selector_from_set
from kubesched.api.meta import LabelSelector
from kubesched.controlplane.kinds.checks import (
    dns_label_problems,
    immutable,
    label_selector_problems,
    labels_problems,
    not_negative,
    one_of,
    part,
    shown,
    text_problems,
)
from kubesched.controlplane.kinds.pod.defaults import default_spec
from kubesched.controlplane.kinds.pod.validation import spec_problems
from kubesched.controlplane.kinds.rules import Rules
from kubesched.controlplane.kinds.volume_claims import claim_spec_problems
from kubesched.controlplane.store import Document
from kubesched.controlplane.strategy import Context

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


class _Replicas(Rules):
    """What the three have in common."""

    has_generation = True
    # numbers in the status that may not be negative, nor greater than replicas
    counts: tuple[str, ...] = ()
    # a template that is left out is an empty one
    needs_template = True

    def prepare_create(self, new: Document, context: Context) -> None:
        """Fill in what was left out; nothing has been counted yet."""
        self.fill_in(new, context)
        new["status"] = {"replicas": 0}

    def fill_in(self, document: Document, context: Context) -> None:
        """Fill in what was left out."""
        spec = part(document, "spec")
        if spec.get("replicas") is None:
            spec["replicas"] = 1
        if spec.get("template") is not None or self.needs_template:
            default_spec(part(part(spec, "template"), "spec"))

    def validate_status(self, new: Document, old: Document, context: Context) -> list[str]:
        """Return what is wrong with a change of status."""
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
        """Return the fields that selectors may ask about."""
        return {"status.replicas": str((document.get("status") or {}).get("replicas") or 0)}


class ReplicationControllers(_Replicas):
    """The rules of replication controllers."""

    needs_template = False
    counts = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")

    def fill_in(self, document: Document, context: Context) -> None:
        """Fill in what was left out: labels of the template select its pods."""
        super().fill_in(document, context)
        spec = document["spec"]
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
        if labels:
            spec["selector"] = spec.get("selector") or dict(labels)
            document["metadata"]["labels"] = document["metadata"].get("labels") or dict(labels)

    def problems(self, document: Document, context: Context) -> list[str]:
        """Return what is wrong with a replication controller."""
        spec = document["spec"]
        problems = _count_problems(spec)
        selector = spec.get("selector") or {}
        if not selector:
            problems.append(required("spec.selector"))
        return problems + _template_problems(spec, selector_from_set(selector), "ReplicationController")


class ReplicaSets(_Replicas):
    """The rules of replica sets."""

    counts = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")

    def problems(self, document: Document, context: Context) -> list[str]:
        """Return what is wrong with a replica set."""
        spec = document["spec"]
        problems, selector = _selector_problems(spec.get("selector"), "deployment", "invalid label selector")
        problems = _count_problems(spec) + problems
        if selector is not None:
            problems += _template_problems(spec, selector, "ReplicaSet")
        return problems

    def change_problems(self, new: Document, old: Document, context: Context) -> list[str]:
        """Return what is wrong with a change."""
        return immutable("spec.selector", new["spec"].get("selector"), old["spec"].get("selector"))


class StatefulSets(_Replicas):
    """The rules of stateful sets."""

    counts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return what is wrong with a name; pods are named after it."""
        return tuple(dns_label_problems(name))

    def fill_in(self, document: Document, context: Context) -> None:
        """Fill in what was left out."""
        super().fill_in(document, context)
        spec = document["spec"]
        spec["podManagementPolicy"] = spec.get("podManagementPolicy") or "OrderedReady"
        updates = part(spec, "updateStrategy")
        if not updates.get("type"):
            updates["type"] = "RollingUpdate"
            part(updates, "rollingUpdate")
        if updates["type"] == "RollingUpdate" and updates.get("rollingUpdate") is not None:
            updates["rollingUpdate"].setdefault("partition", 0)
        retention = part(spec, "persistentVolumeClaimRetentionPolicy")
        for moment in ("whenDeleted", "whenScaled"):
            retention[moment] = retention.get(moment) or "Retain"
        if spec.get("revisionHistoryLimit") is None:
            spec["revisionHistoryLimit"] = 10

    def problems(self, document: Document, context: Context) -> list[str]:
        """Return what is wrong with a stateful set."""
        spec = document["spec"]
        problems = []
        policy, updates = spec["podManagementPolicy"], spec["updateStrategy"]
        if policy not in ("OrderedReady", "Parallel"):
            why = "must be 'OrderedReady' or 'Parallel'"
            problems.append(invalid("spec.podManagementPolicy", policy, why))
        if updates["type"] == "OnDelete" and updates.get("rollingUpdate") is not None:
            path, why = "spec.updateStrategy.rollingUpdate", "only allowed for updateStrategy 'RollingUpdate'"
            problems.append(invalid(path, as_json(updates["rollingUpdate"]), why))
        elif updates["type"] not in ("OnDelete", "RollingUpdate"):
            why = "must be 'RollingUpdate' or 'OnDelete'"
            problems.append(invalid("spec.updateStrategy", as_json(updates), why))
        for moment, value in spec["persistentVolumeClaimRetentionPolicy"].items():
            problems += one_of(f"spec.persistentVolumeClaimRetentionPolicy.{moment}", value, ("Retain", "Delete"))
        problems += _count_problems(spec)
        problems += not_negative("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
        if spec.get("serviceName"):
            problems += text_problems("spec.serviceName", spec["serviceName"], dns_label_problems)
        more, selector = _selector_problems(spec.get("selector"), "statefulset", "")
        problems += more
        if selector is not None:
            problems += _template_problems(spec, selector, "StatefulSet")
        return problems

    def validate_create(self, new: Document, context: Context) -> list[str]:
        """Return what is wrong with a new stateful set, its volume claims included."""
        problems = self.problems(new, context)
        for number, claim in enumerate(new["spec"].get("volumeClaimTemplates") or ()):
            here = index("spec.volumeClaimTemplates", number)
            problems += claim_spec_problems(child(here, "spec"), claim.get("spec") or {})
        return problems

    def change_problems(self, new: Document, old: Document, context: Context) -> list[str]:
        """Return what is wrong with a change."""
        fields = {*new["spec"], *old["spec"]} - {*_STATEFUL_CHANGES}
        if any(new["spec"].get(field) != old["spec"].get(field) for field in fields):
            return [forbidden("spec", _STATEFUL_REFUSAL)]
        return []

    def fields(self, document: Document) -> dict[str, str]:
        """Return the fields that selectors may ask about."""
        return {}


def _count_problems(spec: Document) -> list[str]:
    return [
        *not_negative("spec.replicas", spec.get("replicas")),
        *not_negative("spec.minReadySeconds", spec.get("minReadySeconds")),
    ]


def _selector_problems(selector: Any, kind: str, unreadable: str) -> tuple[list[str], Selector | None]:
    """Return what is wrong with a selector, and its compiled form if it has one."""
    if selector is None:
        return [required("spec.selector")], from_label_selector(None)
    problems = label_selector_problems("spec.selector", selector)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        problems.append(invalid("spec.selector", as_json(selector), f"empty selector is invalid for {kind}"))
    try:
        return problems, from_label_selector(msgspec.convert(selector, LabelSelector))
    except InvalidSelectorError:
        return [*problems, invalid("spec.selector", as_json(selector), unreadable)], None


def _template_problems(spec: Document, selector: Selector, kind: str) -> list[str]:
    template = spec.get("template")
    if template is None:
        return [required("spec.template")]
    labels = (template.get("metadata") or {}).get("labels") or {}
    problems = []
    if not selector.empty and not selector.matches(labels):
        why = "`selector` does not match template `labels`"
        problems.append(invalid("spec.template.metadata.labels", shown(labels), why))
    problems += labels_problems("spec.template.labels", labels)
    pod = _with_claimed_volumes(template["spec"], spec.get("volumeClaimTemplates") or ())
    problems += spec_problems("spec.template.spec", pod)
    if pod["restartPolicy"] != "Always":
        problems.append(not_supported("spec.template.spec.restartPolicy", pod["restartPolicy"], ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        problems.append(forbidden("spec.template.spec.activeDeadlineSeconds", why))
    return problems


def _with_claimed_volumes(pod: Document, claims: Sequence[Document]) -> Document:
    """Return a template's spec with the volumes that its pods will get from claims."""
    names = {(claim.get("metadata") or {}).get("name") or "" for claim in claims}
    if not names:
        return pod
    given = [volume for volume in pod.get("volumes") or () if volume.get("name") not in names]
    claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in sorted(names)]
    return {**pod, "volumes": [*claimed, *given]}
