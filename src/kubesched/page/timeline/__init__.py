"""The time line: marks of what happened in a simulation or in a cluster that is followed.

From observations to marks in the order of their times, and to as many of them as fit on a screen.
"""
