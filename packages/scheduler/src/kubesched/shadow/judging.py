"""One decision of the cluster's scheduler, judged on the model as it is.

From a pending pod and the node that was chosen for it, or the message that none was found, to a judgement. The model
does not change.
"""

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.values.sampling import feasible_nodes_to_find
from kubesched.core.scheduling.decision import choose, decide
from kubesched.core.scheduling.diagnosis import diagnose
from kubesched.model.attempt_answers import NodeScore
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.placements import ScoreTable, decided_by
from kubesched.model.preempting import preempting
from kubesched.model.rejections import Rejections
from kubesched.shadow.judgements import (
    AMONG_BEST,
    FOUND_NONE,
    FOUND_ONE,
    NOT_JUDGED,
    OTHER_MESSAGE,
    REJECTED,
    SAME_MESSAGE,
    SAMPLED,
    SCORED_LESS,
    Judgement,
)

UNKNOWN_NODE = "its node is not known here"


def judge_binding(model: ClusterModel, pod: PodInfo, node: str) -> Judgement:
    """Return the judgement of the node that was chosen for a pod."""
    name, evaluation = pod.full_name, model.engine.evaluation_of(pod)
    row = model.cluster.table.row_of.get(node)
    if row is None or model.cluster.table.nodes[row] is None:
        return Judgement(name, NOT_JUDGED, node, why=UNKNOWN_NODE)
    decision = choose(evaluation, pick=lambda count: 0)
    if decision.node_name == node:
        return Judgement(name, AMONG_BEST, node, node)
    if not decision.node_name:
        message = decide(evaluation, pick=lambda count: 0).message
        return Judgement(name, FOUND_NONE, node, why=message, our_message=message)
    if evaluation.nominated_row() is not None:
        why = f"the pod is nominated to {decision.node_name}, which fits"
        return Judgement(name, SCORED_LESS, node, decision.node_name, why)
    if not evaluation.feasible().mask[row]:
        return _rejected(evaluation, node, decision.node_name)
    return _scored(model, evaluation, node, decision.node_name)


def _rejected(evaluation: Evaluation, node: str, ours: str) -> Judgement:
    statuses = Rejections(evaluation).of_row(evaluation.table.row_of[node])
    why = "; ".join(f"{status.plugin}: {status.message}" for status in statuses) or "PreFilter leaves it out"
    plugin = statuses[0].plugin if statuses else None
    return Judgement(evaluation.pod.full_name, REJECTED, node, ours, why, plugin=plugin)


def _scored(model: ClusterModel, evaluation: Evaluation, node: str, ours: str) -> Judgement:
    name, scores = evaluation.pod.full_name, ScoreTable(evaluation)
    row, best = evaluation.table.row_of[node], scores.best
    behind = int(scores.totals[best[0]] - scores.totals[row])
    if not behind:
        return Judgement(name, AMONG_BEST, node, ours)
    own, other = scores.scores([row, evaluation.table.row_of[ours]])
    why = decided_by(own, (other,), len(best))
    verdict = SAMPLED if may_sample(model, evaluation) else SCORED_LESS
    return Judgement(name, verdict, node, ours, why, behind, _decider(own, other))


def _decider(own: NodeScore, other: NodeScore) -> str | None:
    """Return the plugin with the largest part in a node's lower score."""
    behind = {plugin: other.scores[plugin] - points for plugin, points in own.scores.items()}
    return max(behind, key=lambda plugin: behind[plugin], default=None)


def may_sample(model: ClusterModel, evaluation: Evaluation) -> bool:
    """Return whether kube-scheduler may have ended its search before it found all feasible nodes."""
    profile = model.profile_of(evaluation.pod)
    own = profile.percentage_of_nodes_to_score if profile is not None else None
    nodes, config = model.cluster.table.node_count, model.loaded.config
    return feasible_nodes_to_find(nodes, config.percentage_of_nodes_to_score, own) < evaluation.feasible().count


def judge_failure(model: ClusterModel, pod: PodInfo, message: str) -> Judgement:
    """Return the judgement of the message that no node takes a pod."""
    name, profile = pod.full_name, model.profile_of(pod)
    assert profile is not None, "pods of other schedulers are not judged"
    evaluation = model.engine.evaluation_of(pod)
    decision = choose(evaluation, pick=lambda count: 0)
    if decision.node_name:
        why = f"{decision.node_name} takes it; it says: {message}"
        return Judgement(name, FOUND_ONE, "", decision.node_name, why, its_message=message)
    ours = decision.failure.message if decision.failure is not None else _message(model, profile, evaluation)
    if ours == message:
        return Judgement(name, SAME_MESSAGE)
    return Judgement(
        name, OTHER_MESSAGE, why=f"it says: {message}; we say: {ours}", its_message=message, our_message=ours
    )


def _message(model: ClusterModel, profile: Profile, evaluation: Evaluation) -> str:
    """Return the message of the pod's condition, with PostFilter's part."""
    verdicts = evaluation.verdicts()
    found = preempting(model, profile, evaluation, verdicts)
    return diagnose(evaluation, verdicts).message(found.message if found is not None else "")
