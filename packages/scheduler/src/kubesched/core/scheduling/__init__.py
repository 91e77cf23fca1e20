"""The scheduling cycle: from a popped pod to a pod assumed on a node, or a failure with the preemption that was found.

Never: I/O, a clock, global randomness, or a change of the cluster other than through `ClusterState`.
"""
