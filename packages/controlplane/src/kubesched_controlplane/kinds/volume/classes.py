"""The strategies of the storage.k8s.io group: classes, CSI drivers and nodes, storage capacities, attachments."""

# upstream: pkg/registry/storage/*/strategy.go, pkg/apis/storage/{v1/defaults.go,validation/validation.go} (v1.36)

from typing import Any

from kubesched.api.field_errors import child, duplicate, forbidden, index, invalid, required
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched.api.quantity import ZERO
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    NOT_NEGATIVE,
    amount,
    driver_problems,
    immutable,
    one_of,
    part,
    text_problems,
    too_long,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.kinds.volume.volumes import add_finalizer, volume_spec_problems
from kubesched_controlplane.registry.strategy import StrategyContext

MARKS = Marks()
IMMEDIATE, WAIT_FOR_FIRST_CONSUMER = "Immediate", "WaitForFirstConsumer"
_MOST_PARAMETERS = 512
_LARGEST_PARAMETERS = 256 * 1024
_ATTRIBUTES_CLASS_PROTECTION = "kubernetes.io/vac-protection"
_EXACTLY_ONE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


class StorageClassStrategy(KindStrategy):
    """The strategy of storage classes."""

    marks = MARKS
    returns_deleted = True

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        problems = []
        for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            empty: object = {} if field == "parameters" else ""
            problems += immutable(field, new.get(field) or empty, old.get(field) or empty)
        return problems


@MARKS.rule("StorageClass")
def _class_problems(path: str, document: Document, fields: Fields) -> list[str]:
    problems = _provisioner_problems("provisioner", document.get("provisioner") or "")
    problems += _parameter_problems("parameters", document.get("parameters") or {})
    if document["reclaimPolicy"]:
        problems += fields("reclaimPolicy")
    return problems + fields("volumeBindingMode") + _topology_problems(document.get("allowedTopologies"))


class VolumeAttributesClassStrategy(KindStrategy):
    """The strategy of VolumeAttributesClasses."""

    change_first = True
    returns_deleted = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Add the protection finalizer."""
        add_finalizer(new, _ATTRIBUTES_CLASS_PROTECTION)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a class."""
        parameters = document.get("parameters") or {}
        problems = _provisioner_problems("driverName", document.get("driverName") or "")
        problems += _parameter_problems("parameters", parameters)
        if not parameters:
            problems.append(required("parameters", "must contain at least one key/value pair"))
        return problems

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return [
            forbidden(field, f"updates to {field} are forbidden.")
            for field in ("driverName", "parameters")
            if new.get(field) != old.get(field)
        ]


