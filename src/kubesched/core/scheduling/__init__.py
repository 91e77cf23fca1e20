"""In: an evaluation of a pod. Out: a decision, or the reasons why there is none.
Never: I/O, a clock, global randomness, or a change of the cluster other than through its mutator.
The living scheduling cycle is built from these steps.
"""
