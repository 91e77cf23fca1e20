"""Eviction: a pod is deleted if its disruption budget allows it.

From an Eviction to a deleted pod, with disruptionsAllowed of its budget decremented; or to an error 429 with the
reason. A pod that is pending, terminal or terminating is evicted without regard to budgets.
"""

# upstream: pkg/registry/core/pod/storage/eviction.go (v1.36)

from typing import Any, Final

import msgspec

from kubesched.api.field_errors import as_json
from kubesched.api.field_errors import invalid as invalid_field
from kubesched.api.labels import InvalidSelectorError, from_label_selector
from kubesched.api.meta import LabelSelector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import is_dry_run
from kubesched_controlplane.api.requests import Request, Response, Target, answer
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request, forbidden, invalid, not_found
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.pod.status import condition_of, set_condition
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.server.verbs.delete_options import DeleteOptions
from kubesched_controlplane.server.verbs.deleting import check_preconditions
from kubesched_controlplane.server.verbs.verbs import Verbs
from kubesched_controlplane.server.verbs.writing import check_namespace, check_namespace_is_open, with_warnings
from kubesched_controlplane.storage.store import Stored

MOST_DISRUPTED_PODS: Final = 2000
BUDGETS: Final = "poddisruptionbudgets.policy"
_EVICTION: Final = Resource("policy", "v1", "evictions", "Eviction")
_BUDGET: Final = Resource("policy", "v1", "poddisruptionbudget", "PodDisruptionBudget")
_NOT_RUNNING = ("Succeeded", "Failed", "Pending")
_VIOLATES: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_TARGET: Final = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


def evict(verbs: Verbs, target: Target, request: Request) -> Response:
    """Evict a pod."""
    registry, pods = verbs.registry, target.resource
    eviction, options, warnings = _read(verbs, target, request)
    check_namespace_is_open(registry, pods, target.namespace, target.name)
    stored = registry.store.get(pods.prefix, target.namespace, target.name)
    if stored is None:
        raise not_found(pods, target.name)
    # differs (D-142): the reference charges the budget before it checks the preconditions
    check_preconditions(pods, stored, options.preconditions)
    pod = stored.document()
    dry_run = bool(options.dry_run)
    if not registry.admission.idle:
        registry.admission.check("CREATE", target, request, (eviction, None), dry_run=dry_run)
    if not _goes_freely(pod):
        budget = _budget_of(registry, stored)
        if budget is not None and not _is_spared(budget.document(), pod):
            _charge(registry, budget, target.name, dry_run=dry_run)
    if not dry_run:
        set_condition(pod.setdefault("status", {}), _TARGET, registry.clock())
        stored = registry.store.put(pods.prefix, pod, registry.strategy(pods).fields(pod))
    options.preconditions = None
    verbs.deleting.delete_object(pods, stored, options, request)
    success = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    return with_warnings(answer(success, 201), warnings)


def _read(verbs: Verbs, target: Target, request: Request) -> tuple[Document, DeleteOptions, list[str]]:
    """Return the Eviction, its delete options, and warnings; raises ApiError if it is not an Eviction of this pod."""
    # policy/v1beta1 has the same fields
    body = request.body.replace(b'"policy/v1beta1"', b'"policy/v1"', 1)
    eviction, warnings = verbs.writing.decode(_EVICTION, msgspec.structs.replace(request, body=body))
    if not verbs.registry.admission.idle:
        objects = (eviction, None)
        changed = verbs.registry.admission.change("CREATE", target, request, objects, dry_run=is_dry_run(request))
        eviction = eviction if changed is None else changed
    check_namespace(eviction["metadata"], target.namespace)
    if eviction["metadata"].get("name") != target.name:
        raise bad_request("name in URL does not match name in Eviction object")
    options = msgspec.convert(eviction.get("deleteOptions") or {}, DeleteOptions)
    if options.ignore_store_read_error_with_cluster_breaking_potential:
        path = "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential"
        why = "can not be set for pod eviction, try after removing the option"
        raise invalid(_EVICTION, target.name, [invalid_field(path, as_json(True), why)])
    if options.grace_period_seconds is not None and options.grace_period_seconds < 0:
        options.grace_period_seconds = 1
    if is_dry_run(request):
        options.dry_run = ["All"]
    return eviction, options, warnings


