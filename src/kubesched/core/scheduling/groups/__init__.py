"""The scheduling cycle of a group of pods: all of its pods on one look at the cluster."""
