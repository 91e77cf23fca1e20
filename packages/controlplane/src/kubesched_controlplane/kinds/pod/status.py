"""The status of pods: setting of conditions, fields that an update keeps, validation.

From a client's status to a storable one, or to problems.
"""

# upstream: pkg/api/pod/util.go (UpdatePodCondition), pkg/registry/core/pod/strategy.go (podStatusStrategy),
# pkg/apis/core/validation/validation.go (ValidatePodStatusUpdate) (v1.36)

from collections.abc import Sequence
from datetime import datetime
from ipaddress import ip_address
from typing import Final

from kubesched.api.field_errors import as_json, duplicate, forbidden, invalid, required
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.addresses import address_problems
from kubesched_controlplane.kinds.checks import dns_label_problems, immutable, text_problems
from kubesched_controlplane.kinds.pod.amounts import containers_of, resources_of

_OF_THE_SYSTEM = ("PodScheduled", "Ready", "Initialized")
_NOT_NEGATIVE: Final = "must be a non-negative integer"
_STATUSES = {
    "containerStatuses": "containers",
    "initContainerStatuses": "initContainers",
    "ephemeralContainerStatuses": "",
}


def set_condition(status: Document, condition: Document, now: datetime) -> None:
    """Add or replace a condition; its transition time is now, unless its status is unchanged."""
    conditions = status.get("conditions")
    if conditions is None:
        conditions = status["conditions"] = []
    for number, old in enumerate(conditions):
        if old.get("type") == condition["type"]:
            same = old.get("status") == condition["status"]
            since = old.get("lastTransitionTime") if same else None
            conditions[number] = {**condition, "lastTransitionTime": since or timestamp(now)}
            return
    conditions.append({**condition, "lastTransitionTime": timestamp(now)})


def condition_of(pod: Document, kind: str) -> Document | None:
    """Return the condition of a type, None if the pod has none."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == kind:
            found: Document = condition
            return found
    return None


def keep_from_old(status: Document, before: Document) -> None:
    """Keep the QoS class and the observed generations that a client leaves out."""
    if not status.get("qosClass") and before.get("qosClass"):
        status["qosClass"] = before["qosClass"]
    if not status.get("observedGeneration") and before.get("observedGeneration"):
        status["observedGeneration"] = before["observedGeneration"]
    known: dict[str, list[int]] = {}
    for condition in before.get("conditions") or ():
        known.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration", 0))
    for condition in status.get("conditions") or ():
        generations = known.get(condition.get("type", ""))
        generation = generations.pop(0) if generations else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation


def status_problems(new: Document, old: Document) -> list[str]:
    """Return the problems of a change of a pod's status."""
    status, before, spec = new["status"], old.get("status") or {}, old.get("spec") or {}
    problems = _conditions_problems("status.conditions", status.get("conditions") or ())
    problems += _nomination_problems(status, before, spec)
    if status.get("observedGeneration", 0) < 0:
        problems.append(invalid("status.observedGeneration", status["observedGeneration"], _NOT_NEGATIVE))
    problems += immutable("status.qosClass", status.get("qosClass") or "", before.get("qosClass") or "")
    for field, containers in _STATUSES.items():
        if before.get(field):
            known = (spec.get(containers) or ()) if containers else None
            problems += _transition_problems(f"status.{field}", status.get(field) or (), before[field], spec, known)
    problems += _claims_problems(status.get("resourceClaimStatuses") or (), spec.get("resourceClaims") or ())
    if status.get("extendedResourceClaimStatus"):
        problems += _extended_problems(status["extendedResourceClaimStatus"], spec)
    for field in ("podIPs", "hostIPs"):
        if status.get(field) and status.get(field) != before.get(field):
            problems += _addresses_problems(f"status.{field}", status[field])
    hosts = status.get("hostIPs")
    if hosts and hosts[0].get("ip", "") != status.get("hostIP", ""):
        problems.append(invalid("status.hostIPs[0].ip", hosts[0].get("ip", ""), "must be equal to `hostIP`"))
    return problems


def _conditions_problems(path: str, conditions: Sequence[Document]) -> list[str]:
    problems = []
    for number, condition in enumerate(conditions):
        generation = condition.get("observedGeneration", 0)
        if generation < 0:
            problems.append(invalid(f"{path}[{number}].observedGeneration", generation, _NOT_NEGATIVE))
        kind = condition.get("type") or ""
        if kind not in _OF_THE_SYSTEM:
            problems += text_problems(f"{path}[{number}].Type", kind, label_key_problems)
    return problems


