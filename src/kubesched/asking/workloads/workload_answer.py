"""The answer about one workload: values.

From `explain_workload` to reports, JSON and notebooks.
"""

from dataclasses import dataclass
from typing import ClassVar

from kubesched.asking.explain.pod_answer import PodAnswer
from kubesched.asking.explain.triage_answer import PendingGroup
from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer


@dataclass(frozen=True, slots=True)
class PodsOnNode(Answer):
    """A node with pods of the workload, by name."""

    node: str
    zone: str
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkloadAnswer(Answer):
    """Which pods of a workload have a node, and why the others have none.

    `wanted` is how many pods it asks for, None if that is not known; a DaemonSet asks for one on each node that it
    matches, and `missing_on` names those without one. `groups` are pending pods without a place by cause, the costliest
    first; `others` are pending pods that nothing is wrong with. Without pods, `template` explains the next one.
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
        """Return whether no pod is without a place, nor would the next one be."""
        return not self.groups and (self.template is None or self.template.fits)
