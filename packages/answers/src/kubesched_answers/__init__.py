"""Answers about a cluster: why a pod is pending, what would help, how many more fit, what if.

In: the objects of a cluster, and a question. Out: a frozen value, computed by the engine that schedules. Never: a
guess; every remedy was tried. I/O is in `sources`, which reads clusters; `cluster`, the Python API on top, reads the
clock.
"""
