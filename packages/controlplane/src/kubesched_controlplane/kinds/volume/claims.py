"""The strategy of persistent volume claims."""

# upstream: pkg/registry/core/persistentvolumeclaim/strategy.go, pkg/apis/core/validation/validation.go
# (ValidatePersistentVolumeClaim), plugin/pkg/admission/storage/{storageclass/setdefault,storageobjectinuseprotection,
# persistentvolume/resize} (v1.36)

from typing import Any

from kubesched.api.field_errors import child, forbidden, invalid, required
from kubesched.api.labels import subdomain_problems
from kubesched.api.quantity import Quantity
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import forbidden as refused
from kubesched_controlplane.kinds.checks import (
    amount,
    dns_label_problems,
    immutable,
    label_selector_problems,
    one_of,
    part,
    positive_amount,
    text_problems,
)
from kubesched_controlplane.kinds.default_classes import default_class_of
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.amounts import write_canonically
from kubesched_controlplane.kinds.volume.volumes import PENDING, VOLUME_MODES, access_mode_problems, add_finalizer
from kubesched_controlplane.registry.strategy import StrategyContext
from kubesched_controlplane.storage.store import Store

BOUND = "Bound"
CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
STORAGE_CLASSES = "storageclasses.storage.k8s.io"
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
OLD_DEFAULT_CLASS = "storageclass.beta.kubernetes.io/is-default-class"
_FIXED = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_SIZE = "spec.resources.requests.storage"
_ATTRIBUTES_CLASS = "spec.volumeAttributesClassName"


