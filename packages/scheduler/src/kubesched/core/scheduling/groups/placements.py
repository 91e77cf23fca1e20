"""Trying placements: the set of nodes on which a pod group is placed best.

From the placements that a plugin generates to the result of the group's attempt on the best of them. Each is tried by
itself, on its rows alone; those on which the group fits are scored.
"""

# upstream: schedule_one_podgroup.go (podGroupSchedulingPlacementAlgorithm, findBestPlacement), runtime/framework.go
# (RunPlacementGeneratePlugins, RunPlacementScorePlugins) (v1.36)

from collections.abc import Sequence

from kubesched.core.framework.calling.answers import checked_placement_scores, checked_placements, checked_score
from kubesched.core.framework.calling.hooks import ask
from kubesched.core.framework.plugin import MAX_NODE_SCORE, MIN_NODE_SCORE, PlacementScorePlugin
from kubesched.core.framework.values.placements import Assignments, Placement
from kubesched.core.framework.values.status import Status, error, unschedulable
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.scheduling.extender_calls import Asking
from kubesched.core.scheduling.groups.algorithm import PodGroupAttempt
from kubesched.core.scheduling.groups.results import UNSCHEDULABLE_GROUP, GroupResult

NO_PLACEMENT = unschedulable("no feasible placements found")


def place_group(attempt: PodGroupAttempt) -> Asking[GroupResult]:
    """Return the result of the attempt: on the best placement if topology-aware, else on all nodes."""
    if not attempt.context.topology_aware:
        return (yield from attempt.run())
    placements = generate(attempt)
    if isinstance(placements, Status):
        return GroupResult(placements, blamed=frozenset((placements.plugin,)) - {""})
    node_count = attempt.context.cluster.table.node_count
    first: GroupResult | None = None
    blamed: frozenset[str] = frozenset()
    good: list[tuple[Placement, GroupResult]] = []
    for placement in placements:
        everywhere = len(placement.rows) == node_count
        result = yield from attempt.run(None if everywhere else placement.rows)
        if not result.status.ok and not result.status.rejected:
            return result
        blamed |= result.blamed
        first = first or result
        if result.status.ok or result.waits_for_preemption:
            good.append((placement, result))
    assert first is not None, "there is at least one placement"
    if not good:
        text = f"0/{len(placements)} placements are available, first placement status: {UNSCHEDULABLE_GROUP}"
        first.status = unschedulable(text)
        if len(placements) > 1:
            # a change of the domains may help, too
            first.blamed = blamed | {plugin.name for plugin in attempt.profile.placement_generate}
        return first
    return good[0][1] if len(good) == 1 else best(attempt, good)


def generate(attempt: PodGroupAttempt) -> Sequence[Placement] | Status:
    """Return the placements to try, or why there are none."""
    everywhere = Placement("", attempt.context.cluster.table.present_rows())
    plugins = attempt.profile.placement_generate
    if not plugins:
        return [everywhere]
    # there is at most one such plugin
    plugin, group = plugins[0], attempt.group
    if group is None:
        return attempt.no_group.by(plugin.name)
    return ask(plugin, "generate_placements", checked_placements, group, everywhere) or NO_PLACEMENT.by(plugin.name)


def best(attempt: PodGroupAttempt, good: Sequence[tuple[Placement, GroupResult]]) -> GroupResult:
    """Return the result on the placement with the highest score, at random among equal ones."""
    assignments = [
        Assignments(placement, [pod.attempt.queued.pod for pod in result.pods if pod.node_name])
        for placement, result in good
    ]
    totals = [0] * len(good)
    for plugin in attempt.profile.placement_score:
        scores = _scores(attempt, plugin, assignments)
        if isinstance(scores, Status):
            return GroupResult(scores)
        weight = attempt.profile.placement_weights[plugin.name]
        totals = [total + weight * score for total, score in zip(totals, scores, strict=True)]
    highest = [index for index, total in enumerate(totals) if total == max(totals)]
    return good[highest[attempt.context.pick(len(highest)) if len(highest) > 1 else 0]][1]


def _scores(
    attempt: PodGroupAttempt, plugin: PlacementScorePlugin, assignments: Sequence[Assignments]
) -> Sequence[int] | Status:
    """Return a plugin's normalised scores of the placements, or its error."""
    table = attempt.context.cluster.table
    raw: list[int] = []
    for assigned in assignments:
        nodes = Nodes(table, assigned.placement.rows)
        score = ask(plugin, "score_placement", checked_score, assigned.pods, nodes)
        if isinstance(score, Status):
            return _broken("running PlacementScore plugins", plugin, score)
        raw.append(score)
    scores = ask(plugin, "normalize_placement_scores", checked_placement_scores, raw)
    if isinstance(scores, Status):
        return _broken("running NormalizePlacementScore on PlacementScore plugins", plugin, scores)
    if len(scores) != len(raw):
        why = error(f"answered for {len(scores)} placements, was asked about {len(raw)}")
        return _broken("running NormalizePlacementScore on PlacementScore plugins", plugin, why)
    for score in scores:
        if not MIN_NODE_SCORE <= score <= MAX_NODE_SCORE:
            return error(
                "applying score defaultWeights on PlacementScore plugins: "
                f'plugin "{plugin.name}" returns an invalid score {score}, it should in the range of '
                f"[{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
            )
    return scores


def _broken(doing: str, plugin: PlacementScorePlugin, why: Status) -> Status:
    return error(f'{doing}: plugin "{plugin.name}" failed with: {why.message}')
