"""The search for remedies: propose, prove, shrink.

From a pod that has no node to the smallest sets of changes that give it one. Best first: a candidate is a set of steps;
it is tried in a fork, and where the pod still has no node, proposers add steps for what is in the way there. The one
with the fewest steps is tried next; a kind of remedy that is found already is not looked for again.
"""

import heapq
from itertools import count
from typing import NamedTuple

from kubesched.asking.remedies.found import Cost, cost_of, order_of, remedy_of, scope_of, topics_of
from kubesched.asking.remedies.group_search import GroupRemedySearch
from kubesched.asking.remedies.group_trials import GroupTrials
from kubesched.asking.remedies.moving import moved
from kubesched.asking.remedies.proposing import extensions
from kubesched.asking.remedies.remedy import Remedy
from kubesched.asking.remedies.shrinking import shrunk
from kubesched.asking.remedies.steps import Steps
from kubesched.asking.remedies.trials import Trial, Trials
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.group_attempts import is_in_group
from kubesched.reports.answers import ObjectName

MOST_REMEDIES = 8
# How many candidates are tried, besides those that prove a remedy to be minimal.
MOST_TRIALS = 120
MOST_STEPS = 8


def find_remedies(
    model: ClusterModel, pod: PodInfo, *, limit: int = MOST_REMEDIES, trials: int = MOST_TRIALS
) -> tuple[Remedy, ...]:
    """Return what makes a pod without a node schedulable, what an operator does first first; nothing if it is.

    Each remedy was tried: with its changes the scheduler chooses `node`, without any one of them there is none, and
    the rules of the API server accept every request of it.
    """
    if is_in_group(model, pod):
        return GroupRemedySearch(GroupTrials(model, pod, trials)).run(limit)
    return RemedySearch(Trials(model, pod, trials)).run(limit)


class _Candidate(NamedTuple):
    """Steps to try; `target` is the node they are for, None for any."""

    cost: Cost
    number: int
    steps: Steps
    target: str | None


class RemedySearch:
    """Looks for the remedies of one pod."""

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
        """Return whether a remedy was found that needs no other kinds of steps, or one of several kinds alike."""
        topics = topics_of(steps)
        if any(known <= topics for known in self._found):
            return True
        mixed = {scope_of(found) for known, (found, _) in self._found.items() if len(known) > 1}
        return len(topics) > 1 and scope_of(steps) in mixed

    def _try(self, candidate: _Candidate) -> bool:
        """Return whether the pod has a node after a candidate's steps; if not, add what may help there."""
        try:
            with self._trials.fork(candidate.steps) as trial:
                if not trial.node_name and not any(step.preempts for step in candidate.steps):
                    self._extend(candidate, trial)
                found = bool(trial.node_name)
            return found and self._trials.plan(candidate.steps) is not None
        except KubeschedError:
            # the steps do not go together
            return False

    def _extend(self, candidate: _Candidate, trial: Trial) -> None:
        present = {step.key for step in candidate.steps}
        for extension in extensions(trial, candidate.target):
            new = tuple({step.key: step for step in extension.steps if step.key not in present}.values())
            if new:
                self._add((*candidate.steps, *new), extension.target, extension.remaining)
