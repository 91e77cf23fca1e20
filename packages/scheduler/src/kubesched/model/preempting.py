"""Whether preemption helps a pod: the candidates with their victims, or why it does not help.

From an evaluation without a feasible node to a `PreemptionAnswer` and PostFilter's part of the pod's message. It runs
the profile's own PostFilter, without carrying out its requests.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kubesched.api.labels import InvalidSelectorError, Selector, from_label_selector
from kubesched.api.policy import PodDisruptionBudget
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.preemption import Candidate, Candidates
from kubesched.core.scheduling.post_filter import PostFiltered, run_post_filter
from kubesched.model.attempt_answers import PreemptionAnswer, PreemptionCandidate, Victim
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.group_attempts import TriedGroup
from kubesched.model.owners import Owners
from kubesched.reports.plain_words import number

MOST_CANDIDATES = 10
PREEMPTION = "preemption: "
# messages of PostFilter plugins with other purposes if they have nothing to do
NOTHING = "not found"
NO_EVICTION_HELPS = "evicting pods does not change what is wrong with the pod"


class Preempting(NamedTuple):
    """The answer about preemption, and PostFilter's part of the message of the pod's condition."""

    answer: PreemptionAnswer
    message: str


def preempting(
    model: ClusterModel, profile: Profile, evaluation: Evaluation, verdicts: NodeVerdicts
) -> Preempting | None:
    """Return whether PostFilter helps, None if the profile has no PostFilter plugin. No pod is evicted."""
    if not profile.post_filter:
        return None
    ran = run_post_filter(profile.post_filter, evaluation.cycle, evaluation.pod, verdicts)
    found = [result.candidates for result in ran.by_plugin.values()]
    node = ran.nominated_node_name or None
    if not ran.status.ok or node is None:
        return Preempting(PreemptionAnswer(False, _why_not(ran)), ran.message)
    first = [each for candidates in found for each in _first(candidates, node)]
    first.sort(key=lambda each: (each.node_name != node, *_cost(each), each.node_name))
    victims = _Victims(model)
    shown = tuple(victims.candidate(each) for each in first[:MOST_CANDIDATES])
    message = _makes_room(shown[0].victims if shown else (), node)
    return Preempting(PreemptionAnswer(True, message, node, shown, sum(map(len, found))), ran.message)


def _first(candidates: Sequence[Candidate], node: str) -> Sequence[Candidate]:
    """Return the chosen node's candidate, and the cheapest alternatives; of candidates in columns only these are
    built.
    """
    if not isinstance(candidates, Candidates):
        return candidates
    chosen = candidates.on(node)
    others = [each for each in candidates.cheapest(MOST_CANDIDATES) if each.node_name != node]
    return others if chosen is None else [chosen, *others]


def preempting_for_group(model: ClusterModel, tried: TriedGroup) -> PreemptionAnswer | None:
    """Return whether evicting pods makes space for a pod group; None if PostFilter did not run or is not needed."""
    victims, result = tried.victims, tried.result
    if not victims:
        whole = result.preemption
        return PreemptionAnswer(False, whole.status.message) if whole is not None and not whole.status.ok else None
    nodes = sorted({victim.spec.node_name for victim in victims})
    where = nodes[0] if len(nodes) == 1 else f"{len(nodes)} nodes"
    found = tuple(_Victims(model).victims(victims))
    violated = sum(1 for victim in found if victim.violates)
    message = _makes_room(found, where, " for the pod group")
    # the victims on all nodes are evicted together
    candidate = PreemptionCandidate(", ".join(nodes), found, violated)
    return PreemptionAnswer(True, message, None, (candidate,), 1)


def _makes_room(victims: Sequence[Victim], where: str, whom: str = "") -> str:
    """Return a sentence with the pods to evict and the budgets that their eviction violates."""
    text = f"evicting {number(len(victims), 'pod')} from {where} makes room{whom}"
    violating = [victim for victim in victims if victim.violates]
    if not violating:
        return text
    budgets = sorted({budget for victim in violating for budget in victim.violates})
    which = "this" if len(violating) == len(victims) else f"evicting {len(violating)} of them"
    noun = "PodDisruptionBudget" if len(budgets) == 1 else "PodDisruptionBudgets"
    return f"{text}, but {which} violates {noun} {' and '.join(budgets)}"


def _why_not(ran: PostFiltered) -> str:
    """Return why preemption does not help; messages of other PostFilter plugins count only without a preemption
    plugin.
    """
    messages = [result.status.message for result in ran.by_plugin.values() if result.status.reasons]
    about_preemption = [message for message in messages if message.startswith(PREEMPTION)]
    found = about_preemption or [message for message in messages if message != NOTHING]
    return ", ".join(found).removeprefix(PREEMPTION) or NO_EVICTION_HELPS


# the scheduler's order of candidates, without the start times
def _cost(candidate: Candidate) -> tuple[int, int, int, int]:
    priorities = [victim.priority for victim in candidate.victims]
    return candidate.pdb_violations, max(priorities, default=0), sum(priorities), len(priorities)


class _Victims:
    """Victims with their owners and budgets."""

    def __init__(self, model: ClusterModel) -> None:
        self._owners = Owners(model)
        self._budgets = [(budget, _selector(budget)) for budget in model.cluster.objects.of(PodDisruptionBudget)]

    def candidate(self, candidate: Candidate) -> PreemptionCandidate:
        victims = tuple(self.victims(candidate.victims))
        return PreemptionCandidate(candidate.node_name, victims, candidate.pdb_violations)

    def victims(self, pods: Sequence[PodInfo]) -> Iterator[Victim]:
        """Return the victims, the most important first, each with the budgets that it exceeds."""
        evicted: Counter[str] = Counter()
        for pod in pods:
            selecting = list(self._selecting(pod))
            evicted.update(budget.full_name for budget in selecting if pod.name not in budget.status.disrupted_pods)
            violated = tuple(
                budget.full_name
                for budget in selecting
                if evicted[budget.full_name] > budget.status.disruptions_allowed
            )
            owner = self._owners.of(pod)
            yield Victim(pod.full_name, pod.priority, str(owner) if owner is not None else None, violated)

    def _selecting(self, pod: PodInfo) -> Iterator[PodDisruptionBudget]:
        for budget, selector in self._budgets:
            # no budget selects pods without labels
            if budget.namespace == pod.namespace and pod.labels and selector and selector.matches(pod.labels):
                yield budget


def _selector(budget: PodDisruptionBudget) -> Selector | None:
    """Return the selector of a budget, None if it selects nothing."""
    try:
        selector = from_label_selector(budget.spec.selector)
    except InvalidSelectorError:
        return None
    return None if selector.empty else selector
