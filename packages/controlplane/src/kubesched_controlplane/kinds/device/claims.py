"""The strategy of resource claims and their templates, with the status that schedulers and drivers write."""

# upstream: pkg/registry/resource/{resourceclaim,resourceclaimtemplate}, pkg/apis/resource/{v1/defaults.go,
# validation/validation.go} (v1.36)

from collections.abc import Hashable, Sequence
from typing import Any

from kubesched.api.field_errors import as_json, child, forbidden, index, invalid, not_supported, required
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    conditions_problems,
    driver_problems,
    immutable,
    labels_problems,
    node_selector_problems,
    part,
    text_problems,
    too_many,
)
from kubesched_controlplane.kinds.device.checks import (
    MOST_CONFIGS,
    MOST_REQUESTS,
    MOST_SELECTORS,
    binding_condition_problems,
    configuration_problems,
    device_name_problems,
    fully_qualified_name_problems,
    itself,
    list_problems,
    named,
    pool_problems,
    raw_problems,
    reference_problems,
    request_names,
    selector_problems,
    toleration_problems,
    uid_problems,
)
from kubesched_controlplane.kinds.device.claim_rights import right_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

MOST_CONSUMERS = 256
_MOST_RESULTS = 32
_MOST_CONSTRAINTS = 32
_MOST_ALTERNATIVES = 8
_MOST_TOLERATIONS = 16
_MOST_CONDITIONS = 8
_LARGEST_DATA = 10 * 1024
_MODES = ("All", "ExactCount")
_SOURCES = ("FromClaim", "FromClass")
_ADMIN_ACCESS = "resource.kubernetes.io/admin-access"
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"


