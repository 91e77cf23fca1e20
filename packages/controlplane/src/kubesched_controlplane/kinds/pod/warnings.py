"""Warnings about pods: fields that are deprecated, ignored, or mean something else than they seem to.

From a defaulted pod, or the template of a workload, to sentences.
"""

# upstream: pkg/api/pod/warnings.go, pkg/registry/core/pod/strategy.go (WarningsOnCreate) (v1.36)

from collections.abc import Iterable, Iterator
from typing import Final

from kubesched.api.go_text import quote
from kubesched.api.quantity import quantity_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import dns_label_problems

_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_NO_SELECTOR: Final = "a null labelSelector results in matching no pod"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
# a path in a volume, and what it comes from
_Place = tuple[str, str]


def name_warnings(name: str) -> list[str]:
    """Return the warning about a name that is no DNS label, which the hostname of a pod should be."""
    problems = dns_label_problems(name)
    if not problems:
        return []
    why = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
    return [f"metadata.name: {why}: [{' '.join(problems)}]"]


def pod_warnings(pod: Document, path: str = "") -> list[str]:
    """Return warnings about a pod, or about a template at a path that ends with a dot."""
    spec, annotations = pod.get("spec") or {}, (pod.get("metadata") or {}).get("annotations") or {}
    here = f"{path}spec"
    return [
        *_placement_warnings(here, spec),
        *(f"{path}metadata.annotations[{key}]: {why}" for key, why in _ANNOTATIONS.items() if key in annotations),
        *_volume_warnings(f"{here}.volumes", spec.get("volumes") or ()),
        *_repeated(f"{here}.hostAliases", "ip", spec.get("hostAliases") or ()),
        *_repeated(f"{here}.imagePullSecrets", "name", spec.get("imagePullSecrets") or ()),
        *_nameless(f"{here}.imagePullSecrets", spec.get("imagePullSecrets") or ()),
        *_fractions(f"{here}.overhead", spec.get("overhead") or {}),
        *_container_warnings(here, spec),
        *_grace_warnings(here, spec),
        *_affinity_warnings(f"{here}.affinity", spec.get("affinity") or {}),
    ]


def _placement_warnings(path: str, spec: Document) -> Iterator[str]:
    for key in spec.get("nodeSelector") or {}:
        if key in _LABELS:
            yield f"{path}.nodeSelector[{key}]: {_LABELS[key]}"
    affinity, here = (spec.get("affinity") or {}).get("nodeAffinity") or {}, f"{path}.affinity.nodeAffinity"
    required = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    preferred = affinity.get(_PREFERRED) or ()
    terms = [(f"{here}.{_REQUIRED}.nodeSelectorTerms[{at}]", term) for at, term in enumerate(required)]
    terms += [
        (f"{here}.{_PREFERRED}[{at}].preference", each.get("preference") or {}) for at, each in enumerate(preferred)
    ]
    for there, term in terms:
        for number, expression in enumerate(term.get("matchExpressions") or ()):
            key = expression.get("key") or ""
            if key in _LABELS:
                yield f"{there}.matchExpressions[{number}].key: {key} is {_LABELS[key]}"
    for number, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        there, key = f"{path}.topologySpreadConstraints[{number}]", constraint.get("topologyKey") or ""
        if key in _LABELS:
            yield f"{there}.topologyKey: {key} is {_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{there}.labelSelector: {_NO_SELECTOR}"


