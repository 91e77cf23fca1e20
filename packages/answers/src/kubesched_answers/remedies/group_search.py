"""The search for remedies of a pod that is scheduled with its pod group.

From a pod without a node to steps after which the scheduler places the whole group, or enough of it, and the pod with
it. A step that helps one pod of the group is repeated for the next pod without a node, until the group fits: more
nodes of one kind, more evictions, the same change of one object after the other.
"""

from collections.abc import Callable, Iterator
from itertools import islice

from kubesched.api.nodes import Node
from kubesched.errors import KubeschedError
from kubesched_answers.remedies.found import order_of, remedy_of, topics_of
from kubesched_answers.remedies.group_trials import GroupTrials, MemberTrial
from kubesched_answers.remedies.moving import moved
from kubesched_answers.remedies.proposers.evictions import TOPIC as EVICT
from kubesched_answers.remedies.proposers.evictions import evictions
from kubesched_answers.remedies.proposers.gang_members import gang_members
from kubesched_answers.remedies.proposers.new_nodes import new_nodes
from kubesched_answers.remedies.proposing import against_obstacles, targets
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.remedies.shrinking import shrunk
from kubesched_answers.remedies.steps import Scope, Step, Steps

# limit on the steps, except for new nodes, which may be as many as the group's pods
MOST_STEPS = 16
# limits on the kinds of steps against obstacles, and on the trials of each
MOST_KINDS = 6
MOST_CHOICES = 3
MOST_NODE_KINDS = 3

Propose = Callable[[MemberTrial], Iterator[Steps]]


class GroupRemedySearch:
    """Searches for the remedies of one pod of a group."""

    def __init__(self, trials: GroupTrials) -> None:
        self._trials = trials

    def run(self, limit: int) -> tuple[Remedy, ...]:
        """Return up to `limit` remedies of different kinds, the smallest changes first."""
        with self._trials.fork_group(()) as trial:
            if trial.node_name:
                return ()
            kinds = list(dict.fromkeys(topics_of(steps) for steps in _against_obstacles(trial)))[:MOST_KINDS]
            evicting = not trial.gates and any(True for _ in _evictions(trial))
        found: dict[frozenset[str], Steps] = {}
        ways = [*((topics, _against_obstacles) for topics in kinds)]
        ways += [(frozenset({EVICT}), _evictions)] if evicting else []
        for topics, propose in ways:
            steps = self._grown(topics, propose)
            if steps:
                steps = shrunk(self._trials, steps)
                if steps and self._works(steps):
                    found.setdefault(topics_of(steps), steps)
        members = self._more_members()
        if members:
            found.setdefault(topics_of(members), members)
        nodes = self._more_nodes()
        if nodes:
            found.setdefault(topics_of(nodes), nodes)
        ordered = sorted(found.values(), key=order_of)[:limit]
        return tuple(
            remedy_of(self._trials, moved(self._trials, steps), self._trials.node_after(steps)) for steps in ordered
        )

    # -- a step for one pod after the other

    def _grown(self, topics: frozenset[str], propose: Propose) -> Steps:
        """Return steps about some topics after which the pod has a node; none if there are none or too many."""
        steps: Steps = ()
        at_first = 0
        while len(steps) <= MOST_STEPS and self._trials.left > 0:
            with self._trials.fork_group(steps) as trial:
                if trial.node_name:
                    return steps
                fitting = trial.fitting
                at_first = fitting if not steps else at_first
                if steps and len(steps) * self._trials.missing(at_first) > MOST_STEPS * (fitting - at_first):
                    # at this rate there would be too many
                    return ()
                choices = (_for_all(trial, each) for each in propose(trial) if topics_of(each) == topics)
                candidates = list(islice(choices, MOST_CHOICES))
            better = next((new for each in candidates if self._fits_more((new := (*steps, *each)), fitting)), None)
            if better is None:
                return ()
            steps = better
        return ()

    def _fits_more(self, steps: Steps, than: int) -> bool:
        """Return whether more pods of the group find a node after some steps, or this pod does."""
        if len({step.key for step in steps}) < len(steps):
            return False
        try:
            with self._trials.fork_group(steps) as trial:
                return bool(trial.node_name) or trial.fitting > than
        except KubeschedError:
            # the steps contradict each other
            return False

    # -- more pods

    def _more_members(self) -> Steps:
        """Return the creation of a gang's missing pods, if the pod then has a node, but not with one pod less."""
        with self._trials.fork_group(()) as trial:
            steps = gang_members(trial)
        return steps if steps and self._works(steps) else ()

    # -- more nodes

    def _more_nodes(self) -> Steps:
        """Return the fewest new nodes of one kind with which the pod has a node, but not with one less."""
        with self._trials.fork_group(()) as trial:
            kinds = list(islice(new_nodes(trial, self._trials.wanted), MOST_NODE_KINDS)) if not trial.gates else []
        for steps in kinds:
            if self._trials.left > 0 and self._works(steps):
                fewest = self._fewest(_by_node(steps))
                return shrunk(self._trials, fewest) if len(fewest) <= MOST_STEPS else fewest
        return ()

    def _fewest(self, nodes: list[Steps]) -> Steps:
        """Return the steps of the fewest nodes that are enough, given that all of them are enough."""

        def first(count: int) -> Steps:
            return tuple(step for steps in nodes[:count] for step in steps)

        fails, enough, count = 0, len(nodes), 1
        while count < enough:
            if self._works(first(count)):
                enough = count
            else:
                fails, count = count, min(2 * count, enough)
        while enough - fails > 1:
            middle = (enough + fails) // 2
            if self._works(first(middle)):
                enough = middle
            else:
                fails = middle
        return first(enough)

    def _works(self, steps: Steps) -> bool:
        return bool(self._trials.node_after(steps))


def _by_node(steps: Steps) -> list[Steps]:
    """Return the steps that create nodes, grouped by node: a node comes before its devices."""
    found: list[list[Step]] = []
    for step in steps:
        if step.object.kind == Node.__name__:
            found.append([])
        found[-1].append(step)
    return [tuple(each) for each in found]


def _against_obstacles(trial: MemberTrial) -> Iterator[Steps]:
    """Yield steps against the obstacles of a pod, without tunable steps."""
    for extension in against_obstacles(trial):
        if all(step.tuned is None for step in extension.steps):
            yield extension.steps


def _evictions(trial: MemberTrial) -> Iterator[Steps]:
    return (steps for _, steps in evictions(trial, targets(trial)))


def _for_all(trial: MemberTrial, steps: Steps) -> Steps:
    """Return steps in which each change of a pod is applied to all equal pods without a node."""
    own = [step for step in steps if step.scope is Scope.POD]
    others = tuple(step for step in steps if step.scope is not Scope.POD)
    return (*others, *(trial.step_for(step, pod) for step in own for pod in trial.alike))
