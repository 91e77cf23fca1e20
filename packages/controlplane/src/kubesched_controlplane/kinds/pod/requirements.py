"""Validation of the resource requirements of containers and pods.

From requests, limits and claims to problems.
"""

# upstream: pkg/apis/core/validation/validation.go (validateResourceRequirements, validatePodResources),
# pkg/apis/core/helper/helpers.go (v1.36)

from collections.abc import Collection
from typing import Final

from kubesched.api.field_errors import duplicate, forbidden, invalid, not_supported, required
from kubesched.api.go_text import quote
from kubesched.api.labels import label_key_problems
from kubesched.api.quantity import InvalidQuantityError, Quantity, parse_quantity, quantity_of
from kubesched.api.resources import is_extended_resource, is_pod_level_resource
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import dns_label_problems, resource_problems, text_problems
from kubesched_controlplane.kinds.pod.amounts import resources_of, sum_of_containers

HUGE_PAGES: Final = "hugepages-"
_OF_CONTAINERS = ("cpu", "memory", "ephemeral-storage")
_QUALIFIED_BY_QUOTAS = ("requests.", "limits.")
_STANDARD = frozenset(
    {
        *_OF_CONTAINERS,
        *(f"{prefix}{name}" for prefix in _QUALIFIED_BY_QUOTAS for name in _OF_CONTAINERS),
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "storage",
        "requests.storage",
        "services.nodeports",
        "services.loadbalancers",
    }
)


def requirements_problems(
    path: str, requirements: Document, claim_names: Collection[str] = (), *, of_pod: bool = False
) -> list[str]:
    """Return the problems of the resource requirements of a container, or of a pod (`of_pod`)."""
    limits, requests = requirements.get("limits") or {}, requirements.get("requests") or {}
    problems = []
    for kind, resources in (("limits", limits), ("requests", requests)):
        for name, raw in resources.items():
            here = f"{path}.{kind}[{name}]"
            problems += _pod_name_problems(here, name) if of_pod else container_resource_problems(here, name)
            problems += resource_problems(here, name, raw)
            if kind == "requests":
                problems += _limit_problems(path, name, quantity_of(raw), limits)
            if name.startswith(HUGE_PAGES) and not _whole_pages(name, quantity_of(raw)):
                amount = str(quantity_of(raw))
                problems.append(invalid(here, amount, f"{amount} is not positive integer multiple of {name}"))
    names = {*limits, *requests}
    if any(name.startswith(HUGE_PAGES) for name in names) and not names & {"cpu", "memory"}:
        problems.append(forbidden(path, "HugePages require cpu or memory"))
    if requirements.get("claims"):
        problems += _claims_problems(f"{path}.claims", requirements["claims"], claim_names)
    return problems


def _limit_problems(path: str, name: str, amount: Quantity, limits: Document) -> list[str]:
    """Return the problems of a request compared with its limit; it must equal that of non-overcommittable resources."""
    shared = overcommits(name)
    if name not in limits:
        why = "Limit must be set for non overcommitable resources"
        return [] if shared else [required(f"{path}.limits", why)]
    limit = quantity_of(limits[name])
    if amount != limit and not shared:
        return [invalid(f"{path}.requests", str(amount), f"must be equal to {name} limit of {limit}")]
    if amount > limit:
        return [invalid(f"{path}.requests", str(amount), f"must be less than or equal to {name} limit of {limit}")]
    return []


def is_native(name: str) -> bool:
    """Return whether a resource is native to Kubernetes, by its name."""
    return "/" not in name or "kubernetes.io/" in name


def overcommits(name: str) -> bool:
    """Return whether a resource may be overcommitted."""
    return is_native(name) and not name.startswith(HUGE_PAGES)


def _whole_pages(name: str, amount: Quantity) -> bool:
    try:
        page = parse_quantity(name.removeprefix(HUGE_PAGES))
    except InvalidQuantityError:
        return False
    return page.sign() > 0 and page.milli_value() % 1000 == 0 and amount.value() % page.value() == 0


def standard_name_problems(path: str, name: str) -> list[str]:
    """Return the problems of a resource name that hold for every use."""
    problems = text_problems(path, name, label_key_problems)
    standard = name in _STANDARD or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))
    if not problems and "/" not in name and not standard:
        problems.append(invalid(path, name, "must be a standard resource type or fully qualified"))
    return problems


def container_resource_problems(path: str, name: str) -> list[str]:
    """Return the problems of a resource name in the requirements of a container."""
    if name in _OF_CONTAINERS:
        return []
    problems = standard_name_problems(path, name)
    if "/" not in name:
        if not name.startswith(HUGE_PAGES):
            problems.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended_resource(name):
        problems.append(invalid(path, name, "doesn't follow extended resource name standard"))
    return problems


def _pod_name_problems(path: str, name: str) -> list[str]:
    problems = standard_name_problems(path, name)
    if not problems and not is_pod_level_resource(name):
        problems.append(not_supported(path, name, ("cpu", HUGE_PAGES, "memory")))
    return problems


def _claims_problems(path: str, claims: list[Document], names: Collection[str]) -> list[str]:
    problems = []
    seen: set[str] = set()
    for number, claim in enumerate(claims):
        here = f"{path}[{number}]"
        name, request = claim.get("name") or "", claim.get("request") or ""
        if not name:
            problems.append(required(here))
            continue
        key = f"{name}/{request}" if request else name
        if name in seen:
            problems.append(duplicate(here, name))
        else:
            if request:
                problems += text_problems(f"{here}.request", request, dns_label_problems)
            if key in seen:
                problems.append(duplicate(here, key))
            elif not request:
                problems += [duplicate(here, name) for other in seen if other.startswith(f"{name}/")]
            seen.add(key)
        if name not in names:
            known = f": {', '.join(sorted(names))}" if names else " which is empty"
            problems.append(
                f"{here}: Not found: {quote(name)}: must be one of the names in pod.spec.resourceClaims{known}"
            )
    return problems


def whole_pod_problems(path: str, spec: Document, claim_names: Collection[str]) -> list[str]:
    """Return the problems of pod-level resources, also compared with the containers' resources."""
    whole = spec["resources"]
    if (spec.get("os") or {}).get("name") == "windows":
        return [forbidden(path, "may not be set for a windows pod")]
    problems = []
    if whole.get("claims") is not None:
        problems.append(forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level"))
    problems += requirements_problems(path, whole, claim_names, of_pod=True)
    requests = {name: quantity_of(raw) for name, raw in (whole.get("requests") or {}).items()}
    limits = {name: quantity_of(raw) for name, raw in (whole.get("limits") or {}).items()}
    for name, total in sum_of_containers(spec, "requests").items():
        if name in requests and total > requests[name]:
            why = f"must be greater than or equal to aggregate container requests of {total}"
            problems.append(invalid(f"{path}.requests[{name}]", str(requests[name]), why))
    for name, total in sum_of_containers(spec, "limits").items():
        if name.startswith(HUGE_PAGES) and name in limits and total > limits[name]:
            why = f"must be greater than or equal to aggregate container limits of {total}"
            problems.append(invalid(f"{path}.limits[{name}]", str(limits[name]), why))
    for number, container in enumerate(spec.get("containers") or ()):
        for name, raw in resources_of(container, "limits").items():
            if name in limits and quantity_of(raw) > limits[name]:
                why = f"must be less than or equal to pod limits of {limits[name]}"
                here = f"{path}.containers[{number}][{name}].limits"
                problems.append(invalid(here, str(quantity_of(raw)), why))
    return problems
