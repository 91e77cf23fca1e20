"""The answer about one workload: values.

From `explain_workload` to reports, JSON and notebooks.
"""

from dataclasses import dataclass
from typing import ClassVar

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.explain.triage_answer import PendingGroup


@dataclass(frozen=True, slots=True)
class PodsOnNode(Answer):
    """A node with pods of the workload, by name."""

    node: str
    zone: str
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkloadAnswer(Answer):
    """Which pods of a workload have a node, and why the rest have none.

    `wanted` is the number of pods that it wants, None if unknown; a DaemonSet wants one on each node that it matches,
    and `missing_on` names the nodes without one. `groups` are pending pods without a place by cause, the costliest
    first; `others` are pending pods without a problem. Without pods, `template` explains the next one.
    """

    ROWS: ClassVar[str] = "groups"

    workload: str
    summary: str
    wanted: int | None
    pods: int
    placed: int
    groups: tuple[PendingGroup, ...] = ()
    others: tuple[PendingGroup, ...] = ()
    nodes: tuple[PodsOnNode, ...] = ()
    missing_on: tuple[str, ...] = ()
    template: PodAnswer | None = None
    gaps: tuple[Gap, ...] = ()

    @property
    def fits(self) -> bool:
        """Return whether every pod has a place, and the next one would have one."""
        return not self.groups and (self.template is None or self.template.fits)
