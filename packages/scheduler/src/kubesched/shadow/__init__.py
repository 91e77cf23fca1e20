"""`kubesched shadow`: runs beside a cluster's scheduler, makes the same decisions, and reports where the two differ.

From a live cluster, which is only read, to agreement and differences. Nothing is written to the cluster.
"""
