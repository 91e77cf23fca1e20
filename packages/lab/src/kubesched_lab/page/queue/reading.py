"""The queue at one moment, from the best readable source: the scheduler's own page, its metrics, or pods' conditions.

From bytes or a model to a `QueueReading`, with gaps for unknown facts.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest
from math import isfinite
from typing import Final

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import Gap
from kubesched.serving.queue.reading import MOST_PODS
from kubesched.serving.queue.records import (
    ACTIVE,
    BACKOFF,
    GATED,
    IN_FLIGHT,
    UNSCHEDULABLE,
    MoveCount,
    QueuedPodRecord,
    QueuePage,
)

# sources of a reading
SCHEDULER, METRICS, CONDITIONS = "scheduler", "metrics", "conditions"
QUEUE: Final = "the scheduler's queue"
FROM_CONDITIONS: Final = (
    "pods are classified by their conditions alone: which of them are active, in backoff or being scheduled, their "
    "attempts, the end of their backoff and the events that moved them are unknown"
)
FROM_METRICS: Final = (
    "the numbers come from the scheduler's metrics: attempts, the end of each backoff and the places that pods were "
    "moved from are unknown, and pods are classified by their conditions"
)
_METRIC: Final = re.compile(r"^(scheduler_pending_pods|scheduler_queue_incoming_pods_total)\{([^}]*)\}\s+([0-9.e+]+)")
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class QueueReading:
    """Pods by place, the first of each place, all moves so far; None and empty texts mean unknown."""

    kind: str
    at: datetime
    counts: Mapping[str, int | None]
    first: tuple[QueuedPodRecord, ...] = ()
    moves: tuple[MoveCount, ...] = ()
    gaps: tuple[Gap, ...] = ()


def of_page(page: QueuePage) -> QueueReading:
    """Return the reading of a scheduler's /debug/queue."""
    return QueueReading(SCHEDULER, page.now, dict(page.counts), page.first, page.moves)


def of_metrics(text: str, at: datetime, model: ClusterModel) -> QueueReading:
    """Return the reading of a scheduler's /metrics; raises ValueError if they have no metrics of a queue."""
    counts: dict[str, int | None] = {ACTIVE: None, BACKOFF: None, UNSCHEDULABLE: None, GATED: None, IN_FLIGHT: None}
    moves = []
    for line in text.splitlines():
        found = _METRIC.match(line)
        if found is None:
            continue
        labels, number = dict(_LABEL.findall(found[2])), float(found[3])
        if not isfinite(number):
            continue
        value = int(number)
        queue = labels.get("queue", "")
        if found[1] == "scheduler_pending_pods":
            counts[queue] = value
        elif value:
            moves.append(MoveCount(event=labels.get("event", ""), from_place="", to_place=queue, pods=value))
    if counts[ACTIVE] is None:
        raise ValueError("its metrics have no scheduler_pending_pods")
    gap = Gap(QUEUE, "the scheduler has no /debug/queue: it is kube-scheduler or an older kubesched", FROM_METRICS)
    return QueueReading(METRICS, at, counts, _first(_by_condition(model)), tuple(moves), (gap,))


def of_conditions(model: ClusterModel, at: datetime, why: str, *, named: bool = True) -> QueueReading:
    """Return the reading of pods' conditions; `why` says why no scheduler was read. Without `named` pods are only
    counted.
    """
    pods = _by_condition(model)
    counts: dict[str, int | None] = {place: len(found) for place, found in pods.items()}
    gap = Gap(QUEUE, why, FROM_CONDITIONS)
    return QueueReading(CONDITIONS, at, counts, _first(pods) if named else (), (), (gap,))


def _by_condition(model: ClusterModel) -> dict[str, list[PodInfo]]:
    """Return pods without a node: untried ones (no condition), unschedulable ones and gated ones."""
    found: dict[str, list[PodInfo]] = {ACTIVE: [], UNSCHEDULABLE: [], GATED: []}
    for pod in model.cluster.pending.values():
        if model.profile_of(pod) is None or pod.terminating:
            continue
        if pod.spec.scheduling_gates:
            found[GATED].append(pod)
        else:
            found[UNSCHEDULABLE if _tried(pod) is not None else ACTIVE].append(pod)
    return found


def _tried(pod: PodInfo) -> datetime | None:
    """Return since when the pod's condition says that it is unschedulable, None without such a condition."""
    for each in pod.status.conditions:
        if each.type == "PodScheduled" and each.status == "False":
            return each.last_transition_time or pod.metadata.creation_timestamp
    return None


def _first(pods: Mapping[str, Iterable[PodInfo]]) -> tuple[QueuedPodRecord, ...]:
    """Return the oldest pods of each place."""

    def age(pod: PodInfo) -> tuple[float, str]:
        created = pod.metadata.creation_timestamp
        return (created.timestamp() if created is not None else float("inf"), pod.full_name)

    return tuple(
        QueuedPodRecord(
            pod=pod.full_name,
            uid=pod.uid,
            place=place,
            priority=pod.priority,
            since=_tried(pod) or pod.metadata.creation_timestamp,
        )
        for place, found in pods.items()
        for pod in nsmallest(MOST_PODS, found, key=age)
    )
