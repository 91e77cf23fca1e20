"""The scheduling queue of a cluster, now and over time.

From a scheduler's queue page, its metrics or pods' conditions (`reading`), one after the other (`feed`, `history`), to
the answer of /v1/queue.
"""