def _nomination_problems(status: Document, before: Document, spec: Document) -> list[str]:
    path, name = "status.nominatedNodeName", status.get("nominatedNodeName") or ""
    if not name or name == before.get("nominatedNodeName"):
        return []
    problems = text_problems(path, name, subdomain_problems)
    if spec.get("nodeName"):
        problems.append(forbidden(path, "may not be set on pods that are already bound to a node"))
    return problems


def _transition_problems(
    path: str,
    statuses: Sequence[Document],
    before: Sequence[Document],
    spec: Document,
    containers: Sequence[Document] | None,
) -> list[str]:
    """Return the problems of terminated containers that become non-terminated, but may not restart.

    `containers` are the regular ones of the spec; None is for ephemeral containers, which never restart.
    """
    if containers is not None and _all_may_restart(spec):
        return []
    problems = []
    by_name = {container.get("name"): container for container in containers or ()}
    for number, old in enumerate(before):
        ended = (old.get("state") or {}).get("terminated")
        if ended is None:
            continue
        now = next((each for each in statuses if each.get("name") == old.get("name")), None)
        if now is None or (now.get("state") or {}).get("terminated") is not None:
            continue
        container = by_name.get(old.get("name"))
        if container is None or not _may_restart(container, spec, ended.get("exitCode", 0)):
            problems.append(forbidden(f"{path}[{number}].state", "may not be transitioned to non-terminated state"))
    return problems


def _all_may_restart(spec: Document) -> bool:
    return any(
        rule.get("action") == "RestartAllContainers"
        for container in containers_of(spec)
        for rule in container.get("restartPolicyRules") or ()
    )


def _may_restart(container: Document, spec: Document, code: int) -> bool:
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        if (code in (codes.get("values") or ())) is (codes.get("operator") == "In"):
            return True
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    return policy != "Never" and (policy != "OnFailure" or code != 0)


def _claims_problems(statuses: Sequence[Document], claims: Sequence[Document]) -> list[str]:
    problems = []
    seen = set()
    known = {claim.get("name") for claim in claims}
    for number, status in enumerate(statuses):
        path, name = f"status.resourceClaimStatuses[{number}]", status.get("name") or ""
        if name not in known:
            why = "must match the name of an entry in `spec.resourceClaims`"
            problems.append(invalid(f"{path}.name", name, why))
        if name in seen:
            problems.append(duplicate(f"{path}.name", name))
        seen.add(name)
        if status.get("resourceClaimName") is not None:
            problems += text_problems(f"{path}.resourceClaimName", status["resourceClaimName"], subdomain_problems)
    return problems


def _extended_problems(status: Document, spec: Document) -> list[str]:
    path = "status.extendedResourceClaimStatus"
    mappings = status.get("requestMappings") or ()
    problems = [] if mappings else [required(f"{path}.requestMappings", "at least one request mapping is required")]
    containers = {container.get("name"): container for container in containers_of(spec)}
    seen = set()
    for number, mapping in enumerate(mappings):
        here = f"{path}.requestMappings[{number}]"
        key = tuple(mapping.get(field) or "" for field in ("containerName", "resourceName", "requestName"))
        container = containers.get(key[0])
        if container is None:
            why = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
            problems.append(invalid(f"{here}.containerName", key[0], why))
        elif key[1] not in resources_of(container, "requests"):
            why = (
                "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
                "spec.containers.resources.requests"
            )
            problems.append(invalid(f"{here}.resourceName", key[1], why))
        problems += text_problems(f"{path}.requestName", key[2], dns_label_problems)
        if key in seen:
            fields = ("containerName", "resourceName", "requestName")
            problems += [duplicate(f"{here}.{field}", value) for field, value in zip(fields, key, strict=True)]
        seen.add(key)
    name = status.get("resourceClaimName") or ""
    there = f"{path}.resourceClaimName"
    return problems + (text_problems(there, name, subdomain_problems) if name else [required(there)])


def _addresses_problems(path: str, addresses: Sequence[Document]) -> list[str]:
    texts = [address.get("ip") or "" for address in addresses]
    problems = []
    for number, text in enumerate(texts):
        problems += address_problems(f"{path}[{number}]", text)
    if not problems and len({ip_address(text).version for text in texts}) != len(texts):
        shown = as_json([{"IP": text} for text in texts])
        problems.append(invalid(path, shown, "may specify no more than one IP for each IP family"))
    return problems
