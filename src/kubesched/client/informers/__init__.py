"""In: kinds of objects. Out: every object of these kinds and every change, reported to event handlers.
Never: a missed change: what a watch may have missed is listed again.
"""
