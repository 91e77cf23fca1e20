"""Validation of volume sources that pods and persistent volumes share.

From a source and its path to problems. Sources without a rule are validated for their required fields alone.
"""

# upstream: pkg/apis/core/validation/validation.go (validateNFSVolumeSource, validateISCSIVolumeSource,
# validateFCVolumeSource, validateAzureDisk ...) (v1.36)

import re
from typing import Final

from kubesched.api.field_errors import as_json, invalid, not_supported, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import one_of
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.shapes import Shape

SOURCES = Marks()
_QUALIFIED_NAMES = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\s]+)$", re.ASCII),
    "eui": re.compile(r"^eui.[A-Za-z0-9]{16}$"),
    "naa": re.compile(r"^naa.[A-Za-z0-9]{32}$"),
}
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"


def _lun_problems(path: str, lun: int) -> list[str]:
    return [] if 0 <= lun <= 255 else [invalid(f"{path}.lun", lun, "must be between 0 and 255, inclusive")]


@SOURCES.rule("NFSVolumeSource")
def _nfs_problems(path: str, source: Document, fields: Fields) -> list[str]:
    text = source.get("path") or ""
    return fields() + ([] if text.startswith("/") else [invalid(f"{path}.path", text, "must be an absolute path")])


@SOURCES.rule("ISCSIVolumeSource")
def _iscsi_pod_problems(path: str, source: Document, fields: Fields) -> list[str]:
    return fields() or _iscsi_problems(path, source, "must be valid format starting with iqn, eui, or naa")


@SOURCES.rule("ISCSIPersistentVolumeSource")
def _iscsi_volume_problems(path: str, source: Document, fields: Fields) -> list[str]:
    problems = fields() + _iscsi_problems(path, source, "must be valid format")
    secret = source.get("secretRef")
    return problems + ([required(f"{path}.secretRef.name")] if secret is not None and not secret.get("name") else [])


def _iscsi_problems(path: str, source: Document, strange: str) -> list[str]:
    problems = _qualified_name_problems(f"{path}.iqn", source.get("iqn") or "", strange)
    problems += _lun_problems(path, source.get("lun") or 0)
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        problems.append(required(f"{path}.secretRef"))
    return problems + _qualified_name_problems(f"{path}.initiatorname", source.get("initiatorName") or "", strange)


def _qualified_name_problems(path: str, name: str, strange: str) -> list[str]:
    if not name:
        return []
    pattern = _QUALIFIED_NAMES.get(name[:3])
    if pattern is None:
        return [invalid(path, name, strange)]
    return [] if pattern.search(name) else [invalid(path, name, "must be valid format")]


@SOURCES.rule("FCVolumeSource")
def _fibre_channel_problems(path: str, source: Document, fields: Fields) -> list[str]:
    ports, here = source.get("targetWWNs") or [], f"{path}.targetWWNs"
    if not ports and not source.get("wwids"):
        return [required(here, "must specify either targetWWNs or wwids, but not both")]
    if not ports:
        return []
    problems = []
    if source.get("wwids"):
        problems.append(invalid(here, as_json(ports), "targetWWNs and wwids can not be specified simultaneously"))
    if source.get("lun") is None:
        return [*problems, required(f"{path}.lun", "lun is required if targetWWNs is specified")]
    return problems + _lun_problems(path, source["lun"])


@SOURCES.rule("GCEPersistentDiskVolumeSource", "AWSElasticBlockStoreVolumeSource")
def _partition_problems(path: str, source: Document, fields: Fields) -> list[str]:
    partition = source.get("partition") or 0
    why = "must be between 1 and 255, inclusive"
    return fields() + ([] if 0 <= partition <= 255 else [invalid(f"{path}.partition", partition, why)])


@SOURCES.rule("AzureDiskVolumeSource")
def _azure_disk_problems(path: str, source: Document, fields: Fields) -> list[str]:
    kind, address = source.get("kind") or "Shared", source.get("diskURI") or ""
    problems = fields()
    if source.get("cachingMode") is not None:
        problems += one_of(f"{path}.cachingMode", source["cachingMode"], ("None", "ReadOnly", "ReadWrite"))
    problems += one_of(f"{path}.kind", kind, ("Dedicated", "Managed", "Shared"))
    start, form = ("/subscriptions/", _MANAGED) if kind == "Managed" else ("https://", _BLOB)
    return problems if address.startswith(start) else [*problems, not_supported(f"{path}.diskURI", address, [form])]


# the name of a source in paths, where it is another one than that of the field
SHOWN_SOURCES: Final = {"gcePersistentDisk": "persistentDisk"}


def source_problems(marks: Marks, path: str, owner: str, name: str, source: Document) -> list[str]:
    """Return the problems of a volume source, a field of a type of the core group."""
    shape = library().named("v1", owner)
    assert isinstance(shape, Shape)
    return marks.object_problems(f"{path}.{SHOWN_SOURCES.get(name, name)}", shape.fields[name].type, source)
