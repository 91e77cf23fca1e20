"""The time line: marks of the events in a simulation or in a followed cluster.

From observations to marks in the order of their times, and to a selection that fits on a screen.
"""
