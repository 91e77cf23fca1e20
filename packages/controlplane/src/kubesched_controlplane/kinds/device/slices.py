"""The strategy of device classes, resource slices and device taint rules.

Fields that the reference serves only behind a gate are served always; the limits are the reference's.
"""

# upstream: pkg/registry/resource/{deviceclass,resourceslice,devicetaintrule}, pkg/apis/resource/{v1/defaults.go,
# validation/validation.go} (v1.36)

import re
from typing import Any

from kubesched.api.field_errors import as_json, child, forbidden, index, invalid, required
from kubesched.api.labels import subdomain_problems
from kubesched.api.resources import is_extended_resource
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.checks import (
    conditions_problems,
    driver_problems,
    immutable,
    node_selector_problems,
    part,
    text_problems,
    too_long,
    too_many,
)
from kubesched_controlplane.kinds.device.capacity_policies import policy_problems
from kubesched_controlplane.kinds.device.checks import (
    MARKS,
    binding_condition_problems,
    device_name_problems,
    list_problems,
    named,
    qualified_name_problems,
    taint_problems,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields
from kubesched_controlplane.registry.strategy import StrategyContext

MOST_DEVICES = 128
MOST_ADVANCED_DEVICES = 64
_MOST_ATTRIBUTES = 32
_MOST_VALUES = 48
_MOST_TAINTS = 16
_MOST_COUNTER_SETS = 8
_MOST_COUNTERS = 32
_MOST_CONSUMPTIONS = 2
_MOST_CONDITIONS = 8
_LONGEST_VALUE = 64
_NUMBER = r"(0|[1-9]\d*)"
_PRE_RELEASE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)
_VALUES = ("bool", "int", "string", "version", "bools", "ints", "strings", "versions")
_WHERE = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_OF_WHERE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_ONE_OF_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)


class DeviceClassStrategy(KindStrategy):
    """The strategy of device classes."""

    marks = MARKS
    returns_deleted = True
    has_generation = True


@MARKS.format("extendedresource")
def _extended_resource_problems(path: str, name: str) -> list[str]:
    return [] if is_extended_resource(name) else [invalid(path, name, "must be a valid extended resource name")]


class DeviceTaintRuleStrategy(KindStrategy):
    """The strategy of device taint rules."""

    marks = MARKS
    returns_deleted = True
    has_generation = True
    status_keeps_metadata = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set the default timeAdded of the taint."""
        _note_time(part(part(document, "spec"), "taint"), context)

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set the default timeAdded of the taint; renew it if the effect changes."""
        taint, before = part(part(new, "spec"), "taint"), (old.get("spec") or {}).get("taint") or {}
        if taint.get("effect") != before.get("effect") and taint.get("timeAdded") == before.get("timeAdded"):
            taint["timeAdded"] = timestamp(context.now)
        self.fill_in(new, context)

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        conditions = (new.get("status") or {}).get("conditions") or []
        problems = conditions_problems("status.conditions", conditions)
        if len(conditions) > _MOST_CONDITIONS:
            problems.append(too_many("status.conditions", len(conditions), _MOST_CONDITIONS))
        return problems


