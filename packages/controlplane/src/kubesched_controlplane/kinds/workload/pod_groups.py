"""The strategy of pod groups and workloads.

Fields that the reference serves only behind a gate are served always.
"""

# upstream: pkg/registry/scheduling/{podgroup,workload}, api/scheduling/v1alpha2/types.go (declarative validation),
# plugin/pkg/admission/priority (v1.36)

from typing import Any

from kubesched.api.field_errors import child, invalid
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.device.checks import list_problems, named
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.registry.strategy import StrategyContext

MARKS = Marks()
_MOST_CLAIMS = 4


class PodGroupStrategy(KindStrategy):
    """The strategy of pod groups."""

    marks = MARKS
    status_keeps_metadata = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        part(spec, "schedulingPolicy")
        spec["disruptionMode"] = spec.get("disruptionMode") or "Pod"

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return self.change_problems(new, old, context)

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        problems = super().validate_status(new, old, context)
        claims = {named(claim) for claim in new["spec"].get("resourceClaims") or ()}

        def claim_problems(path: str, claim: Any) -> list[str]:
            if named(claim) in claims:
                return []
            why = "must match the name of an entry in `spec.resourceClaims`"
            return [invalid(child(path, "name"), named(claim), why)]

        path, statuses = "status.resourceClaimStatuses", status.get("resourceClaimStatuses")
        return problems + list_problems(path, statuses, _MOST_CLAIMS, claim_problems, named)


class WorkloadStrategy(KindStrategy):
    """The strategy of workloads."""

    marks = MARKS

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing spec, and missing scheduling policies of templates."""
        for template in part(document, "spec").get("podGroupTemplates") or ():
            part(template, "schedulingPolicy")

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return self.change_problems(new, old, context)


@MARKS.rule("PodGroupTemplateReference")
def _reference_problems(path: str, reference: Document, fields: Fields) -> list[str]:
    return fields() if reference.get("workload") is not None else [invalid(path, "", "must specify one of: `workload`")]


@MARKS.rule("PodGroupSpec", "PodGroupTemplate")
def _group_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems = fields("podGroupTemplateRef", "name", "schedulingPolicy")
    if spec.get("disruptionMode"):
        problems += fields("disruptionMode")
    return problems + fields("priorityClassName", "schedulingConstraints", "resourceClaims")


@MARKS.rule("PodGroupSchedulingPolicy")
def _policy_problems(path: str, policy: Document, fields: Fields) -> list[str]:
    basic, gang = policy.get("basic"), policy.get("gang")
    if basic is None and gang is None:
        return [invalid(path, "", "must specify one of: `basic`, `gang`")]
    if basic is not None and gang is not None:
        return [invalid(path, "{basic, gang}", "must specify exactly one of: `basic`, `gang`")]
    return fields()


@MARKS.rule("PodGroupResourceClaim")
def _claim_problems(path: str, claim: Document, fields: Fields) -> list[str]:
    problems = fields("name")
    given = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(field) is not None]
    if len(given) != 1:
        choice = "`resourceClaimName`, `resourceClaimTemplateName`"
        shown = "{" + ", ".join(given) + "}" if given else ""
        how = "exactly one of" if given else "one of"
        problems.append(invalid(path, shown, f"must specify {how}: {choice}"))
    return problems + fields("resourceClaimName", "resourceClaimTemplateName")
