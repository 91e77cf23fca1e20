"""Answers about pods with a scheduler's record of them.

From an answer to the same with the decisions of a scheduler: the one that an option names, or that of a cluster of
`kubesched up`.
"""

from typing import TYPE_CHECKING

from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.explain.recorded import with_records

if TYPE_CHECKING:
    # slow to import: only live clusters and named schedulers need it
    from kubesched.sources.scheduler_records import SchedulerAddress


def remembered(model: ClusterModel, answer: PodAnswer, scheduler: "SchedulerAddress | None" = None) -> PodAnswer:
    """Return an answer with the decisions about the pod, or unchanged if there is no scheduler to read from."""
    pod = model.pods.get(answer.pod)
    if pod is None or (scheduler is None and model.source.server is None):
        return answer
    from kubesched.sources.scheduler_records import read_records

    return with_records(answer, read_records(model.source, answer.pod, scheduler), pod.uid, pod.spec.node_name)