class ResourceSliceStrategy(KindStrategy):
    """The strategy of resource slices."""

    marks = MARKS
    returns_deleted = True
    has_generation = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set the default timeAdded of the taints."""
        part(part(document, "spec"), "pool")
        for device in document["spec"].get("devices") or ():
            for taint in device.get("taints") or ():
                _note_time(taint, context)

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        spec, before = new["spec"], old["spec"]
        return [
            *immutable("spec.pool.name", spec["pool"].get("name"), (before.get("pool") or {}).get("name")),
            *immutable("spec.driver", spec.get("driver"), before.get("driver")),
            *immutable("spec.nodeName", spec.get("nodeName"), before.get("nodeName")),
        ]

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        spec = document.get("spec") or {}
        return {"spec.nodeName": spec.get("nodeName") or "", "spec.driver": spec.get("driver") or ""}


@MARKS.rule("ResourceSliceSpec")
def _slice_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems = driver_problems("spec.driver", spec.get("driver") or "")
    problems += fields("pool") + _where_problems("spec", spec)
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        problems.append(invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))

    def device_problems(path: str, device: Any) -> list[str]:
        return _device_problems(path, device, per_device=bool(spec.get("perDeviceNodeSelection")))

    devices = spec.get("devices") or []
    most = MOST_ADVANCED_DEVICES if any(map(_is_advanced, devices)) else MOST_DEVICES
    problems += list_problems("spec.devices", devices, most, device_problems, named)
    counters = spec.get("sharedCounters")
    return problems + list_problems("spec.sharedCounters", counters, _MOST_COUNTER_SETS, _counter_problems, named)


def _note_time(taint: Document, context: StrategyContext) -> None:
    if taint.get("timeAdded") is None:
        taint["timeAdded"] = timestamp(context.now)


@MARKS.rule("ResourcePool")
def _pool_problems(path: str, pool: Document, fields: Fields) -> list[str]:
    return fields("name", "resourceSliceCount", "generation")


def _where_problems(path: str, spec: Document) -> list[str]:
    """Return the problems of the node selection of a slice."""
    problems, said = _place_problems(path, spec, "must be either unset or set to a non-empty string")
    terms = (spec.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if spec.get("nodeSelector") is not None and len(terms) != 1:
        here = child(path, "nodeSelector.nodeSelectorTerms")
        problems.append(invalid(here, as_json(terms), "must have exactly one node selector term"))
    chosen = spec.get("perDeviceNodeSelection")
    if chosen:
        said.append("`perDeviceNodeSelection`")
    elif chosen is not None:
        why = "must be either unset or set to true"
        problems.append(invalid(child(path, "perDeviceNodeSelection"), as_json(chosen), why))
    if not said:
        problems.append(required(path, _ONE_OF_WHERE))
    elif len(said) > 1:
        why = f"{_ONE_OF_WHERE}, but multiple fields are set"
        problems.append(invalid(path, "{" + ", ".join(said) + "}", why))
    return problems


def _place_problems(path: str, holder: Document, empty: str) -> tuple[list[str], list[str]]:
    """Return the problems of the node selection of a slice or device, and the fields that are set."""
    problems, said = [], []
    name = holder.get("nodeName")
    if name:
        said.append("`nodeName`")
        problems += text_problems(child(path, "nodeName"), name, subdomain_problems)
    elif name is not None:
        problems.append(invalid(child(path, "nodeName"), name, empty))
    if holder.get("nodeSelector") is not None:
        said.append("`nodeSelector`")
        problems += node_selector_problems(child(path, "nodeSelector"), holder["nodeSelector"])
    everywhere = holder.get("allNodes")
    if everywhere:
        said.append("`allNodes`")
    elif everywhere is not None:
        why = "must be either unset or set to true"
        problems.append(invalid(child(path, "allNodes"), as_json(everywhere), why))
    return problems, said


def _is_advanced(device: Document) -> bool:
    """Return whether a device has taints, counters or list attributes, which lower the limit of devices in a slice."""
    if device.get("taints") or device.get("consumesCounters"):
        return True
    return any(
        attribute.get(kind) is not None
        for attribute in (device.get("attributes") or {}).values()
        for kind in _VALUES[4:]
    )


def _device_problems(path: str, device: Document, *, per_device: bool) -> list[str]:
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    problems = device_name_problems(child(path, "name"), named(device))
    if len(attributes) + len(capacity) > _MOST_ATTRIBUTES:
        why = f"the total number of attributes and capacities must not exceed {_MOST_ATTRIBUTES}"
        problems.append(invalid(path, len(attributes) + len(capacity), why))
    values = sum(_count_values(attribute) for attribute in attributes.values())
    if values > _MOST_VALUES:
        why = f"the total number of attribute values must not exceed {_MOST_VALUES}"
        problems.append(invalid(path, values, why))
    for name, attribute in attributes.items():
        problems += qualified_name_problems(child(path, "attributes"), name)
        problems += _attribute_problems(f"{child(path, 'attributes')}[{name}]", attribute)
    for name, entry in capacity.items():
        problems += qualified_name_problems(child(path, "capacity"), name)
        here = f"{child(path, 'capacity')}[{name}].requestPolicy"
        if entry.get("requestPolicy") is not None and not device.get("allowMultipleAllocations"):
            problems.append(forbidden(here, "allowMultipleAllocations must be true"))
        elif entry.get("requestPolicy") is not None:
            problems += policy_problems(here, entry["requestPolicy"], entry.get("value", 0))
    problems += list_problems(child(path, "taints"), device.get("taints"), _MOST_TAINTS, taint_problems)
    consumed = device.get("consumesCounters")
    here = child(path, "consumesCounters")
    problems += list_problems(here, consumed, _MOST_CONSUMPTIONS, _consumption_problems, _counter_set)
    return problems + _device_place_problems(path, device, per_device) + binding_condition_problems(path, device)


def _device_place_problems(path: str, device: Document, per_device: bool) -> list[str]:
    if not per_device:
        if all(device.get(field) is None for field in _WHERE[:3]):
            return []
        why = (
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in "
            "the ResourceSlice spec"
        )
        return [invalid(path, None, why)]
    problems, said = _place_problems(path, device, "must not be empty")
    if not said:
        problems.append(required(path, _ONE_OF_DEVICE))
    elif len(said) > 1:
        problems.append(invalid(path, "{" + ", ".join(said) + "}", _ONE_OF_DEVICE))
    return problems


def _attribute_problems(path: str, attribute: Document) -> list[str]:
    given = [kind for kind in _VALUES if attribute.get(kind) is not None]
    problems = []
    for kind in given:
        value = attribute[kind]
        if isinstance(value, list):
            if not value:
                problems.append(invalid(child(path, kind), as_json(value), "must not be empty if specified"))
            for number, item in enumerate(value):
                problems += _value_problems(index(child(path, kind), number), kind.removesuffix("s"), item)
        else:
            problems += _value_problems(child(path, kind), kind, value)
    if len(given) != 1:
        shown = as_json(attribute) if given else ""
        problems.append(invalid(path, shown, "exactly one value must be specified"))
    return problems


def _value_problems(path: str, kind: str, value: Any) -> list[str]:
    problems = []
    if kind == "version" and not _VERSION.fullmatch(value):
        problems.append(invalid(path, value, "must be a string compatible with semver.org spec 2.0.0"))
    if kind in ("version", "string") and len(value.encode()) > _LONGEST_VALUE:
        problems.append(too_long(path, _LONGEST_VALUE))
    return problems


def _count_values(attribute: Document) -> int:
    return sum(len(attribute.get(kind) or ()) for kind in _VALUES[4:]) or 1


def _counter_set(consumption: Document) -> str:
    return consumption.get("counterSet") or ""


def _counter_problems(path: str, counters: Document) -> list[str]:
    return _counters(path, counters, "name")


def _consumption_problems(path: str, consumption: Document) -> list[str]:
    return _counters(path, consumption, "counterSet")


def _counters(path: str, holder: Document, name_field: str) -> list[str]:
    name, counters = holder.get(name_field) or "", holder.get("counters") or {}
    here = child(path, name_field)
    problems = device_name_problems(here, name) if name else [required(here)]
    there = child(path, "counters")
    if not counters:
        return [*problems, required(there)]
    if len(counters) > _MOST_COUNTERS:
        return [*problems, too_many(there, len(counters), _MOST_COUNTERS)]
    return problems + [problem for each in counters for problem in device_name_problems(there, each)]
