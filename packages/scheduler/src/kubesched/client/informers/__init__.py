"""In: kinds of objects. Out: every object of these kinds and every change, reported to event handlers.
Never: a missed change: a kind whose watch may have missed some is listed again.
"""
