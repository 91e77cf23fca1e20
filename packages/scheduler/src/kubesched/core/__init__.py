"""The scheduler itself, without the outside world: objects and times come in, decisions and effects go out as values.

Never: files, sockets, processes, the clock, global randomness. `loop/` and `binding/` wait on asyncio; effects and
clocks are passed in.
"""
