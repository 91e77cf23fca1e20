"""Live clusters and schedulers, as far as they can be read.

In: the address of an API server or a scheduler. Out: the objects of a cluster, with gaps for what could not be read;
a configuration in force, records of decisions. Never: a write to a cluster.
"""
