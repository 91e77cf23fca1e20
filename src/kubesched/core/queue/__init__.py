"""In: pods that wait, the outcome of their attempts, and cluster events.

Out: the next pod to try, and when a waiting one may be tried again.
Never: a clock, I/O, or a pod in two places at once.
"""
