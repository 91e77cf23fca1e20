"""The scheduling cycle of a pod group: all of its pods on one state of the cluster."""
