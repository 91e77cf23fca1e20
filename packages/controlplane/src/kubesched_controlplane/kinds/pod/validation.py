"""Validation of new and changed pods.

From a defaulted pod to problems, in the order of the reference. `spec_problems` is for pods and templates,
`pod_problems` adds the validation of pods only.
"""

# upstream: pkg/apis/core/validation/validation.go (ValidatePodSpec, validatePodMetadataAndSpec, ValidatePodCreate)
# (v1.36)

from collections.abc import Sequence
from typing import Any, Final

from kubesched.api.field_errors import forbidden, invalid, not_supported, required
from kubesched.api.labels import label_key_problems, parse_int64, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.addresses import address_problems
from kubesched_controlplane.kinds.checks import (
    dns_label_problems,
    labels_problems,
    one_of,
    search_domain_problems,
    text_problems,
)
from kubesched_controlplane.kinds.pod.containers import (
    ContainerContext,
    containers_problems,
    ephemeral_containers_problems,
    image_space_problems,
    init_containers_problems,
)
from kubesched_controlplane.kinds.pod.placement import (
    MIRROR_POD,
    affinity_problems,
    claims_problems,
    gates_problems,
    group_problems,
    spread_problems,
    tolerations_problems,
)
from kubesched_controlplane.kinds.pod.requirements import requirements_problems, whole_pod_problems
from kubesched_controlplane.kinds.pod.security import pod_security_problems
from kubesched_controlplane.kinds.pod.volumes import judge_volumes

MOST_INT32: Final = 2**31 - 1
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
MOST_NAMESERVERS: Final = 3
MOST_SEARCHES: Final = 32
_RESTARTS = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_NAMES = {
    "serviceAccountName": subdomain_problems,
    "nodeName": subdomain_problems,
    "hostname": dns_label_problems,
    "subdomain": dns_label_problems,
    "priorityClassName": subdomain_problems,
    "runtimeClassName": subdomain_problems,
}


def new_pod_problems(pod: Document) -> list[str]:
    """Return the problems of a new pod."""
    problems = pod_problems(pod)
    spec = pod["spec"]
    if spec.get("ephemeralContainers"):
        problems.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        problems.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    return problems


def pod_problems(pod: Document) -> list[str]:
    """Return the problems of a pod's spec and annotations."""
    meta, spec = pod["metadata"], pod["spec"]
    problems = []
    annotations = meta.get("annotations")
    if annotations:
        problems += _annotations_problems(annotations, spec)
    problems += spec_problems("spec", spec, meta)
    for field in ("containers", "initContainers"):
        for number, container in enumerate(spec.get(field) or ()):
            problems += image_space_problems(f"spec.{field}[{number}]", container)
    return problems


def _annotations_problems(annotations: Document, spec: Document) -> list[str]:
    problems = []
    if MIRROR_POD in annotations and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        problems.append(invalid(f"metadata.annotations[{MIRROR_POD}]", annotations[MIRROR_POD], why))
    if DELETION_COST in annotations:
        cost = annotations[DELETION_COST]
        number = None if cost.startswith("+") else parse_int64(cost)
        # the reference accepts only the canonical form of a number
        if number is None or str(number) != cost or not -MOST_INT32 - 1 <= number <= MOST_INT32:
            problems.append(invalid(f"metadata.annotations[{DELETION_COST}]", cost, "must be a 32bit integer"))
    return problems


def spec_problems(path: str, spec: Document, meta: Document | None = None) -> list[str]:
    """Return the problems of a spec; `meta` is the metadata of its pod, None in a template."""
    annotations = (meta or {}).get("annotations") or {}
    containers, first = spec.get("containers") or (), spec.get("initContainers") or ()
    volumes, problems = judge_volumes(f"{path}.volumes", spec.get("volumes") or (), (meta or {}).get("name") or "")
    claims = spec.get("resourceClaims") or ()
    problems += claims_problems(f"{path}.resourceClaims", claims, annotations)
    around = ContainerContext(
        volumes=volumes,
        claim_names={claim["name"] for claim in claims if claim.get("name")},
        grace_seconds=spec["terminationGracePeriodSeconds"],
        restart_policy=spec["restartPolicy"],
        host_users=spec.get("hostUsers") is not False,
    )
    problems += containers_problems(f"{path}.containers", containers, around)
    problems += init_containers_problems(f"{path}.initContainers", first, containers, around)
    ephemeral = spec.get("ephemeralContainers") or ()
    if ephemeral:
        there = f"{path}.ephemeralContainers"
        problems += ephemeral_containers_problems(there, ephemeral, [*containers, *first], around)
    if spec.get("resources") is not None:
        problems += whole_pod_problems(f"{path}.resources", spec, around.claim_names)
    problems += _host_problems(path, spec, of_pod=meta is not None)
    problems += one_of(f"{path}.restartPolicy", spec["restartPolicy"], _RESTARTS)
    problems += one_of(f"{path}.dnsPolicy", spec["dnsPolicy"], _DNS_POLICIES)
    problems += labels_problems(f"{path}.nodeSelector", spec.get("nodeSelector"))
    problems += pod_security_problems(f"{path}.securityContext", spec)
    problems += _placement_problems(path, spec)
    problems += _alias_problems(f"{path}.hostAliases", spec.get("hostAliases") or ())
    problems += _dns_problems(f"{path}.dnsConfig", spec)
    for number, gate in enumerate(spec.get("readinessGates") or ()):
        there = f"{path}.readinessGates[{number}].conditionType"
        problems += text_problems(there, gate.get("conditionType") or "", label_key_problems)
    for field, rule in _NAMES.items():
        if spec.get(field):
            problems += text_problems(f"{path}.{field}", spec[field], rule)
    return problems + _rest_problems(path, spec)


