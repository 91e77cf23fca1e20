"""The scheduler: queue, scheduling cycles and binding cycles on one asyncio loop.

In: objects as the informers report them, and time. Out: effects: bindings, status patches, deletions, events.
Never: a change of the table while a cycle runs; changes wait in the inbox.
"""
