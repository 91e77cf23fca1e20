"""Validation of a pod's volumes.

From volumes to problems. Common sources are validated in full, rare ones only for their required fields.
"""

# upstream: pkg/apis/core/validation/validation.go (ValidateVolumes, validateVolumeSource) (v1.36)

from collections.abc import Sequence

from kubesched.api.field_errors import duplicate, forbidden, invalid, required
from kubesched.api.go_text import quote
from kubesched.api.labels import subdomain_problems
from kubesched.api.quantity import quantity_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    dns_label_problems,
    driver_problems,
    labels_problems,
    one_of,
    text_problems,
)
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.kinds.pod.references import FIELDS_OF_VOLUMES, field_problems, resource_reference_problems
from kubesched_controlplane.kinds.volume.claims import claim_spec_problems
from kubesched_controlplane.kinds.volume.sources import SOURCES, source_problems

VOLUMES = Marks(SOURCES)
# the sources in the order of validation
_NAMES = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi"),
    *("glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI"),
    *("fc", "flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume"),
    *("azureDisk", "storageos", "projected", "scaleIO", "csi", "ephemeral", "image"),
)
_MODE_RULE = "must be a number between 0 and 0777 (octal), both inclusive"
_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
PULL_POLICIES = ("Always", "IfNotPresent", "Never")


def judge_volumes(path: str, volumes: Sequence[Document], pod_name: str) -> tuple[dict[str, Document], list[str]]:
    """Return the valid volumes by name, and the problems of the invalid ones; `pod_name` is empty in a template."""
    problems = []
    good: dict[str, Document] = {}
    created = {f"{pod_name}-{volume.get('name') or ''}" for volume in volumes if volume.get("ephemeral") and pod_name}
    for number, volume in enumerate(volumes):
        here = f"{path}[{number}]"
        name = volume.get("name") or ""
        found = _source_problems(here, volume, pod_name)
        found += text_problems(f"{here}.name", name, dns_label_problems) if name else [required(f"{here}.name")]
        if name in good:
            found.append(duplicate(f"{here}.name", name))
        if not found:
            good[name] = volume
        problems += found
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim in created:
            why = "must not reference a PVC that gets created for an ephemeral volume"
            problems.append(invalid(f"{here}.persistentVolumeClaim.claimName", claim, why))
    return good, problems


def _source_problems(path: str, volume: Document, pod_name: str) -> list[str]:
    given = [field for field in _NAMES if volume.get(field) is not None]
    if not given:
        return [required(path, "must specify a volume type")]
    problems = source_problems(VOLUMES, path, "VolumeSource", given[0], volume[given[0]])
    for other in given[1:]:
        problems.append(forbidden(f"{path}.{other}", "may not specify more than 1 volume type"))
    if given[0] == "ephemeral" and pod_name and volume.get("name"):
        claim = f"{pod_name}-{volume['name']}"
        for problem in subdomain_problems(claim):
            problems.append(invalid(f"{path}.name", volume["name"], f"PVC name {quote(claim)}: {problem}"))
    return problems


def no_backsteps(path: str, text: str) -> list[str]:
    """Return the problem of a path that contains `..`."""
    return [invalid(path, text, "must not contain '..'")] if ".." in text.split("/") else []


def descending(path: str, text: str) -> list[str]:
    """Return the problems of a path that must be relative and without `..`."""
    problems = [invalid(path, text, "must be a relative path")] if text.startswith("/") else []
    return problems + no_backsteps(path, text)


def _not_reserved(path: str, text: str) -> list[str]:
    problems = descending(path, text)
    if text.startswith("..") and not text.startswith("../"):
        problems.append(invalid(path, text, "must not start with '..'"))
    return problems


def _mode_problems(path: str, mode: int | None) -> list[str]:
    return [] if mode is None or 0 <= mode <= 0o777 else [invalid(path, mode, _MODE_RULE)]


