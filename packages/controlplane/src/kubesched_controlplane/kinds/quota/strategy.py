"""The strategy of resource quotas; `charging` applies them at admission."""

# upstream: pkg/registry/core/resourcequota/strategy.go, pkg/apis/core/validation/validation.go (ValidateResourceQuota)
# (v1.36)

from collections.abc import Mapping, Sequence
from typing import Final

from kubesched.api.field_errors import as_json, invalid, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import IMMUTABLE
from kubesched_controlplane.kinds.checks import NO_OPERATOR, part, resource_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.requirements import HUGE_PAGES, standard_name_problems
from kubesched_controlplane.kinds.quota.usage import (
    BEST_EFFORT,
    CROSS_NAMESPACE,
    NOT_BEST_EFFORT,
    NOT_TERMINATING,
    PRIORITY_CLASS,
    TERMINATING,
    VOLUME_ATTRIBUTES_CLASS,
)
from kubesched_controlplane.registry.strategy import StrategyContext

_COUNTED = ("pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps")
_CLAIMS = ("persistentvolumeclaims", "services.nodeports", "services.loadbalancers")
_COMPUTED = ("cpu", "memory", "ephemeral-storage")
_WHOLE = (*_COUNTED, *_CLAIMS)
_STANDARD: Final = frozenset(
    (
        *_WHOLE,
        *_COMPUTED,
        "requests.storage",
        *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTED),
    )
)
_OF_PODS = ("cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory", "pods")
# by scope: the resource names that it applies to
_SCOPES: Final[Mapping[str, Sequence[str]]] = {
    TERMINATING: _OF_PODS,
    NOT_TERMINATING: _OF_PODS,
    BEST_EFFORT: ("pods",),
    NOT_BEST_EFFORT: _OF_PODS,
    PRIORITY_CLASS: _OF_PODS,
    CROSS_NAMESPACE: _OF_PODS,
    VOLUME_ATTRIBUTES_CLASS: ("persistentvolumeclaims", "requests.storage"),
}
_OPPOSITES = ({BEST_EFFORT, NOT_BEST_EFFORT}, {TERMINATING, NOT_TERMINATING})
_NEEDS_EXISTS: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_NO_QUOTA_NAME: Final = "must be a standard resource for quota"
_SELECTOR: Final = "spec.scopeSelector.matchExpressions"


class ResourceQuotaStrategy(KindStrategy):
    """The strategy of resource quotas."""

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, and clear the status."""
        self.fill_in(new, context)
        new["status"] = {}

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing spec."""
        part(document, "spec")

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a quota."""
        spec = document["spec"]
        problems = _amounts_problems("spec.hard", spec.get("hard"))
        problems += _scopes_problems(spec)
        return problems + _selector_problems(spec)

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        now, before = new["spec"].get("scopes") or [], old["spec"].get("scopes") or []
        return [] if set(now) == set(before) else [invalid("spec.scopes", as_json(now), IMMUTABLE)]

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        return _amounts_problems("status.hard", status.get("hard")) + _amounts_problems(
            "status.used", status.get("used")
        )


def _amounts_problems(path: str, amounts: Document | None) -> list[str]:
    problems = []
    for name, raw in (amounts or {}).items():
        here = f"{path}[{name}]"
        problems += standard_name_problems(here, name)
        if "/" not in name and not _is_standard(name):
            problems.append(invalid(here, name, _NO_QUOTA_NAME))
        problems += resource_problems(here, "pods" if name in _WHOLE else name, raw)
    return problems


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


def _mismatched(scope: str, spec: Document) -> bool:
    """Return whether a quota limits a resource to which a scope does not apply."""
    names = _SCOPES.get(scope)
    return names is not None and any(_is_standard(name) and name not in names for name in spec.get("hard") or ())


def _scopes_problems(spec: Document) -> list[str]:
    scopes, path = spec.get("scopes") or [], "spec.scopes"
    problems = []
    for scope in scopes:
        if scope not in _SCOPES:
            problems.append(invalid(path, as_json(scopes), "unsupported scope"))
        elif _mismatched(scope, spec):
            problems.append(invalid(path, as_json(scopes), "unsupported scope applied to resource"))
    return problems + [
        invalid(path, as_json(scopes), "conflicting scopes") for pair in _OPPOSITES if pair <= set(scopes)
    ]


def _selector_problems(spec: Document) -> list[str]:
    problems = []
    expressions = (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    for each in expressions:
        scope, operator, values = each.get("scopeName") or "", each.get("operator") or "", each.get("values") or []
        if scope not in _SCOPES:
            problems.append(invalid(f"{_SELECTOR}.scopeName", scope, "unsupported scope"))
        elif _mismatched(scope, spec):
            why = "unsupported scope applied to resource"
            problems.append(invalid(_SELECTOR, as_json(spec["scopeSelector"]), why))
        if scope in _SCOPES and scope not in (PRIORITY_CLASS, VOLUME_ATTRIBUTES_CLASS) and operator != "Exists":
            problems.append(invalid(f"{_SELECTOR}.operator", operator, _NEEDS_EXISTS))
        if operator in ("In", "NotIn"):
            if not values:
                why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                problems.append(required(f"{_SELECTOR}.values", why))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                problems.append(invalid(f"{_SELECTOR}.values", values, why))
        else:
            problems.append(invalid(f"{_SELECTOR}.operator", operator, NO_OPERATOR))
    chosen = {each.get("scopeName") for each in expressions}
    return problems + [
        invalid(_SELECTOR, as_json(spec.get("scopes")), "conflicting scopes") for pair in _OPPOSITES if pair <= chosen
    ]
