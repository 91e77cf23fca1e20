"""In: objects as they are reported, and time. Out: effects: bindings, status patches, deletions, events.
Never: a change of the table while a cycle runs; whatever wants to change it waits in the inbox.
The living scheduler: queue, cycles and bindings on one asyncio loop.
"""
