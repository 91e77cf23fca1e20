"""The obstacles of a pod in a fork, and the steps that proposers have for them.

From a trial without a node to extensions of its steps: first for its scheduler's name and its gates, for PreFilter
rejections, then for all rejections on near nodes, for new nodes, and for evictions.
"""

from collections.abc import Iterator
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from kubesched.core.framework.values.status import Code, Status
from kubesched_answers.remedies.proposers import PROPOSERS
from kubesched_answers.remedies.proposers.evictions import evictions
from kubesched_answers.remedies.proposers.new_nodes import new_nodes
from kubesched_answers.remedies.proposers.node_selection import named_rows, selected_labels, unmet_demands
from kubesched_answers.remedies.proposers.obstacles import Obstacle
from kubesched_answers.remedies.proposers.priorities import priorities
from kubesched_answers.remedies.proposers.scheduler_names import other_profiles
from kubesched_answers.remedies.steps import Scope, Steps
from kubesched_answers.remedies.trials import Trial

# Limits on the near nodes, and on the nodes with equal lacks.
MOST_TARGETS = 40
MOST_ALIKE = 4
# Limit on the kinds of nodes that are compared by missing labels.
MOST_COMPARED = 500
# Limit on the combinations of steps for one node.
MOST_COMBINATIONS = 16


class MoreSteps(NamedTuple):
    """Steps that may help, their node, and how many filters reject the pod there afterwards."""

    steps: Steps
    target: str | None = None
    remaining: int = 0


def extensions(trial: Trial, target: str | None) -> Iterator[MoreSteps]:
    """Yield steps that may help the pod; `target` is the node of earlier steps."""
    if not _is_judged(trial):
        yield from _before_filters(trial, target)
        return
    rows = targets(trial) if target is None else _row(trial, target)
    for row in rows:
        yield from _for_row(trial, row)
    yield from (MoreSteps(steps, trial.model.cluster.table.names[row]) for row, steps in evictions(trial, rows))
    if target is None:
        yield from (MoreSteps(steps, steps[0].object.name) for steps in new_nodes(trial))
        yield from map(MoreSteps, priorities(trial))


def against_obstacles(trial: Trial) -> Iterator[MoreSteps]:
    """Yield steps that may help the pod, without new nodes and evictions."""
    if not _is_judged(trial):
        yield from _before_filters(trial, None)
        return
    for row in targets(trial):
        yield from _for_row(trial, row)


def _is_judged(trial: Trial) -> bool:
    """Return whether filters judge the nodes for the pod."""
    if trial.profile is None or trial.gates or trial.rejections.pre_filter:
        return False
    return trial.decision.failure is None or not trial.decision.failure.plugin


def _before_filters(trial: Trial, target: str | None) -> Iterator[MoreSteps]:
    """Yield steps for a pod that is never judged because of its scheduler, PreEnqueue, PreFilter or an error."""
    if trial.profile is None:
        yield from map(MoreSteps, other_profiles(trial))
    elif trial.gates:
        yield from map(MoreSteps, _proposals(trial, trial.gates[0], None))
    else:
        failure = next(iter(trial.rejections.pre_filter), trial.decision.failure)
        assert failure is not None, "the pod is not judged"
        yield from (MoreSteps(steps, target) for steps in _proposals(trial, failure, None))


def _proposals(trial: Trial, status: Status, row: int | None) -> list[Steps]:
    obstacle = Obstacle(status, row)
    return [steps for propose in PROPOSERS.get(status.plugin, ()) for steps in propose(trial, obstacle) if steps]


def _row(trial: Trial, name: str) -> list[int]:
    row = trial.model.cluster.table.row_of.get(name)
    return [] if row is None else [row]


def _for_row(trial: Trial, row: int) -> Iterator[MoreSteps]:
    """Yield steps against everything that one node lacks, and against the lacks that evictions cannot resolve."""
    name = trial.model.cluster.table.names[row]
    statuses = trial.rejections.of_row(row)
    options = {status: _proposals(trial, status, row) for status in statuses}
    unresolvable = [status for status in statuses if status.code is not Code.UNSCHEDULABLE]
    if all(options.values()):
        yield from _combined([options[status] for status in statuses], name, 0)
    if unresolvable and len(unresolvable) < len(statuses) and all(options[status] for status in unresolvable):
        # evictions may resolve the rest
        yield from _combined([options[status] for status in unresolvable], name, 1)


def _combined(options: list[list[Steps]], name: str, remaining: int) -> Iterator[MoreSteps]:
    """Yield choices of one option for each obstacle: first those that change the same object (the pod, the
    cluster).
    """
    alike = [
        tuple(min(each, key=lambda steps: abs(max(step.scope for step in steps) - scope)) for each in options)
        for scope in Scope
    ]
    for choice in dict.fromkeys((*alike, *islice(product(*options), MOST_COMBINATIONS))):
        later = 0 if choice in alike or len(options) == 1 else 1
        yield MoreSteps(tuple(step for steps in choice for step in steps), name, remaining + later)


def targets(trial: Trial) -> list[int]:
    """Return near rows, the nearest first, with few rows of equal lacks. Nodes that the pod names come first."""
    rejections, table = trial.rejections, trial.rejections.table
    near = np.array(rejections.near_rows(table.size), np.intp)
    if not len(near):
        return []
    columns = [column.ids[near].astype(np.int64) for column in rejections.columns]
    lacks = _numbered(columns)
    rejecting = {column.plugin for column in rejections.columns}
    kinds = [lacks]
    if "TaintToleration" in rejecting:
        kinds.append(table.taints.codes[near].astype(np.int64))
    if "NodeAffinity" in rejecting:
        kinds += [table.label(key).codes[near].astype(np.int64) for key in sorted(selected_labels(trial))]
    kind = _numbered(kinds)
    # the first of each kind, by nearness; among equal lacks, the one with the fewest labels to change
    _, first = np.unique(kind, return_index=True)
    places = sorted(first.tolist())
    if "NodeAffinity" in rejecting:
        groups = {int(lacks[place]): turn for turn, place in reversed(list(enumerate(places)))}
        unmet = {place: unmet_demands(trial, trial.node(int(near[place]))) for place in places[:MOST_COMPARED]}
        places.sort(key=lambda place: (groups[int(lacks[place])], unmet.get(place, MOST_COMPARED)))
    chosen: list[int] = []
    alike: dict[int, int] = {}
    for place in places:
        group = int(lacks[place])
        if alike.get(group, 0) < MOST_ALIKE:
            alike[group] = alike.get(group, 0) + 1
            chosen.append(int(near[place]))
    named = [row for row in named_rows(trial) if rejections.counts[row]] if "NodeAffinity" in rejecting else []
    return list(dict.fromkeys((*named[:MOST_ALIKE], *chosen)))[:MOST_TARGETS]


def _numbered(
    columns: list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return a number for each distinct combination of values."""
    _, numbers = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return numbers.reshape(-1).astype(np.int64)
