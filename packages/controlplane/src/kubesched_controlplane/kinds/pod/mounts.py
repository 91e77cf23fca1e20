"""Validation of a container's environment, volume mounts and volume devices.

From the lists of a container to problems.
"""

# upstream: pkg/apis/core/validation/validation.go (ValidateEnv, ValidateEnvFrom, ValidateVolumeMounts,
# ValidateVolumeDevices) (v1.36)

from collections.abc import Mapping, Sequence

from kubesched.api.field_errors import forbidden, invalid, not_supported, required
from kubesched.api.go_text import quote
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import config_key_problems, dns_label_problems, one_of, text_problems
from kubesched_controlplane.kinds.pod.references import (
    FIELDS_OF_VARIABLES,
    field_problems,
    resource_reference_problems,
)
from kubesched_controlplane.kinds.pod.volumes import descending, no_backsteps

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")


def not_found(path: str, text: str) -> str:
    """Return the problem of a name that does not exist."""
    return f"{path}: Not found: {quote(text)}"


def _variable_problems(text: str) -> list[str]:
    if all(" " <= letter <= "~" and letter != "=" for letter in text):
        return []
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def environment_problems(path: str, container: Document) -> list[str]:
    """Return the problems of the environment of a container."""
    problems = []
    for number, variable in enumerate(container.get("env") or ()):
        here = f"{path}.env[{number}]"
        name = variable.get("name") or ""
        problems += text_problems(f"{here}.name", name, _variable_problems) if name else [required(f"{here}.name")]
        if variable.get("valueFrom") is not None:
            problems += _value_from_problems(f"{here}.valueFrom", variable)
    for number, source in enumerate(container.get("envFrom") or ()):
        here = f"{path}.envFrom[{number}]"
        problems += text_problems(f"{here}.prefix", source.get("prefix") or "", _variable_problems)
        given = [field for field in ("configMapRef", "secretRef") if source.get(field) is not None]
        for field in given:
            name = source[field].get("name") or ""
            there = f"{here}.{field}.name"
            problems += text_problems(there, name, subdomain_problems) if name else [required(there)]
        if not given:
            problems.append(invalid(f"{path}.envFrom", "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            problems.append(invalid(f"{path}.envFrom", "", "may not have more than one field specified at a time"))
    return problems


def _value_from_problems(path: str, variable: Document) -> list[str]:
    source = variable["valueFrom"]
    given = [field for field in _SOURCES if source.get(field) is not None]
    if not given:
        why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        return [invalid(path, "", why)]
    problems = []
    for field in given:
        problems += _reference_problems(f"{path}.{field}", field, source[field])
    if variable.get("value"):
        problems.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(given) > 1:
        problems.append(invalid(path, "", "may not have more than one field specified at a time"))
    return problems


def _reference_problems(path: str, kind: str, reference: Document) -> list[str]:
    if kind == "fieldRef":
        return field_problems(path, reference, FIELDS_OF_VARIABLES)
    if kind == "resourceFieldRef":
        return resource_reference_problems(path, reference)
    key = reference.get("key") or ""
    problems = [] if key else [required(f"{path}.key")]
    if kind == "fileKeyRef":
        problems += text_problems(f"{path}.key", key, _variable_problems)
        volume = reference.get("volumeName") or ""
        there = f"{path}.volumeName"
        problems += text_problems(there, volume, dns_label_problems) if volume else [required(there)]
        file = reference.get("path") or ""
        return problems + (no_backsteps(f"{path}.path", file) if file else [required(f"{path}.path")])
    problems += text_problems(f"{path}.key", key, config_key_problems) if key else []
    return text_problems(f"{path}.name", reference.get("name") or "", subdomain_problems) + problems


def mounts_problems(path: str, container: Document, volumes: Mapping[str, Document]) -> list[str]:
    """Return the problems of the volume mounts and volume devices of a container."""
    mounts, devices = container.get("volumeMounts") or (), container.get("volumeDevices") or ()
    if not mounts and not devices:
        return []
    privileged = bool((container.get("securityContext") or {}).get("privileged"))
    return [
        *_mounts_problems(f"{path}.volumeMounts", mounts, devices, volumes, privileged),
        *_devices_problems(f"{path}.volumeDevices", devices, mounts, volumes),
    ]


def _mounts_problems(
    path: str,
    mounts: Sequence[Document],
    devices: Sequence[Document],
    volumes: Mapping[str, Document],
    privileged: bool,
) -> list[str]:
    problems = []
    taken_names = {device.get("name") or "" for device in devices}
    taken_paths = {device.get("devicePath") or "" for device in devices}
    seen = set()
    for number, mount in enumerate(mounts):
        here = f"{path}[{number}]"
        name, place = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            problems.append(required(f"{here}.name"))
        if name not in volumes:
            problems.append(not_found(f"{here}.name", name))
        if not place:
            problems.append(required(f"{here}.mountPath"))
        if place in seen:
            problems.append(invalid(f"{here}.mountPath", place, "must be unique"))
        seen.add(place)
        if name in taken_names:
            problems.append(invalid(f"{here}.name", name, "must not already exist in volumeDevices"))
        if place in taken_paths:
            why = "must not already exist as a path in volumeDevices"
            problems.append(invalid(f"{here}.mountPath", place, why))
        problems += _detail_problems(path, here, mount, privileged)
    return problems


def _detail_problems(path: str, here: str, mount: Document, privileged: bool) -> list[str]:
    """Return the problems of a mount's subpath, propagation and recursive read-only mode."""
    problems = []
    part, expression = mount.get("subPath") or "", mount.get("subPathExpr") or ""
    problems += descending(f"{path}.subPath", part)
    if part and expression:
        problems.append(invalid(f"{here}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive"))
    problems += descending(f"{path}.subPathExpr", expression)
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        problems += one_of(f"{path}.mountPropagation", propagation, _PROPAGATIONS)
        if propagation == "Bidirectional" and not privileged:
            why = "Bidirectional mount propagation is available only to privileged containers"
            problems.append(forbidden(f"{path}.mountPropagation", why))
    recursive = mount.get("recursiveReadOnly")
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            problems.append(forbidden(f"{path}.recursiveReadOnly", "may only be specified when readOnly is true"))
        if propagation not in (None, "None"):
            why = "may only be specified when mountPropagation is None or not specified"
            problems.append(forbidden(f"{path}.recursiveReadOnly", why))
    elif recursive not in (None, "Disabled"):
        problems.append(not_supported(f"{path}.recursiveReadOnly", recursive, ("Disabled", "Enabled", "IfPossible")))
    return problems


def _devices_problems(
    path: str, devices: Sequence[Document], mounts: Sequence[Document], volumes: Mapping[str, Document]
) -> list[str]:
    problems = []
    taken_names = {mount.get("name") or "" for mount in mounts}
    taken_paths = {mount.get("mountPath") or "" for mount in mounts}
    seen_names, seen_paths = set(), set()
    for number, device in enumerate(devices):
        here = f"{path}[{number}]"
        name, place = device.get("name") or "", device.get("devicePath") or ""
        volume = volumes.get(name)
        if not name:
            problems.append(required(f"{here}.name"))
        elif name in seen_names:
            problems.append(invalid(f"{here}.name", name, "must be unique"))
        seen_names.add(name)
        if volume is None:
            problems.append(not_found(f"{here}.name", name))
        elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
            why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            problems.append(invalid(f"{here}.name", name, why))
        if not place:
            problems.append(required(f"{here}.devicePath"))
        elif place in seen_paths:
            problems.append(invalid(f"{here}.devicePath", place, "must be unique"))
        if no_backsteps(here, place):
            problems.append(invalid(f"{here}.devicePath", place, "can not contain backsteps ('..')"))
        seen_paths.add(place)
        if name in taken_names:
            problems.append(invalid(f"{here}.name", name, "must not already exist in volumeMounts"))
        if place in taken_paths:
            why = "must not already exist as a path in volumeMounts"
            problems.append(invalid(f"{here}.devicePath", place, why))
    return problems
