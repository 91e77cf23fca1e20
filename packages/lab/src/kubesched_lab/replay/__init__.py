"""Traces on a server that is up: `kubesched up --replay`.

In: a trace, an API server in this process. Out: requests at the trace's times.
"""
