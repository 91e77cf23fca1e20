"""The binding cycle: from an assumed pod to a bound one, or the reason why it is not bound.

Never: a change of the table; the loop forgets a pod that could not be bound.
"""
