"""Priority classes."""

# upstream: api/scheduling/v1/types.go (v1.36)

TYPES = """
PriorityClass kind: value=2! int32 optional, globalDefault=3 bool, description=4, preemptionPolicy=5 *PreemptionPolicy
"""
