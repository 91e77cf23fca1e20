"""Validation of the security contexts of a pod and its containers.

From security contexts to problems. Windows options are not validated.
"""

# upstream: pkg/apis/core/validation/validation.go (ValidateSecurityContext, validatePodSpecSecurityContext) (v1.36)

import re
from collections.abc import Iterable

from kubesched.api.field_errors import as_json, duplicate, invalid, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import one_of

_MOST = 2**31 - 1
_RANGE = f"must be between 0 and {_MOST}, inclusive"
_LONGEST_SYSCTL = 253
_SYSCTL = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")

_sysctl = re.compile(_SYSCTL)


def pod_security_problems(path: str, spec: Document) -> list[str]:
    """Return the problems of the security context of a pod."""
    context = spec.get("securityContext") or {}
    problems = _identity_problems(path, context, ("fsGroup", "runAsUser", "runAsGroup"))
    for number, group in enumerate(context.get("supplementalGroups") or ()):
        if not 0 <= group <= _MOST:
            problems.append(invalid(f"{path}.supplementalGroups[{number}]", group, _RANGE))
    if spec.get("hostPID") and spec.get("shareProcessNamespace"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        problems.append(invalid(f"{path}.shareProcessNamespace", as_json(True), why))
    for field, known in (
        ("fsGroupChangePolicy", ("Always", "OnRootMismatch")),
        ("supplementalGroupsPolicy", ("Merge", "Strict")),
        ("seLinuxChangePolicy", ("MountOption", "Recursive")),
    ):
        if context.get(field) is not None:
            problems += one_of(f"{path}.{field}", context[field], known)
    problems += _sysctl_problems(f"{path}.sysctls", context.get("sysctls") or ())
    return problems + _profiles_problems(path, context)


def _sysctl_problems(path: str, sysctls: Iterable[Document]) -> list[str]:
    problems = []
    names = set()
    for number, sysctl in enumerate(sysctls):
        here, name = f"{path}[{number}].name", sysctl.get("name") or ""
        if not name:
            problems.append(required(here))
        elif len(name) > _LONGEST_SYSCTL or not _sysctl.fullmatch(name):
            why = f"must have at most {_LONGEST_SYSCTL} characters and match regex {_SYSCTL}"
            problems.append(invalid(here, name, why))
        elif name in names:
            problems.append(duplicate(here, name))
        names.add(name)
    return problems


def container_security_problems(path: str, context: Document, *, host_users: bool) -> list[str]:
    """Return the problems of the security context of a container."""
    problems = _identity_problems(path, context, ("runAsUser", "runAsGroup"))
    mount = context.get("procMount")
    if mount is not None:
        problems += one_of(f"{path}.procMount", mount, ("Default", "Unmasked"))
        if host_users and mount == "Unmasked":
            problems.append(invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`"))
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            problems.append(invalid(path, as_json(context), why))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            problems.append(invalid(path, as_json(context), why))
    return problems + _profiles_problems(path, context)


def _identity_problems(path: str, context: Document, fields: tuple[str, ...]) -> list[str]:
    return [
        invalid(f"{path}.{field}", context[field], _RANGE)
        for field in fields
        if context.get(field) is not None and not 0 <= context[field] <= _MOST
    ]


def _profiles_problems(path: str, context: Document) -> list[str]:
    problems = []
    for field, name in (("seccompProfile", "seccomp"), ("appArmorProfile", "AppArmor")):
        profile = context.get(field)
        if profile is None:
            continue
        kind, local = profile.get("type") or "", profile.get("localhostProfile")
        if not kind:
            problems.append(required(f"{path}.{field}.type", f"type is required when {field} is set"))
        else:
            problems += one_of(f"{path}.{field}.type", kind, _PROFILES)
        there = f"{path}.{field}.localhostProfile"
        if kind == "Localhost" and (local is None or (name == "AppArmor" and not local)):
            problems.append(required(there, f"must be set when {name} type is Localhost"))
        elif kind != "Localhost" and local is not None:
            shown = as_json(profile) if name == "seccomp" else local
            problems.append(invalid(there, shown, f"can only be set when {name} type is Localhost"))
    return problems
