"""A cluster in memory, and the scheduler's engine over it: what questions and the shadow ask.

In: the objects of a cluster, a configuration. Out: attempts, rejections, scores and preemptions as values.
Never: I/O, a clock; nothing leaves the model.
"""
