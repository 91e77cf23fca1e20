"""The decision for one pod: a node, or why there is none.

From an evaluation to a node: the pod's own nominated node if it passes, the only feasible node unscored, else one of
the best at random. The randomness is passed in as a function, so that the same seed makes the same decisions.
"""

from collections.abc import Callable

import msgspec
import numpy as np

from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.values.status import Status, error
from kubesched.core.scheduling.diagnosis import diagnose

# given n, returns a number from 0 to n-1
Pick = Callable[[int], int]


# upstream: scheduler.go, ErrNoNodesAvailable (v1.36)
NO_NODES = error("no nodes available to schedule pods")


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The chosen node of a pod, or (`node_name` empty) a failure; without one, no node was feasible.

    `message` is why there is no node: `0/5 nodes are available: ...`, as in the pod's condition, without the message of
    PostFilter.
    """

    node_name: str = ""
    feasible_nodes: int = 0
    failure: Status | None = None
    message: str = ""


def decide(evaluation: Evaluation, pick: Pick) -> Decision:
    """Return the decision on the current table, with the reasons if there is no node."""
    found = choose(evaluation, pick)
    if found.node_name:
        return found
    message = found.failure.message if found.failure else diagnose(evaluation, evaluation.verdicts()).message()
    return msgspec.structs.replace(found, message=message)


def choose(evaluation: Evaluation, pick: Pick) -> Decision:
    """Return the decision without its reasons, which take time to gather."""
    if not evaluation.table.node_count:
        return Decision(failure=NO_NODES)
    pre = evaluation.pre_filtered
    if pre.rejection is not None:
        return Decision() if pre.rejection.rejected else Decision(failure=pre.rejection)
    names = evaluation.table.names
    nominated = evaluation.nominated_row()
    if nominated is not None:
        return Decision(names[nominated], 1)
    feasible = evaluation.feasible()
    if feasible.failure is not None:
        return Decision(failure=feasible.failure)
    if feasible.count == 0:
        return Decision()
    if feasible.count == 1:
        return Decision(names[int(np.argmax(feasible.mask))], 1)
    best = evaluation.best_rows()
    if isinstance(best, Status):
        return Decision(failure=best)
    return Decision(names[best[pick(len(best)) if len(best) > 1 else 0]], feasible.count)
