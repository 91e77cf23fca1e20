"""The scale of a controller, as its subresource has it."""

# upstream: api/autoscaling/v1/types.go (v1.36)

TYPES = """
Scale kind: spec ScaleSpec, status ScaleStatus
ScaleSpec: replicas int32
ScaleStatus: replicas! int32, selector
"""
