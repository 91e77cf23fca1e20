"""The assumed usage of pods: their requests, or the usage in annotations.

From a pod's document to amounts of cpu and memory for each container. Nothing runs in pods, so their requests are the
best guess; the annotations `kubesched.io/cpu-usage` and `kubesched.io/memory-usage` give the usage of the first
container.
"""

from kubesched.api.quantity import ZERO, InvalidQuantityError, Quantity, quantity_of
from kubesched_controlplane.api.documents import Document

RESOURCES = ("cpu", "memory")
USAGE = "kubesched.io/{}-usage"
Usage = dict[str, Quantity]


def container_usages(pod: Document) -> dict[str, Usage]:
    """Return the usage of a pod's regular containers and sidecars, by name."""
    spec, annotations = pod["spec"], pod["metadata"].get("annotations") or {}
    sidecars = [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
    usages = {container["name"]: _requested(container) for container in (*spec["containers"], *sidecars)}
    first = usages[spec["containers"][0]["name"]]
    for name in RESOURCES:
        said = annotations.get(USAGE.format(name))
        if said is not None:
            first[name] = _amount(said) or first[name]
    return usages


def is_measured(pod: Document) -> bool:
    """Return whether a pod is running, and so has a usage."""
    return (pod.get("status") or {}).get("phase") == "Running"


def total(usages: list[Usage]) -> Usage:
    """Return the sum of usages."""
    return {name: sum((usage[name] for usage in usages), start=ZERO) for name in RESOURCES}


def _requested(container: Document) -> Usage:
    requests = (container.get("resources") or {}).get("requests") or {}
    return {name: quantity_of(requests[name]) if name in requests else ZERO for name in RESOURCES}


def _amount(text: str) -> Quantity | None:
    try:
        found = quantity_of(text)
    except InvalidQuantityError:
        return None
    return found if found.sign() >= 0 else None