class PersistentVolumeClaimStrategy(KindStrategy):
    """The strategy of persistent volume claims."""

    returns_deleted = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults, the default storage class and the phase Pending; add the protection finalizer."""
        self.fill_in(new, context)
        new["status"] = {"phase": PENDING}
        annotations = new["metadata"].get("annotations") or {}
        unsaid = new["spec"].get("storageClassName") is None and CLASS_ANNOTATION not in annotations
        if unsaid and not context.imported and (name := default_class(context.store)):
            new["spec"]["storageClassName"] = name
        add_finalizer(new, CLAIM_PROTECTION)

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults. Raises ApiError 403 for an expansion that is not allowed."""
        self.fill_in(new, context)
        _check_growth(new, old, context)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        default_claim_spec(spec)
        source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
        if source is not None and not reference and not _is_claim_or_snapshot(source):
            del spec["dataSource"]
            source = None
        if source and not reference:
            spec["dataSourceRef"] = dict(source)
        elif reference and not source and not reference.get("namespace"):
            spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a claim."""
        return claim_spec_problems("spec", document["spec"])

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        spec, before, status = new["spec"], old["spec"], old.get("status") or {}
        problems = immutable_class_annotation(new, old)
        if not _same_spec(spec, before, old, bound=status.get("phase") == BOUND):
            problems.append(forbidden("spec", _FIXED))
        size = _storage(spec)
        # a claim whose expansion failed may shrink, but must stay larger than its capacity
        if size < _storage(before) and size <= amount((status.get("capacity") or {}).get("storage", 0)):
            problems.append(forbidden(_SIZE, "field can not be less than status.capacity"))
        problems += immutable("volumeMode", spec["volumeMode"], before.get("volumeMode"))
        now, then = spec.get("volumeAttributesClassName"), before.get("volumeAttributesClassName")
        if not now and now != then and status.get("currentVolumeAttributesClassName") is not None:
            what = "nil" if now is None else "empty string"
            why = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
            problems.append(forbidden(_ATTRIBUTES_CLASS, why))
        return problems

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        problems = []
        for name, raw in ((new.get("status") or {}).get("capacity") or {}).items():
            if amount(raw).value() < 0:
                problems.append(
                    invalid(f"status.capacity[{name}]", amount(raw).value(), "must be a valid resource quantity")
                )
        return problems


def _is_claim_or_snapshot(source: Document) -> bool:
    """Return whether `dataSource` may refer to this object; other objects are for `dataSourceRef`."""
    what = (source.get("apiGroup") or "", source.get("kind"))
    return what in (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))


def default_claim_spec(spec: Document) -> None:
    """Set the defaults of the spec of a claim, or of a claim template."""
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    for amounts in (spec.get("resources") or {}).values():
        write_canonically(amounts)


def claim_spec_problems(path: str, spec: Document) -> list[str]:
    """Return the problems of the spec of a claim."""
    needed = "at least 1 access mode is required"
    problems = access_mode_problems(child(path, "accessModes"), spec.get("accessModes"), needed)
    problems += label_selector_problems(child(path, "selector"), spec.get("selector"))
    storage = f"{child(path, 'resources')}[storage]"
    requests = (spec.get("resources") or {}).get("requests") or {}
    problems += positive_amount(storage, requests["storage"]) if "storage" in requests else [required(storage)]
    for field in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(field):
            problems += text_problems(child(path, field), spec[field], subdomain_problems)
    if spec.get("volumeMode") is not None:
        problems += one_of(child(path, "volumeMode"), spec["volumeMode"], VOLUME_MODES)
    for field in ("dataSource", "dataSourceRef"):
        if spec.get(field):
            problems += _source_problems(child(path, field), spec[field])
    return problems


def default_class(store: Store) -> str | None:
    """Return the name of the default storage class: of several, the newest, then the first by name."""
    return default_class_of(store, STORAGE_CLASSES, DEFAULT_CLASS, OLD_DEFAULT_CLASS)


def immutable_class_annotation(new: Document, old: Document) -> list[str]:
    """Return the problem of a change of the annotation with the storage class."""
    now = (new["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION, "")
    then = (old["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION, "")
    return immutable(f"metadata.annotations.{CLASS_ANNOTATION}", now, then)


def _same_spec(spec: Document, before: Document, old: Document, *, bound: bool) -> bool:
    """Return whether only fields change that may change."""
    free = set()
    if not before.get("volumeName"):
        free.add("volumeName")
    annotated = (old["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    if before.get("storageClassName") is None and annotated in (None, spec.get("storageClassName")):
        free.add("storageClassName")
    if bound:
        free.add("volumeAttributesClassName")
    for field in {*spec, *before} - free - {"resources"}:
        if spec.get(field) != before.get(field):
            return False
    now, then = _resources(spec, bound=bound), _resources(before, bound=bound)
    return now == then


def _resources(spec: Document, *, bound: bool) -> dict[str, Any]:
    """Return the resources of a claim that may not change: all but the size of a bound claim."""
    found: dict[str, Any] = {}
    for kind, amounts in (spec.get("resources") or {}).items():
        for name, raw in (amounts or {}).items():
            if not (bound and (kind, name) == ("requests", "storage")):
                found[f"{kind}.{name}"] = amount(raw)
    return found


def _storage(spec: Document) -> Quantity:
    return amount(((spec.get("resources") or {}).get("requests") or {}).get("storage", 0))


def _source_problems(path: str, source: Document) -> list[str]:
    problems = [required(child(path, field)) for field in ("name", "kind") if not source.get(field)]
    group = source.get("apiGroup") or ""
    if not group and source.get("kind") != "PersistentVolumeClaim":
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        problems.append(invalid(path, source.get("kind") or "", why))
    elif group:
        problems += text_problems(child(path, "apiGroup"), group, subdomain_problems)
    if source.get("namespace"):
        problems += text_problems(child(path, "namespace"), source["namespace"], dns_label_problems)
    return problems


def _check_growth(new: Document, old: Document, context: StrategyContext) -> None:
    """Raise ApiError 403 for an expansion of a claim that is not bound, or whose class does not allow it."""
    if _storage(new["spec"]) <= _storage(old["spec"]):
        return
    name = new["metadata"]["name"]
    if (old.get("status") or {}).get("phase") != BOUND:
        raise refused(context.resource, name, "Only bound persistent volume claims can be expanded")
    storage_class = context.find(STORAGE_CLASSES, "", old["spec"].get("storageClassName") or "")
    if storage_class is None or not storage_class.get("allowVolumeExpansion"):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support "
            "resize"
        )
        raise refused(context.resource, name, why)
