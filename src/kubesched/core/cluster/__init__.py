"""In: nodes, pods and other objects, one at a time. Out: a table of columns and a log of what changed.
Never: I/O, a clock, randomness, or a loop over all pods on the path of a scheduling cycle.
Only `cluster.Cluster` mutates.
"""
