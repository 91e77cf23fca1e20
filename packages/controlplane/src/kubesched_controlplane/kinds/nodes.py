"""The strategy of nodes.

A node may be created with its status. A new node gets a taint that keeps pods away until the node is ready.
"""

# upstream: pkg/registry/core/node/strategy.go, pkg/apis/core/validation/validation.go (ValidateNode),
# plugin/pkg/admission/nodetaint (v1.36)

import re
from ipaddress import ip_network
from typing import Any

from kubesched.api.field_errors import as_json, child, duplicate, forbidden, index, invalid, required
from kubesched.api.labels import label_key_problems, label_value_problems
from kubesched.api.tolerations import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import one_of, part, resource_problems, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.amounts import write_canonically
from kubesched_controlplane.registry.strategy import StrategyContext

NOT_READY = "node.kubernetes.io/not-ready"
_EFFECTS = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
_FEATURE = re.compile(r"[A-Z][A-Za-z0-9]*(/[A-Za-z][A-Za-z0-9]*)*")
_FEATURE_RULE = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)


class NodeStrategy(KindStrategy):
    """The strategy of nodes."""

    has_status = False

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, and add the taint not-ready."""
        part(new, "spec").pop("configSource", None)
        part(new, "status").pop("config", None)
        self.fill_in(new, context)
        taints = new["spec"].get("taints") or []
        if not any(taint.get("key") == NOT_READY and taint.get("effect") == NO_SCHEDULE for taint in taints):
            new["spec"]["taints"] = [*taints, {"key": NOT_READY, "effect": NO_SCHEDULE}]

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep the status, and set defaults."""
        new["status"] = old.get("status") or {}
        part(new, "spec").pop("configSource", None)
        self.fill_in(new, context)

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the status and metadata, and set defaults."""
        super().prepare_status(new, old, context)
        self.fill_in(new, context)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults: allocatable resources default to the capacity; podCIDR and podCIDRs agree."""
        status = part(document, "status")
        for field in ("capacity", "allocatable"):
            write_canonically(status.get(field))
        if status.get("allocatable") is None and status.get("capacity") is not None:
            status["allocatable"] = dict(status["capacity"])
        spec = part(document, "spec")
        networks = spec.get("podCIDRs")
        if spec.get("podCIDR") and (not networks or networks[0] != spec["podCIDR"]):
            spec["podCIDRs"] = [spec["podCIDR"]]
        elif networks:
            spec["podCIDR"] = networks[0]

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a node."""
        return [
            *_taint_problems(document["spec"].get("taints")),
            *_status_problems(document.get("status") or {}),
            *_network_problems(document["spec"].get("podCIDRs") or []),
        ]

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of a node."""
        problems = []
        spec, before = new["spec"], old.get("spec") or {}
        if before.get("podCIDRs") and before["podCIDRs"] != spec.get("podCIDRs"):
            why = 'node updates may not change podCIDR except from "" to valid'
            problems.append(forbidden("spec.podCIDRs", why))
        if before.get("providerID") and before["providerID"] != spec.get("providerID"):
            why = 'node updates may not change providerID except from "" to valid'
            problems.append(forbidden("spec.providerID", why))
        if before.get("externalID") != spec.get("externalID"):
            problems.append(forbidden("spec.externalID", "may not be updated"))
        return problems

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        problems = _status_problems(status)
        seen = []
        for number, address in enumerate(status.get("addresses") or ()):
            if address in seen:
                problems.append(duplicate(index("status.addresses", number), as_json(address)))
            seen.append(address)
        return problems

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        unschedulable = (document.get("spec") or {}).get("unschedulable")
        return {"spec.unschedulable": "true" if unschedulable else "false"}


def _taint_problems(taints: Any) -> list[str]:
    problems = []
    seen = set()
    for number, taint in enumerate(taints or ()):
        # the reference names this path, though taints are in the spec
        here = index("metadata.taints", number)
        key, effect = taint.get("key") or "", taint.get("effect") or ""
        problems += text_problems(child(here, "key"), key, label_key_problems)
        value = taint.get("value") or ""
        if wrong := label_value_problems(value):
            problems.append(invalid(child(here, "value"), value, ";".join(wrong)))
        problems += one_of(child(here, "effect"), effect, _EFFECTS) if effect else [required(child(here, "effect"))]
        if (key, effect) in seen:
            problems.append(f"{duplicate(here, as_json(taint))}: taints must be unique by key and effect pair")
        seen.add((key, effect))
    return problems


def _status_problems(status: Document) -> list[str]:
    problems = []
    for field in ("capacity", "allocatable"):
        for name, raw in (status.get(field) or {}).items():
            problems += resource_problems(f"status.{field}.{name}", name, raw)
    previous = ""
    for number, feature in enumerate(status.get("declaredFeatures") or ()):
        here = index("status.declaredFeatures", number)
        if len(feature) > 253:
            why = f'invalid feature name "{feature}": must be no more than 253 characters'
            problems.append(invalid(here, feature, why))
        elif not _FEATURE.fullmatch(feature):
            problems.append(invalid(here, feature, f'invalid feature name "{feature}": {_FEATURE_RULE}'))
        if number and feature == previous:
            problems.append(duplicate(here, feature))
        elif number and feature < previous:
            problems.append(invalid(here, feature, "list must be sorted alphabetically"))
        previous = feature
    return problems


def _network_problems(networks: list[str]) -> list[str]:
    problems = []
    families = set()
    for number, text in enumerate(networks):
        try:
            families.add(ip_network(text, strict=False).version)
        except ValueError:
            here = index("spec.podCIDRs", number)
            problems.append(invalid(here, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"))
    if not problems and len(networks) > 1 and (len(networks) > 2 or len(families) < 2):
        why = "may specify no more than one CIDR for each IP family"
        problems.append(invalid("spec.podCIDRs", as_json(networks), why))
    return problems
