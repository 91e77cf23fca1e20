"""`kubesched doctor`: what stands in the way of kubesched on a cluster, before one switches.

From a live cluster, which is only read, and from files to findings, each with what to do about it.
"""
