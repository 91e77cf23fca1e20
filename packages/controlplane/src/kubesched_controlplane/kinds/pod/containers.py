"""Validation of a pod's containers.

From containers, init containers and ephemeral containers to problems.
"""

# upstream: pkg/apis/core/validation/validation.go (validateContainers, validateInitContainers,
# validateEphemeralContainers, validateContainerCommon) (v1.36)

from collections.abc import Collection, Mapping, Sequence

import msgspec

from kubesched.api.field_errors import duplicate, forbidden, invalid, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    dns_label_problems,
    one_of,
    port_name_problems,
    port_problems,
    text_problems,
    too_many,
)
from kubesched_controlplane.kinds.pod.mounts import environment_problems, mounts_problems, not_found
from kubesched_controlplane.kinds.pod.probes import PROBES, lifecycle_problems, probes_problems
from kubesched_controlplane.kinds.pod.requirements import requirements_problems
from kubesched_controlplane.kinds.pod.security import container_security_problems
from kubesched_controlplane.kinds.pod.volumes import PULL_POLICIES

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_RESTARTS = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS = ("Restart", "RestartAllContainers")
MOST_RESTART_RULES = 20
MOST_EXIT_CODES = 255
# fields that ephemeral containers may not have
_NOT_EPHEMERAL = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    *PROBES,
    "lifecycle",
)


class ContainerContext(msgspec.Struct, frozen=True):
    """The fields of a pod that the validation of containers needs: valid volumes, names of claims, and settings."""

    volumes: Mapping[str, Document]
    claim_names: Collection[str]
    grace_seconds: int
    restart_policy: str
    host_users: bool


def containers_problems(path: str, containers: Sequence[Document], around: ContainerContext) -> list[str]:
    """Return the problems of the regular containers."""
    if not containers:
        return [required(path)]
    problems = []
    names = set()
    for number, container in enumerate(containers):
        here = f"{path}[{number}]"
        problems += _common_problems(here, container, around)
        name = container.get("name") or ""
        if name in names:
            problems.append(duplicate(f"{here}.name", name))
        names.add(name)
        problems += _living_problems(here, container, around)
        problems += _restart_problems(here, container)
    return problems + _host_ports_problems(path, containers)


def init_containers_problems(
    path: str, containers: Sequence[Document], regular: Sequence[Document], around: ContainerContext
) -> list[str]:
    """Return the problems of the init containers."""
    problems = []
    names = {container.get("name") or "" for container in regular}
    for number, container in enumerate(containers):
        here = f"{path}[{number}]"
        problems += _common_problems(here, container, around)
        problems += _restart_problems(here, container)
        name = container.get("name") or ""
        if name in names:
            problems.append(duplicate(f"{here}.name", name))
        elif name:
            names.add(name)
        # init containers run one by one, so their host ports do not conflict
        problems += _host_ports_problems(path, [container])
        if container.get("restartPolicy") == "Always":
            problems += _living_problems(here, container, around)
            continue
        for field in ("lifecycle", *PROBES):
            if container.get(field) is not None:
                why = "may not be set for init containers without restartPolicy=Always"
                problems.append(forbidden(f"{here}.{field}", why))
        for place, policy in enumerate(container.get("resizePolicy") or ()):
            if policy.get("restartPolicy") == "RestartContainer":
                why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                problems.append(invalid(f"{here}.resizePolicy[{place}].restartPolicy", "RestartContainer", why))
    return problems


def ephemeral_containers_problems(
    path: str, containers: Sequence[Document], others: Sequence[Document], around: ContainerContext
) -> list[str]:
    """Return the problems of the ephemeral containers."""
    problems = []
    targets = {container.get("name") or "" for container in others}
    names = set(targets)
    for number, container in enumerate(containers):
        here = f"{path}[{number}]"
        problems += _common_problems(here, container, around)
        problems += image_space_problems(here, container)
        name, target = container.get("name") or "", container.get("targetContainerName") or ""
        if name in names:
            problems.append(duplicate(f"{here}.name", name))
        names.add(name)
        if target and target not in targets:
            problems.append(not_found(f"{here}.targetContainerName", target))
        for field in _NOT_EPHEMERAL:
            if container.get(field):
                problems.append(forbidden(f"{here}.{field}", "cannot be set for an Ephemeral Container"))
    return problems


def image_space_problems(path: str, container: Document) -> list[str]:
    """Return the problem of whitespace around the name of an image."""
    image = container.get("image") or ""
    if image == image.strip():
        return []
    return [invalid(f"{path}.image", image, "must not have leading or trailing whitespace")]


