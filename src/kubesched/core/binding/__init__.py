"""In: pods that took a place in the table. Out: pods that are bound, or the reason why not.
Never: a change of the table; what has to be undone is told to whoever owns it.
Runs on any asyncio loop, a virtual one included: the loop's clock is the only clock.
"""