@VOLUMES.rule("EmptyDirVolumeSource")
def _empty_dir(path: str, source: Document, fields: Fields) -> list[str]:
    limit = source.get("sizeLimit")
    if limit is not None and quantity_of(limit).sign() < 0:
        return [forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")]
    return []


@VOLUMES.rule("HostPathVolumeSource")
def _host_path(path: str, source: Document, fields: Fields) -> list[str]:
    if problems := fields():
        return problems
    problems = no_backsteps(f"{path}.path", source["path"])
    return problems + one_of(f"{path}.type", source.get("type") or "", _HOST_PATH_TYPES)


@VOLUMES.rule("ConfigMapVolumeSource")
def _config_map(path: str, source: Document, fields: Fields) -> list[str]:
    return _files(path, source, fields) if source.get("name") else [required(f"{path}.name")]


@VOLUMES.rule("SecretVolumeSource")
def _files(path: str, source: Document, fields: Fields) -> list[str]:
    if problems := fields():
        return problems
    problems = _mode_problems(f"{path}.defaultMode", source.get("defaultMode"))
    for number, item in enumerate(source.get("items") or ()):
        here = f"{path}.items[{number}]"
        problems += [required(f"{here}.{field}") for field in ("key", "path") if not item.get(field)]
        problems += _not_reserved(f"{here}.path", item.get("path") or "")
        problems += _mode_problems(f"{here}.mode", item.get("mode"))
    return problems


@VOLUMES.rule("CSIVolumeSource")
def _csi(path: str, source: Document, fields: Fields) -> list[str]:
    problems = driver_problems(f"{path}.driver", source.get("driver") or "")
    secret = source.get("nodePublishSecretRef")
    if secret is not None and not secret.get("name"):
        problems.append(required(f"{path}.nodePublishSecretRef.name"))
    elif secret is not None:
        problems += text_problems(f"{path}.name", secret["name"], subdomain_problems)
    return problems


@VOLUMES.rule("DownwardAPIVolumeSource")
def _downward(path: str, source: Document, fields: Fields) -> list[str]:
    problems = _mode_problems(f"{path}.defaultMode", source.get("defaultMode"))
    for item in source.get("items") or ():
        text, field, resource = item.get("path") or "", item.get("fieldRef"), item.get("resourceFieldRef")
        problems += _not_reserved(f"{path}.path", text) if text else [required(f"{path}.path")]
        if field is not None:
            problems += field_problems(f"{path}.fieldRef", field, FIELDS_OF_VOLUMES)
            if resource is not None:
                why = "fieldRef and resourceFieldRef can not be specified simultaneously"
                problems.append(invalid(path, "resource", why))
        elif resource is not None:
            problems += resource_reference_problems(f"{path}.resourceFieldRef", resource, of_volume=True)
        else:
            problems.append(required(path, "one of fieldRef and resourceFieldRef is required"))
        problems += _mode_problems(f"{path}.mode", item.get("mode"))
    return problems


@VOLUMES.rule("ImageVolumeSource")
def _image(path: str, source: Document, fields: Fields) -> list[str]:
    return fields() or one_of(f"{path}.pullPolicy", source["pullPolicy"], PULL_POLICIES)


@VOLUMES.rule("PersistentVolumeClaimTemplate")
def _ephemeral(path: str, template: Document, fields: Fields) -> list[str]:
    meta = template.get("metadata") or {}
    problems = labels_problems(f"{path}.metadata.labels", meta.get("labels"))
    problems += [
        forbidden(f"{path}.metadata.{field}", "cannot be set")
        for field, value in meta.items()
        if field not in ("labels", "annotations") and value
    ]
    return problems + claim_spec_problems(f"{path}.spec", template["spec"])


@VOLUMES.rule("ProjectedVolumeSource")
def _projected(path: str, source: Document, fields: Fields) -> list[str]:
    problems = _mode_problems(f"{path}.defaultMode", source.get("defaultMode"))
    for number, each in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{number}]"
        given = [field for field in each if each[field] is not None]
        for field in ("secret", "configMap"):
            if field in given and not each[field].get("name"):
                problems.append(required(f"{here}.{field}.name"))
        token = each.get("serviceAccountToken")
        if token is not None:
            problems += _token(f"{here}.serviceAccountToken", path, token)
        if len(given) > 1:
            problems.append(forbidden(here, "may not specify more than 1 volume type per source"))
    return problems


def _token(path: str, volume_path: str, token: Document) -> list[str]:
    problems = []
    seconds = token.get("expirationSeconds", 0)
    if seconds < 600:
        problems.append(
            invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
        )
    if seconds > 1 << 32:
        why = "may not specify a duration larger than 2^32 seconds"
        problems.append(invalid(f"{path}.expirationSeconds", seconds, why))
    if not token.get("path"):
        return [*problems, required(f"{volume_path}.path")]
    return problems + _not_reserved(f"{volume_path}.path", token["path"])