def _common_problems(path: str, container: Document, around: ContainerContext) -> list[str]:
    """Return the problems that all types of containers can have."""
    name = container.get("name") or ""
    problems = text_problems(f"{path}.name", name, dns_label_problems) if name else [required(f"{path}.name")]
    if not container.get("image"):
        problems.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy") or ""
    problems += one_of(f"{path}.terminationMessagePolicy", policy, ("File", "FallbackToLogsOnError"))
    if container.get("ports"):
        problems += _ports_problems(f"{path}.ports", container["ports"])
    problems += environment_problems(path, container)
    problems += mounts_problems(path, container, around.volumes)
    problems += one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy") or "", PULL_POLICIES)
    if container.get("resources"):
        problems += requirements_problems(f"{path}.resources", container["resources"], around.claim_names)
    if container.get("resizePolicy"):
        problems += _resize_problems(f"{path}.resizePolicy", container["resizePolicy"], around.restart_policy)
    if container.get("securityContext"):
        there = f"{path}.securityContext"
        problems += container_security_problems(there, container["securityContext"], host_users=around.host_users)
    return problems


def _living_problems(path: str, container: Document, around: ContainerContext) -> list[str]:
    """Return the problems of the probes and hooks of a regular container or sidecar."""
    problems = []
    if container.get("lifecycle"):
        problems += lifecycle_problems(f"{path}.lifecycle", container["lifecycle"], around.grace_seconds)
    return problems + probes_problems(path, container, around.grace_seconds)


def _ports_problems(path: str, ports: Sequence[Document]) -> list[str]:
    problems = []
    names = set()
    for number, port in enumerate(ports):
        here = f"{path}[{number}]"
        name = port.get("name") or ""
        if name:
            wrong = text_problems(f"{here}.name", name, port_name_problems)
            if not wrong and name in names:
                wrong = [duplicate(f"{here}.name", name)]
            problems += wrong
            names.add(name)
        inside, outside = port.get("containerPort", 0), port.get("hostPort", 0)
        problems += port_problems(f"{here}.containerPort", inside) if inside else [required(f"{here}.containerPort")]
        problems += port_problems(f"{here}.hostPort", outside) if outside else []
        problems += one_of(f"{here}.protocol", port.get("protocol") or "", _PROTOCOLS)
    return problems


def _host_ports_problems(path: str, containers: Sequence[Document]) -> list[str]:
    """Return the problems of duplicate host ports."""
    problems = []
    taken = set()
    for number, container in enumerate(containers):
        for place, port in enumerate(container.get("ports") or ()):
            if port.get("hostPort"):
                text = f"{port.get('protocol', '')}/{port.get('hostIP') or ''}/{port['hostPort']}"
                if text in taken:
                    problems.append(duplicate(f"{path}[{number}].ports[{place}].hostPort", text))
                taken.add(text)
    return problems


def _resize_problems(path: str, policies: Sequence[Document], restart_policy: str) -> list[str]:
    problems = []
    seen = set()
    for number, policy in enumerate(policies):
        name, restart = policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        if name in seen:
            problems.append(duplicate(f"{path}[{number}]", name))
        seen.add(name)
        for value, known in ((name, ("cpu", "memory")), (restart, ("NotRequired", "RestartContainer"))):
            problems += one_of(path, value, known) if value else [required(path)]
        if restart_policy == "Never" and restart != "NotRequired":
            why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            problems.append(invalid(path, restart, why))
    return problems


def _restart_problems(path: str, container: Document) -> list[str]:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    problems = []
    if policy is not None:
        problems += one_of(f"{path}.restartPolicy", policy, _RESTARTS)
    elif rules:
        why = "must specify restartPolicy when restart rules are used"
        problems.append(required(f"{path}.restartPolicy", why))
    if len(rules) > MOST_RESTART_RULES:
        problems.append(too_many(f"{path}.restartPolicyRules", len(rules), MOST_RESTART_RULES))
    for number, rule in enumerate(rules):
        here = f"{path}.restartPolicyRules[{number}]"
        problems += one_of(f"{here}.action", rule.get("action") or "", _RESTART_ACTIONS)
        codes = rule.get("exitCodes")
        if codes is None:
            problems.append(required(f"{here}.exitCodes", "must be specified"))
            continue
        problems += one_of(f"{here}.exitCodes.operator", codes.get("operator") or "", ("In", "NotIn"))
        if len(codes.get("values") or ()) > MOST_EXIT_CODES:
            problems.append(too_many(f"{here}.exitCodes.values", len(codes["values"]), MOST_EXIT_CODES))
    return problems
