"""The names of stores (`Resource.store`) that many rooms read."""

PODS = "pods"
NODES = "nodes"
