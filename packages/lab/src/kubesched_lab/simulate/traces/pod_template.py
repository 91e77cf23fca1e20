"""Pod templates of generated traces and CSV mappings.

From a template, as users write it, to an admitted pod, and from that to pods with other requests.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubesched.api.pods import Pod
from kubesched_lab.simulate.traces.admission import TraceAdmission

replace = msgspec.structs.replace


def admitted_pod(
    template: Mapping[str, Any], metadata: Mapping[str, Any], admission: TraceAdmission, where: str
) -> Pod:
    """Return the pod of a template, with a container if it has none, and with this metadata; raises KubeschedError.

    A priority in the template needs no PriorityClass, which an API server would require.
    """
    spec = {"containers": [{"name": "main", "image": "simulated"}], **(template.get("spec") or {})}
    priority = spec.pop("priority", None)
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**(template.get("metadata") or {}), **metadata},
        "spec": spec,
    }
    pod = admission.admit(document, where)
    assert isinstance(pod, Pod)
    return pod if priority is None else with_priority(pod, priority)


def with_priority(pod: Pod, priority: int) -> Pod:
    """Return a pod with a priority."""
    return replace(pod, spec=replace(pod.spec, priority=priority))


def with_requests(pod: Pod, amounts: Mapping[str, int]) -> Pod:
    """Return a pod whose first container requests these amounts, CPU in thousandths."""
    requests = {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in amounts.items()}
    first, *others = pod.spec.containers
    first = replace(first, resources=replace(first.resources, requests={**first.resources.requests, **requests}))
    return replace(pod, spec=replace(pod.spec, containers=(first, *others)))
