"""Readers of live clusters and schedulers.

In: the address of an API server or a scheduler. Out: the objects of a cluster, with gaps for its unreadable parts;
a configuration in force, records of decisions. Never: a write to a cluster.
"""