class ResourceClaimStrategy(KindStrategy):
    """The strategy of resource claims."""

    returns_deleted = True
    status_keeps_metadata = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, and clear the status."""
        self.fill_in(new, context)
        new["status"] = {}

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        _fill_in_claim(part(document, "spec"))

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new claim."""
        devices = new["spec"]["devices"]
        return _request_access_problems(devices, new, context) + claim_problems("spec.devices", devices)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return immutable("spec", new["spec"], old["spec"])

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the status, and drop the status of deallocated devices."""
        super().prepare_status(new, old, context)
        status = part(new, "status")
        given_back = _allocated(old.get("status") or {}) - _allocated(status)
        if status.get("devices") and given_back:
            left = [device for device in status["devices"] if _device_key(device) not in given_back]
            status["devices"] = left
        if not status.get("devices"):
            status.pop("devices", None)

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status, before = new["status"], old.get("status") or {}
        names = request_names(new["spec"].get("devices") or {})
        consumers = status.get("reservedFor") or []
        problems = _result_access_problems(status, before, new, context)
        problems += right_problems(status, before, new["metadata"].get("namespace", ""), context)
        problems += list_problems("status.reservedFor", consumers, MOST_CONSUMERS, _consumer_problems, _consumer_uid)
        allocated = _allocated(status)

        def device_problems(path: str, device: Any) -> list[str]:
            return _device_problems(path, device, allocated)

        problems += list_problems("status.devices", status.get("devices"), -1, device_problems, _device_key)
        allocation, allocation_before = status.get("allocation"), before.get("allocation")
        if consumers and allocation is None:
            why = "may not be specified when `allocated` is not set"
            problems.append(forbidden("status.reservedFor", why))
        elif new["metadata"].get("deletionTimestamp") and _has_more(consumers, before.get("reservedFor")):
            why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            problems.append(forbidden("status.reservedFor", why))
        if allocation is not None and allocation_before is not None:
            problems += immutable("status.allocation", allocation, allocation_before)
        elif allocation is not None:
            problems += _allocation_problems("status.allocation", allocation, names)
        return problems


class ResourceClaimTemplateStrategy(KindStrategy):
    """The strategy of resource claim templates."""

    returns_deleted = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        _fill_in_claim(part(part(document, "spec"), "spec"))

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a template."""
        spec = document["spec"]
        meta = spec.get("metadata") or {}
        problems = labels_problems("spec.metadata.labels", meta.get("labels"))
        for field in sorted(set(meta) - {"labels", "annotations", "creationTimestamp"}):
            if meta[field]:
                problems.append(forbidden(child("spec.metadata", field), "cannot be set"))
        return problems + claim_problems("spec.spec.devices", spec["spec"]["devices"])

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new template."""
        devices = new["spec"]["spec"]["devices"]
        return _request_access_problems(devices, new, context) + self.problems(new, context)

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return immutable("spec", new["spec"], old["spec"])


def _fill_in_claim(spec: Document) -> None:
    for request in part(spec, "devices").get("requests") or ():
        exactly = request.get("exactly")
        for each in (*((exactly,) if exactly is not None else ()), *(request.get("firstAvailable") or ())):
            each["allocationMode"] = each.get("allocationMode") or "ExactCount"
            if each["allocationMode"] == "ExactCount":
                each["count"] = each.get("count") or 1
            for toleration in each.get("tolerations") or ():
                toleration["operator"] = toleration.get("operator") or "Equal"


# -- admin access


def _request_access_problems(devices: Document, document: Document, context: StrategyContext) -> list[str]:
    """Return the problem of a request for admin access in a namespace that is not labelled for it."""
    asked = [request.get("exactly") or {} for request in devices.get("requests") or ()]
    return _access_problems("spec.devices.requests", asked, document, context)


def _result_access_problems(
    status: Document, before: Document, document: Document, context: StrategyContext
) -> list[str]:
    """Return the problem of the first allocation with admin access in a namespace that is not labelled for it."""
    if any(result.get("adminAccess") for result in _results(before)):
        return []
    return _access_problems("status.allocation.devices.results", _results(status), document, context)


def _access_problems(path: str, entries: Sequence[Document], document: Document, context: StrategyContext) -> list[str]:
    number = next((number for number, entry in enumerate(entries) if entry.get("adminAccess")), None)
    if number is None or context.imported:
        return []
    namespace = context.store.get("namespaces", "", document["metadata"].get("namespace") or "")
    if namespace is not None and namespace.labels.get(_ADMIN_ACCESS) == "true":
        return []
    why = f"admin access to devices requires the `{_ADMIN_ACCESS}: true` label on the containing namespace"
    return [forbidden(child(index(path, number), "adminAccess"), why)]


# -- spec


def claim_problems(path: str, claim: Document) -> list[str]:
    """Return the problems of the `devices` of a claim's spec."""
    names = request_names(claim)
    problems = list_problems(child(path, "requests"), claim.get("requests"), MOST_REQUESTS, _request_problems, named)

    def constraint_problems(here: str, constraint: Any) -> list[str]:
        found = list_problems(
            child(here, "requests"), constraint.get("requests"), MOST_REQUESTS, reference_problems(names), itself
        )
        for field in ("matchAttribute", "distinctAttribute"):
            if constraint.get(field) is not None:
                return found + fully_qualified_name_problems(child(here, field), constraint[field])
        why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
        return [*found, required(here, why)]

    def config_problems(here: str, config: Any) -> list[str]:
        found = list_problems(
            child(here, "requests"), config.get("requests"), MOST_REQUESTS, reference_problems(names), itself
        )
        return found + configuration_problems(here, config)

    constraints, config = claim.get("constraints"), claim.get("config")
    problems += list_problems(child(path, "constraints"), constraints, _MOST_CONSTRAINTS, constraint_problems)
    return problems + list_problems(child(path, "config"), config, MOST_CONFIGS, config_problems)


def _request_problems(path: str, request: Document) -> list[str]:
    problems = device_name_problems(child(path, "name"), named(request))
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable")
    if exactly is None and not alternatives:
        return [*problems, required(path, _ONE_OF)]
    if exactly is not None and alternatives:
        return [*problems, invalid(path, None, f"{_ONE_OF}, but multiple fields are set")]
    if exactly is not None:
        return problems + _exact_problems(child(path, "exactly"), exactly)

    def alternative_problems(here: str, alternative: Any) -> list[str]:
        return device_name_problems(child(here, "name"), named(alternative)) + _exact_problems(here, alternative)

    here = child(path, "firstAvailable")
    return problems + list_problems(here, alternatives, _MOST_ALTERNATIVES, alternative_problems, named)


