"""Defaulting of pods.

From a document to the same document with defaults; empty values get defaults too, as in the reference. `default_spec`
is for pods and templates, `default_pod` adds the defaults of pods only.
"""

# upstream: pkg/apis/core/v1/{defaults,conversion,zz_generated.defaults}.go (v1.36)

from collections.abc import Callable
from typing import Any

from kubesched.api.quantity import Quantity
from kubesched.api.resources import is_pod_level_resource
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.pod.amounts import containers_of, resources_of, sum_of_containers, write_canonically

_SPEC = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
}
_CONTAINER = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_HTTP_GET = {"path": "/", "scheme": "HTTP"}
GRACE_SECONDS = 30
_FILE_MODE = 0o644
_TOKEN_SECONDS = 3600
# defaults of volume sources; zeros are kept
_VOLUME_SOURCES: dict[str, dict[str, Any]] = {
    "secret": {"defaultMode": _FILE_MODE},
    "configMap": {"defaultMode": _FILE_MODE},
    "downwardAPI": {"defaultMode": _FILE_MODE},
    "projected": {"defaultMode": _FILE_MODE},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def default_pod(pod: Document) -> None:
    """Set the defaults of a pod."""
    spec = pod.setdefault("spec", {})
    for container in containers_of(spec):
        _request_what_is_limited(container)
    if spec.get("resources"):
        _default_whole(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in containers_of(spec):
            for port in container.get("ports") or ():
                _fill(port, {"hostPort": port.get("containerPort", 0)})
    default_spec(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1


def default_spec(spec: Document) -> None:
    """Set the defaults of the spec of a pod or template."""
    _fill(spec, _SPEC)
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in spec.get("volumes") or ():
        _default_volume(volume)
    for container in (*containers_of(spec), *(spec.get("ephemeralContainers") or ())):
        _default_container(container)
    write_canonically(spec.get("overhead"))
    _write_requirements(spec.get("resources"))


def default_status(status: Document) -> None:
    """Rewrite the amounts of a status in canonical form, and make podIP and podIPs agree."""
    for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for container in status.get(field) or ():
            write_canonically(container.get("allocatedResources"))
            _write_requirements(container.get("resources"))
    write_canonically(status.get("allocatedResources"))
    _write_requirements(status.get("resources"))
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and addresses[0].get("ip"):
        status["podIP"] = addresses[0]["ip"]


def _request_what_is_limited(container: Document) -> None:
    """Default the requests of a container to its limits."""
    resources = container.get("resources") or {}
    limits = resources.get("limits")
    if limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def _default_whole(spec: Document) -> None:
    """Default the pod-level requests and limits to the containers' sums."""
    whole = spec["resources"]
    limits, requests = dict(whole.get("limits") or {}), dict(whole.get("requests") or {})
    if not limits and not requests:
        return
    if any("hugepages-" in name for container in containers_of(spec) for name in resources_of(container, "limits")):
        limits |= _missing(
            sum_of_containers(spec, "limits"),
            lambda name: name.startswith("hugepages-") and name not in requests and name not in limits,
        )
        whole["limits"] = limits
    if not limits:
        return
    requests |= _missing(
        sum_of_containers(spec, "requests"), lambda name: name in ("cpu", "memory") and name not in requests
    )
    requests |= {
        name: amount for name, amount in limits.items() if name not in requests and is_pod_level_resource(name)
    }
    if requests:
        whole["requests"] = requests


def _missing(amounts: dict[str, Quantity], wanted: Callable[[str], bool]) -> Document:
    return {name: str(amount) for name, amount in amounts.items() if wanted(name)}


def _default_container(container: Document) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image") or "")
    _fill(container, _CONTAINER)
    container["resources"] = container.get("resources") or {}
    _write_requirements(container["resources"])
    for port in container.get("ports") or ():
        _fill(port, {"protocol": "TCP"})
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        _default_field_reference(source)
        if source.get("fileKeyRef"):
            source["fileKeyRef"].setdefault("optional", False)
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None:
            _fill(probe, _PROBE)
            _default_action(probe)
            if probe.get("grpc"):
                probe["grpc"].setdefault("service", "")
    lifecycle = container.get("lifecycle") or {}
    for name in ("postStart", "preStop"):
        _default_action(lifecycle.get(name) or {})


def _default_action(handler: Document) -> None:
    if handler.get("httpGet"):
        _fill(handler["httpGet"], _HTTP_GET)


def _default_field_reference(source: Document) -> None:
    if source.get("fieldRef"):
        _fill(source["fieldRef"], {"apiVersion": "v1"})


def _default_volume(volume: Document) -> None:
    sources = [field for field in volume if field != "name"]
    if not sources:
        volume["emptyDir"] = {}
    for field in sources:
        defaults = _VOLUME_SOURCES.get(field)
        if defaults is not None:
            _fill_unset(volume[field], defaults)
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = pull_policy(image.get("reference") or "")
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        _default_field_reference(item)
    for source in (volume.get("projected") or {}).get("sources") or ():
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            _default_field_reference(item)
        if source.get("serviceAccountToken"):
            source["serviceAccountToken"].setdefault("expirationSeconds", _TOKEN_SECONDS)
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template:
        claim = template.setdefault("spec", {})
        claim.setdefault("volumeMode", "Filesystem")
        _write_requirements(claim.get("resources"))


def _write_requirements(resources: Document | None) -> None:
    if resources:
        write_canonically(resources.get("limits"))
        write_canonically(resources.get("requests"))


def pull_policy(image: str) -> str:
    """Return the default pull policy of an image: Always for the tag `latest` or no tag."""
    reference, _, digest = image.partition("@")
    name, colon, tag = reference.rpartition(":")
    # in `registry:5000/image` the colon is not followed by a tag
    tagged = bool(colon) and "/" not in tag
    latest = tag == "latest" if tagged else bool(name or tag) and not digest
    return "Always" if latest else "IfNotPresent"


def _fill(holder: Document, defaults: dict[str, Any]) -> None:
    """Set defaults in place of missing, empty and zero values."""
    for field, value in defaults.items():
        if not holder.get(field):
            holder[field] = value


def _fill_unset(holder: Document, defaults: dict[str, Any]) -> None:
    """Set defaults in place of missing and empty values."""
    for field, value in defaults.items():
        if holder.get(field) in (None, ""):
            holder[field] = value
