"""The restricted Pod Security Standard (v1.36), for pods of Linux: what a specification does that it forbids."""

# upstream: staging/src/k8s.io/pod-security-admission/policy/check_*.go

from collections.abc import Iterator
from typing import Any

VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"} | {
    *("persistentVolumeClaim", "projected", "secret")
}


def violations(spec: dict[str, Any]) -> list[str]:
    """Return what the restricted standard forbids of a pod's specification."""
    return [*_of_pod(spec), *(f"{c['name']}: {why}" for c in spec["containers"] for why in _of_container(c, spec))]


def _of_pod(spec: dict[str, Any]) -> Iterator[str]:
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(name):
            yield name
    for volume in spec.get("volumes", ()):
        if not volume.keys() - {"name"} <= VOLUMES:
            yield f"volume {volume['name']}"
    if spec.get("securityContext", {}).get("sysctls"):
        yield "sysctls"


def _of_container(container: dict[str, Any], spec: dict[str, Any]) -> Iterator[str]:
    shared = spec.get("securityContext", {})
    own = container.get("securityContext", {})
    both = {**shared, **own}
    if own.get("privileged"):
        yield "privileged"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation"
    if "ALL" not in own.get("capabilities", {}).get("drop", ()):
        yield "capabilities are not dropped"
    if set(own.get("capabilities", {}).get("add", ())) - {"NET_BIND_SERVICE"}:
        yield "capabilities are added"
    if both.get("runAsNonRoot") is not True or both.get("runAsUser") == 0:
        yield "runs as root"
    if both.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "seccompProfile"
    if any(port.get("hostPort") for port in container.get("ports", ())):
        yield "hostPort"
