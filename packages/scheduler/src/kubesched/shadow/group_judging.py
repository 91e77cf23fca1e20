"""Judgements of the messages of pods in pod groups: the waiting pods of a group are tried together, by the group's own
cycle.

From a pod and the message that it has no node to a judgement. The cluster's scheduler draws the order of pods with
equal priority, and the choice between equal nodes. So several orders and draws are tried here.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, permutations
from typing import Final

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.scheduling.cycle import MOST_DRAWS, CycleContext
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.group_attempts import group_object, is_in_group, members_to_try, try_group
from kubesched.shadow.judgements import FOUND_ONE, NOT_JUDGED, OTHER_MESSAGE, SAME_MESSAGE, Judgement

TOPOLOGY: Final = "its pod group is placed within a topology domain that is chosen for the whole group"
DEVICES: Final = "devices are allocated for its pod group as a whole"
DRAWN: Final = "the order and the draws of its pod group's cycle are not known; none that was tried gives its message"
TOO_FEW: Final = "its pod group waits for more pods here"
# limit of orders of the pods of a group; enough for all orders of four pods
MOST_ORDERS = 24
# attempts of a group take long: limits of moments for a message, and of orders in each
MOST_MOMENTS, ORDERS_IN_A_MOMENT = 8, 4


def not_comparable(model: ClusterModel, pod: PodInfo) -> str:
    """Return why the node of a pod in a group cannot be judged alone; empty if it can, or if the pod has no group."""
    if not is_in_group(model, pod):
        return ""
    if pod.spec.resource_claims:
        return DEVICES
    group = group_object(model, pod)
    constraints = group.spec.scheduling_constraints if group is not None else None
    constrained = constraints is not None and bool(constraints.topology)
    return TOPOLOGY if constrained and model.loaded.gates.enabled("TopologyAwareWorkloadScheduling") else ""


def judge_group_failure(model: ClusterModel, pod: PodInfo, message: str, most_orders: int = MOST_ORDERS) -> Judgement:
    """Return the judgement of the message of a pod in a group that has no node."""
    members, draws = members_to_try(model, pod), _Draws()
    if all(member.uid != pod.uid for member in members):
        return Judgement(pod.full_name, NOT_JUDGED, why=TOO_FEW)
    orders = list(islice(_orders(members, pod), most_orders + 1))
    fits, ours = "", ""
    for order in orders[:most_orders]:
        for draw in (draws.first, draws.last):
            context = CycleContext(model.engine, pick=draw)
            context.extenders = ()
            tried = try_group(context, order)
            draws.drawn |= bool(tried.victims)
            failure = tried.failures.get(pod.uid)
            if failure is not None and failure.message == message:
                return Judgement(pod.full_name, SAME_MESSAGE)
            ours = failure.message if failure is not None else ours
            fits = fits or next((each.node_name for each in tried.placed if each.attempt.queued.uid == pod.uid), "")
    if draws.drawn or len(orders) > most_orders:
        return Judgement(pod.full_name, NOT_JUDGED, why=DRAWN)
    if fits:
        why = f"{fits} takes it; it says: {message}"
        return Judgement(pod.full_name, FOUND_ONE, "", fits, why, its_message=message)
    why = f"it says: {message}; we say: {ours}"
    return Judgement(pod.full_name, OTHER_MESSAGE, why=why, its_message=message, our_message=ours)


class _Draws:
    """Draws between equal items, and whether there was a draw."""

    def __init__(self) -> None:
        self.drawn = False
        self.first: Callable[[int], int] = lambda count: self._record_draw(count, 0)
        self.last: Callable[[int], int] = lambda count: self._record_draw(count, count - 1)

    def _record_draw(self, count: int, drawn: int) -> int:
        # a draw from very many items is PostFilter's: it counts if there are victims
        self.drawn |= count < MOST_DRAWS
        return drawn


def _orders(members: Sequence[PodInfo], pod: PodInfo) -> Iterator[Sequence[PodInfo]]:
    """Yield the possible orders of the pods of a group: higher priorities first; orders with `pod` first come first."""
    others = [each for each in members if each.uid != pod.uid]
    seen: set[tuple[str, ...]] = set()
    places = ((*others[:place], pod, *others[place:]) for place in range(len(members)))
    for order in (*places, *permutations(members)) if len(members) <= 4 else (*places, *_beyond(members)):
        kept = sorted(order, key=lambda each: -each.priority)
        key = tuple(each.uid for each in kept)
        if key not in seen:
            seen.add(key)
            yield kept


def _beyond(members: Sequence[PodInfo]) -> Iterator[Sequence[PodInfo]]:
    """Yield further random orders for a group with more pods than `_orders` covers."""
    yield from islice(permutations(members), MOST_ORDERS + 1 + len(members))
