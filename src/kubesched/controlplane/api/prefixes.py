"""The prefixes of resources in the store (`Resource.prefix`) that many rooms read."""

PODS = "pods"
NODES = "nodes"
