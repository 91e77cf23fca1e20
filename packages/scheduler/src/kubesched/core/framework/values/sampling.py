"""How many nodes are enough: the reference's arithmetic for a limited search.

From percentages of the configuration and the number of nodes to how many feasible nodes end the search, and how many
preemption candidates are looked for. Integer arithmetic throughout, truncated.
"""

from kubesched.core.framework.values.cycle import StateKey

# upstream: scheduler/schedule_one.go (numFeasibleNodesToFind),
# plugins/defaultpreemption/default_preemption.go (calculateNumCandidates) (v1.36)

MIN_FEASIBLE_NODES = 100
MIN_FEASIBLE_PERCENTAGE = 5

# A large random number that the loop draws for preemption: where the search begins, and which of equally good
# candidates is chosen. Without it every candidate is evaluated and the first name is chosen.
CANDIDATE_DRAW = StateKey[int]("candidate-draw")


def feasible_nodes_to_find(nodes: int, percentage: int, profile_percentage: int | None = None) -> int:
    """Return how many feasible nodes end the search; a profile's percentage replaces the global one, 0 adapts."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    chosen = percentage if profile_percentage is None else profile_percentage
    if chosen == 0:
        chosen = max(50 - nodes // 125, MIN_FEASIBLE_PERCENTAGE)
    return max(nodes * chosen // 100, MIN_FEASIBLE_NODES)


def preemption_candidates_to_find(nodes: int, min_percentage: int, min_absolute: int) -> int:
    """Return how many preemption candidates are looked for among that many nodes."""
    return min(max(nodes * min_percentage // 100, min_absolute), nodes)
