"""Disruption budgets, and evictions that respect them."""

# upstream: api/policy/v1/types.go (v1.36)

TYPES = """
string: UnhealthyPodEvictionPolicyType

PodDisruptionBudget kind: spec PodDisruptionBudgetSpec, status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: minAvailable *IntOrString, selector *LabelSelector replace, maxUnavailable *IntOrString
    unhealthyPodEvictionPolicy *UnhealthyPodEvictionPolicyType
PodDisruptionBudgetStatus: observedGeneration int64, disruptedPods map[string]Time
    disruptionsAllowed! int32 optional, currentHealthy! int32 optional, desiredHealthy! int32 optional
    expectedPods! int32 optional, conditions []Condition by(type)

Eviction kind: deleteOptions *DeleteOptions
"""
