"""Disruption budgets, and evictions that respect them."""

# upstream: api/policy/v1/types.go (v1.36)

TYPES = """
string: UnhealthyPodEvictionPolicyType

PodDisruptionBudget kind: spec=2 PodDisruptionBudgetSpec, status=3 PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: minAvailable=1 *IntOrString format(share)
    selector=2 *LabelSelector replace format(selector), maxUnavailable=3 *IntOrString format(share)
    unhealthyPodEvictionPolicy=4 *UnhealthyPodEvictionPolicyType enum(AlwaysAllow|IfHealthyBudget)
PodDisruptionBudgetStatus: observedGeneration=1 int64, disruptedPods=2 map[string]Time
    disruptionsAllowed=3! int32 optional min(0), currentHealthy=4! int32 optional min(0)
    desiredHealthy=5! int32 optional min(0), expectedPods=6! int32 optional min(0)
    conditions=7 []Condition by(type) conditions

Eviction kind: deleteOptions=2 *DeleteOptions
"""
