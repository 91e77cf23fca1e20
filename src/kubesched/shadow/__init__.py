"""`kubesched shadow`: beside a cluster's scheduler, decides what it decides, and tells where the two differ.

From a live cluster, which is only read, to agreement and differences. Nothing is ever written to it.
"""
