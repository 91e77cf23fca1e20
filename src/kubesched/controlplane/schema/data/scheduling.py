"""Priority classes."""

# upstream: api/scheduling/v1/types.go (v1.36)

TYPES = """
PriorityClass kind: value! int32 optional, globalDefault bool, description, preemptionPolicy *PreemptionPolicy
"""
