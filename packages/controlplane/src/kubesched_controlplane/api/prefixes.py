"""The prefixes of resources in the store (`Resource.prefix`) that many packages read."""

PODS = "pods"
NODES = "nodes"