def _placement_problems(path: str, spec: Document) -> list[str]:
    problems = []
    for field, rule in _PLACEMENT.items():
        if spec.get(field):
            problems += rule(f"{path}.{field}", spec[field])
    return problems


_PLACEMENT: Final[dict[str, Any]] = {
    "affinity": affinity_problems,
    "schedulingGates": gates_problems,
    "topologySpreadConstraints": spread_problems,
    "tolerations": tolerations_problems,
}


def _rest_problems(path: str, spec: Document) -> list[str]:
    problems = []
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= MOST_INT32:
        why = f"must be between 1 and {MOST_INT32}, inclusive"
        problems.append(invalid(f"{path}.activeDeadlineSeconds", deadline, why))
    policy = spec.get("preemptionPolicy")
    if policy == "":
        problems.append(required(f"{path}.preemptionPolicy"))
    elif policy is not None:
        problems += one_of(f"{path}.preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))
    if spec.get("overhead"):
        problems += requirements_problems(f"{path}.overhead", {"limits": spec["overhead"]})
    system = spec.get("os")
    if system is not None and not system.get("name"):
        problems.append(required(f"{path}.os.name"))
    elif system is not None and system["name"] not in ("linux", "windows"):
        problems.append(not_supported(f"{path}.os", system["name"], ("linux", "windows")))
    if spec.get("schedulingGroup") is not None:
        problems += group_problems(f"{path}.schedulingGroup", spec["schedulingGroup"])
    return problems


def _host_problems(path: str, spec: Document, *, of_pod: bool) -> list[str]:
    """Return the problems of the host network and host namespaces of a pod."""
    problems = []
    if spec.get("hostNetwork"):
        for number, container in enumerate(spec.get("containers") or ()):
            for place, port in enumerate(container.get("ports") or ()):
                outside = port.get("hostPort", 0)
                if (of_pod or outside) and outside != port.get("containerPort", 0):
                    why = "must match `containerPort` when `hostNetwork` is true"
                    problems.append(invalid(f"{path}.containers[{number}].ports[{place}].hostPort", outside, why))
    if spec.get("hostUsers") is False:
        for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
            if spec.get(field):
                problems.append(forbidden(f"{path}.{shown}", "when `hostUsers` is false"))
    return problems


def _alias_problems(path: str, aliases: Sequence[Document]) -> list[str]:
    problems = []
    for number, alias in enumerate(aliases):
        problems += address_problems(f"{path}[{number}].ip", alias.get("ip") or "")
        for place, name in enumerate(alias.get("hostnames") or ()):
            problems += text_problems(f"{path}[{number}].hostnames[{place}]", name, subdomain_problems)
    return problems


def _dns_problems(path: str, spec: Document) -> list[str]:
    config = spec.get("dnsConfig")
    servers = (config or {}).get("nameservers") or ()
    if spec["dnsPolicy"] == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not servers:
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{path}.nameservers", why)]
    if config is None:
        return []
    problems = []
    if len(servers) > MOST_NAMESERVERS:
        why = f"must not have more than {MOST_NAMESERVERS} nameservers"
        problems.append(invalid(f"{path}.nameservers", servers, why))
    for number, server in enumerate(servers):
        problems += address_problems(f"{path}.nameservers[{number}]", server)
    searches = config.get("searches") or ()
    if len(searches) > MOST_SEARCHES:
        problems.append(invalid(f"{path}.searches", searches, f"must not have more than {MOST_SEARCHES} search paths"))
    for number, search in enumerate(searches):
        # a trailing dot and underscores are allowed
        if search != ".":
            here = f"{path}.searches[{number}]"
            problems += text_problems(here, search.removesuffix("."), search_domain_problems)
    for number, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            problems.append(required(f"{path}.options[{number}]", "must not be empty"))
    return problems