class CSIDriverStrategy(KindStrategy):
    """The strategy of CSIDrivers."""

    marks = MARKS
    returns_deleted = True
    unconditional_update = False

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        super().fill_in(document, context)
        spec = document["spec"]
        spec["volumeLifecycleModes"] = spec.get("volumeLifecycleModes") or ["Persistent"]

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults, and raise the generation if the spec changes."""
        self.fill_in(new, context)
        # CSIDrivers have no generation until their first change
        if new["spec"] != old.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def warnings(self, new: Document, old: Document | None) -> list[str]:
        """Return the warning about a driver that gets tokens where they may be logged."""
        spec = new["spec"]
        is_new = old is None or spec.get("tokenRequests") != old["spec"].get("tokenRequests")
        if not is_new or not spec.get("tokenRequests") or spec.get("serviceAccountTokenInSecrets") is not None:
            return []
        why = (
            "is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume "
            "attributes"
        )
        return [f"spec.serviceAccountTokenInSecrets {why}"]

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        # the reference misspells the path
        now, then = (each["spec"].get("attachRequired") for each in (new, old))
        return immutable("spec.attachedRequired", now, then) + super().change_problems(new, old, context)


@MARKS.rule("CSIDriverSpec")
def _driver_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems, audiences = fields("fsGroupPolicy"), set()
    for number, request in enumerate(spec.get("tokenRequests") or ()):
        audience = request.get("audience") or ""
        if audience in audiences:
            problems.append(duplicate(child(index("spec.tokenRequests", number), "audience"), audience))
        else:
            problems += fields.item("tokenRequests", number)
        audiences.add(audience)
    for mode in spec["volumeLifecycleModes"]:
        problems += one_of("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))
    return problems + fields("nodeAllocatableUpdatePeriodSeconds")


class CSINodeStrategy(KindStrategy):
    """The strategy of CSINodes."""

    marks = MARKS
    returns_deleted = True
    unconditional_update = False

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing list of drivers."""
        spec = part(document, "spec")
        if spec.get("drivers") is None:
            spec["drivers"] = []

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change: only `allocatable` of an existing driver may change."""
        before = {driver.get("name"): _without_limit(driver) for driver in old["spec"].get("drivers") or ()}
        problems = []
        for driver in new["spec"]["drivers"]:
            if driver.get("name") in before:
                now = _without_limit(driver)
                problems += immutable("spec.drivers", now, before[driver["name"]])
        return problems


@MARKS.rule("CSINodeSpec")
def _node_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems = []
    names = set()
    for number, driver in enumerate(spec["drivers"]):
        here, name = index("spec.drivers", number), driver.get("name") or ""
        problems += fields.item("drivers", number)
        if name in names:
            problems.append(duplicate(child(here, "name"), name))
        names.add(name)
        problems += _topology_key_problems(here, driver.get("topologyKeys") or ())
    return problems


@MARKS.format("nodeid")
def _node_id_problems(path: str, text: str) -> list[str]:
    return [invalid(path, text, "must be 256 characters or less")] if len(text.encode()) > 256 else []


class CSIStorageCapacityStrategy(KindStrategy):
    """The strategy of CSIStorageCapacities."""

    marks = MARKS
    unconditional_update = False


@MARKS.rule("CSIStorageCapacity")
def _capacity_problems(path: str, document: Document, fields: Fields) -> list[str]:
    problems = fields("nodeTopology")
    problems += text_problems("storageClassName", document.get("storageClassName") or "", subdomain_problems)
    if document.get("capacity") is not None and amount(document["capacity"]) < ZERO:
        problems.append(invalid("capacity", str(amount(document["capacity"])), NOT_NEGATIVE))
    return problems


class VolumeAttachmentStrategy(KindStrategy):
    """The strategy of VolumeAttachments."""

    returns_deleted = True
    unconditional_update = False
    status_keeps_metadata = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing source and status."""
        part(part(document, "spec"), "source")
        part(document, "status").setdefault("attached", False)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of an attachment."""
        spec = document["spec"]
        source, path = spec["source"], "spec.source"
        problems = driver_problems("spec.attacher", spec.get("attacher") or "")
        name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
        if name is None and inline is None:
            problems.append(required(path, _EXACTLY_ONE))
        elif name is not None and inline is not None:
            problems.append(forbidden(path, _EXACTLY_ONE))
        elif inline is not None:
            problems += volume_spec_problems(child(path, "inlineVolumeSpec"), inline, inline=True)
        elif name:
            problems += text_problems(child(path, "persistentVolumeName"), name, subdomain_problems)
        else:
            why = "must specify non empty persistentVolumeName"
            problems.append(required(child(path, "persistentVolumeName"), why))
            problems += text_problems(child(path, "persistentVolumeName"), "", subdomain_problems)
        return problems + text_problems("spec.nodeName", spec.get("nodeName") or "", subdomain_problems)

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return immutable("spec", new["spec"], old["spec"])


def _provisioner_problems(path: str, name: str) -> list[str]:
    if not name:
        return [required(path)]
    return [invalid(path, name.lower(), problem) for problem in label_key_problems(name.lower())]


def _parameter_problems(path: str, parameters: dict[str, str]) -> list[str]:
    if len(parameters) > _MOST_PARAMETERS:
        return [too_long(path, _MOST_PARAMETERS)]
    problems = [invalid(path, key, "field can not be empty.") for key in parameters if not key]
    if sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items()) > _LARGEST_PARAMETERS:
        problems.append(too_long(path, _LARGEST_PARAMETERS))
    return problems


def _topology_problems(terms: Any) -> list[str]:
    problems = []
    seen: list[dict[str, set[str]]] = []
    for number, term in enumerate(terms or ()):
        here = child(index("allowedTopologies", number), "matchLabelExpressions")
        asked: dict[str, set[str]] = {}
        for place, expression in enumerate(term.get("matchLabelExpressions") or ()):
            there = index(here, place)
            key, values = expression.get("key") or "", expression.get("values") or ()
            if not values:
                problems.append(required(child(there, "values")))
            for spot, value in enumerate(values):
                if value in values[:spot]:
                    problems.append(duplicate(index(child(there, "values"), spot), value))
            problems += text_problems(child(there, "key"), key, label_key_problems)
            if key in asked:
                problems.append(duplicate(child(there, "key"), key))
            asked[key] = set(values)
        # the reference takes a term without expressions for a duplicate, also the first one
        if not asked or asked in seen:
            problems.append(duplicate(here, ""))
        seen.append(asked)
    return problems


def _topology_key_problems(path: str, keys: Any) -> list[str]:
    problems = []
    for number, key in enumerate(keys):
        if not key:
            problems.append(required(path))
        if key in keys[:number]:
            problems.append(duplicate(path, key))
        problems += text_problems(path, key, label_key_problems)
    return problems


def _without_limit(driver: Document) -> Document:
    return {key: value for key, value in driver.items() if key != "allocatable"}
