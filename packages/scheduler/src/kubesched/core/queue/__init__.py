"""In: pods that wait, the outcome of their attempts, and cluster events.

Out: the next pod to schedule, and when a waiting pod may be retried.
Never: a clock, I/O, or a pod in two places at once.
"""
