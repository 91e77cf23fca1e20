"""Kinds that can be explained, in the user's words.

From a word such as `deploy`, `po` or `nodes` to the kind of explanation.
"""

from typing import Final

from kubesched.model.cluster_model import UnknownObjectError
from kubesched_answers.whatif.workloads import REPLICAS_FIELDS, kind_named

POD, NODE, WORKLOAD = "pod", "node", "workload"
_EXPLAINED: Final = {
    "Pod": POD,
    "Node": NODE,
    **dict.fromkeys((*REPLICAS_FIELDS, "DaemonSet", "CronJob"), WORKLOAD),
}


def explained_as(word: str) -> str:
    """Return whether a kind is explained as a pod, a node or a workload; empty if it is none of them."""
    try:
        return _EXPLAINED.get(kind_named(word), "")
    except UnknownObjectError:
        return ""
