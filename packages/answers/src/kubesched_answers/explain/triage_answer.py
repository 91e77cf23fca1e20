"""The answer about all pending pods: values.

From `triage` to reports, JSON, notebooks and the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer
from kubesched_answers.explain.pod_answer import NearMiss, Reason
from kubesched_answers.remedies.remedy import Remedy


@dataclass(frozen=True, slots=True)
class PodCount(Answer):
    """How many pods of a group a workload or a namespace has."""

    name: str
    pods: int


@dataclass(frozen=True, slots=True)
class PendingGroup(Answer):
    """Pending pods with the same cause.

    `cause` is a sentence about `example`, the pod that the queue hands out first; `requests` are those of all pods
    together, `share` is the largest share of the cluster that they take, by resource. `helps` is the number of the
    `tried` pods that have a place with the remedy. If a group has very many kinds of pods, only some are tried.
    """

    verdict: str
    cause: str
    pods: int
    example: str
    owners: tuple[PodCount, ...]
    namespaces: tuple[PodCount, ...]
    requests: Mapping[str, str]
    share: float
    share_of: str
    since: str | None = None
    waiting_seconds: float | None = None
    reasons: tuple[Reason, ...] = ()
    nearest: NearMiss | None = None
    preemption: str | None = None
    remedy: Remedy | None = None
    helps: int | None = None
    tried: int | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Triage(Answer):
    """All pending pods: groups by cause, the costliest first, then the groups without a problem.

    `others` are pods that would be scheduled now, that are gated or being deleted, and pods of other schedulers.
    """

    ROWS: ClassVar[str] = "groups"

    summary: str
    pending: int
    unschedulable: int
    nodes: int
    groups: tuple[PendingGroup, ...]
    others: tuple[PendingGroup, ...]
    ordered_by: str
    gaps: tuple[Gap, ...] = ()
