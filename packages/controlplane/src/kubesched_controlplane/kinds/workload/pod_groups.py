"""The strategy of pod groups and workloads.

Fields that the reference serves only behind a gate are served always.
"""

# upstream: pkg/registry/scheduling/{podgroup,workload}, api/scheduling/v1alpha2/types.go (declarative validation),
# plugin/pkg/admission/priority (v1.36)

from typing import Any

from kubesched.api.field_errors import child, invalid, required
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    conditions_problems,
    dns_label_problems,
    immutable,
    one_of,
    part,
    text_problems,
)
from kubesched_controlplane.kinds.device.checks import list_problems, named
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

MOST_TEMPLATES = 8
MOST_CLAIMS = 4
_MODES = ("Pod", "PodGroup")
_FROZEN = (
    "podGroupTemplateRef",
    "schedulingPolicy",
    "schedulingConstraints",
    "resourceClaims",
    "disruptionMode",
    "priorityClassName",
    "priority",
)


class PodGroupStrategy(KindStrategy):
    """The strategy of pod groups."""

    status_keeps_metadata = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        part(spec, "schedulingPolicy")
        spec["disruptionMode"] = spec.get("disruptionMode") or "Pod"

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new group."""
        spec = new["spec"]
        reference, path = spec.get("podGroupTemplateRef"), "spec.podGroupTemplateRef"
        problems = []
        if reference is not None and reference.get("workload") is None:
            why = "must specify one of: `workload`"
            problems.append(invalid(path, "", why))
        elif reference is not None:
            workload, here = reference["workload"], child(path, "workload")
            problems += _name_problems(child(here, "workloadName"), workload.get("workloadName"), subdomain_problems)
            field = "podGroupTemplateName"
            problems += _name_problems(child(here, field), workload.get(field), dns_label_problems)
        return problems + _group_problems("spec", spec)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        problems = []
        for field in _FROZEN:
            problems += immutable(child("spec", field), new["spec"].get(field), old["spec"].get(field))
        return problems

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        problems = conditions_problems("status.conditions", status.get("conditions"))
        claims = {named(claim) for claim in new["spec"].get("resourceClaims") or ()}

        def claim_problems(path: str, claim: Any) -> list[str]:
            if named(claim) in claims:
                return []
            why = "must match the name of an entry in `spec.resourceClaims`"
            return [invalid(child(path, "name"), named(claim), why)]

        path, statuses = "status.resourceClaimStatuses", status.get("resourceClaimStatuses")
        return problems + list_problems(path, statuses, MOST_CLAIMS, claim_problems, named)


class WorkloadStrategy(KindStrategy):
    """The strategy of workloads."""

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing spec, and missing scheduling policies of templates."""
        for template in part(document, "spec").get("podGroupTemplates") or ():
            part(template, "schedulingPolicy")

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new workload."""
        spec = new["spec"]
        problems = []
        controller, path = spec.get("controllerRef"), "spec.controllerRef"
        if controller is not None:
            if controller.get("apiGroup"):
                problems += text_problems(child(path, "apiGroup"), controller["apiGroup"], subdomain_problems)
            problems += [required(child(path, field)) for field in ("kind", "name") if not controller.get(field)]
        templates, path = spec.get("podGroupTemplates"), "spec.podGroupTemplates"
        if not templates:
            return [*problems, required(path)]

        def template_problems(here: str, template: Any) -> list[str]:
            return _name_problems(child(here, "name"), named(template), dns_label_problems) + _group_problems(
                here, template
            )

        return problems + list_problems(path, templates, MOST_TEMPLATES, template_problems, named)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        problems = []
        for field in ("controllerRef", "podGroupTemplates"):
            problems += immutable(child("spec", field), new["spec"].get(field), old["spec"].get(field))
        return problems


def _name_problems(path: str, name: str | None, rule: Any) -> list[str]:
    return text_problems(path, name, rule) if name else [required(path)]


def _group_problems(path: str, spec: Document) -> list[str]:
    """Return the problems of the fields that pod groups and their templates share."""
    problems = _policy_problems(child(path, "schedulingPolicy"), spec.get("schedulingPolicy") or {})
    if spec.get("disruptionMode"):
        problems += one_of(child(path, "disruptionMode"), spec["disruptionMode"], _MODES)
    if spec.get("priorityClassName"):
        problems += text_problems(child(path, "priorityClassName"), spec["priorityClassName"], subdomain_problems)

    def topology_problems(here: str, constraint: Any) -> list[str]:
        key = constraint.get("key")
        return text_problems(child(here, "key"), key, label_key_problems) if key else [required(child(here, "key"))]

    here = child(path, "schedulingConstraints.topology")
    topology = (spec.get("schedulingConstraints") or {}).get("topology")
    problems += list_problems(here, topology, 1, topology_problems)
    claims = spec.get("resourceClaims")
    return problems + list_problems(child(path, "resourceClaims"), claims, MOST_CLAIMS, _claim_problems, named)


def _policy_problems(path: str, policy: Document) -> list[str]:
    basic, gang = policy.get("basic"), policy.get("gang")
    if basic is None and gang is None:
        return [invalid(path, "", "must specify one of: `basic`, `gang`")]
    if basic is not None and gang is not None:
        return [invalid(path, "{basic, gang}", "must specify exactly one of: `basic`, `gang`")]
    if gang is None:
        return []
    count, here = gang.get("minCount") or 0, child(path, "gang.minCount")
    if not count:
        return [required(here)]
    return [invalid(here, count, "must be greater than or equal to 1")] if count < 1 else []


def _claim_problems(path: str, claim: Document) -> list[str]:
    problems = _name_problems(child(path, "name"), named(claim), dns_label_problems)
    given = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(field) is not None]
    if len(given) != 1:
        fields = "`resourceClaimName`, `resourceClaimTemplateName`"
        shown = "{" + ", ".join(given) + "}" if given else ""
        how = "exactly one of" if given else "one of"
        problems.append(invalid(path, shown, f"must specify {how}: {fields}"))
    for field in given:
        problems += text_problems(child(path, field), claim[field], subdomain_problems)
    return problems