def _goes_freely(pod: Document) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in _NOT_RUNNING or bool(pod["metadata"].get("deletionTimestamp"))


def _budget_of(registry: ResourceRegistry, pod: Stored) -> Stored | None:
    """Return the disruption budget of a pod, None if there is none; raises ApiError 500 for several."""
    found = [
        budget
        for budget in registry.store.set_of(BUDGETS).in_order(pod.namespace)
        if _covers(budget.document(), pod.labels)
    ]
    if len(found) > 1:
        why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise ApiError(500, "", why)
    return found[0] if found else None


def _covers(budget: Document, labels: dict[str, str]) -> bool:
    selector = (budget.get("spec") or {}).get("selector")
    if selector is None:
        return False
    try:
        return from_label_selector(msgspec.convert(selector, LabelSelector)).matches(labels)
    except (InvalidSelectorError, msgspec.ValidationError):
        return False


def _is_spared(budget: Document, pod: Document) -> bool:
    """Return whether an unready pod may be evicted without charging its budget, by unhealthyPodEvictionPolicy."""
    ready = condition_of(pod, "Ready")
    if ready is not None and ready.get("status") == "True":
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    healthy, desired = _counts(budget.get("status") or {})
    return healthy >= desired > 0


def _counts(status: Document) -> tuple[int, int]:
    """Return currentHealthy and desiredHealthy of a budget."""
    return status.get("currentHealthy") or 0, status.get("desiredHealthy") or 0


def _charge(registry: ResourceRegistry, stored: Stored, pod_name: str, *, dry_run: bool) -> None:
    """Decrement disruptionsAllowed of a budget; raises ApiError if the budget allows no disruption."""
    budget = stored.document()
    status = budget.setdefault("status", {})
    allowed = status.get("disruptionsAllowed") or 0
    if (status.get("observedGeneration") or 0) < (budget["metadata"].get("generation") or 0):
        raise _too_many(f"The disruption budget {stored.name} is still being processed by the server.", seconds=10)
    if allowed < 0:
        raise _forbidden(stored.name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > MOST_DISRUPTED_PODS:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise _forbidden(stored.name, why)
    if allowed == 0:
        raise _too_many(_why_not(stored.name, budget))
    if dry_run:
        return
    status["disruptionsAllowed"] = allowed - 1
    now = registry.clock()
    if allowed == 1:
        condition: dict[str, Any] = {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods"}
        condition |= {"message": "", "observedGeneration": status.get("observedGeneration") or 0}
        set_condition(status, condition, now)
    status["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod_name: timestamp(now)}
    registry.store.put(BUDGETS, budget, stored.fields)


def _why_not(name: str, budget: Document) -> str:
    """Return why a budget allows no disruption."""
    condition = condition_of(budget, "DisruptionAllowed") or {}
    message = condition.get("message") if condition.get("status") == "False" else ""
    healthy, desired = _counts(budget["status"])
    not_now = f"The disruption budget {name} does not allow evicting pods currently"
    if message and condition.get("reason") == "SyncFailed":
        return f"{not_now} because it failed sync: {message}"
    if healthy <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
    return f"{not_now} ({condition.get('reason', '')}): {message}" if message else not_now


def _too_many(message: str, seconds: int = 0) -> ApiError:
    causes = [{"reason": "DisruptionBudget", "message": message}]
    return ApiError(429, "TooManyRequests", _VIOLATES, {"causes": causes}, retry_after=seconds)


def _forbidden(name: str, why: str) -> ApiError:
    return forbidden(_BUDGET, name, why)
