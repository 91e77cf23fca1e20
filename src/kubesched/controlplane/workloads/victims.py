"""Which pods go first when there are too many.

From pods to the same pods, those that will be missed least first: not placed, not running, not ready, cheap to delete,
doubled up on a node, ready only lately, restarted often, young.
"""

# upstream: pkg/controller/controller_utils.go (ActivePodsWithRanks, ActivePods) (v1.36)

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cmp_to_key
from math import log2
from typing import Final

import msgspec

from kubesched.api.labels import parse_int64
from kubesched.controlplane.kinds.pod.validation import DELETION_COST
from kubesched.controlplane.services import moment
from kubesched.controlplane.simulation.controller import Tools
from kubesched.controlplane.simulation.placement import PODS
from kubesched.controlplane.workloads.pods import Pod

_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


class _Meta(msgspec.Struct):
    annotations: dict[str, str] = {}


class _Container(msgspec.Struct, rename="camel"):
    name: str = ""
    restart_policy: str | None = None


class _ContainerStatus(msgspec.Struct, rename="camel"):
    name: str = ""
    restart_count: int = 0


class _Spec(msgspec.Struct, rename="camel"):
    init_containers: tuple[_Container, ...] = ()


class _Status(msgspec.Struct, rename="camel"):
    container_statuses: tuple[_ContainerStatus, ...] = ()
    init_container_statuses: tuple[_ContainerStatus, ...] = ()


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Object).decode


class _Candidate(msgspec.Struct):
    """A pod, and what tells it apart from its like."""

    pod: Pod
    # what comes first is settled by these, the rest by times
    order: tuple[int, int, int, int, int]
    # restarts of its containers, and of its sidecars
    restarts: tuple[int, int]


def in_order_of_deletion(
    pods: Sequence[Pod], tools: Tools, *, neighbours: Iterable[Pod] = (), by_cost: bool = True
) -> list[Pod]:
    """Return pods, those to be deleted first in front; `neighbours` are all pods of the same workload."""
    on_node = Counter(pod.node for pod in neighbours if pod.active)
    candidates = [_candidate(pod, tools, on_node[pod.node], by_cost=by_cost) for pod in pods]
    now = tools.now() if by_cost else None
    candidates.sort(key=cmp_to_key(lambda one, other: _compare(one, other, now)))
    return [candidate.pod for candidate in candidates]


def _candidate(pod: Pod, tools: Tools, doubled: int, *, by_cost: bool) -> _Candidate:
    stored = tools.get(PODS, pod.namespace, pod.name)
    details = _decode(stored.body) if stored is not None else _Object()
    cost = parse_int64(details.metadata.annotations.get(DELETION_COST, "")) or 0 if by_cost else 0
    sidecars = {each.name for each in details.spec.init_containers if each.restart_policy == "Always"}
    restarts = (
        max((each.restart_count for each in details.status.container_statuses), default=0),
        max(
            (each.restart_count for each in details.status.init_container_statuses if each.name in sidecars), default=0
        ),
    )
    order = (int(bool(pod.node)), _PHASES.get(pod.phase, 0), int(pod.ready), cost, -doubled)
    return _Candidate(pod, order, restarts)


def _most_restarts(statuses: Iterable[_ContainerStatus]) -> int:
    return max((each.restart_count for each in statuses), default=0)


def _compare(one: _Candidate, other: _Candidate, now: datetime | None) -> int:
    if one.order != other.order:
        return -1 if one.order < other.order else 1
    if one.pod.ready and one.pod.ready_since != other.pod.ready_since:
        return _by_age(one, other, one.pod.ready_since or "", other.pod.ready_since or "", now)
    if one.restarts != other.restarts:
        return -1 if one.restarts > other.restarts else 1
    if one.pod.created != other.pod.created:
        return _by_age(one, other, one.pod.created, other.pod.created, now)
    return 0


def _by_age(one: _Candidate, other: _Candidate, time: str, other_time: str, now: datetime | None) -> int:
    """Put the younger one first; ages that are alike, as powers of two, are as good as drawn by lot."""
    if not time or not other_time or now is None:
        return -1 if not time or (other_time and time > other_time) else 1
    rank, other_rank = _rank(time, now), _rank(other_time, now)
    if rank == other_rank:
        return -1 if one.pod.uid < other.pod.uid else 1
    return -1 if rank < other_rank else 1


def _rank(time: str, now: datetime) -> int:
    nanoseconds = (now - moment(time)).total_seconds() * 1e9
    return int(log2(nanoseconds)) if nanoseconds > 0 else -1
