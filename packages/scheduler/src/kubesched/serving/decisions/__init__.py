"""In: observations of a scheduler. Out: its last decisions, for /debug/decisions and for `explain`.
Never: more memory than the ring may have, or more than a small share of the scheduler's time.
"""