def _affinity_warnings(path: str, affinity: Document) -> Iterator[str]:
    for field in ("podAffinity", "podAntiAffinity"):
        here, terms = f"{path}.{field}", affinity.get(field) or {}
        for number, term in enumerate(terms.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{here}.{_REQUIRED}[{number}].labelSelector: {_NO_SELECTOR}"
        for number, term in enumerate(terms.get(_PREFERRED) or ()):
            if (term.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{here}.{_PREFERRED}[{number}].podAffinityTerm.labelSelector: {_NO_SELECTOR}"


def _repeated(path: str, field: str, items: Iterable[Document]) -> Iterator[str]:
    seen = set()
    for number, item in enumerate(items):
        value = item.get(field) or ""
        if value in seen:
            yield f"{path}[{number}].{field}: duplicate {field} {quote(value)}"
        seen.add(value)


def _nameless(path: str, items: Iterable[Document]) -> Iterator[str]:
    return (f'{path}[{at}].name: invalid empty name ""' for at, item in enumerate(items) if not item.get("name"))


def _fractions(path: str, amounts: Document) -> Iterator[str]:
    for name in ("memory", "ephemeral-storage"):
        if name in amounts and (amount := quantity_of(amounts[name])).milli_value() % 1000:
            shown = quote(str(amount))
            yield f"{path}[{name}]: fractional byte value {shown} is invalid, must be an integer"


def _grace_warnings(path: str, spec: Document) -> Iterator[str]:
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        yield (
            f"{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        )


# -- containers


def _container_warnings(path: str, spec: Document) -> Iterator[str]:
    containers = [
        (f"{path}.{field}[{number}]", container)
        for field in _CONTAINERS
        for number, container in enumerate(spec.get(field) or ())
    ]
    for here, container in containers:
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        for name in ("memory", "ephemeral-storage"):
            for field, amounts in (("limits", limits), ("requests", requests)):
                known = {key: value for key, value in amounts.items() if key == name}
                yield from _fractions(f"{here}.resources.{field}", known)
        yield from _environment_warnings(here, container)
    yield from _port_warnings(containers)


def _environment_warnings(path: str, container: Document) -> Iterator[str]:
    seen = set()
    for number, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name") or "", variable.get("value") or ""
        reference = f"$({name})"
        extends = variable.get("valueFrom") is None and reference in value and value != reference
        if name in seen and not extends:
            why = f"hides previous definition of {quote(name)}, which may be dropped when using apply"
            yield f"{path}.env[{number}]: {why}"
        seen.add(name)


def _port_warnings(containers: Iterable[tuple[str, Document]]) -> Iterator[str]:
    ports = [
        (f"{path}.ports[{number}]", port)
        for path, container in containers
        for number, port in enumerate(container.get("ports") or ())
    ]
    same: dict[tuple[int, str], list[tuple[str, Document]]] = {}
    for path, port in ports:
        if port.get("hostIP") and not port.get("hostPort"):
            yield f"{path}: hostIP set without hostPort: {_shown_port(port)}"
        others = same.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
        for there, other in others:
            if why := _clash(port, other):
                yield f"{path}: {why} port definition with {there}"
        others.append((path, port))
    names: dict[str, str] = {}
    for path, port in ports:
        name = port.get("name") or ""
        if name in names:
            chosen = f"services and probes that select ports by name will use {names[name]}"
            yield f"{path}: duplicate port name {quote(name)} with {names[name]}, {chosen}"
        elif name:
            names[name] = path


def _clash(port: Document, other: Document) -> str:
    (here, number), (there, another) = ((each.get("hostIP") or "", each.get("hostPort") or 0) for each in (port, other))
    if (here, number) == (there, another):
        return "duplicate"
    if not number or not another:
        return "overlapping"
    return "dangerously ambiguous" if number == another and bool(here) != bool(there) else ""


def _shown_port(port: Document) -> str:
    fields = {"name": "", "hostPort": 0, "containerPort": 0, "protocol": "", "hostIP": ""}
    texts = (f"{field[0].upper()}{field[1:]}:{port.get(field, empty)}" for field, empty in fields.items())
    return f"{{{' '.join(texts)}}}"


# -- volumes


def _volume_warnings(path: str, volumes: Iterable[Document]) -> Iterator[str]:
    for number, volume in enumerate(volumes):
        here = f"{path}[{number}]"
        for field, why in _VOLUMES.items():
            if volume.get(field) is not None:
                yield f"{here}.{'storageOS' if field == 'storageos' else field}: {why}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        resources = (template.get("spec") or {}).get("resources") or {}
        yield from claim_warnings(f"{here}.ephemeral.volumeClaimTemplate.spec", resources)
    for volume in volumes:
        yield from _overlap_warnings(volume)


def claim_warnings(path: str, resources: Document) -> Iterator[str]:
    """Yield warnings about the storage that a claim requests."""
    for field in ("requests", "limits"):
        amount = (resources.get(field) or {}).get("storage")
        if amount is not None and (found := quantity_of(amount)).milli_value() % 1000:
            why = f"fractional byte value {quote(str(found))} is invalid, must be an integer"
            yield f"{path}.resources.{field}[storage]: {why}"


def _overlap_warnings(volume: Document) -> Iterator[str]:
    name = quote(volume.get("name") or "")
    for field in ("configMap", "secret", "downwardAPI"):
        if (source := volume.get(field)) is not None:
            places = [(item.get("path") or "", "") for item in source.get("items") or ()]
            for text in _overlaps(places):
                yield f"volume {name} ({_source_text(field, source)}): overlapping paths: {text}"
    if (projected := volume.get("projected")) is None:
        return
    found: list[_Place] = []
    for source in projected.get("sources") or ():
        if not any(each is not None for each in source.values()):
            yield f"volume {name} (Projected) has no sources provided"
        found += _projected_places(source)
    for text in _overlaps(found):
        yield f"volume {name} (Projected): overlapping paths: {text}"


def _source_text(field: str, source: Document) -> str:
    if field == "configMap":
        return f"ConfigMap {quote(source.get('name') or '')}"
    if field == "secret":
        return f"Secret {quote(source.get('secretName') or source.get('name') or '')}"
    return "DownwardAPI"


def _projected_places(source: Document) -> list[_Place]:
    for field in ("configMap", "secret", "downwardAPI"):
        if (items := (source.get(field) or {}).get("items")) is not None:
            return [(item.get("path") or "", _source_text(field, source[field])) for item in items]
    if (token := source.get("serviceAccountToken")) is not None:
        return [(token.get("path") or "", "ServiceAccountToken")]
    if (bundle := source.get("clusterTrustBundle")) is not None:
        name = quote(bundle.get("name") or bundle.get("signerName") or "")
        return [(bundle.get("path") or "", f"ClusterTrustBundle {name}")]
    certificate = source.get("podCertificate") or {}
    parts = {
        "certificateChainPath": "PodCertificate chain",
        "keyPath": "PodCertificate key",
        "credentialBundlePath": "PodCertificate credential bundle",
    }
    return [(certificate[field], text) for field, text in parts.items() if certificate.get(field)]


def _overlaps(places: Iterable[_Place]) -> Iterator[str]:
    seen: list[_Place] = []
    for path, source in places:
        place = (path.rstrip("/"), source)
        for other in seen:
            first, second = f"{place[0]}/", f"{other[0]}/"
            if place[0] and other[0] and (first.startswith(second) or second.startswith(first)):
                yield f"{_shown_place(place)} with {_shown_place(other)}"
        seen.append(place)


def _shown_place(place: _Place) -> str:
    path, source = place
    return f"{quote(path)} ({source})" if source else quote(path)
