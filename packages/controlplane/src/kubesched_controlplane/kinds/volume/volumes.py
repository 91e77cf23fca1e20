"""The strategy of persistent volumes."""

# upstream: pkg/registry/core/persistentvolume/strategy.go, pkg/apis/core/validation/validation.go
# (ValidatePersistentVolume), plugin/pkg/admission/storage/storageobjectinuseprotection (v1.36)

from typing import Any

from kubesched.api.field_errors import as_json, child, forbidden, invalid, not_supported, required
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import IMMUTABLE
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.checks import (
    amount,
    dns_label_problems,
    immutable,
    node_selector_problems,
    one_of,
    part,
    positive_amount,
    text_problems,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields
from kubesched_controlplane.kinds.pod.amounts import write_canonically
from kubesched_controlplane.kinds.volume.sources import SOURCES, source_problems
from kubesched_controlplane.registry.strategy import StrategyContext

PENDING = "Pending"
VOLUME_PROTECTION = "kubernetes.io/pv-protection"
ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
# the volume sources in the order of validation
_NAMES = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte"),
    *("cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk"),
    *("portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi"),
)
_CSI_SECRETS = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
# beta labels that a change of node affinity may replace
_RENAMED_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


class PersistentVolumeStrategy(KindStrategy):
    """The strategy of persistent volumes."""

    returns_deleted = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and the phase Pending; add the protection finalizer."""
        self.fill_in(new, context)
        new["status"] = {"phase": PENDING, "lastPhaseTransitionTime": timestamp(context.now)}
        add_finalizer(new, VOLUME_PROTECTION)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
        if spec.get("volumeMode") is None:
            spec["volumeMode"] = "Filesystem"
        write_canonically(spec.get("capacity"))
        if spec.get("hostPath") is not None:
            spec["hostPath"].setdefault("type", "")
        if spec.get("claimRef"):
            spec["claimRef"].setdefault("kind", "PersistentVolumeClaim")
            spec["claimRef"].setdefault("apiVersion", "v1")

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a volume."""
        return volume_spec_problems("spec", document["spec"])

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        spec, before = new["spec"], old["spec"]
        problems = []
        if _source_of(spec, before) != _source_of(before, before):
            why = "spec.persistentvolumesource is immutable after creation"
            problems.append(forbidden("spec.persistentvolumesource", why))
        problems += immutable("volumeMode", spec["volumeMode"], before.get("volumeMode"))
        if before.get("nodeAffinity") is not None:
            now, then = _renamed(spec.get("nodeAffinity")), _renamed(before["nodeAffinity"])
            if now != then:
                why = f"{IMMUTABLE}, except for updating from beta label to GA"
                problems.append(invalid("nodeAffinity", as_json(spec.get("nodeAffinity")), why))
        if before.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
            why = "update from non-nil value to nil is forbidden"
            problems.append(forbidden("spec.volumeAttributesClassName", why))
        return problems

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the status and metadata; set the time of a phase transition."""
        super().prepare_status(new, old, context)
        status, before = part(new, "status"), old.get("status") or {}
        since = before.get("lastPhaseTransitionTime")
        if status.get("phase") == before.get("phase"):
            if not status.get("lastPhaseTransitionTime") and since:
                status["lastPhaseTransitionTime"] = since
        elif status.get("lastPhaseTransitionTime") in (None, since):
            status["lastPhaseTransitionTime"] = timestamp(context.now)


def add_finalizer(document: Document, finalizer: str) -> None:
    """Add a finalizer to an object, unless it has it."""
    finalizers = document["metadata"].get("finalizers") or []
    if finalizer not in finalizers:
        document["metadata"]["finalizers"] = [*finalizers, finalizer]


def volume_spec_problems(path: str, spec: Document, *, inline: bool = False) -> list[str]:
    """Return the problems of the spec of a volume; `inline` is for specs in attachments."""
    problems = access_mode_problems(child(path, "accessModes"), spec.get("accessModes"), "")
    if not inline:
        problems += _capacity_problems(child(path, "capacity"), spec.get("capacity") or {})
        reclaim = child(path, "persistentVolumeReclaimPolicy")
        problems += one_of(reclaim, spec.get("persistentVolumeReclaimPolicy") or "Retain", _RECLAIM_POLICIES)
    problems += _affinity_problems(child(path, "nodeAffinity"), spec.get("nodeAffinity"))
    problems += _source_problems(path, spec)
    for field in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(field):
            problems += text_problems(child(path, field), spec[field], subdomain_problems)
    if spec.get("volumeAttributesClassName") == "":
        problems.append(required(child(path, "volumeAttributesClassName"), "an empty string is disallowed"))
    if spec.get("volumeAttributesClassName") is not None and spec.get("csi") is None:
        problems.append(required(child(path, "csi"), "has to be specified when using volumeAttributesClassName"))
    if spec.get("volumeMode") is not None:
        problems += one_of(child(path, "volumeMode"), spec["volumeMode"], VOLUME_MODES)
    return problems


def access_mode_problems(path: str, modes: Any, needed: str) -> list[str]:
    """Return the problems of access modes."""
    problems = [] if modes else [required(path, needed)]
    for mode in modes or ():
        problems += one_of(path, mode, ACCESS_MODES)
    known = {mode for mode in modes or () if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        problems.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return problems


def _capacity_problems(path: str, capacity: Document) -> list[str]:
    problems = [] if capacity else [required(path)]
    if set(capacity) != {"storage"}:
        problems.append(not_supported(path, as_json(capacity), ("storage",)))
    for name, raw in capacity.items():
        here = f"{path}[{name}]"
        if amount(raw).value() < 0:
            problems.append(invalid(here, amount(raw).value(), "must be a valid resource quantity"))
        problems += positive_amount(here, raw)
    return problems


def _affinity_problems(path: str, affinity: Document | None) -> list[str]:
    if affinity is None:
        return []
    if affinity.get("required") is None:
        return [required(child(path, "required"), "must specify required node constraints")]
    return node_selector_problems(child(path, "required"), affinity["required"])


def _source_problems(path: str, spec: Document) -> list[str]:
    given = [source for source in _NAMES if spec.get(source) is not None]
    if not given:
        return [required(path, "must specify a volume type")]
    first, *more = given
    problems = source_problems(SOURCES, path, "PersistentVolumeSource", first, spec[first])
    if first == "local" and spec.get("nodeAffinity") is None:
        problems.append(required(child(path, "nodeAffinity"), "Local volume requires node affinity"))
    if first in ("local", "hostPath") and ".." in (spec[first].get("path") or "").split("/"):
        problems.append(invalid(f"{path}.{first}.path", spec[first]["path"], "must not contain '..'"))
    return problems + [forbidden(child(path, each), "may not specify more than 1 volume type") for each in more]


@SOURCES.rule("CSIPersistentVolumeSource")
def _driver_problems(path: str, source: Document, fields: Fields) -> list[str]:
    problems = fields()
    for field in _CSI_SECRETS:
        secret = source.get(field)
        if secret is not None:
            for part_of, rule in (("name", subdomain_problems), ("namespace", dns_label_problems)):
                here, text = f"{path}.{field}.{part_of}", secret.get(part_of) or ""
                problems += text_problems(here, text, rule) if text else [required(here)]
    return problems


def _source_of(spec: Document, before: Document) -> Document:
    """Return the source of a volume, without a controllerExpandSecretRef if the old volume had none."""
    source: Document = {field: spec[field] for field in _NAMES if spec.get(field) is not None}
    csi, csi_before = source.get("csi"), before.get("csi")
    if csi and csi_before and csi_before.get("controllerExpandSecretRef") is None:
        source["csi"] = {key: value for key, value in csi.items() if key != "controllerExpandSecretRef"}
    return source


def _renamed(value: Any) -> Any:
    """Return node affinity with beta labels replaced by their GA names."""
    if isinstance(value, dict):
        return {
            key: _RENAMED_LABELS.get(entry, entry) if key == "key" and isinstance(entry, str) else _renamed(entry)
            for key, entry in value.items()
        }
    return [_renamed(entry) for entry in value] if isinstance(value, list) else value
