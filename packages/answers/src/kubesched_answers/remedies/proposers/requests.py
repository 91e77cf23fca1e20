"""NodeResourcesFit: requests lowered to a node's free amounts, and a higher limit of pods.

From the shortages of a node to a step for each resource: the largest request that fits.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kubesched.api.nodes import Node
from kubesched.api.pods import Container, Pod
from kubesched.api.quantity import DECIMAL_SI, Quantity, from_milli_value, from_value, quantity_of
from kubesched.api.resources import CPU, has_pod_level_requests, is_pod_level_resource
from kubesched.model.rejections import PODS, Shortage
from kubesched_answers.amounts import quantity_text, rounded_down
from kubesched_answers.remedies.proposers.obstacles import Obstacle, object_step, pod_step
from kubesched_answers.remedies.steps import Document, Step, Steps
from kubesched_answers.remedies.trials import Trial

# in the unit of the table: cpu in thousandths, everything else in units
Amounts = dict[tuple[str, int], int]


def requests(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield lower requests, and a higher limit of pods where it is too low."""
    if obstacle.row is None:
        return
    node = trial.node(obstacle.row)
    steps = []
    for shortage in trial.rejections.shortages(obstacle.row):
        step = _more_pods(node, shortage) if shortage.resource == PODS else _lowered(trial, shortage)
        if step is None:
            return
        steps.append(step)
    yield tuple(steps)


def _more_pods(node: Node, shortage: Shortage) -> Step | None:
    old = node.status.allocatable.get(PODS)
    if old is None:
        return None
    wanted = quantity_of(old).value() + shortage.missing

    def edit(document: Document) -> None:
        document["status"]["allocatable"][PODS] = str(wanted)

    text = f"allow {wanted} pods on node {node.name} in place of {old}, with maxPods of its kubelet"
    return replace(object_step(node, "allocatable", text, edit), outside=True)


def _lowered(trial: Trial, shortage: Shortage) -> Step | None:
    """Return the step that lowers the requests of a resource to the free amount; None if that is impossible."""
    pod, resource = trial.pod.pod, shortage.resource
    overhead = _amount(pod.spec.overhead, resource)
    room = max(shortage.free, 0) - overhead
    if room < 0:
        return None
    lowered = _fitting(pod, resource, room)
    if not all(lowered.values()):
        # skip containers that do not request it
        return None
    of_pod = _pod_level(pod, resource)
    if of_pod is not None and of_pod <= room and not lowered:
        return None
    texts = [_sentence(_container(pod, place), resource, amount) for place, amount in lowered.items()]
    new_level = room if of_pod is not None and of_pod > room else None
    if new_level is not None and pod.spec.resources is not None:
        old = quantity_text(resource, pod.spec.resources.requests[resource])
        new = rounded_down(resource, new_level)
        texts.insert(0, f"lower the {resource} request of the pod from {old} to {new}")

    def edit(document: Document) -> None:
        spec = document["spec"]
        for (field, index), amount in lowered.items():
            _write(spec[field][index], resource, amount)
        if new_level is not None:
            _write(spec, resource, new_level)

    less = min(shortage.missing, shortage.wanted)
    step = pod_step(trial, f"requests of {resource}", "; ".join(texts), edit, less / max(shortage.wanted, 1))
    return replace(
        step, tuned=lambda number: _lowered(trial, shortage._replace(free=shortage.wanted - number)), number=less
    )


def _fitting(pod: Pod, resource: str, room: int) -> Amounts:
    """Return the lower amounts of containers with which the pod needs no more than `room`."""
    spec = pod.spec
    amounts: Amounts = {
        (field, index): _amount(container.resources.requests, resource)
        for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers))
        for index, container in enumerate(containers)
    }
    before = dict(amounts)
    sidecar = {("initContainers", i): c.restart_policy == "Always" for i, c in enumerate(spec.init_containers)}
    together = [place for place in amounts if sidecar.get(place, True)]
    _take(amounts, together, sum(amounts[place] for place in together) - room)
    beside = 0
    for index in range(len(spec.init_containers)):
        place = ("initContainers", index)
        if sidecar[place]:
            beside += amounts[place]
        else:
            amounts[place] = min(amounts[place], max(room - beside, 0))
    return {place: amount for place, amount in amounts.items() if amount != before[place]}


def _take(amounts: Amounts, places: list[tuple[str, int]], excess: int) -> None:
    """Lower the largest amounts first, until the excess is removed."""
    for place in sorted(places, key=lambda place: -amounts[place]):
        less = min(max(excess, 0), amounts[place])
        amounts[place] -= less
        excess -= less


def _pod_level(pod: Pod, resource: str) -> int | None:
    if not has_pod_level_requests(pod) or not is_pod_level_resource(resource) or pod.spec.resources is None:
        return None
    requests = pod.spec.resources.requests
    return _amount(requests, resource) if resource in requests else None


def _container(pod: Pod, place: tuple[str, int]) -> Container:
    field, index = place
    return (pod.spec.containers if field == "containers" else pod.spec.init_containers)[index]


def _sentence(container: Container, resource: str, amount: int) -> str:
    old, new = quantity_text(resource, container.resources.requests[resource]), rounded_down(resource, amount)
    return f"lower the {resource} request of container {container.name} from {old} to {new}"


def _amount(amounts: Mapping[str, Any], resource: str) -> int:
    quantity = quantity_of(amounts.get(resource, 0))
    return quantity.milli_value() if resource == CPU else quantity.value()


def _quantity(resource: str, amount: int, old: Quantity) -> Quantity:
    form = old.format or DECIMAL_SI
    return from_milli_value(amount, form) if resource == CPU else from_value(amount, form)


def _write(owner: Document, resource: str, amount: int) -> None:
    """Write a lower request, and the same limit where there is one that equals the request."""
    resources = owner.setdefault("resources", {})
    requests, limits = resources.setdefault("requests", {}), resources.get("limits", {})
    # in a template the request may come from its limit, or from a LimitRange
    old = quantity_of(requests.get(resource, limits.get(resource, 0)))
    text = str(_quantity(resource, amount, old))
    if resource in limits and quantity_of(limits[resource]) == old:
        limits[resource] = text
    requests[resource] = text
