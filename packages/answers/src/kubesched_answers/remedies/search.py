"""The search for remedies: propose, prove, shrink.

From a pod that has no node to the smallest sets of changes that give it one. It is a best-first search: a candidate
is a set of steps and is tried in a fork; if the pod still has no node, proposers add steps against its obstacles
there. The candidate with the fewest steps is tried next; a kind of remedy that is already found is skipped.
"""

import heapq
from itertools import count
from typing import NamedTuple

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.group_attempts import is_in_group
from kubesched.reports.answers import ObjectName
from kubesched_answers.remedies.found import Cost, cost_of, order_of, remedy_of, scope_of, topics_of
from kubesched_answers.remedies.group_search import GroupRemedySearch
from kubesched_answers.remedies.group_trials import GroupTrials
from kubesched_answers.remedies.moving import moved
from kubesched_answers.remedies.proposing import extensions
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.remedies.shrinking import shrunk
from kubesched_answers.remedies.steps import Steps
from kubesched_answers.remedies.trials import Trial, Trials

MOST_REMEDIES = 8
# Limit on the tried candidates, besides those that prove a remedy to be minimal.
MOST_TRIALS = 120
MOST_STEPS = 8


def find_remedies(
    model: ClusterModel, pod: PodInfo, *, limit: int = MOST_REMEDIES, trials: int = MOST_TRIALS
) -> tuple[Remedy, ...]:
    """Return remedies for a pod without a node, in the order in which an operator would try them.

    Each remedy was tried: with its changes the scheduler chooses `node`, without any one of them it finds no node,
    and the rules of the API server accept every request of it.
    """
    if is_in_group(model, pod):
        return GroupRemedySearch(GroupTrials(model, pod, trials)).run(limit)
    return RemedySearch(Trials(model, pod, trials)).run(limit)


class _Candidate(NamedTuple):
    """Steps to try; `target` is their node, None for any."""

    cost: Cost
    number: int
    steps: Steps
    target: str | None


class RemedySearch:
    """Searches for the remedies of one pod."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._waiting: list[_Candidate] = []
        self._numbers = count()
        self._seen: set[frozenset[tuple[ObjectName, str]]] = set()
        self._found: dict[frozenset[str], tuple[Steps, str]] = {}

    def run(self, limit: int) -> tuple[Remedy, ...]:
        """Return up to `limit` remedies of different kinds."""
        self._add((), None, 0)
        while self._waiting and len(self._found) < limit and self._trials.left > 0:
            candidate = heapq.heappop(self._waiting)
            if not self._is_known(candidate.steps) and self._try(candidate):
                steps = shrunk(self._trials, candidate.steps)
                if steps and not self._is_known(steps):
                    node = self._trials.node_after(steps)
                    self._found[topics_of(steps)] = moved(self._trials, steps), node
        ordered = sorted(self._found.values(), key=lambda found: order_of(found[0]))
        return tuple(remedy_of(self._trials, steps, node) for steps, node in ordered)

    def _add(self, steps: Steps, target: str | None, remaining: int) -> None:
        key = frozenset(step.key for step in steps)
        if len(steps) <= MOST_STEPS and key not in self._seen:
            self._seen.add(key)
            candidate = _Candidate(cost_of(steps, remaining), next(self._numbers), steps, target)
            heapq.heappush(self._waiting, candidate)

    def _is_known(self, steps: Steps) -> bool:
        """Return whether an earlier remedy needs no other kinds of steps."""
        topics = topics_of(steps)
        if any(known <= topics for known in self._found):
            return True
        mixed = {scope_of(found) for known, (found, _) in self._found.items() if len(known) > 1}
        return len(topics) > 1 and scope_of(steps) in mixed

    def _try(self, candidate: _Candidate) -> bool:
        """Return whether the pod has a node after a candidate's steps; if not, queue extensions of it."""
        try:
            with self._trials.fork(candidate.steps) as trial:
                if not trial.node_name and not any(step.preempts for step in candidate.steps):
                    self._extend(candidate, trial)
                found = bool(trial.node_name)
            return found and self._trials.plan(candidate.steps) is not None
        except KubeschedError:
            # the steps contradict each other
            return False

    def _extend(self, candidate: _Candidate, trial: Trial) -> None:
        present = {step.key for step in candidate.steps}
        for extension in extensions(trial, candidate.target):
            new = tuple({step.key: step for step in extension.steps if step.key not in present}.values())
            if new:
                self._add((*candidate.steps, *new), extension.target, extension.remaining)
