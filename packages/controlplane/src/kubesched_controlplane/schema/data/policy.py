"""Disruption budgets, and evictions that respect them."""

# upstream: api/policy/v1/types.go (v1.36)

TYPES = """
string: UnhealthyPodEvictionPolicyType

PodDisruptionBudget kind: spec=2 PodDisruptionBudgetSpec, status=3 PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: minAvailable=1 *IntOrString, selector=2 *LabelSelector replace, maxUnavailable=3 *IntOrString
    unhealthyPodEvictionPolicy=4 *UnhealthyPodEvictionPolicyType
PodDisruptionBudgetStatus: observedGeneration=1 int64, disruptedPods=2 map[string]Time
    disruptionsAllowed=3! int32 optional, currentHealthy=4! int32 optional, desiredHealthy=5! int32 optional
    expectedPods=6! int32 optional, conditions=7 []Condition by(type)

Eviction kind: deleteOptions=2 *DeleteOptions
"""