def _exact_problems(path: str, request: Document) -> list[str]:
    name, mode, count = request.get("deviceClassName") or "", request["allocationMode"], request.get("count") or 0
    here = child(path, "deviceClassName")
    problems = text_problems(here, name, subdomain_problems) if name else [required(here)]
    problems += list_problems(child(path, "selectors"), request.get("selectors"), MOST_SELECTORS, selector_problems)
    if mode == "All" and count:
        why = "must not be specified when allocationMode is 'All'"
        problems.append(invalid(child(path, "count"), count, why))
    elif mode == "ExactCount" and count <= 0:
        problems.append(invalid(child(path, "count"), count, "must be greater than zero"))
    elif mode not in _MODES:
        problems.append(not_supported(child(path, "allocationMode"), mode, _MODES))
    tolerations = request.get("tolerations")
    return problems + list_problems(child(path, "tolerations"), tolerations, _MOST_TOLERATIONS, toleration_problems)


# -- status


def _has_more(consumers: list[Document], before: list[Document] | None) -> bool:
    return any(consumer not in (before or ()) for consumer in consumers)


def _consumer_uid(consumer: Document) -> str:
    return consumer.get("uid") or ""


def _consumer_problems(path: str, consumer: Document) -> list[str]:
    return [required(child(path, field)) for field in ("resource", "name", "uid") if not consumer.get(field)]


def _device_key(device: Document) -> Hashable:
    parts = [device.get(field) or "" for field in ("driver", "pool", "device", "shareID")]
    return "/".join(parts).removesuffix("/")


def _allocated(status: Document) -> set[Hashable]:
    """Return the keys of the allocated devices."""
    return {_device_key(result) for result in _results(status)}


def _results(status: Document) -> Sequence[Document]:
    """Return the allocation results of the devices."""
    found: Sequence[Document] = ((status.get("allocation") or {}).get("devices") or {}).get("results") or ()
    return found


def _device_problems(path: str, device: Document, allocated: set[Hashable]) -> list[str]:
    problems = driver_problems(child(path, "driver"), device.get("driver") or "")
    problems += pool_problems(child(path, "pool"), device.get("pool") or "")
    problems += device_name_problems(child(path, "device"), device.get("device") or "")
    if device.get("shareID") is not None:
        problems += uid_problems(child(path, "shareID"), device["shareID"])
    if _device_key(device) not in allocated:
        problems.append(invalid(path, as_json(_device_key(device)), "must be an allocated device in the claim"))
    conditions = device.get("conditions") or []
    if len(conditions) > _MOST_CONDITIONS:
        problems.append(too_many(child(path, "conditions"), len(conditions), _MOST_CONDITIONS))
    problems += conditions_problems(child(path, "conditions"), conditions)
    if device.get("data") is not None:
        problems += raw_problems(child(path, "data"), device["data"], _LARGEST_DATA)
    return problems


def _allocation_problems(path: str, allocation: Document, names: dict[str, set[str]]) -> list[str]:
    devices, here = allocation.get("devices") or {}, child(path, "devices")
    refers = reference_problems(names)

    def result_problems(there: str, result: Any) -> list[str]:
        found = refers(child(there, "request"), result.get("request") or "")
        found += driver_problems(child(there, "driver"), result.get("driver") or "")
        found += pool_problems(child(there, "pool"), result.get("pool") or "")
        found += device_name_problems(child(there, "device"), result.get("device") or "")
        if result.get("shareID") is not None:
            found += uid_problems(child(there, "shareID"), result["shareID"])
        return found + binding_condition_problems(there, result)

    def config_problems(there: str, config: Any) -> list[str]:
        source = config.get("source") or ""
        found = [] if source in _SOURCES else [not_supported(child(there, "source"), source, _SOURCES)]
        if not source:
            found = [required(child(there, "source"))]
        found += list_problems(child(there, "requests"), config.get("requests"), MOST_REQUESTS, refers, itself)
        return found + configuration_problems(there, config)

    problems = list_problems(child(here, "results"), devices.get("results"), _MOST_RESULTS, result_problems)
    problems += list_problems(child(here, "config"), devices.get("config"), 2 * MOST_CONFIGS, config_problems)
    if allocation.get("nodeSelector") is not None:
        problems += node_selector_problems(child(path, "nodeSelector"), allocation["nodeSelector"])
    return problems
